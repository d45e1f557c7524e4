//! What was there before a run: fixed with its contract, so that afterwards it can be told what the run
//! changed.

use std::sync::Arc;

use mast_kernel::completion::{FileState, Looked, Required};
use mast_tools::{Failure, Workspace};

use crate::error::RuntimeError;
use crate::runtime::Runtime;

impl Runtime {
    /// The same requirements, with what is there now, in the folder of the run where it has one.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NoWorkspace`].
    pub(crate) async fn looked_before(
        &self,
        mut required: Required,
        folder: Option<&str>,
    ) -> Result<Required, RuntimeError> {
        let workspace = self.workspace(folder)?;
        for file in &mut required.files {
            *file = self.look(&file.path, workspace.as_ref()).await;
        }
        if let Some(verifier) = self.verifier() {
            for check in &mut required.checks {
                // Without a guard set everything in it counts as new afterwards, and nothing is verified.
                match verifier.guard(&check.command, None).await {
                    Ok(guard) => check.guard = guard,
                    Err(error) => tracing::warn!("{error}"),
                }
            }
        }
        Ok(required)
    }

    /// How a file is now. One that cannot be looked at counts as not there.
    pub(super) async fn look(&self, path: &str, workspace: Option<&Arc<Workspace>>) -> Looked {
        let unseen = |why: String| {
            tracing::warn!("{path} cannot be looked at: {why}");
            None
        };
        let state = match (workspace, self.artifacts()) {
            (Some(workspace), _) => state(workspace, path).unwrap_or_else(|why| unseen(why.to_string())),
            (None, Some(artifacts)) => {
                artifacts.look(path).await.unwrap_or_else(|why| unseen(why.to_string()))
            }
            (None, None) => None,
        };
        Looked { path: path.to_owned(), state }
    }
}

/// How a file of a workspace is now; none where there is none.
fn state(workspace: &Workspace, path: &str) -> Result<Option<FileState>, Failure> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let found = workspace.state(&mast_tools::workspace::inside(path)?)?;
    Ok(found.map(|(size_bytes, digest)| FileState { size_bytes, digest, modified_at: None }))
}
