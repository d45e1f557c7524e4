//! The payload of each event type. Identity, classification, figures and commitments: never arguments,
//! results, or anybody's words. A field that is absent is left out, so that an optional field can be
//! added later without changing what old events hash to.

mod call;

use serde::{Deserialize, Serialize};

use crate::canonical::Digest;
use crate::id::{ApprovalId, ArtifactId, CallId, ItemId, PrincipalId, StoreId, TenantId};
use crate::run::{Completion, Mode, Priority};
use crate::spec::wire_enum;
use crate::trust::Label;

pub use call::*;

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
use payload;

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
        /// Which runs are taken up before it.
        #[serde(default, skip_serializing_if = "Priority::is_usual")]
        priority: Priority,
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
        /// Reason codes: why it is worth no more.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasons: Vec<String>,
        /// Commitment to what was checked: the requirements, and what the answer says was done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<Digest>,
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
