//! A store whose every commit must survive a loss of power: what the journal of a call with an effect
//! asks for. It hands everything on and changes one word.

use std::sync::Arc;

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
pub(super) struct Flushed(pub(super) Arc<dyn Store>);

#[async_trait]
impl Writer for Flushed {
    async fn commit(&self, mut batch: Batch) -> Result<Committed, StoreError> {
        batch.durability = Durability::Full;
        self.0.commit(batch).await
    }

    fn post(&self, mut batch: Batch) {
        batch.durability = Durability::Full;
        self.0.post(batch);
    }

    async fn flush(&self) -> Result<(), StoreError> {
        self.0.flush().await
    }

    async fn sign_head(&self, session: SessionId, at: Instant) -> Result<Head, StoreError> {
        self.0.sign_head(session, at).await
    }
}

#[async_trait]
impl Reader for Flushed {
    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>, StoreError> {
        self.0.sessions(filter).await
    }

    async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        self.0.runs(filter).await
    }

    async fn calls(&self, filter: &CallFilter) -> Result<Vec<CallRow>, StoreError> {
        self.0.calls(filter).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRow>, StoreError> {
        self.0.approvals(filter).await
    }

    async fn items(&self, session: SessionId, after: u64, limit: u32) -> Result<Vec<ItemRow>, StoreError> {
        self.0.items(session, after, limit).await
    }
}

#[async_trait]
impl GrantReader for Flushed {
    async fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRow>, StoreError> {
        self.0.grants(filter).await
    }
}

#[async_trait]
impl JournalReader for Flushed {
    fn seal(&self) -> Seal {
        self.0.seal()
    }

    async fn events(&self, session: SessionId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.0.events(session, after, limit).await
    }

    async fn content(&self, commitment: &Digest) -> Result<Option<ContentRow>, StoreError> {
        self.0.content(commitment).await
    }

    async fn heads(&self, after: u64, limit: u32) -> Result<Vec<Head>, StoreError> {
        self.0.heads(after, limit).await
    }

    async fn shelf(&self, ask: &audit::Ask) -> Result<audit::Page, StoreError> {
        self.0.shelf(ask).await
    }
}

#[async_trait]
impl Leases for Flushed {
    async fn take(&self, lease: &Lease, now: Instant) -> Result<bool, StoreError> {
        self.0.take(lease, now).await
    }

    async fn release(&self, run: RunId, owner: &str) -> Result<(), StoreError> {
        self.0.release(run, owner).await
    }

    async fn lease(&self, run: RunId) -> Result<Option<Lease>, StoreError> {
        self.0.lease(run).await
    }

    async fn next(&self, wanted: &Wanted<'_>) -> Result<Option<RunRow>, StoreError> {
        self.0.next(wanted).await
    }
}
