//! A store that is gone with the process: for tests, for `mast call` without a data folder, and as the
//! plainest statement of what a store is. Nothing is written late: a batch is there when `post` returns.

mod lease;
mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mast_kernel::canonical::Digest;
use mast_kernel::event::{Event, Head, Link};
use mast_kernel::id::{ApprovalId, CallId, GrantId, RunId, SessionId};
use mast_kernel::instant::Instant;

use crate::batch::{Batch, Committed};
use crate::error::StoreError;
use crate::fold::State;
use crate::lease::Lease;
use crate::prepare::{Prepared, Standing, prepare};
use crate::record::{ContentRow, StoreIdentity};
use crate::sign::{HeadLink, Seal, Signer};
use crate::traits::Writer;
use crate::upkeep::{Upkeep, What};

/// A store in memory.
#[derive(Debug)]
pub struct MemoryStore {
    seal: Seal,
    signer: Signer,
    held: Mutex<Held>,
}

/// Everything that the store holds.
#[derive(Debug, Default)]
struct Held {
    sessions: BTreeMap<SessionId, SessionHeld>,
    contents: BTreeMap<Digest, ContentRow>,
    keys: BTreeMap<Digest, CallId>,
    runs: BTreeSet<RunId>,
    calls: BTreeSet<CallId>,
    approvals: BTreeSet<ApprovalId>,
    grants: BTreeSet<GrantId>,
    heads: Vec<Head>,
    leases: BTreeMap<RunId, Lease>,
    poison: Option<String>,
}

/// One session of it.
#[derive(Debug, Default)]
struct SessionHeld {
    link: Option<Link>,
    state: State,
    events: Vec<Arc<Event>>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new(identity: StoreIdentity, signer: Signer) -> Self {
        Self { seal: Seal::new(identity, &signer), signer, held: Mutex::new(Held::default()) }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, batch: Batch) -> Result<Committed, StoreError> {
        let mut held = self.held();
        if let Some(why) = &held.poison {
            return Err(StoreError::Poisoned(why.clone()));
        }
        let nothing = SessionHeld::default();
        let session = held.sessions.get(&batch.session).unwrap_or(&nothing);
        let standing = Standing { link: session.link, ..Standing::default() };
        let Prepared { standing, events } = prepare(&self.seal.identity, &session.state, &standing, &batch)?;
        held.refuse_known(&standing)?;
        for (id, changed) in &standing.delta.calls {
            held.keys.extend(changed.row.idempotency_key.map(|key| (key, *id)));
        }
        held.runs.extend(standing.delta.runs.keys());
        held.calls.extend(standing.delta.calls.keys());
        held.approvals.extend(standing.delta.approvals.keys());
        held.grants.extend(standing.delta.grants.keys());
        for content in batch.contents {
            let row = ContentRow {
                commitment: content.commitment(),
                salt: content.salt(),
                value: content.value().clone(),
            };
            held.contents.entry(row.commitment).or_insert(row);
        }
        let events: Vec<Arc<Event>> = events.into_iter().map(Arc::new).collect();
        if !events.is_empty() {
            let session = held.sessions.entry(batch.session).or_default();
            session.link = standing.link;
            session.state.merge(standing.delta);
            session.events.extend(events.iter().cloned());
        }
        Ok(Committed { events })
    }
}

impl Held {
    /// Refuses keys and ids that stand in the store already, in whichever session.
    fn refuse_known(&self, standing: &Standing) -> Result<(), StoreError> {
        for (id, changed) in &standing.delta.calls {
            let known = changed.row.idempotency_key.and_then(|key| self.keys.get(&key));
            if let Some(existing) = known.filter(|existing| *existing != id) {
                return Err(StoreError::DuplicateKey { existing: *existing });
            }
        }
        let delta = &standing.delta;
        let taken = delta.runs.iter().any(|(id, row)| row.is_new && self.runs.contains(id))
            || delta.calls.iter().any(|(id, row)| row.is_new && self.calls.contains(id))
            || delta.approvals.iter().any(|(id, row)| row.is_new && self.approvals.contains(id))
            || delta.grants.iter().any(|(id, row)| row.is_new && self.grants.contains(id));
        if taken {
            return Err(StoreError::Conflict(crate::Conflict::Exists(
                "row with one of these ids".to_owned(),
            )));
        }
        Ok(())
    }
}

#[async_trait]
impl Writer for MemoryStore {
    async fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        self.write(batch)
    }

    fn post(&self, batch: Batch) {
        if let Err(error) = self.write(batch)
            && !error.is_fenced()
        {
            let mut held = self.held();
            held.poison.get_or_insert_with(|| error.to_string());
        }
    }

    async fn flush(&self) -> Result<(), StoreError> {
        match &self.held().poison {
            Some(why) => Err(StoreError::Poisoned(why.clone())),
            None => Ok(()),
        }
    }

    async fn sign_head(&self, session: SessionId, at: Instant) -> Result<Head, StoreError> {
        let mut held = self.held();
        if let Some(why) = &held.poison {
            return Err(StoreError::Poisoned(why.clone()));
        }
        let link = held.sessions.get(&session).and_then(|held| held.link);
        let link = link.ok_or(StoreError::NoSuchSession(session))?;
        let before = HeadLink::after(&self.seal, held.heads.last());
        let head = self.signer.sign(before, session, link, at);
        held.heads.push(head);
        Ok(head)
    }

    async fn keep_up(&self, planned: Vec<Upkeep>) -> Result<(), StoreError> {
        planned.into_iter().try_for_each(|upkeep| self.keep_one(upkeep))
    }
}

impl MemoryStore {
    fn keep_one(&self, upkeep: Upkeep) -> Result<(), StoreError> {
        let mut held = self.held();
        let Upkeep { session, end, what } = upkeep;
        let known = held.sessions.get(&session).and_then(|held| held.link);
        if known != Some(end) {
            return Err(StoreError::Conflict(crate::Conflict::Overtaken));
        }
        let (at, contents) = match what {
            What::Rebuild(state) => {
                held.sessions.entry(session).or_default().state = *state;
                return Ok(());
            }
            What::Cut { at, contents } => (at, contents),
        };
        for hash in [end.hash, Head::cut_behind(&end.hash)] {
            let before = HeadLink::after(&self.seal, held.heads.last());
            let head = self.signer.sign(before, session, Link { hash, ..end }, at);
            held.heads.push(head);
        }
        held.contents.retain(|commitment, _| !contents.contains(commitment));
        if let Some(gone) = held.sessions.remove(&session) {
            held.leases.retain(|run, _| !gone.state.runs.contains_key(run));
        }
        Ok(())
    }
}
