//! What a store can do: write, read, and show its journal to an auditor.

use async_trait::async_trait;
use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::canonical::Digest;
use mast_kernel::event::{Event, Head};
use mast_kernel::grant::GrantStatus;
use mast_kernel::id::{ApprovalId, CallId, GrantId, PrincipalId, RunId, SessionId};
use mast_kernel::instant::Instant;
use mast_kernel::run::RunStatus;

use crate::batch::{Batch, Committed};
use crate::error::StoreError;
use crate::lease::Leases;
use crate::record::{ApprovalRow, CallRow, ContentRow, GrantRow, ItemRow, RunRow, SessionRow};
use crate::sign::Seal;
use crate::upkeep::Upkeep;

/// Writes. One session's batches are committed in the order in which they were handed over.
#[async_trait]
pub trait Writer: Send + Sync {
    /// Commits a batch: all of it or nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] and [`StoreError::DuplicateKey`] where the state does not allow it; then
    /// nothing was written and the store goes on. Any other error: the store could not.
    async fn commit(&self, batch: Batch) -> Result<Committed, StoreError>;

    /// Hands over a batch without waiting. It is written as soon as possible, after everything handed
    /// over before. If that fails the store is *poisoned*: every later commit fails, so that no effect
    /// can follow what was not recorded.
    fn post(&self, batch: Batch);

    /// Waits until everything handed over so far is written.
    ///
    /// # Errors
    ///
    /// [`StoreError::Poisoned`] if some of it could not be.
    async fn flush(&self) -> Result<(), StoreError>;

    /// Signs where the session's chain stands now, after everything handed over so far.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchSession`], or the store could not.
    async fn sign_head(&self, session: SessionId, at: Instant) -> Result<Head, StoreError>;

    /// Does what [`crate::upkeep`] planned, each for a session that still ends where it did.
    ///
    /// # Errors
    ///
    /// [`crate::Conflict::Overtaken`] where something was added meanwhile, or the store could not; what was planned
    /// before that is done.
    async fn keep_up(&self, planned: Vec<Upkeep>) -> Result<(), StoreError>;
}

/// Which sessions; every field that is given must fit. Newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionFilter {
    /// Exactly this one.
    pub id: Option<SessionId>,
    /// Those whose id ends in this, whatever its case.
    pub ending: Option<String>,
    /// Those of this principal.
    pub principal: Option<PrincipalId>,
    /// At most so many; 0 for the store's own bound.
    pub limit: u32,
}

/// Which runs; every field that is given must fit. Newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// Exactly this one.
    pub id: Option<RunId>,
    /// Those whose id ends in this, whatever its case.
    pub ending: Option<String>,
    /// Those of this session.
    pub session: Option<SessionId>,
    /// Those in this state.
    pub status: Option<RunStatus>,
    /// At most so many; 0 for the store's own bound.
    pub limit: u32,
}

/// Which calls; every field that is given must fit. Oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallFilter {
    /// Exactly this one.
    pub id: Option<CallId>,
    /// Those whose id ends in this, whatever its case.
    pub ending: Option<String>,
    /// Those of this session.
    pub session: Option<SessionId>,
    /// Those of this run.
    pub run: Option<RunId>,
    /// Those in this state.
    pub status: Option<CallStatus>,
    /// The one with this key.
    pub idempotency_key: Option<Digest>,
    /// At most so many; 0 for the store's own bound.
    pub limit: u32,
}

/// Which approvals; every field that is given must fit. Newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApprovalFilter {
    /// Exactly this one.
    pub id: Option<ApprovalId>,
    /// Those whose id ends in this, whatever its case.
    pub ending: Option<String>,
    /// Those of this session.
    pub session: Option<SessionId>,
    /// Those of this run.
    pub run: Option<RunId>,
    /// Those about this call.
    pub call: Option<CallId>,
    /// Those in this state.
    pub status: Option<ApprovalStatus>,
    /// At most so many; 0 for the store's own bound.
    pub limit: u32,
}

