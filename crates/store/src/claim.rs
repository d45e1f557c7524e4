//! The commit before an effect: what [`mast_kernel::permit::claim`] asks of a store.

use std::sync::{Mutex, PoisonError};

use mast_kernel::event::EventBody;
use mast_kernel::permit::{ClaimLog, ClaimRecord, ClaimRefused};

use crate::batch::{Batch, Committed};
use crate::error::StoreError;
use crate::traits::Store;

/// A batch that claims one call, ready to be committed once.
///
/// The batch must hold exactly one `tool.call.started`, of the call that is claimed. The store checks
/// before it commits that the call then has the idempotency key of the permit, which covers the tool,
/// its definition and the exact arguments.
#[derive(Debug)]
pub struct PendingClaim<'a> {
    store: &'a dyn Store,
    batch: Mutex<Option<Batch>>,
    committed: Mutex<Option<Committed>>,
}

impl<'a> PendingClaim<'a> {
    /// A claim that is committed by this batch.
    #[must_use]
    pub const fn new(store: &'a dyn Store, batch: Batch) -> Self {
        Self { store, batch: Mutex::new(Some(batch)), committed: Mutex::new(None) }
    }

    /// What was committed, once it was.
    #[must_use]
    pub fn committed(&self) -> Option<Committed> {
        self.committed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn take_for(&self, record: &ClaimRecord) -> Result<Batch, ClaimRefused> {
        let taken = self.batch.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut batch = taken.ok_or(ClaimRefused::Lost)?;
        let mut started = batch.events.iter().filter_map(|event| match &event.body {
            EventBody::ToolCallStarted(started) => Some(started.call),
            _ => None,
        });
        if started.next() != Some(record.call) || started.next().is_some() {
            return Err(ClaimRefused::Mismatch);
        }
        batch.claim = Some(record.clone());
        Ok(batch)
    }
}

impl ClaimLog for PendingClaim<'_> {
    async fn commit_claim(&self, record: &ClaimRecord) -> Result<(), ClaimRefused> {
        let batch = self.take_for(record)?;
        let committed = self.store.commit(batch).await.map_err(|error| match error {
            StoreError::Conflict(_) | StoreError::DuplicateKey { .. } => ClaimRefused::Lost,
            other => ClaimRefused::Store(Box::new(other)),
        })?;
        *self.committed.lock().unwrap_or_else(PoisonError::into_inner) = Some(committed);
        Ok(())
    }
}
