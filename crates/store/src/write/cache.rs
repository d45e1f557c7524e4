//! Where each session stands, kept in the writer so that a commit need not read first. What is kept may
//! be out of date when another process writes; the database then refuses the next event's number, or
//! the fold refuses the batch, and the session is read again before anybody is told no.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use mast_kernel::event::{EventBody, Link};
use mast_kernel::id::{ApprovalId, CallId, GrantId, RunId, SessionId};
use mast_kernel::instant::Instant;
use serde::de::DeserializeOwned;

use super::Connection;
use crate::audit::from_record;
use crate::batch::Batch;
use crate::error::StoreError;
use crate::fold::{State, needs};
use crate::read::Question;
use crate::select;

/// Sessions that are kept; one is let go when another comes.
const SESSIONS_MAX: usize = 64;

/// One session, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) link: Option<Link>,
    pub(super) state: State,
    /// Whether it was read in this round, and so cannot be out of date by much.
    pub(super) is_fresh: bool,
}

/// The sessions that are kept.
#[derive(Debug, Default)]
pub(super) struct Cache {
    sessions: BTreeMap<SessionId, Known>,
}

impl Cache {
    /// Lets go of a session that may be out of date.
    pub(super) fn forget(&mut self, session: SessionId) {
        self.sessions.remove(&session);
    }

    /// Ends a round: what is kept is not fresh any more, and not too much.
    pub(super) fn end_round(&mut self) {
        while self.sessions.len() > SESSIONS_MAX {
            self.sessions.pop_first();
        }
        for known in self.sessions.values_mut() {
            known.is_fresh = false;
        }
    }

    /// A session that is kept.
    pub(super) fn known(&mut self, session: SessionId) -> &mut Known {
        self.sessions.entry(session).or_default()
    }

    /// Has at hand what a batch needs: where its session stands, and each row that its events look at.
    pub(super) async fn load(
        &mut self,
        connection: &mut impl Connection,
        batch: &Batch,
    ) -> Result<(), StoreError> {
        let reading = Reading { connection };
        let begins = matches!(batch.events.first().map(|new| &new.body), Some(EventBody::SessionCreated(_)));
        if begins {
            // If the session is there already, its first event's number is taken and the write fails.
            self.sessions.entry(batch.session).or_default();
        }
        reading.rows(&mut self.sessions, batch).await
    }
}

/// Ids that need not be looked for: those that a batch makes, and those that were looked for.
#[derive(Debug, Default)]
struct Made {
    runs: BTreeSet<RunId>,
    calls: BTreeSet<CallId>,
    approvals: BTreeSet<ApprovalId>,
    grants: BTreeSet<GrantId>,
}

impl Made {
    fn of(batch: &Batch) -> Self {
        let mut made = Self::default();
        for event in &batch.events {
            match &event.body {
                EventBody::RunQueued(_) => made.runs.extend(event.run),
                EventBody::ToolCallProposed(told) => made.calls.extend([told.call]),
                EventBody::ApprovalRequested(told) => made.approvals.extend([told.approval]),
                EventBody::GrantCreated(told) => made.grants.extend([told.grant]),
                _ => {}
            }
        }
        made
    }
}

/// Reads rows for the writer.
struct Reading<'a, C> {
    connection: &'a mut C,
}

impl<C: Connection> Reading<'_, C> {
    async fn rows(
        mut self,
        sessions: &mut BTreeMap<SessionId, Known>,
        batch: &Batch,
    ) -> Result<(), StoreError> {
        // The chain's end is read before any row: then no row can be older than it.
        let known = match sessions.entry(batch.session) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(self.standing(batch.session).await?),
        };
        // What the batch itself makes is nowhere yet; if it is, the database refuses its id.
        let mut made = Made::of(batch);
        let fenced = batch.fence.map(|fence| fence.run);
        let named = batch.events.iter().filter_map(|event| event.run);
        for id in fenced.into_iter().chain(named) {
            if !known.state.runs.contains_key(&id) && made.runs.insert(id) {
                known.state.runs.extend(self.row(select::RUN, "runs", &id).await?.map(|row| (id, row)));
            }
        }
        for event in &batch.events {
            let needs = needs(&event.body);
            let unknown = |id: &CallId| !known.state.calls.contains_key(id) && made.calls.insert(*id);
            if let Some(id) = needs.call.filter(unknown) {
                known.state.calls.extend(self.row(select::CALL, "calls", &id).await?.map(|row| (id, row)));
            }
            let unknown =
                |id: &ApprovalId| !known.state.approvals.contains_key(id) && made.approvals.insert(*id);
            if let Some(id) = needs.approval.filter(unknown) {
                let row = self.row(select::APPROVAL, "approvals", &id).await?;
                known.state.approvals.extend(row.map(|row| (id, row)));
            }
            let unknown = |id: &GrantId| !known.state.grants.contains_key(id) && made.grants.insert(*id);
            if let Some(id) = needs.grant.filter(unknown) {
                known.state.grants.extend(self.row(select::GRANT, "grants", &id).await?.map(|row| (id, row)));
            }
        }
        Ok(())
    }

    async fn standing(&mut self, session: SessionId) -> Result<Known, StoreError> {
        let mut known = Known { is_fresh: true, ..Known::default() };
        let question = Question::new("reading where a session stands", select::STANDING);
        let rows = self.connection.select(question.text(Some(&session))).await?;
        let Some(cells) = rows.into_iter().next() else { return Ok(known) };
        let unreadable = || StoreError::Unreadable { table: "events", key: session.to_string() };
        let [sequence, hash, at, record, place] =
            <[Option<String>; 5]>::try_from(cells).map_err(|_| unreadable())?;
        let (sequence, hash, place) = (parsed(sequence), parsed(hash), parsed(place));
        known.link =
            Some(Link { sequence: sequence.ok_or_else(unreadable)?, hash: hash.ok_or_else(unreadable)? });
        known.state.last_at = parsed(at).map(Instant::from_micros);
        known.state.session = record.as_deref().and_then(from_record);
        known.state.last_place = place.ok_or_else(unreadable)?;
        Ok(known)
    }

    async fn row<T: DeserializeOwned>(
        &mut self,
        statement: &'static str,
        table: &'static str,
        id: &(impl ToString + Sync),
    ) -> Result<Option<T>, StoreError> {
        let key = id.to_string();
        let question = Question::new("reading a row", statement).text(Some(&key));
        let rows = self.connection.select(question).await?;
        let Some(cells) = rows.into_iter().next() else { return Ok(None) };
        let text = cells.into_iter().next().flatten();
        match text.as_deref().and_then(from_record) {
            Some(row) => Ok(Some(row)),
            None => Err(StoreError::Unreadable { table, key }),
        }
    }
}

/// A value that stands as text in a column.
pub(super) fn parsed<T: FromStr>(text: Option<String>) -> Option<T> {
    text?.parse().ok()
}