/// Which grants; every field that is given must fit. Newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GrantFilter {
    /// Exactly this one.
    pub id: Option<GrantId>,
    /// Those whose id ends in this, whatever its case.
    pub ending: Option<String>,
    /// Those of this session.
    pub session: Option<SessionId>,
    /// Those in this state.
    pub status: Option<GrantStatus>,
    /// At most so many; 0 for the store's own bound.
    pub limit: u32,
}

/// Reads the state. What is not there is an empty list or `None`, never an error.
#[async_trait]
pub trait Reader: Send + Sync {
    /// Sessions.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>, StoreError>;

    /// Runs.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError>;

    /// Calls.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn calls(&self, filter: &CallFilter) -> Result<Vec<CallRow>, StoreError>;

    /// Approvals.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRow>, StoreError>;

    /// The items of a conversation with a place after `after`, in order, at most `limit` (0 for the
    /// store's own bound).
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn items(&self, session: SessionId, after: u64, limit: u32) -> Result<Vec<ItemRow>, StoreError>;

    /// One session.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        let filter = SessionFilter { id: Some(id), limit: 1, ..SessionFilter::default() };
        Ok(self.sessions(&filter).await?.pop())
    }

    /// One run.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn run(&self, id: RunId) -> Result<Option<RunRow>, StoreError> {
        let filter = RunFilter { id: Some(id), limit: 1, ..RunFilter::default() };
        Ok(self.runs(&filter).await?.pop())
    }

    /// One call.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn call(&self, id: CallId) -> Result<Option<CallRow>, StoreError> {
        let filter = CallFilter { id: Some(id), limit: 1, ..CallFilter::default() };
        Ok(self.calls(&filter).await?.pop())
    }

    /// One approval.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn approval(&self, id: ApprovalId) -> Result<Option<ApprovalRow>, StoreError> {
        let filter = ApprovalFilter { id: Some(id), limit: 1, ..ApprovalFilter::default() };
        Ok(self.approvals(&filter).await?.pop())
    }
}

/// Reads the yeses that reach further than one call, and the moment to hold whatever is timed against.
#[async_trait]
pub trait GrantReader: Send + Sync {
    /// Grants.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRow>, StoreError>;

    /// The newest moment on record, as far as it bears on a session: that of its last event or of the store's
    /// last signed head. What a clock says is checked against it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn last_moment(&self, session: SessionId) -> Result<Option<Instant>, StoreError>;

    /// One grant.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn grant(&self, id: GrantId) -> Result<Option<GrantRow>, StoreError> {
        let filter = GrantFilter { id: Some(id), limit: 1, ..GrantFilter::default() };
        Ok(self.grants(&filter).await?.pop())
    }
}

/// Shows the journal as it stands, also where it has been tampered with.
#[async_trait]
pub trait JournalReader: Send + Sync {
    /// What the store says of itself.
    fn seal(&self) -> Seal;

    /// The events of a session with a sequence after `after`, in order, at most `limit` (0 for the
    /// store's own bound).
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn events(&self, session: SessionId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError>;

    /// A value, by its commitment. It is not checked against it; [`crate::verify`] does that.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn content(&self, commitment: &Digest) -> Result<Option<ContentRow>, StoreError>;

    /// The signed heads with a number after `after`, in order, at most `limit` (0 for the store's own
    /// bound).
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read.
    async fn heads(&self, after: u64, limit: u32) -> Result<Vec<Head>, StoreError>;

    /// Everything that the store holds of one kind, for an audit: see [`crate::audit`].
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store cannot be read at all. A row that cannot be understood is part of
    /// the answer, not an error.
    async fn shelf(&self, ask: &crate::audit::Ask) -> Result<crate::audit::Page, StoreError>;
}

/// A whole store.
pub trait Store: Writer + Reader + GrantReader + JournalReader + Leases + std::fmt::Debug {}

impl<T: Writer + Reader + GrantReader + JournalReader + Leases + std::fmt::Debug> Store for T {}
