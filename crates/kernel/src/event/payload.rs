//! The payload of each event type. Identity, classification, figures and commitments: never arguments,
//! results, or anybody's words. A field that is absent is left out, so that an optional field can be
//! added later without changing what old events hash to.

use serde::{Deserialize, Serialize};

use crate::approval::ApprovalStatus;
use crate::canonical::Digest;
use crate::id::{ApprovalId, ArtifactId, CallId, ItemId, PrincipalId, StoreId, TenantId};
use crate::instant::Instant;
use crate::message::OutcomeStatus;
use crate::policy::Ruling;
use crate::run::{Completion, Mode};
use crate::spec::{Idempotency, Risk, SideEffect, ToolSource, wire_enum};
use crate::trust::Label;

wire_enum! {
    /// What an item of a conversation is.
    ItemKind {
        /// A person's message.
        User = "user",
        /// A whole reply of the model: text, reasoning and the calls that it asked for.
        Assistant = "assistant",
        /// What the model is told of a call.
        ToolResult = "tool_result",
        /// A line of Mast's own.
        System = "system",
    }
}

wire_enum! {
    /// How far a verdict reaches.
    Reach {
        /// This one call.
        Once = "once",
        /// Calls like it in this run.
        Task = "task",
        /// Calls like it in this session.
        Session = "session",
    }
}

wire_enum! {
    /// Why a run goes on.
    ResumeCause {
        /// A person judged a call.
        Approval = "approval",
        /// A person answered a question.
        User = "user",
        /// The process that worked on it ended before the run did.
        Recovery = "recovery",
    }
}

wire_enum! {
    /// Why a model stopped writing.
    StopKind {
        /// It was done.
        End = "end",
        /// It asked for tools.
        ToolCalls = "tool_calls",
        /// It reached a limit of length.
        Length = "length",
        /// The provider withheld the rest.
        Filtered = "filtered",
        /// The provider named another reason.
        Other = "other",
    }
}

wire_enum! {
    /// What a run asked too much of.
    BudgetKind {
        /// Rounds of the loop.
        Steps = "steps",
        /// Requests to the model.
        ModelCalls = "model_calls",
        /// Calls of tools.
        ToolCalls = "tool_calls",
        /// The room for what the model is shown.
        Context = "context",
    }
}

/// Declares a payload: a struct that refuses unknown fields and leaves out what is absent.
macro_rules! payload {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }
    };
}

payload! {
    /// Binds a session to its tenant, store and owner.
    SessionCreated {
        /// Who owns it.
        tenant: TenantId,
        /// The store that it was made in.
        store: StoreId,
        /// Who talks in it.
        principal: PrincipalId,
        /// Where it was begun: a constant of Mast's, such as `cli` or `http`.
        surface: String,
        /// Commitment to the catalogue of tools that it pins.
        catalogue: Digest,
    }
}

payload! {
    /// One item of a conversation.
    ItemRecord {
        /// The item.
        item: ItemId,
        /// Its place in the conversation, counted from 1.
        place: u64,
        /// What it is.
        kind: ItemKind,
        /// Who wrote it, and how far it may travel.
        label: Label,
        /// The call that it is the result of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// Commitment to what it says.
        content: Digest,
    }
}

payload! {
    /// What a run works with. The contract is fixed before its first model call.
    RunSetup {
        /// Which provider.
        provider: String,
        /// Which model.
        model: String,
        /// How much it may do.
        mode: Mode,
        /// The policy in force.
        policy_version: String,
        /// Whether the trust overlay is in force.
        overlay: bool,
        /// Commitment to the turn contract.
        contract: Digest,
    }
}

payload! {
    /// What a run waits for.
    RunWaitingForApproval {
        /// The open questions.
        approvals: Vec<ApprovalId>,
    }
}

payload! {
    /// What a run waits for.
    RunWaitingForUser {
        /// The call that asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
    }
}

payload! {
    /// Why a run goes on, and under which policy.
    RunResumed {
        /// Why.
        cause: ResumeCause,
        /// The policy now in force.
        policy_version: String,
    }
}

payload! {
    /// What the end of a run is worth, and what it took.
    RunCompleted {
        /// What it is worth.
        completion: Completion,
        /// Rounds of the loop.
        steps: u32,
        /// Requests to the model.
        model_calls: u32,
        /// Calls of tools.
        tool_calls: u32,
    }
}

payload! {
    /// Why a run ended without an answer.
    RunStopped {
        /// Why.
        reason_code: String,
    }
}

payload! {
    /// What a model is asked.
    ModelRequestStarted {
        /// The round of the loop, counted from 1.
        step: u32,
        /// Digest of the part of the prompt that stays the same within a session.
        prefix: Digest,
        /// How many items it is shown.
        items: u32,
        /// How many tools it is offered.
        tools: u32,
        /// Whether only an answer is asked for.
        answer_only: bool,
    }
}

payload! {
    /// What a model's reply took.
    ModelResponseCompleted {
        /// The round of the loop.
        step: u32,
        /// Why it stopped.
        stop: StopKind,
        /// How many calls it asked for.
        calls: u32,
        /// Tokens read, where the provider says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_tokens: Option<u64>,
        /// Tokens written, where the provider says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_tokens: Option<u64>,
        /// Cost in millionths of a US dollar, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_micro_usd: Option<u64>,
        /// How long it took.
        duration_ms: u64,
        /// Commitment to the whole reply.
        content: Digest,
    }
}

payload! {
    /// Why a model did not reply.
    ModelResponseFailed {
        /// The round of the loop.
        step: u32,
        /// Why.
        reason_code: String,
        /// How long it took.
        duration_ms: u64,
    }
}

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
    /// What a run asked too much of.
    ContextBudgetExceeded {
        /// The round of the loop.
        step: u32,
        /// Of what.
        budget: BudgetKind,
        /// How many requests of it were not met.
        refused: u32,
    }
}

payload! {
    /// Bytes that were kept.
    ArtifactCreated {
        /// The artifact.
        artifact: ArtifactId,
        /// The call that made it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// How many bytes.
        size_bytes: u64,
        /// SHA-256 of the bytes.
        digest: Digest,
        /// Who wrote them, and how far they may travel.
        label: Label,
    }
}
