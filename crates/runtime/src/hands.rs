//! What the calls of a run have in their hands besides what they were asked: the time that tools see, the word to
//! stop, and the folder of the run.

use std::fmt::Debug;
use std::sync::Arc;

use mast_kernel::policy::Surroundings;
use mast_tools::{Cancellation, Clock, Workspace};

use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// Somebody who opens the folders of runs.
pub trait Workspaces: Debug + Send + Sync {
    /// The folder of this one name on the machine.
    ///
    /// # Errors
    ///
    /// Why not, for a person: it is gone, or may not be a workspace any more.
    fn open(&self, folder: &str) -> Result<Arc<Workspace>, String>;
}

/// What calls have in their hands.
#[derive(Debug, Clone)]
pub(crate) struct Hands {
    /// The time that tools see.
    pub(crate) tool_clock: Arc<dyn Clock>,
    /// Whether the run was told to stop.
    pub(crate) cancellation: Cancellation,
    /// The folder of the run.
    pub(crate) workspace: Option<Arc<Workspace>>,
}

impl Runtime {
    /// The folder that a run is to work in.
    pub(crate) fn workspace(&self, folder: Option<&str>) -> Result<Option<Arc<Workspace>>, RuntimeError> {
        let Some(folder) = folder else { return Ok(None) };
        let refused = |why: String| RuntimeError::NoWorkspace { folder: folder.to_owned(), why };
        let workspaces = self.workspaces().ok_or_else(|| refused("nobody here opens folders".to_owned()))?;
        workspaces.open(folder).map(Some).map_err(refused)
    }

    /// What stands around every call of a run that has this folder. Whoever embeds Mast may have tools with files of
    /// their own, and says so.
    pub(crate) fn surroundings_with(&self, workspace: Option<&Arc<Workspace>>) -> Surroundings {
        let around = self.surroundings();
        Surroundings { workspace: workspace.is_some() || around.workspace, ..around.clone() }
    }
}
