//! A store around another. It hands everything on, and may change one word, so that every commit must survive
//! a loss of power, as the claim of a call with an effect must; and it may keep what was committed, so that
//! the very same batches can be written again to another store, by as many callers as one likes.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mast_kernel::canonical::Digest;
use mast_kernel::event::{Event, Head};
use mast_kernel::id::{RunId, SessionId};
use mast_kernel::instant::Instant;
use mast_store::lease::{Lease, Leases, Wanted};
use mast_store::sign::Seal;
use mast_store::{
    ApprovalFilter, ApprovalRow, Batch, CallFilter, CallRow, Committed, ContentRow, Durability, GrantFilter,
    GrantReader, GrantRow, ItemRow, JournalReader, Reader, RunFilter, RunRow, SessionFilter, SessionRow,
    Store, StoreError, Writer, audit,
};

/// The store.
#[derive(Debug)]
pub(super) struct Around {
    store: Arc<dyn Store>,
    is_flushed: bool,
    kept: Option<Mutex<Vec<Kept>>>,
}

/// A batch as it was committed.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    batch: Batch,
    /// Whether nobody waited for it.
    is_posted: bool,
}

impl Kept {
    /// The session that it belongs to.
    pub(super) const fn session(&self) -> SessionId {
        self.batch.session
    }

    /// Commits it to this store as it was committed; to the end, where all are to be waited for.
    pub(super) async fn again(&self, store: &dyn Store, waits: bool) -> Result<(), StoreError> {
        if self.is_posted && !waits {
            store.post(self.batch.clone());
            return Ok(());
        }
        store.commit(self.batch.clone()).await.map(drop)
    }
}

impl Around {
    /// Every commit is flushed.
    pub(super) const fn flushed(store: Arc<dyn Store>) -> Self {
        Self { store, is_flushed: true, kept: None }
    }

    /// The same, and every batch is kept.
    pub(super) fn keeping(self) -> Self {
        Self { kept: Some(Mutex::new(Vec::new())), ..self }
    }

    /// Nothing is changed.
    pub(super) const fn plain(store: Arc<dyn Store>) -> Self {
        Self { store, is_flushed: false, kept: None }
    }

    /// What was committed since somebody asked last.
    pub(super) fn take(&self) -> Vec<Kept> {
        let kept = self.kept.as_ref().map(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner));
        kept.map(|mut kept| std::mem::take(&mut *kept)).unwrap_or_default()
    }

    fn seen(&self, mut batch: Batch, is_posted: bool) -> Batch {
        if self.is_flushed {
            batch.durability = Durability::Full;
        }
        if let Some(kept) = &self.kept {
            let batch = batch.clone();
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(Kept { batch, is_posted });
        }
        batch
    }
}

#[async_trait]
impl Writer for Around {
    async fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        self.store.commit(self.seen(batch, false)).await
    }

    fn post(&self, batch: Batch) {
        self.store.post(self.seen(batch, true));
    }

    async fn flush(&self) -> Result<(), StoreError> {
        self.store.flush().await
    }

    async fn keep_up(&self, planned: Vec<mast_store::upkeep::Upkeep>) -> Result<(), StoreError> {
        self.store.keep_up(planned).await
    }

    async fn sign_head(&self, session: SessionId, at: Instant) -> Result<Head, StoreError> {
        self.store.sign_head(session, at).await
    }
}

#[async_trait]
impl Reader for Around {
    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>, StoreError> {
        self.store.sessions(filter).await
    }

    async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        self.store.runs(filter).await
    }

    async fn calls(&self, filter: &CallFilter) -> Result<Vec<CallRow>, StoreError> {
        self.store.calls(filter).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRow>, StoreError> {
        self.store.approvals(filter).await
    }

    async fn items(&self, session: SessionId, after: u64, limit: u32) -> Result<Vec<ItemRow>, StoreError> {
        self.store.items(session, after, limit).await
    }
}

#[async_trait]
impl GrantReader for Around {
    async fn last_moment(&self, session: SessionId) -> Result<Option<Instant>, StoreError> {
        self.store.last_moment(session).await
    }

    async fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRow>, StoreError> {
        self.store.grants(filter).await
    }
}

#[async_trait]
impl JournalReader for Around {
    fn seal(&self) -> Seal {
        self.store.seal()
    }

    async fn events(&self, session: SessionId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.store.events(session, after, limit).await
    }

    async fn content(&self, commitment: &Digest) -> Result<Option<ContentRow>, StoreError> {
        self.store.content(commitment).await
    }

    async fn heads(&self, after: u64, limit: u32) -> Result<Vec<Head>, StoreError> {
        self.store.heads(after, limit).await
    }

    async fn shelf(&self, ask: &audit::Ask) -> Result<audit::Page, StoreError> {
        self.store.shelf(ask).await
    }
}

#[async_trait]
impl Leases for Around {
    async fn take(&self, lease: &Lease, now: Instant) -> Result<bool, StoreError> {
        self.store.take(lease, now).await
    }

    async fn release(&self, run: RunId, owner: &str) -> Result<(), StoreError> {
        self.store.release(run, owner).await
    }

    async fn lease(&self, run: RunId) -> Result<Option<Lease>, StoreError> {
        self.store.lease(run).await
    }

    async fn next(&self, wanted: &Wanted<'_>) -> Result<Option<RunRow>, StoreError> {
        self.store.next(wanted).await
    }
    async fn hint(&self) {
        self.store.hint().await;
    }
}
