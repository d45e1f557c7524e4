//! The payloads of calls, and of the questions about them.

use serde::{Deserialize, Serialize};

use super::Reach;
use super::payload;
use crate::approval::ApprovalStatus;
use crate::canonical::Digest;
use crate::id::{ApprovalId, ArtifactId, CallId, GrantId, PrincipalId};
use crate::instant::Instant;
use crate::message::OutcomeStatus;
use crate::policy::Ruling;
use crate::spec::{Idempotency, Risk, SideEffect, ToolSource, wire_enum};
use crate::trust::Label;

payload! {
    /// Which tool a call is of, as it was declared when the call was proposed.
    Declared {
        /// Registry name.
        tool: String,
        /// Exact version.
        version: String,
        /// Definition pin.
        pin: Digest,
        /// Who wrote it.
        source: ToolSource,
        /// What it may do.
        side_effect: SideEffect,
        /// How bad a mistake would be.
        risk: Risk,
        /// Whether doing it again is safe; what happens after a crash is decided by this, not by what
        /// the tool says then.
        idempotency: Idempotency,
    }
}

payload! {
    /// Which tool is asked for.
    ToolCallProposed {
        /// The call.
        call: CallId,
        /// The round of the loop, counted from 1.
        step: u32,
        /// Its place among the calls of one reply, counted from 1.
        place: u32,
        /// The tool; none where the model named one that does not exist, whose name is the model's own
        /// text and therefore content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        declared: Option<Declared>,
        /// The origin of the call: the label of everything that could have shaped it.
        origin: Label,
        /// Which calls it runs beside.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parallel_group: Option<u32>,
        /// Commitment to the arguments as they were sent.
        arguments: Digest,
    }
}

payload! {
    /// That a call may run, and why.
    ToolCallAuthorized {
        /// The call.
        call: CallId,
        /// What was decided: allowed outright, or asked and answered.
        decision: Ruling,
        /// Reason codes of the layers that did not simply allow.
        findings: Vec<String>,
        /// The policy that decided.
        policy_version: String,
        /// The key under which a repetition can be told.
        idempotency_key: Digest,
    }
}

payload! {
    /// That a call may not run, and why.
    ToolCallDenied {
        /// The call.
        call: CallId,
        /// Why.
        reason_code: String,
        /// Reason codes of the layers that did not simply allow.
        findings: Vec<String>,
        /// The policy that decided.
        policy_version: String,
        /// Commitment to what the model is told.
        outcome: Digest,
    }
}

payload! {
    /// That a call is claimed.
    ToolCallStarted {
        /// The call.
        call: CallId,
        /// Which attempt, counted from 1.
        attempt: u32,
    }
}

payload! {
    /// How a call ended.
    ToolCallSettled {
        /// The call.
        call: CallId,
        /// How it ended.
        outcome_status: OutcomeStatus,
        /// Why, where it did not end well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason_code: Option<String>,
        /// Whether it said that it was about to reach out.
        effect_sent: bool,
        /// How long it took.
        duration_ms: u64,
        /// Bytes of its output, before anything was cut.
        output_bytes: u64,
        /// Whether the model is shown less than all of it.
        truncated: bool,
        /// Where the whole output is kept, if it was cut.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        artifact: Option<ArtifactId>,
        /// The label of the output.
        label: Label,
        /// Commitment to the outcome.
        outcome: Digest,
    }
}

payload! {
    /// That a call is about to reach out. It stands in the journal before the first byte leaves.
    CallMarked {
        /// The call.
        call: CallId,
    }
}

wire_enum! {
    /// What became of a call of which nobody could say it.
    Reconciled {
        /// Its effect is there.
        Happened = "happened",
        /// Its effect is not there.
        DidNot = "did_not",
    }
}

wire_enum! {
    /// Who found out.
    ReconciledBy {
        /// A person said so.
        Person = "person",
        /// The tool looked.
        Probe = "probe",
    }
}

payload! {
    /// What became of a call whose outcome was unknown.
    CallReconciled {
        /// The call.
        call: CallId,
        /// What became of it.
        verdict: Reconciled,
        /// Who found out.
        found_by: ReconciledBy,
        /// Whose word it is, or who had the tool look.
        principal: PrincipalId,
    }
}

payload! {
    /// What a person is asked.
    ApprovalRequested {
        /// The question.
        approval: ApprovalId,
        /// The call that it is about.
        call: CallId,
        /// How bad a mistake would be.
        risk: Risk,
        /// The furthest that a yes may reach.
        reach: Reach,
        /// The seal over everything that must not change.
        seal: Digest,
        /// Commitment to the sealed fields.
        sealed: Digest,
        /// Commitment to what is shown.
        card: Digest,
        /// The policy that wanted it asked.
        policy_version: String,
        /// When the question closes.
        expires_at: Instant,
    }
}

payload! {
    /// How a question was settled.
    ApprovalResolved {
        /// The question.
        approval: ApprovalId,
        /// `approved`, `denied`, `expired` or `void`.
        status: ApprovalStatus,
        /// How far the yes reaches.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reach: Option<Reach>,
        /// Who answered; nobody where time or the run's end settled it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resolved_by: Option<PrincipalId>,
        /// Commitment to the person's words for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<Digest>,
    }
}

payload! {
    /// That a yes was used.
    ApprovalConsumed {
        /// The question.
        approval: ApprovalId,
        /// The call that it was used for.
        call: CallId,
    }
}

payload! {
    /// That a question or a yes no longer holds.
    ApprovalInvalidated {
        /// The question.
        approval: ApprovalId,
        /// The call that it was about.
        call: CallId,
        /// What has changed.
        reason_code: String,
    }
}

payload! {
    /// That a yes reaches further than one call.
    GrantCreated {
        /// The grant.
        grant: GrantId,
        /// The question that the yes answered.
        approval: ApprovalId,
        /// How far it reaches: `task` or `session`.
        reach: Reach,
        /// Registry name of the tool.
        tool: String,
        /// Digest of the terms.
        seal: Digest,
        /// Commitment to the terms.
        sealed: Digest,
        /// When it ends.
        expires_at: Instant,
        /// How often it may be used.
        uses_max: u32,
    }
}

payload! {
    /// That a grant answered what would have been asked.
    GrantUsed {
        /// The grant.
        grant: GrantId,
        /// The call that it was used for.
        call: CallId,
    }
}

payload! {
    /// That somebody took a grant back.
    GrantRevoked {
        /// The grant.
        grant: GrantId,
        /// Who.
        revoked_by: PrincipalId,
    }
}

payload! {
    /// That a grant's time is over, or its number of uses.
    GrantExpired {
        /// The grant.
        grant: GrantId,
    }
}
