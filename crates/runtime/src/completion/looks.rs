//! What was there before a run: fixed with its contract, so that afterwards it can be told what the run
//! changed.

use mast_kernel::completion::{Looked, Required};

use crate::runtime::Runtime;

impl Runtime {
    /// The same requirements, with what is there now.
    pub(crate) async fn looked_before(&self, mut required: Required) -> Required {
        for file in &mut required.files {
            *file = self.look(&file.path).await;
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
        required
    }

    /// How a file is now. One that cannot be looked at counts as not there.
    pub(super) async fn look(&self, path: &str) -> Looked {
        let state = match self.artifacts() {
            None => None,
            Some(artifacts) => artifacts.look(path).await.unwrap_or_else(|error| {
                tracing::warn!("{error}");
                None
            }),
        };
        Looked { path: path.to_owned(), state }
    }
}
