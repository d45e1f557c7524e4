//! Batches that are written together: one transaction, one round trip. A batch that does not fit is
//! refused by the fold before anything is written, so it takes none of its neighbours down.

use std::collections::BTreeMap;
use std::sync::Arc;

use mast_kernel::event::{Event, Head, Link};
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;

use super::cache::{Cache, parsed};
use super::queue::{Poison, Waiting, answer};
use super::rows::{Changes, Rows};
use super::{Connection, Hold, Keeper, Unwritten};
use crate::audit::{Cells, Row};
use crate::batch::{Batch, Committed, Durability};
use crate::error::{Conflict, StoreError};
use crate::prepare::{Prepared, Standing, prepare};
use crate::read::Question;
use crate::record::{ContentRow, StoreIdentity};
use crate::select;
use crate::sign::{HeadLink, Seal, Signer};
use crate::upkeep::{self, Upkeep, What};

/// How often a batch is tried when another process keeps being faster.
const ATTEMPTS_MAX: usize = 16;

/// The connection that writes, and what is known without reading.
#[derive(Debug)]
pub(crate) struct Database<C> {
    connection: C,
    seal: Seal,
    signer: Signer,
    cache: Cache,
}

/// What a group writes.
#[derive(Debug, Default)]
struct Group {
    standings: BTreeMap<SessionId, Standing>,
    /// Where the sessions ended that are not new.
    before: BTreeMap<SessionId, Link>,
    contents: Vec<Cells>,
    events: Vec<Cells>,
    durability: Option<Durability>,
}

/// A batch that is part of the group, and what its caller will be told.
type Member = (Waiting, Vec<Event>);

impl<C: Connection> Database<C> {
    pub(crate) fn new(connection: C, identity: StoreIdentity, signer: Signer) -> Self {
        let seal = Seal::new(identity, &signer);
        Self { connection, seal, signer, cache: Cache::default() }
    }

    /// Writes batches, in order, and answers whoever waits for them.
    pub(super) async fn write(&mut self, batches: Vec<Waiting>, poison: &Poison) {
        let mut group = Group::default();
        let mut members: Vec<Member> = Vec::new();
        let mut later: Vec<Waiting> = Vec::new();
        for waiting in batches {
            let session = waiting.batch.session;
            if later.iter().any(|one| one.batch.session == session) {
                later.push(waiting);
                continue;
            }
            let added = match poison.check() {
                Ok(()) => self.add(&mut group, &waiting.batch).await,
                Err(error) => Err(error),
            };
            match added {
                Ok(events) => members.push((waiting, events)),
                // What is written before it may be refused in turn, if the session is out of date.
                Err(error) if error.is_refusal() && group.standings.contains_key(&session) => {
                    later.push(waiting);
                }
                Err(error) => refuse(waiting, error, poison),
            }
        }
        if !members.is_empty() {
            self.write_group(group, members, poison).await;
        }
        for waiting in later {
            self.write_alone(waiting, poison).await;
        }
        self.cache.end_round();
    }

    async fn write_group(&mut self, group: Group, members: Vec<Member>, poison: &Poison) {
        let unwritten = match self.connection.write(group.rows()).await {
            Ok(()) => return self.settle(group, members),
            Err(unwritten) => unwritten,
        };
        group.standings.keys().for_each(|session| self.cache.forget(*session));
        match unwritten {
            Unwritten::Taken(_) | Unwritten::Overtaken => {
                for (waiting, _) in members {
                    self.write_alone(waiting, poison).await;
                }
            }
            Unwritten::Refused(error) => fail(members, error, poison),
            Unwritten::Unknown(error) => {
                poison.set(&error);
                fail(members, error, poison);
            }
        }
    }

    /// Makes a batch part of the group, if it fits.
    async fn add(&mut self, group: &mut Group, batch: &Batch) -> Result<Vec<Event>, StoreError> {
        let first = self.fold(group, batch).await;
        let is_stale = matches!(&first, Err(StoreError::Conflict(_) | StoreError::NoSuchSession(_)))
            && !group.standings.contains_key(&batch.session)
            && !self.cache.known(batch.session).is_fresh;
        let prepared = if is_stale {
            self.cache.forget(batch.session);
            self.fold(group, batch).await?
        } else {
            first?
        };
        let unreadable = || StoreError::Unreadable { table: "events", key: batch.session.to_string() };
        let cells: Option<Vec<Cells>> = prepared.events.iter().map(Row::cells).collect();
        group.events.extend(cells.ok_or_else(unreadable)?);
        for content in &batch.contents {
            let (commitment, salt, value) = (content.commitment(), content.salt(), content.value().clone());
            group.contents.extend(ContentRow { commitment, salt, value }.cells());
        }
        if !group.standings.contains_key(&batch.session) {
            let known = self.cache.known(batch.session);
            group.before.extend(known.link.map(|link| (batch.session, link)));
        }
        group.standings.insert(batch.session, prepared.standing);
        group.durability = group.durability.max(Some(batch.durability));
        Ok(prepared.events)
    }

