//! A store that works until it is told not to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use mast_kernel::canonical::Digest;
use mast_kernel::event::{Event, Head};
use mast_kernel::id::{RunId, SessionId};
use mast_kernel::instant::Instant;
use mast_store::audit;
use mast_store::lease::{Lease, Leases, Wanted};
use mast_store::sign::Seal;
use mast_store::{
    ApprovalFilter, ApprovalRow, Batch, CallFilter, CallRow, Committed, ContentRow, GrantFilter, GrantReader,
    GrantRow, ItemRow, JournalReader, Reader, RunFilter, RunRow, SessionFilter, SessionRow, Store,
    StoreError, Writer,
};
use tokio::sync::Notify;

use crate::world::memory_store;

/// How it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It says that it could not, and did not.
    Error,
    /// It never answers.
    Hang,
    /// It says that it could not, after it did.
    LateLie,
    /// The process that writes is gone before the write: nothing is written any more, and nothing answers.
    Gone,
    /// The same, after the write.
    GoneAfter,
}

impl Fault {
    /// Whether it is the process that ends, and not the store that fails.
    const fn is_end(self) -> bool {
        matches!(self, Self::Gone | Self::GoneAfter)
    }
}

/// A store that fails from its n-th commit on, counted from 0. Where its process is to be gone, what is
/// posted counts too.
#[derive(Debug)]
pub struct BrokenStore {
    inner: Arc<dyn Store>,
    fault: Fault,
    fails_at: usize,
    n_commits: AtomicUsize,
    gone: Notify,
}

impl BrokenStore {
    /// A store that fails like this from that commit on.
    #[must_use]
    pub fn new(fault: Fault, fails_at: usize) -> Self {
        Self::over(Arc::new(memory_store()), fault, fails_at)
    }

    /// The same, in front of another store.
    #[must_use]
    pub fn over(inner: Arc<dyn Store>, fault: Fault, fails_at: usize) -> Self {
        Self { inner, fault, fails_at, n_commits: AtomicUsize::new(0), gone: Notify::new() }
    }

    /// Waits until its process is gone.
    pub async fn gone(&self) {
        self.gone.notified().await;
    }

    /// Whether its process is gone.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.fault.is_end() && self.n_commits() > self.fails_at
    }

    /// The store behind it.
    #[must_use]
    pub fn inner(&self) -> &dyn Store {
        self.inner.as_ref()
    }

    /// How many commits it was asked for.
    #[must_use]
    pub fn n_commits(&self) -> usize {
        self.n_commits.load(Ordering::SeqCst)
    }
}

fn refusal() -> StoreError {
    StoreError::Poisoned("a test said so".to_owned())
}

#[async_trait]
impl Writer for BrokenStore {
    async fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        let number = self.n_commits.fetch_add(1, Ordering::SeqCst);
        if number < self.fails_at {
            return self.inner.commit(batch).await;
        }
        match self.fault {
            Fault::GoneAfter if number == self.fails_at => {
                self.inner.commit(batch).await?;
                self.gone.notify_one();
                std::future::pending().await
            }
            Fault::Error => Err(refusal()),
            Fault::Hang | Fault::Gone | Fault::GoneAfter => {
                self.gone.notify_one();
                std::future::pending().await
            }
            Fault::LateLie => {
                self.inner.commit(batch).await?;
                Err(refusal())
            }
        }
    }

    fn post(&self, batch: Batch) {
        if self.fault.is_end() {
            let number = self.n_commits.fetch_add(1, Ordering::SeqCst);
            let is_written =
                number < self.fails_at || (number == self.fails_at && self.fault == Fault::GoneAfter);
            if number >= self.fails_at {
                self.gone.notify_one();
            }
            if !is_written {
                return;
            }
        }
        self.inner.post(batch);
    }

    async fn flush(&self) -> Result<(), StoreError> {
        self.inner.flush().await
    }

    async fn keep_up(&self, planned: Vec<mast_store::upkeep::Upkeep>) -> Result<(), StoreError> {
        self.inner.keep_up(planned).await
    }

    async fn sign_head(&self, session: SessionId, at: Instant) -> Result<Head, StoreError> {
        if self.is_gone() {
            std::future::pending::<()>().await;
        }
        self.inner.sign_head(session, at).await
    }
}

#[async_trait]
impl Leases for BrokenStore {
    async fn take(&self, lease: &Lease, now: Instant) -> Result<bool, StoreError> {
        if self.is_gone() {
            std::future::pending::<()>().await;
        }
        self.inner.take(lease, now).await
    }

    async fn release(&self, run: RunId, owner: &str) -> Result<(), StoreError> {
        if self.is_gone() {
            std::future::pending::<()>().await;
        }
        self.inner.release(run, owner).await
    }

    async fn lease(&self, run: RunId) -> Result<Option<Lease>, StoreError> {
        self.inner.lease(run).await
    }

    async fn next(&self, wanted: &Wanted<'_>) -> Result<Option<RunRow>, StoreError> {
        self.inner.next(wanted).await
    }
}

#[async_trait]
impl Reader for BrokenStore {
    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>, StoreError> {
        self.inner.sessions(filter).await
    }

    async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        self.inner.runs(filter).await
    }

    async fn calls(&self, filter: &CallFilter) -> Result<Vec<CallRow>, StoreError> {
        self.inner.calls(filter).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRow>, StoreError> {
        self.inner.approvals(filter).await
    }

    async fn items(&self, session: SessionId, after: u64, limit: u32) -> Result<Vec<ItemRow>, StoreError> {
        self.inner.items(session, after, limit).await
    }
}

#[async_trait]
impl GrantReader for BrokenStore {
    async fn last_moment(&self, session: SessionId) -> Result<Option<Instant>, StoreError> {
        self.inner.last_moment(session).await
    }

    async fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRow>, StoreError> {
        self.inner.grants(filter).await
    }
}

#[async_trait]
impl JournalReader for BrokenStore {
    fn seal(&self) -> Seal {
        self.inner.seal()
    }

    async fn events(&self, session: SessionId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.inner.events(session, after, limit).await
    }

    async fn content(&self, commitment: &Digest) -> Result<Option<ContentRow>, StoreError> {
        self.inner.content(commitment).await
    }

    async fn heads(&self, after: u64, limit: u32) -> Result<Vec<Head>, StoreError> {
        self.inner.heads(after, limit).await
    }

    async fn shelf(&self, ask: &audit::Ask) -> Result<audit::Page, StoreError> {
        self.inner.shelf(ask).await
    }
}
