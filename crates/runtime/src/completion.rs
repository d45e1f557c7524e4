//! What the end of a run is worth: the ports through which what was required is looked at, the receipts of
//! a run, and the report that stands beside its answer. What is decided from them is the kernel's.
//! See `docs/spec/completion.md`.

mod looks;
mod proof;
mod receipt;
mod verify;

use std::fmt::Debug;

use async_trait::async_trait;
use mast_kernel::assertion::Checked;
use mast_kernel::canonical::Digest;
use mast_kernel::completion::{CheckedCommand, FileState, Looked, Reason};
use mast_kernel::id::RunId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What could not be looked at.
#[derive(Debug, thiserror::Error)]
#[error("cannot look at {path}: {why}")]
pub struct CannotLook {
    /// The path.
    pub path: String,
    /// Why.
    pub why: String,
}

/// Somebody who looks at the files that a run is required to make.
#[async_trait]
pub trait Artifacts: Debug + Send + Sync {
    /// How a file is now; none where there is no such file.
    ///
    /// # Errors
    ///
    /// [`CannotLook`] where that cannot be told; the file then counts as not there.
    async fn look(&self, path: &str) -> Result<Option<FileState>, CannotLook>;
}

/// Why a required command could not be run.
#[derive(Debug, thiserror::Error)]
#[error("the verifier is not available: {0}")]
pub struct NotVerified(
    /// Why, for the log.
    pub String,
);

/// A copy of what a run made, which nothing can change any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frozen {
    /// By which the verifier knows it.
    pub handle: String,
    /// Digest of everything in it.
    pub digest: Digest,
}

/// The call that runs a command on a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckCall {
    /// Registry name of the tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

/// Somebody who can run a command on a frozen copy of what a run made. It does not run the command itself:
/// it names the call that does, and that call passes the gate like every other.
#[async_trait]
pub trait Verifier: Debug + Send + Sync {
    /// The guard set of a command: the tests that it runs, their configuration, and the program; in the
    /// copy, where one is given, and else as it is now.
    ///
    /// # Errors
    ///
    /// [`NotVerified`] where that cannot be told.
    async fn guard(&self, command: &str, copy: Option<&Frozen>) -> Result<Vec<Looked>, NotVerified>;

    /// Stops the jobs of a run, and copies what it made.
    ///
    /// # Errors
    ///
    /// [`NotVerified`] where there can be no copy.
    async fn freeze(&self, run: RunId) -> Result<Frozen, NotVerified>;

    /// The call that runs the command on the copy. What it gives must have the fields `exit_code`, and
    /// `copy` with the digest of the copy that it ran on.
    fn call(&self, command: &str, copy: &Frozen) -> CheckCall;

    /// The copy is not needed any more.
    async fn discard(&self, copy: Frozen);
}

/// What stands beside an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Whether anything was required besides an answer.
    #[serde(skip)]
    pub is_required: bool,
    /// Why the end is worth no more.
    pub reasons: Vec<Reason>,
    /// What the answer, or the model on its own, says was done, and what on record supports it.
    pub assertions: Vec<Checked>,
    /// The answer with what nothing supports marked in it; none where nothing is.
    #[serde(skip)]
    pub marked: Option<String>,
    /// The required files, as they were at the end.
    pub files: Vec<Looked>,
    /// The required commands, and what came of them.
    pub checks: Vec<CheckedCommand>,
}
