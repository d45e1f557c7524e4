//! Leases in memory.

use async_trait::async_trait;
use mast_kernel::approval::ApprovalStatus;
use mast_kernel::id::RunId;
use mast_kernel::instant::Instant;
use mast_kernel::run::RunStatus;

use super::{Held, MemoryStore, SessionHeld};
use crate::error::StoreError;
use crate::lease::{Lease, Leases, Wanted, could_go_on};
use crate::record::RunRow;

impl Held {
    fn is_free(&self, run: RunId, owner: &str, now: Instant) -> bool {
        self.leases.get(&run).is_none_or(|lease| lease.until <= now || lease.owner == owner)
    }
}

impl SessionHeld {
    /// Whether nobody's answer is waited for.
    fn is_answered(&self, run: &RunRow, now: Instant) -> bool {
        run.status != RunStatus::WaitingForApproval
            || !self
                .state
                .approvals
                .values()
                .any(|row| row.run == run.id && row.status == ApprovalStatus::Pending && now < row.expires_at)
    }
}

#[async_trait]
impl Leases for MemoryStore {
    async fn take(&self, lease: &Lease, now: Instant) -> Result<bool, StoreError> {
        let mut held = self.held();
        let is_free = held.is_free(lease.run, &lease.owner, now);
        if is_free {
            held.leases.insert(lease.run, lease.clone());
        }
        Ok(is_free)
    }

    async fn release(&self, run: RunId, owner: &str) -> Result<(), StoreError> {
        let mut held = self.held();
        if held.leases.get(&run).is_some_and(|lease| lease.owner == owner) {
            held.leases.remove(&run);
        }
        Ok(())
    }

    async fn lease(&self, run: RunId) -> Result<Option<Lease>, StoreError> {
        Ok(self.held().leases.get(&run).cloned())
    }

    async fn next(&self, wanted: &Wanted<'_>) -> Result<Option<RunRow>, StoreError> {
        let mut held = self.held();
        let open = held.sessions.values().flat_map(|session| {
            let rows = session.state.runs.values();
            rows.filter(|row| could_go_on(row.status) && row.priority == wanted.priority)
                .filter(|row| session.is_answered(row, wanted.now))
        });
        let free = open.filter(|row| held.leases.get(&row.id).is_none_or(|lease| lease.until <= wanted.now));
        let Some(run) = free.min_by_key(|row| row.id).cloned() else { return Ok(None) };
        let lease = Lease { run: run.id, owner: wanted.owner.to_owned(), until: wanted.until };
        held.leases.insert(run.id, lease);
        Ok(Some(run))
    }
}
