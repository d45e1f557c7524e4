//! The journal's vocabulary: what can be said to have happened, and the chain that makes a change of it
//! visible.
//!
//! Every change of state is exactly one event, so that the state can be rebuilt from the events alone.
//! An event says who, which and of what class; arguments, results and words from outside stand in
//! content rows, to which an event holds only a commitment. So the journal can be shown to somebody
//! who must not see the content, and no text can speak through it.
//!
//! Rejected: a typed body as the stored form (a new optional field would change the hash of old
//! events), so what is hashed is the payload as it was written, and [`Event::body`] reads it on demand.
//! See `docs/spec/journal.md`.

mod bytes;
mod chain;
mod disclosure;
mod head;
mod payload;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::canonical::{Digest, NotCanonical};
use crate::id::{RunId, SessionId};
use crate::instant::Instant;
use crate::spec::wire_enum;

pub use bytes::{Bytes, NotHex};
pub use chain::{Link, commitment};
pub use disclosure::{Disclosure, Field};
pub use head::Head;
pub use payload::*;

/// Random bytes that keep a digest from being guessed from a short value.
pub type Salt = Bytes<16>;

wire_enum! {
    /// Who did it.
    Actor {
        /// Mast itself.
        Platform = "platform",
        /// The person or program whose session it is.
        Principal = "principal",
        /// The model.
        Model = "model",
        /// A tool's body.
        Tool = "tool",
    }
}

/// An event that cannot be written, or not be understood by this version of Mast.
#[derive(Debug, thiserror::Error)]
pub enum EventFault {
    /// Its type is not in this version's list.
    #[error("event type `{0}` is not known to this version of mast")]
    UnknownType(String),
    /// Its payload is of a later version than this one knows.
    #[error("event type `{kind}` has payload version {version}, this version of mast knows up to {known}")]
    UnknownVersion {
        /// The type.
        kind: &'static str,
        /// The version that was found.
        version: u16,
        /// The newest version known here.
        known: u16,
    },
    /// Its payload is not what its type says.
    #[error("the payload of an event of type `{kind}` is not what its type says")]
    Payload {
        /// The type.
        kind: &'static str,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A value in it has no canonical form, so it has no hash.
    #[error("an event's payload has no canonical form")]
    NotCanonical(#[from] NotCanonical),
}

/// The members of an object; for anything else the error that says what it is.
fn object(value: Value) -> Result<Map<String, Value>, serde_json::Error> {
    match value {
        Value::Object(members) => Ok(members),
        other => serde_json::from_value(other),
    }
}

/// Declares the list of event types: the enum, and how each is written and read.
macro_rules! event_types {
    ($($(#[$doc:meta])* $name:ident($payload:ty) = $wire:literal, $version:literal;)*) => {
        /// What happened.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum EventBody {
            $($(#[$doc])* $name($payload),)*
        }

        impl EventBody {
            /// Every event type with its newest payload version, in the order of this list.
            pub const TYPES: &'static [(&'static str, u16)] = &[$(($wire, $version),)*];

            /// The event type's name.
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$name(_) => $wire,)* }
            }

            /// The version of the payload.
            #[must_use]
            pub const fn version(&self) -> u16 {
                match self { $(Self::$name(_) => $version,)* }
            }

            /// The payload as it is written: an object in which what is absent is left out.
            ///
            /// # Errors
            ///
            /// [`EventFault::Payload`] if the payload is not an object.
            pub fn payload(&self) -> Result<Map<String, Value>, EventFault> {
                let written = match self { $(Self::$name(payload) => serde_json::to_value(payload),)* };
                written
                    .and_then(object)
                    .map_err(|source| EventFault::Payload { kind: self.kind(), source })
            }

            /// Reads a payload of this type and version.
            ///
            /// # Errors
            ///
            /// [`EventFault`] where type or version are not known, or the payload does not fit.
            pub fn read(kind: &str, version: u16, payload: &Map<String, Value>) -> Result<Self, EventFault> {
                match kind {
                    $($wire => {
                        if version == 0 || version > $version {
                            return Err(EventFault::UnknownVersion { kind: $wire, version, known: $version });
                        }
                        <$payload as Deserialize>::deserialize(payload)
                            .map(Self::$name)
                            .map_err(|source| EventFault::Payload { kind: $wire, source })
                    })*
                    other => Err(EventFault::UnknownType(other.to_owned())),
                }
            }
        }
    };
}