    async fn fold(&mut self, group: &Group, batch: &Batch) -> Result<Prepared, StoreError> {
        self.cache.load(&mut self.connection, batch).await?;
        let known = self.cache.known(batch.session);
        let pending = group.standings.get(&batch.session).cloned();
        let standing = pending.unwrap_or_else(|| Standing { link: known.link, ..Standing::default() });
        prepare(&self.seal.identity, &known.state, &standing, batch)
    }

    /// Writes a batch by itself, again and again while another process is faster or connections are lost.
    async fn write_alone(&mut self, waiting: Waiting, poison: &Poison) {
        let mut last = StoreError::Conflict(Conflict::Overtaken);
        for _ in 0..ATTEMPTS_MAX {
            let mut group = Group::default();
            let events = match self.begin_alone(&mut group, &waiting.batch, poison).await {
                Ok(events) => events,
                // Nothing was written, and what was held is not held any more.
                Err(error @ StoreError::ConnectionLost { .. }) => {
                    self.cache.forget(waiting.batch.session);
                    last = error;
                    continue;
                }
                Err(error) => return refuse(waiting, error, poison),
            };
            let unwritten = match self.connection.write(group.rows()).await {
                Ok(()) => return self.settle(group, vec![(waiting, events)]),
                Err(unwritten) => unwritten,
            };
            self.cache.forget(waiting.batch.session);
            match unwritten {
                Unwritten::Overtaken => last = StoreError::Conflict(Conflict::Overtaken),
                Unwritten::Taken(columns)
                    if columns.starts_with("events.") && group.begins_no_session(waiting.batch.session) => {}
                Unwritten::Taken(columns) => {
                    let refusal = self.refusal(&columns, &group).await;
                    return refuse(waiting, refusal, poison);
                }
                Unwritten::Refused(error) => return fail(vec![(waiting, events)], error, poison),
                Unwritten::Unknown(error) => {
                    poison.set(&error);
                    return fail(vec![(waiting, events)], error, poison);
                }
            }
        }
        refuse(waiting, last, poison);
    }

    /// Holds the session of a batch, and makes the batch a group of its own.
    async fn begin_alone(
        &mut self,
        group: &mut Group,
        batch: &Batch,
        poison: &Poison,
    ) -> Result<Vec<Event>, StoreError> {
        poison.check()?;
        self.connection.hold(Hold::Session(batch.session)).await?;
        let added = self.add(group, batch).await;
        if added.is_err() {
            self.connection.let_go().await;
        }
        added
    }

    /// Why a row cannot be written that must be the only one of its kind.
    async fn refusal(&mut self, columns: &str, group: &Group) -> StoreError {
        if columns == "calls.idempotency_key" {
            let calls = group.standings.values().flat_map(|standing| standing.delta.calls.values());
            for key in calls.filter_map(|changed| changed.row.idempotency_key) {
                let question = Question::new("looking for a key", select::CALL_WITH_KEY);
                let rows = self.connection.select(question.text(Some(&key.to_hex()))).await;
                let cell = rows.unwrap_or_default().into_iter().flatten().next().flatten();
                if let Some(existing) = parsed(cell) {
                    return StoreError::DuplicateKey { existing };
                }
            }
        }
        StoreError::Conflict(Conflict::Exists(format!("row with the same {columns}")))
    }

    /// Takes over what was written, and tells whoever waits.
    fn settle(&mut self, group: Group, members: Vec<Member>) {
        for (session, standing) in group.standings {
            let known = self.cache.known(session);
            known.link = standing.link;
            known.state.merge(standing.delta);
            known.state.forget_settled();
        }
        for (waiting, events) in members {
            if let Some(reply) = waiting.reply {
                let events = events.into_iter().map(Arc::new).collect();
                answer(reply, Ok(Committed { events }));
            }
        }
    }

    /// Changes what is no part of the journal.
    pub(crate) async fn change(&mut self, what: Question) -> Result<Vec<Cells>, StoreError> {
        for _ in 0..ATTEMPTS_MAX {
            match self.connection.change(what.clone()).await {
                Ok(rows) => return Ok(rows),
                Err(Unwritten::Taken(_) | Unwritten::Overtaken) => {}
                Err(Unwritten::Refused(error) | Unwritten::Unknown(error)) => return Err(error),
            }
        }
        Err(StoreError::Conflict(Conflict::Overtaken))
    }

    /// Signs where a session's chain stands.
    pub(crate) async fn sign_head(&mut self, session: SessionId, at: Instant) -> Result<Head, StoreError> {
        self.sign(session, at, |link| link).await
    }

    /// Signs what is to be said of where a session's chain stands.
    async fn sign(
        &mut self,
        session: SessionId,
        at: Instant,
        says: fn(Link) -> Link,
    ) -> Result<Head, StoreError> {
        let mut last = StoreError::Conflict(Conflict::Overtaken);
        for _ in 0..ATTEMPTS_MAX {
            let head = match self.next_head(session, at, says).await {
                Ok(head) => head,
                Err(error @ StoreError::ConnectionLost { .. }) => {
                    last = error;
                    continue;
                }
                Err(error) => {
                    self.connection.let_go().await;
                    return Err(error);
                }
            };
            let cells = head.cells().unwrap_or_default();
            let question = Question::new("writing a head", select::WRITE_HEAD);
            let question = cells.iter().fold(question, |question, cell| question.text(cell.as_ref()));
            match self.connection.change(question).await {
                Ok(_) => return Ok(head),
                Err(Unwritten::Taken(_) | Unwritten::Overtaken) => {}
                Err(Unwritten::Refused(error) | Unwritten::Unknown(error)) => return Err(error),
            }
        }
        Err(last)
    }

