//! A store that works until it is told not to.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use mast_kernel::canonical::Digest;
use mast_kernel::event::{Event, Head};
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;
use mast_store::audit;
use mast_store::sign::Seal;
use mast_store::{
    ApprovalFilter, ApprovalRow, Batch, CallFilter, CallRow, Committed, ContentRow, GrantFilter, GrantReader,
    GrantRow, ItemRow, JournalReader, MemoryStore, Reader, RunFilter, RunRow, SessionFilter, SessionRow,
    StoreError, Writer,
};

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
}

/// A memory store that fails from its n-th commit on, counted from 0.
#[derive(Debug)]
pub struct BrokenStore {
    inner: MemoryStore,
    fault: Fault,
    fails_at: usize,
    n_commits: AtomicUsize,
}

impl BrokenStore {
    /// A store that fails like this from that commit on.
    #[must_use]
    pub fn new(fault: Fault, fails_at: usize) -> Self {
        Self { inner: memory_store(), fault, fails_at, n_commits: AtomicUsize::new(0) }
    }

    /// The store behind it.
    #[must_use]
    pub const fn inner(&self) -> &MemoryStore {
        &self.inner
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
            Fault::Error => Err(refusal()),
            Fault::Hang => std::future::pending().await,
            Fault::LateLie => {
                self.inner.commit(batch).await?;
                Err(refusal())
            }
        }
    }

    fn post(&self, batch: Batch) {
        self.inner.post(batch);
    }

    async fn flush(&self) -> Result<(), StoreError> {
        self.inner.flush().await
    }

    async fn sign_head(&self, session: SessionId, at: Instant) -> Result<Head, StoreError> {
        self.inner.sign_head(session, at).await
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