event_types! {
    /// A conversation begins.
    SessionCreated(SessionCreated) = "session.created", 1;
    /// A person's message became part of the conversation.
    UserMessageCreated(ItemRecord) = "user.message.created", 1;
    /// Something else became part of what a model may be shown.
    ContextItemAppended(ItemRecord) = "context.item.appended", 1;
    /// The model's answer became part of the conversation.
    AssistantMessageCompleted(ItemRecord) = "assistant.message.completed", 1;
    /// Work on a message is accepted.
    RunQueued(RunSetup) = "run.queued", 1;
    /// Work begins.
    RunStarted(RunSetup) = "run.started", 1;
    /// The run waits for a person to judge a call.
    RunWaitingForApproval(RunWaitingForApproval) = "run.waiting_for_approval", 1;
    /// The run waits for a person's answer.
    RunWaitingForUser(RunWaitingForUser) = "run.waiting_for_user", 1;
    /// The run goes on.
    RunResumed(RunResumed) = "run.resumed", 1;
    /// The run answered.
    RunCompleted(RunCompleted) = "run.completed", 1;
    /// The run could not go on.
    RunFailed(RunStopped) = "run.failed", 1;
    /// The run was stopped.
    RunCancelled(RunStopped) = "run.cancelled", 1;
    /// The model was asked.
    ModelRequestStarted(ModelRequestStarted) = "model.request.started", 1;
    /// The model replied.
    ModelResponseCompleted(ModelResponseCompleted) = "model.response.completed", 1;
    /// The model did not reply.
    ModelResponseFailed(ModelResponseFailed) = "model.response.failed", 1;
    /// The model asked for a tool.
    ToolCallProposed(ToolCallProposed) = "tool.call.proposed", 1;
    /// The call may run, and its intent is on record.
    ToolCallAuthorized(ToolCallAuthorized) = "tool.call.authorized", 1;
    /// The call may not run.
    ToolCallDenied(ToolCallDenied) = "tool.call.denied", 1;
    /// The call is claimed: its body may be running.
    ToolCallStarted(ToolCallStarted) = "tool.call.started", 1;
    /// The call ended well.
    ToolCallCompleted(ToolCallSettled) = "tool.call.completed", 1;
    /// The call ended badly.
    ToolCallFailed(ToolCallSettled) = "tool.call.failed", 1;
    /// Nobody can say whether the call happened.
    ToolCallUncertain(ToolCallSettled) = "tool.call.uncertain", 1;
    /// The call is about to reach out.
    CallMarked(CallMarked) = "call.marked", 1;
    /// A call whose outcome was unknown is settled.
    CallReconciled(CallReconciled) = "call.reconciled", 1;
    /// A person is asked.
    ApprovalRequested(ApprovalRequested) = "approval.requested", 1;
    /// A question is settled: by a verdict, by time, or because its run ended.
    ApprovalResolved(ApprovalResolved) = "approval.resolved", 1;
    /// A yes was used.
    ApprovalConsumed(ApprovalConsumed) = "approval.consumed", 1;
    /// What was asked about has changed; the question or the yes is void.
    ApprovalInvalidated(ApprovalInvalidated) = "approval.invalidated", 1;
    /// A yes reaches further than one call.
    GrantCreated(GrantCreated) = "grant.created", 1;
    /// A grant answered what would have been asked.
    GrantUsed(GrantUsed) = "grant.used", 1;
    /// A grant was taken back.
    GrantRevoked(GrantRevoked) = "grant.revoked", 1;
    /// A grant ended by time or number.
    GrantExpired(GrantExpired) = "grant.expired", 1;
    /// A run asked for more than its budget.
    ContextBudgetExceeded(ContextBudgetExceeded) = "context.budget.exceeded", 1;
    /// Bytes were kept for somebody to fetch.
    ArtifactCreated(ArtifactCreated) = "artifact.created", 1;
}

/// What is to be written as the next event of a session. Time and salt are the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The run that it belongs to, if any.
    pub run: Option<RunId>,
    /// Who did it.
    pub actor: Actor,
    /// When.
    pub at: Instant,
    /// What happened.
    pub body: EventBody,
    /// 16 random bytes.
    pub salt: Salt,
}

/// One event, as it stands in the journal. (A record: the journal's specification names its fields.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Its place in the session: 1, 2, 3 and so on, without a gap.
    pub sequence: u64,
    /// The session.
    pub session: SessionId,
    /// The run, if it belongs to one.
    pub run: Option<RunId>,
    /// Who did it.
    pub actor: Actor,
    /// When.
    pub at: Instant,
    /// The event type's name.
    #[serde(rename = "type")]
    pub kind: String,
    /// The version of the payload.
    pub version: u16,
    /// What the type says about it, as it was written.
    pub payload: Map<String, Value>,
    /// What its field digests are salted with.
    pub salt: Salt,
    /// The hash of the event before; of the first, the session's genesis.
    pub previous: Digest,
    /// The hash of this event.
    pub hash: Digest,
}

impl Event {
    /// What happened, as a value.
    ///
    /// # Errors
    ///
    /// [`EventFault`] where this version of Mast does not know the type or the payload's version.
    pub fn body(&self) -> Result<EventBody, EventFault> {
        EventBody::read(&self.kind, self.version, &self.payload)
    }
}
