//! Batches that are written together: one transaction, one round trip. A batch that does not fit is
//! refused by the fold before anything is written, so it takes none of its neighbours down.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use mast_kernel::event::{Event, Head};
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;
use sqlx::Row as _;
use sqlx::sqlite::SqliteConnection;

use super::cache::Cache;
use super::fault::{Fault, duplicate};
use super::read::cells_of;
use super::rows::Rows;
use super::writer::{Poison, Waiting, answer};
use super::{connect_full, sql};
use crate::audit::{Cells, Row};
use crate::batch::{Batch, Committed, Durability};
use crate::error::{Conflict, StoreError};
use crate::prepare::{Prepared, Standing, prepare};
use crate::record::{ContentRow, StoreIdentity};
use crate::sign::{HeadLink, Seal, Signer};

/// How often a batch is tried when another process keeps being faster.
const ATTEMPTS_MAX: usize = 16;

/// After so many transactions a process is one that writes much, and is looked at again after as many.
const GROUPS_OF_A_SHORT_LIFE: u64 = 64;

/// The connections that write, and what is known without reading.
#[derive(Debug)]
pub(super) struct Database {
    path: Arc<Path>,
    normal: SqliteConnection,
    full: Option<SqliteConnection>,
    seal: Seal,
    signer: Signer,
    cache: Cache,
    n_groups: u64,
}

/// What a group writes.
#[derive(Debug, Default)]
struct Group {
    standings: BTreeMap<SessionId, Standing>,
    contents: Vec<Cells>,
    events: Vec<Cells>,
    durability: Option<Durability>,
}

/// A batch that is part of the group, and what its caller will be told.
type Member = (Waiting, Vec<Event>);

