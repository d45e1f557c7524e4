//! Only in builds for tests: a store whose process dies, as if by `kill -9`, when an event of a chosen type
//! is about to be committed or just was. `MAST_TEST_DIE=call.marked:before` is read by no other build.

use std::sync::Arc;

use async_trait::async_trait;
use mast_kernel::canonical::Digest;
use mast_kernel::event::{Event, Head};
use mast_kernel::id::{RunId, SessionId};
use mast_kernel::instant::Instant;
use mast_store::lease::{Lease, Leases, Wanted};
use mast_store::sign::Seal;
use mast_store::{
    ApprovalFilter, ApprovalRow, Batch, CallFilter, CallRow, Committed, ContentRow, GrantFilter, GrantReader,
    GrantRow, ItemRow, JournalReader, Reader, RunFilter, RunRow, SessionFilter, SessionRow, Store,
    StoreError, Writer, audit,
};

/// A store whose process dies.
#[derive(Debug)]
struct Mortal {
    inner: Arc<dyn Store>,
    kind: String,
    is_after: bool,
}

/// The store, or one whose process dies where the variable says.
pub(super) fn perhaps(inner: Arc<dyn Store>, at: Option<&str>) -> Arc<dyn Store> {
    match at.and_then(|at| at.split_once(':')) {
        Some((kind, when)) => Arc::new(Mortal { inner, kind: kind.to_owned(), is_after: when == "after" }),
        None => inner,
    }
}

impl Mortal {
    fn is_due(&self, batch: &Batch) -> bool {
        batch.events.iter().any(|event| event.body.kind() == self.kind)
    }
}

fn die() {
    let this = rustix::process::getpid();
    if rustix::process::kill_process(this, rustix::process::Signal::KILL).is_err() {
        std::process::abort();
    }
    std::thread::park();
}

#[async_trait]
impl Writer for Mortal {
    async fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        let is_due = self.is_due(&batch);
        if is_due && !self.is_after {
            self.inner.flush().await?;
            die();
        }
        let committed = self.inner.commit(batch).await;
        if is_due && committed.is_ok() {
            die();
        }
        committed
    }

    fn post(&self, batch: Batch) {
        if self.is_due(&batch) && !self.is_after {
            die();
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
        self.inner.sign_head(session, at).await
    }
}

#[async_trait]
impl Reader for Mortal {
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
impl GrantReader for Mortal {
    async fn last_moment(&self, session: SessionId) -> Result<Option<Instant>, StoreError> {
        self.inner.last_moment(session).await
    }

    async fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRow>, StoreError> {
        self.inner.grants(filter).await
    }
}

#[async_trait]
impl Leases for Mortal {
    async fn take(&self, lease: &Lease, now: Instant) -> Result<bool, StoreError> {
        self.inner.take(lease, now).await
    }

    async fn release(&self, run: RunId, owner: &str) -> Result<(), StoreError> {
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
impl JournalReader for Mortal {
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