    /// Holds the chain of heads, and makes its next one.
    async fn next_head(
        &mut self,
        session: SessionId,
        at: Instant,
        says: fn(Link) -> Link,
    ) -> Result<Head, StoreError> {
        self.connection.hold(Hold::Heads).await?;
        self.cache.forget(session);
        self.cache.load(&mut self.connection, &Batch::new(session, Durability::Normal)).await?;
        let link = self.cache.known(session).link.ok_or(StoreError::NoSuchSession(session))?;
        let rows = self.connection.select(Question::new("reading the last head", select::LAST_HEAD)).await?;
        let unreadable = || StoreError::Unreadable { table: "heads", key: "the last".to_owned() };
        let last = rows.first().map(|cells| Head::read(cells).ok_or_else(unreadable)).transpose()?;
        Ok(self.signer.sign(HeadLink::after(&self.seal, last.as_ref()), session, says(link), at))
    }
}

impl<C: Keeper> Database<C> {
    /// Does what was planned. Afterwards nothing of what was removed is in the file any more.
    pub(crate) async fn keep_up(&mut self, planned: &[Upkeep]) -> Result<(), StoreError> {
        for upkeep in planned {
            self.keep_one(upkeep).await?;
        }
        if planned.iter().any(|upkeep| matches!(upkeep.what, What::Cut { .. })) {
            self.connection.tidy().await;
        }
        Ok(())
    }

    /// Does what was planned for a session, if it still ends where it did. A cut is signed before it is done: what
    /// is signed and still there is no loss.
    async fn keep_one(&mut self, upkeep: &Upkeep) -> Result<(), StoreError> {
        let overtaken = || StoreError::Conflict(Conflict::Overtaken);
        if let What::Cut { at, .. } = upkeep.what {
            let head = self.sign_head(upkeep.session, at).await?;
            if (head.sequence, head.hash) != (upkeep.end.sequence, upkeep.end.hash) {
                return Err(overtaken());
            }
            let cut = |link: Link| Link { hash: Head::cut_behind(&link.hash), ..link };
            self.sign(upkeep.session, at, cut).await?;
        }
        let done = self.connection.change_all(upkeep::statements(upkeep)).await;
        self.cache.forget(upkeep.session);
        done.map_err(|unwritten| match unwritten {
            Unwritten::Taken(_) | Unwritten::Overtaken => overtaken(),
            Unwritten::Refused(error) | Unwritten::Unknown(error) => error,
        })
    }
}

impl Group {
    /// Whether the session was there before; if it was not, its first event's number cannot be taken by
    /// anything but a session of the same id.
    fn begins_no_session(&self, session: SessionId) -> bool {
        self.standings.get(&session).is_none_or(|standing| standing.delta.session.is_none())
    }

    /// What is to be written.
    fn rows(&self) -> Rows<'_> {
        let before = |(session, link): (&SessionId, &Link)| {
            vec![Some(session.to_string()), Some(link.sequence.to_string()), Some(link.hash.to_hex())]
        };
        let mut rows = Rows {
            durability: self.durability.unwrap_or(Durability::Normal),
            before: self.before.iter().map(before).collect(),
            contents: &self.contents,
            events: &self.events,
            sessions: Vec::new(),
            runs: Changes::default(),
            calls: Changes::default(),
            approvals: Changes::default(),
            grants: Changes::default(),
            items: Vec::new(),
        };
        for Standing { delta, .. } in self.standings.values() {
            rows.sessions.extend(delta.session.as_ref().and_then(Row::cells));
            rows.items.extend(delta.items.iter().filter_map(Row::cells));
            rows.runs.take(delta.runs.values());
            rows.calls.take(delta.calls.values());
            rows.approvals.take(delta.approvals.values());
            rows.grants.take(delta.grants.values());
        }
        rows
    }
}

/// Tells that a batch was not written. One that nobody waits for must not be lost unnoticed.
fn refuse(waiting: Waiting, error: StoreError, poison: &Poison) {
    match waiting.reply {
        Some(reply) => answer(reply, Err(error)),
        None if error.is_fenced() => tracing::debug!(%error, "what was posted is not written"),
        None => poison.set(&error),
    }
}

/// Tells everybody who waits that the database failed.
fn fail(members: Vec<Member>, error: StoreError, poison: &Poison) {
    let text = error.to_string();
    let mut error = Some(error);
    for (waiting, _) in members {
        let told = error.take().unwrap_or_else(|| StoreError::Database {
            attempt: "writing the journal",
            source: text.clone().into(),
        });
        refuse(waiting, told, poison);
    }
}