impl Database {
    pub(super) fn new(
        path: Arc<Path>,
        normal: SqliteConnection,
        identity: StoreIdentity,
        signer: Signer,
    ) -> Self {
        let seal = Seal::new(identity, &signer);
        Self { path, normal, full: None, seal, signer, cache: Cache::default(), n_groups: 0 }
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
        let error = match self.execute(&group).await {
            Ok(()) => return self.settle(group, members),
            Err(error) => error,
        };
        group.standings.keys().for_each(|session| self.cache.forget(*session));
        if duplicate(&error).is_some() {
            for (waiting, _) in members {
                self.write_alone(waiting, poison).await;
            }
        } else {
            let error = Fault { path: &self.path }.during("writing the journal", error);
            fail(members, error, poison);
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
        group.standings.insert(batch.session, prepared.standing);
        group.durability = group.durability.max(Some(batch.durability));
        Ok(prepared.events)
    }

    async fn fold(&mut self, group: &Group, batch: &Batch) -> Result<Prepared, StoreError> {
        self.cache.load(&mut self.normal, &self.path, batch).await?;
        let known = self.cache.known(batch.session);
        let pending = group.standings.get(&batch.session).cloned();
        let standing = pending.unwrap_or_else(|| Standing { link: known.link, ..Standing::default() });
        prepare(&self.seal.identity, &known.state, &standing, batch)
    }

    /// Writes a batch by itself, again and again while another process is faster.
    async fn write_alone(&mut self, waiting: Waiting, poison: &Poison) {
        for _ in 0..ATTEMPTS_MAX {
            if let Err(error) = poison.check() {
                return refuse(waiting, error, poison);
            }
            let mut group = Group::default();
            let events = match self.add(&mut group, &waiting.batch).await {
                Ok(events) => events,
                Err(error) => return refuse(waiting, error, poison),
            };
            let error = match self.execute(&group).await {
                Ok(()) => return self.settle(group, vec![(waiting, events)]),
                Err(error) => error,
            };
            self.cache.forget(waiting.batch.session);
            let Some(columns) = duplicate(&error) else {
                let error = Fault { path: &self.path }.during("writing the journal", error);
                return fail(vec![(waiting, events)], error, poison);
            };
            if columns.starts_with("events.") && group.begins_no_session(waiting.batch.session) {
                continue;
            }
            let refusal = self.refusal(columns, &group).await;
            return refuse(waiting, refusal, poison);
        }
        refuse(waiting, StoreError::Conflict(Conflict::Overtaken), poison);
    }

    /// Why a row cannot be written that must be the only one of its kind.
    async fn refusal(&mut self, columns: &str, group: &Group) -> StoreError {
        if columns == "calls.idempotency_key" {
            let calls = group.standings.values().flat_map(|standing| standing.delta.calls.values());
            for key in calls.filter_map(|changed| changed.row.idempotency_key) {
                let query = sqlx::query(sql::CALL_WITH_KEY).bind(key.to_hex());
                let row = query.fetch_optional(&mut self.normal).await.ok().flatten();
                let text = row.and_then(|row| row.try_get::<String, _>(0).ok());
                if let Some(existing) = super::cache::parsed(text) {
                    return StoreError::DuplicateKey { existing };
                }
            }
        }
        StoreError::Conflict(Conflict::Exists(format!("row with the same {columns}")))
    }

    /// One transaction.
    async fn execute(&mut self, group: &Group) -> Result<(), sqlx::Error> {
        let is_full = group.durability == Some(Durability::Full);
        if is_full && self.full.is_none() {
            let full = connect_full(&self.path)
                .await
                .map_err(|error| sqlx::Error::Io(std::io::Error::other(error)))?;
            self.full = Some(full);
        }
        let connection = match &mut self.full {
            Some(full) if is_full => full,
            _ => &mut self.normal,
        };
        // The setting belongs to the connection that commits, and either may be the one that is at it.
        if self.n_groups % GROUPS_OF_A_SHORT_LIFE == GROUPS_OF_A_SHORT_LIFE - 1 {
            sqlx::raw_sql(sql::LONG_LOG).execute(&mut *connection).await?;
        }
        self.n_groups = self.n_groups.wrapping_add(1);
        let result = group.execute(connection).await;
        if result.is_err() && sqlx::raw_sql(sql::ROLLBACK).execute(&mut *connection).await.is_err() {
            tracing::debug!("the transaction that failed was rolled back by the database itself");
        }
        result
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

    /// The connection for what need not survive a loss of power.
    pub(super) fn quick(&mut self) -> (&mut SqliteConnection, Fault<'_>) {
        (&mut self.normal, Fault { path: &self.path })
    }

    /// Signs where a session's chain stands.
    pub(super) async fn sign_head(&mut self, session: SessionId, at: Instant) -> Result<Head, StoreError> {
        for _ in 0..ATTEMPTS_MAX {
            let nothing = Batch::new(session, Durability::Normal);
            self.cache.forget(session);
            self.cache.load(&mut self.normal, &self.path, &nothing).await?;
            let link = self.cache.known(session).link.ok_or(StoreError::NoSuchSession(session))?;
            let last = self.last_head().await?;
            let head = self.signer.sign(HeadLink::after(&self.seal, last.as_ref()), session, link, at);
            let cells = head.cells().unwrap_or_default();
            let query = cells.into_iter().fold(sqlx::query(sql::WRITE_HEAD), sqlx::query::Query::bind);
            match query.execute(&mut self.normal).await {
                Ok(_) => return Ok(head),
                Err(error) if duplicate(&error).is_some() => {}
                Err(error) => return Err(Fault { path: &self.path }.during("writing a head", error)),
            }
        }
        Err(StoreError::Conflict(Conflict::Overtaken))
    }

    async fn last_head(&mut self) -> Result<Option<Head>, StoreError> {
        let row = sqlx::query(sql::LAST_HEAD)
            .fetch_optional(&mut self.normal)
            .await
            .map_err(|error| Fault { path: &self.path }.during("reading the last head", error))?;
        let Some(row) = row else { return Ok(None) };
        let unreadable = || StoreError::Unreadable { table: "heads", key: "the last".to_owned() };
        Head::read(&cells_of(&row)).map(Some).ok_or_else(unreadable)
    }
}

impl Group {
    /// Whether the session was there before; if it was not, its first event's number cannot be taken by
    /// anything but a session of the same id.
    fn begins_no_session(&self, session: SessionId) -> bool {
        self.standings.get(&session).is_none_or(|standing| standing.delta.session.is_none())
    }

    async fn execute(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let mut rows = Rows { contents: &self.contents, events: &self.events, ..Rows::default() };
        for Standing { delta, .. } in self.standings.values() {
            rows.sessions.extend(delta.session.as_ref().and_then(Row::cells));
            rows.items.extend(delta.items.iter().filter_map(Row::cells));
            rows.runs.take(delta.runs.values());
            rows.calls.take(delta.calls.values());
            rows.approvals.take(delta.approvals.values());
            rows.grants.take(delta.grants.values());
        }
        rows.query()?.execute(connection).await.map(|_| ())
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

/// Tells that the database failed. After that nobody can say what is on the disk, so nothing more is
/// written; only where the database refused before it wrote does the store go on.
fn fail(members: Vec<Member>, error: StoreError, poison: &Poison) {
    let before_writing =
        matches!(error, StoreError::Locked(_) | StoreError::DiskFull(_) | StoreError::ReadOnly(_));
    if !before_writing {
        poison.set(&error);
    }
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
