//! What a tool may use besides its arguments. There is no ambient anything: a tool that needs the time
//! asks the clock that it was handed, and one that needs a file will ask the workspace that it was
//! handed. `runtime` adapts the rest of Mast to these traits.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mast_kernel::instant::Instant;
use mast_kernel::trust::Label;
use tokio::sync::watch;

use crate::tool::Failure;
use crate::workspace::Workspace;

/// Where tools get the time from.
pub trait Clock: Debug + Send + Sync {
    /// The present moment.
    fn now(&self) -> Instant;
}

/// Where the mark of a call is committed: the word of a tool that it is about to reach out.
#[async_trait]
pub trait MarkLog: Debug + Send + Sync {
    /// Commits the mark. A second mark of the same call is no error and changes nothing.
    ///
    /// # Errors
    ///
    /// [`Failure`]; then nothing may be sent.
    async fn mark(&self) -> Result<(), Failure>;
}

/// Whether a run was told to stop. Cheap to clone; it never goes back.
#[derive(Debug, Clone)]
pub struct Cancellation {
    told: Arc<watch::Sender<bool>>,
}

impl Default for Cancellation {
    fn default() -> Self {
        Self::new()
    }
}

impl Cancellation {
    /// A run that was not told to stop.
    #[must_use]
    pub fn new() -> Self {
        Self { told: Arc::new(watch::Sender::new(false)) }
    }

    /// Tells everybody who holds a clone to stop.
    pub fn cancel(&self) {
        self.told.send_replace(true);
    }

    /// Whether it was told.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.told.borrow()
    }

    /// Waits until it is told.
    pub async fn cancelled(&self) {
        let mut told = self.told.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _told = told.wait_for(|told| *told).await;
    }
}

/// The capabilities of one call.
#[derive(Debug, Clone)]
pub struct Context {
    clock: Arc<dyn Clock>,
    mark: Arc<dyn MarkLog>,
    cancellation: Cancellation,
    time_left: Duration,
    origin: Label,
    workspace: Option<Arc<Workspace>>,
}

impl Context {
    /// The capabilities that a call is given.
    #[must_use]
    pub fn new(
        clock: Arc<dyn Clock>,
        mark: Arc<dyn MarkLog>,
        cancellation: Cancellation,
        time_left: Duration,
    ) -> Self {
        Self { clock, mark, cancellation, time_left, origin: Label::piped(), workspace: None }
    }

    /// The same for a call of this origin, in this workspace.
    #[must_use]
    pub fn within(self, workspace: Option<Arc<Workspace>>, origin: Label) -> Self {
        Self { origin, workspace, ..self }
    }

    /// The folder of the run. Only tools that read or write files are let through to it.
    ///
    /// # Errors
    ///
    /// [`Failure`], where the run has none: the policy has denied such a call before.
    pub fn workspace(&self) -> Result<&Arc<Workspace>, Failure> {
        self.workspace.as_ref().ok_or_else(|| Failure::internal("the run has no workspace"))
    }

    /// What could have shaped the call.
    #[must_use]
    pub const fn origin(&self) -> Label {
        self.origin
    }

    /// The present moment, from the platform's clock.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Whether the run was told to stop.
    #[must_use]
    pub const fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// How long the call may take from its start: its own timeout, or what is left of the run.
    #[must_use]
    pub const fn time_left(&self) -> Duration {
        self.time_left
    }

    /// Commits that the call is about to reach out. Called directly before the first outward byte; from
    /// here on a crash leaves the outcome unknown instead of running the call again.
    ///
    /// # Errors
    ///
    /// [`Failure`]; then nothing may be sent.
    pub async fn mark_effect_sent(&self) -> Result<(), Failure> {
        self.mark.mark().await
    }
}
