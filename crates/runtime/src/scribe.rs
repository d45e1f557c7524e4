//! Collects what is to be written together: contents, and the events that commit to them. The store
//! takes it as one batch, so that a state and its event are changed in one transaction.

use mast_kernel::canonical::{Digest, NotCanonical};
use mast_kernel::event::{Actor, EventBody, NewEvent, Salt};
use mast_kernel::id::{RunId, SessionId};
use mast_kernel::instant::Instant;
use mast_store::{Batch, Durability, Fence, NewContent};
use serde::Serialize;
use serde_json::Value;

use crate::clock::World;

/// What is to be written next.
#[derive(Debug)]
pub(crate) struct Scribe<'a> {
    world: &'a World,
    run: Option<RunId>,
    floor: Instant,
    batch: Batch,
}

impl<'a> Scribe<'a> {
    /// Nothing yet, for this session and run.
    pub(crate) fn new(world: &'a World, session: SessionId, run: Option<RunId>) -> Self {
        let floor = Instant::from_micros(i64::MIN);
        Self { world, run, floor, batch: Batch::new(session, Durability::Normal) }
    }

    /// The same, for somebody who works on the run and could have lost it.
    pub(crate) fn fenced(mut self, epoch: u32) -> Self {
        self.batch.fence = self.run.map(|run| Fence { run, epoch });
        self
    }

    /// The same, for events that must not seem to be before this moment.
    pub(crate) fn not_before(self, floor: Instant) -> Self {
        Self { floor, ..self }
    }

    /// Keeps a value, and gives the commitment that events hold of it.
    pub(crate) fn content(&mut self, value: &impl Serialize) -> Result<Digest, NotCanonical> {
        // What is kept here is made by Mast from plain records, which can always be written as JSON.
        self.value(&serde_json::to_value(value).unwrap_or(Value::Null))
    }

    /// The same for what is JSON already.
    pub(crate) fn value(&mut self, value: &Value) -> Result<Digest, NotCanonical> {
        let salt = Salt::new(self.world.ids.salt());
        Ok(self.batch.put(NewContent::new(salt, value)?))
    }

    /// Adds an event, now.
    pub(crate) fn event(&mut self, actor: Actor, body: EventBody) {
        let at = self.world.clock.now().max(self.floor);
        let (run, salt) = (self.run, Salt::new(self.world.ids.salt()));
        self.batch.tell(NewEvent { run, actor, at, body, salt });
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.batch.events.is_empty()
    }

    /// Everything collected, as one batch; afterwards there is nothing to write.
    pub(crate) fn take(&mut self, durability: Durability) -> Batch {
        let mut next = Batch::new(self.batch.session, Durability::Normal);
        next.fence = self.batch.fence;
        let mut batch = std::mem::replace(&mut self.batch, next);
        batch.durability = durability;
        batch
    }
}
