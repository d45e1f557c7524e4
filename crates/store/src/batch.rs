//! What is committed together: values, and the events that hold commitments to them. A change of state
//! *is* its event, so there is no way to change one without the other. Rejected: a list of row changes
//! beside the events, which can disagree with them.

use std::sync::Arc;

use mast_kernel::canonical::{Canonical, Digest, NotCanonical};
use mast_kernel::event::{Event, NewEvent, Salt, commitment};
use mast_kernel::id::{RunId, SessionId};
use mast_kernel::permit::ClaimRecord;
use serde_json::Value;

/// How sure the commit must be before it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// It survives the end of this process.
    Normal,
    /// It survives a loss of power.
    Full,
}

/// A run, and how often it had been taken up again when the writer of a batch took it up. The batch is
/// refused with [`crate::Conflict::Fenced`] if that number is another one now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// The run.
    pub run: RunId,
    /// [`crate::RunRow::epoch`] as the writer knows it.
    pub epoch: u32,
}

/// A value to be kept, and the salt of its commitment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewContent {
    salt: Salt,
    value: Canonical,
    commitment: Digest,
}

impl NewContent {
    /// A value to be kept. The salt is 16 random bytes of its own.
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] where the value has no canonical form.
    pub fn new(salt: Salt, value: &Value) -> Result<Self, NotCanonical> {
        Ok(Self::of(salt, Canonical::of(value)?))
    }

    /// A value to be kept that is canonical already.
    #[must_use]
    pub fn of(salt: Salt, value: Canonical) -> Self {
        let commitment = commitment(&salt, &value);
        Self { salt, value, commitment }
    }

    /// What an event says of it.
    #[must_use]
    pub const fn commitment(&self) -> Digest {
        self.commitment
    }

    /// The salt.
    #[must_use]
    pub const fn salt(&self) -> Salt {
        self.salt
    }

    /// The value.
    #[must_use]
    pub const fn value(&self) -> &Canonical {
        &self.value
    }
}

/// What is committed together, in one session: all of it or nothing.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The session.
    pub session: SessionId,
    /// Values to be kept.
    pub contents: Vec<NewContent>,
    /// What happened, in order.
    pub events: Vec<NewEvent>,
    /// How sure it must be.
    pub durability: Durability,
    /// Whose word it is, where somebody else could have taken the run up meanwhile.
    pub fence: Option<Fence>,
    /// What the batch must have claimed when it is committed: [`crate::PendingClaim`] sets it.
    pub(crate) claim: Option<ClaimRecord>,
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub const fn new(session: SessionId, durability: Durability) -> Self {
        Self { session, contents: Vec::new(), events: Vec::new(), durability, fence: None, claim: None }
    }

    /// Adds a value; gives its commitment for the events.
    pub fn put(&mut self, content: NewContent) -> Digest {
        let commitment = content.commitment();
        self.contents.push(content);
        commitment
    }

    /// Adds an event.
    pub fn tell(&mut self, event: NewEvent) {
        self.events.push(event);
    }
}

/// What was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The events as they stand in the journal.
    pub events: Vec<Arc<Event>>,
}
