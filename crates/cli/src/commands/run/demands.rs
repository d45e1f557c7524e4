//! What a run must do besides answering.

use clap::Args;
use mast_kernel::completion::Required;
use mast_runtime::Runtime;

use crate::assemble::beside;
use crate::error::CliError;

/// What is demanded.
#[derive(Debug, Args)]
pub(super) struct Demands {
    /// This file must be made or changed by the run; may be given again
    #[arg(long, value_name = "PATH")]
    require_file: Vec<String>,
    /// This file must be read whole by the run; may be given again
    #[arg(long, value_name = "PATH")]
    require_read: Vec<String>,
    /// This command must pass afterwards, on a copy of what the run made; may be given again
    #[arg(long, value_name = "COMMAND")]
    verify: Vec<String>,
    /// Take what nothing on record supports out of the answer, instead of marking it
    #[arg(long)]
    pub(super) remove_unsupported: bool,
}

impl Demands {
    /// What is demanded, for the contract.
    ///
    /// # Errors
    ///
    /// [`CliError`] for a path that leads out of the folder, and for a command that is none.
    pub(super) fn required(&self) -> Result<Required, CliError> {
        for path in self.require_file.iter().chain(&self.require_read) {
            if !beside::is_inside(path) {
                let message = format!("`{path}` does not name a file in or below this folder");
                return Err(CliError::usage(message, "write it from here, as in reports/today.md"));
            }
        }
        if self.verify.iter().any(|command| command.trim().is_empty()) {
            return Err(CliError::usage("a command to verify with is empty", "as in --verify \"pytest -q\""));
        }
        let reads = self.require_read.clone();
        Ok(Required { reads, ..Required::of(&self.require_file, &self.verify) })
    }

    /// What is to be said before the run, since it cannot be had.
    pub(super) fn lines(&self, runtime: &Runtime) -> Vec<String> {
        if self.verify.is_empty() || runtime.can_verify() {
            return Vec::new();
        }
        let what = if self.verify.len() == 1 { "this command" } else { "these commands" };
        vec![format!(
            "mast · {what} cannot be run here, so the run will not end verified: there is no sandbox"
        )]
    }
}
