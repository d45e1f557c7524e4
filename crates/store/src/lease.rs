//! Who works on which run. A lease tells others to keep away while it lasts, so that a run whose worker is
//! gone can be found and taken up; it is no lock. What keeps a worker that lost its run from writing on is
//! the run's epoch ([`crate::Fence`]), which is part of the state and checked with every batch.
//!
//! Rejected: leases as events. A heartbeat is no news, and a journal full of them is read by nobody.
//! See `docs/spec/recovery.md`.

use async_trait::async_trait;
use mast_kernel::id::RunId;
use mast_kernel::instant::Instant;
use mast_kernel::run::{Priority, RunStatus};

use crate::error::StoreError;
use crate::record::RunRow;

/// Who works on a run, and how long others keep away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The run.
    pub run: RunId,
    /// The process: a name of its own choosing that no other has.
    pub owner: String,
    /// When others may take the run up.
    pub until: Instant,
}

/// Which run is wanted next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// Who would work on it.
    pub owner: &'a str,
    /// The time.
    pub now: Instant,
    /// Until when others keep away.
    pub until: Instant,
    /// Of this priority.
    pub priority: Priority,
}

/// Leases of runs.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes a run's lease, or renews one's own; `false` where somebody else holds it and it is not over.
    ///
    /// # Errors
    ///
    /// [`StoreError`], when the store cannot be written.
    async fn take(&self, lease: &Lease, now: Instant) -> Result<bool, StoreError>;

    /// Gives a run's lease back, if this owner holds it.
    ///
    /// # Errors
    ///
    /// [`StoreError`], when the store cannot be written.
    async fn release(&self, run: RunId, owner: &str) -> Result<(), StoreError>;

    /// Who holds a run's lease; also one that is over.
    ///
    /// # Errors
    ///
    /// [`StoreError`], when the store cannot be read.
    async fn lease(&self, run: RunId) -> Result<Option<Lease>, StoreError>;

    /// The oldest run that could go on and that nobody works on, with its lease taken: one that is queued,
    /// one that was at work when its owner's lease ended, or one all of whose questions are settled or over.
    ///
    /// # Errors
    ///
    /// [`StoreError`], when the store cannot be written.
    async fn next(&self, wanted: &Wanted<'_>) -> Result<Option<RunRow>, StoreError>;

    /// Waits until another process hints that there may be a run to take up. A store that cannot tell waits
    /// for ever, and a hint may be missed: whoever waits looks by itself too.
    async fn hint(&self) {
        std::future::pending::<()>().await;
    }
}

/// Whether a run in this state could go on without anybody's word but those that are on record.
#[must_use]
pub(crate) const fn could_go_on(status: RunStatus) -> bool {
    matches!(status, RunStatus::Queued | RunStatus::Running | RunStatus::WaitingForApproval)
}
