//! Why the runtime itself cannot go on. A call that is refused or fails is no error: it is an outcome,
//! and stands in the journal.

use mast_kernel::canonical::NotCanonical;
use mast_kernel::id::{CallId, RunId, SessionId};
use mast_kernel::instant::Instant;
use mast_kernel::run::RunStatus;
use mast_store::StoreError;

/// A run or a call that could not be carried on.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The store failed. Nothing further runs.
    #[error("the journal cannot be written or read: {0}")]
    Store(#[from] StoreError),
    /// The claim could not be committed. Nothing was run.
    #[error("the claim of a call could not be committed: {source}")]
    Claim {
        /// What the store said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Somebody else runs this call, or has run it.
    #[error("{call} was claimed by another worker")]
    ClaimLost {
        /// The call.
        call: CallId,
    },
    /// A claim was to be committed for another call than the permit is for.
    #[error("the claim to be committed is not the claim of {call}")]
    ClaimMismatch {
        /// The call.
        call: CallId,
    },
    /// Something that Mast itself made has no canonical form.
    #[error("a record cannot be written in canonical form: {0}")]
    NotCanonical(#[from] NotCanonical),
    /// There is no such session for this principal.
    #[error("there is no session {0} of yours")]
    NoSuchSession(SessionId),
    /// There is no such run for this principal.
    #[error("there is no run {0} of yours")]
    NoSuchRun(RunId),
    /// The run does not wait for anybody.
    #[error("{run} is {status}: it does not wait for an answer")]
    NotWaiting {
        /// The run.
        run: RunId,
        /// Where it is.
        status: RunStatus,
    },
    /// Somebody else works on the run.
    #[error(
        "{run} is at work in another process; it can be taken up when that one has not been heard of for a while"
    )]
    AtWork {
        /// The run.
        run: RunId,
        /// Under which name it is held.
        owner: String,
        /// Until when, unless it is renewed.
        until: Instant,
    },
    /// What is stored of a conversation cannot be read.
    #[error("the conversation of {session} cannot be read: {what}")]
    Conversation {
        /// The session.
        session: SessionId,
        /// Which part.
        what: String,
    },
    /// The prompt is too long.
    #[error("the message has {found} bytes, more than {max}; put what is long into a file")]
    PromptTooLong {
        /// How many bytes it has.
        found: usize,
        /// How many it may have.
        max: usize,
    },
    /// The folder of a run cannot be worked in.
    #[error("{folder} cannot be a workspace: {why}")]
    NoWorkspace {
        /// The folder.
        folder: String,
        /// Why not.
        why: String,
    },
    /// A tool was asked for that does not exist.
    #[error("no tool named `{0}`")]
    NoSuchTool(String),
}
