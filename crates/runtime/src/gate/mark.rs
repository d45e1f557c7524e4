//! Commits a call's mark: its word, on record, that it is about to reach out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use mast_kernel::event::{Actor, CallMarked, EventBody, NewEvent, Salt};
use mast_kernel::id::CallId;
use mast_store::{Batch, Durability, Fence, Store, StoreError};
use mast_tools::{Failure, MarkLog};

use crate::clock::World;

/// Commits the mark of one call, once.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) store: Arc<dyn Store>,
    pub(super) world: World,
    pub(super) event: (mast_kernel::id::SessionId, Fence, CallId),
    pub(super) marked: Arc<AtomicBool>,
}

#[async_trait]
impl MarkLog for Mark {
    async fn mark(&self) -> Result<(), Failure> {
        if self.marked.load(Ordering::Acquire) {
            return Ok(());
        }
        let (session, fence, call) = self.event;
        let mut batch = Batch::new(session, Durability::Full);
        batch.fence = Some(fence);
        batch.tell(NewEvent {
            run: Some(fence.run),
            actor: Actor::Tool,
            at: self.world.clock.now(),
            body: EventBody::CallMarked(CallMarked { call }),
            salt: Salt::new(self.world.ids.salt()),
        });
        let committed: Result<_, StoreError> = self.store.commit(batch).await;
        committed.map_err(|error| Failure {
            code: "tool.store.unavailable",
            ..Failure::internal(error.to_string())
        })?;
        self.marked.store(true, Ordering::Release);
        Ok(())
    }
}
