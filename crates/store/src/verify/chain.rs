//! One session's chain: its events are put in order by the hashes that they name, so that an event that
//! was moved can be told from one that was changed.

use std::collections::{BTreeMap, BTreeSet};

use mast_kernel::canonical::Digest;
use mast_kernel::event::{Event, EventBody, Head, Link};
use mast_kernel::id::SessionId;

use super::content::commitments;
use super::{Audit, Shelf, Wrong};
use crate::audit::{Row as _, Table};
use crate::error::StoreError;
use crate::fold::{Delta, Moment, State, View, apply};
use crate::traits::JournalReader;

/// A session's events as they were read.
#[derive(Debug, Default)]
struct Walk {
    /// The events that can be read, by their number.
    events: BTreeMap<u64, Event>,
    /// The number of the event that names this hash as the one before it.
    after: BTreeMap<Digest, u64>,
    /// Numbers of events that cannot be read.
    unreadable: BTreeSet<u64>,
}

/// What the walk finds at one place.
enum Found {
    /// The event of this number stands here, and it is as it was written.
    Sound(u64),
    /// An event stands here that was moved from its own number.
    Moved(u64),
    /// The event of this number is not as it was written.
    Changed(u64),
    /// A row is here that cannot be read, and that was told already.
    Unreadable,
    /// Nothing is here, and the next row that has a number has this one.
    Gap(u64),
    /// Nothing is here, nor later.
    End,
}

/// Checks a session's events; the rows that follow from them and where they end, unless something is wrong with
/// the chain.
pub(super) async fn verify(
    journal: &dyn JournalReader,
    audit: &mut Audit,
    session: SessionId,
) -> Result<Option<(State, Link)>, StoreError> {
    let n_before = audit.report.findings.len();
    let mut walk = read(journal, audit, session).await?;
    let mut link = walk.genesis(audit, session, journal.seal().identity.id);
    let mut state = State::default();
    let mut is_after_change = false;
    loop {
        let position = link.sequence.saturating_add(1);
        let place = (Some(session), Some(position));
        let number = match walk.find(&link, is_after_change) {
            Found::Sound(number) => {
                is_after_change = false;
                number
            }
            Found::Moved(number) => {
                let detail = format!("the event stands at {number}");
                audit.report.add(Wrong::Reordered, place, detail);
                is_after_change = false;
                number
            }
            Found::Changed(number) => {
                audit.report.add(Wrong::ChangedEvent, place, "the event is not what was written");
                is_after_change = true;
                number
            }
            Found::Unreadable => {
                link.sequence = position;
                is_after_change = true;
                continue;
            }
            Found::Gap(next) => {
                let detail = format!("the next event is {next}");
                audit.report.add(Wrong::MissingEvent, place, detail);
                link.sequence = next.saturating_sub(1);
                is_after_change = true;
                continue;
            }
            Found::End => break,
        };
        let Some(event) = walk.take(number) else { break };
        link = Link { sequence: position, hash: event.hash };
        let is_whole = audit.report.findings.len() == n_before;
        look_at(audit, &event, is_whole.then_some(&mut state), &link);
    }
    for number in walk.events.keys() {
        let detail = "the event does not follow any other";
        audit.report.add(Wrong::Reordered, (Some(session), Some(*number)), detail);
    }
    for (number, sequence, _) in audit.signed.remove(&session).unwrap_or_default() {
        let detail = format!("head {number} was signed over an event that is not there");
        audit.report.add(Wrong::DroppedTail, (Some(session), Some(sequence)), detail);
    }
    // What follows from a chain that does not hold would only be noise.
    let is_whole = audit.report.findings.len() == n_before;
    audit.is_broken |= !is_whole;
    Ok(is_whole.then_some((state, link)))
}

/// Reads all events of a session.
async fn read(
    journal: &dyn JournalReader,
    audit: &mut Audit,
    session: SessionId,
) -> Result<Walk, StoreError> {
    let mut walk = Walk::default();
    let mut events = Shelf::new(Table::Events, Some(session));
    while let Some(cells) = events.next(journal).await? {
        audit.report.n_events += 1;
        let number = cells.get(1).cloned().flatten().and_then(|text| text.parse::<u64>().ok());
        if let Some(event) = Event::read(&cells) {
            audit.see(&event.hash);
            walk.after.insert(event.previous, event.sequence);
            walk.events.insert(event.sequence, event);
        } else {
            let detail = "the row of the event is not what mast writes";
            audit.report.add(Wrong::ChangedEvent, (Some(session), number), detail);
            walk.unreadable.extend(number);
        }
    }
    Ok(walk)
}

impl Walk {
    /// Where the chain must begin: bound to tenant, session and this store by the first event.
    fn genesis(&self, audit: &mut Audit, session: SessionId, store: mast_kernel::id::StoreId) -> Link {
        let first = self.events.get(&1).and_then(|event| event.body().ok());
        let Some(EventBody::SessionCreated(told)) = first else {
            // The first event is missing or changed; the walk says so at its place.
            return Link { sequence: 0, hash: Digest::of(b"") };
        };
        if told.store != store {
            let detail = format!("the session was made in another store, {}", told.store);
            audit.report.add(Wrong::ChangedStore, (Some(session), Some(1)), detail);
        }
        Link::genesis(told.tenant, session, told.store)
    }

    /// What stands at the place after `link`.
    fn find(&self, link: &Link, is_after_change: bool) -> Found {
        let position = link.sequence.saturating_add(1);
        if let Some(event) = self.after.get(&link.hash).and_then(|number| self.events.get(number)) {
            if is_written(event, position) {
                let is_here = event.sequence == position;
                return if is_here { Found::Sound(position) } else { Found::Moved(event.sequence) };
            }
            if event.sequence == position {
                return Found::Changed(position);
            }
        }
        match self.events.get(&position) {
            // After a changed event the hash that is named cannot be compared with anything.
            Some(event) if is_after_change && is_written(event, position) => Found::Sound(position),
            Some(_) => Found::Changed(position),
            None if self.unreadable.contains(&position) => Found::Unreadable,
            None => {
                let event = self.events.range(position..).next().map(|(number, _)| *number);
                let row = self.unreadable.range(position..).next().copied();
                event.into_iter().chain(row).min().map_or(Found::End, Found::Gap)
            }
        }
    }

    /// Takes an event out.
    fn take(&mut self, number: u64) -> Option<Event> {
        let event = self.events.remove(&number)?;
        self.after.remove(&event.previous);
        Some(event)
    }
}

/// Whether the event has its hash when it stands at this place.
fn is_written(event: &Event, position: u64) -> bool {
    let placed = Event { sequence: position, ..event.clone() };
    placed.computed_hash().is_ok_and(|hash| hash == event.hash)
}

/// Folds the event, unless the chain is broken before it, and compares it with what is signed.
fn look_at(audit: &mut Audit, event: &Event, state: Option<&mut State>, link: &Link) {
    let place = (Some(event.session), Some(link.sequence));
    if let Some(signed) = audit.signed.get_mut(&event.session) {
        let here: Vec<_> = signed.extract_if(.., |(_, sequence, _)| *sequence == link.sequence).collect();
        for (number, _, hash) in here {
            if hash != link.hash && hash != Head::cut_behind(&link.hash) {
                let detail = format!("head {number} was signed over another event");
                audit.report.add(Wrong::ChangedEvent, place, detail);
            }
        }
    }
    let body = match event.body() {
        Ok(body) => body,
        Err(error) => {
            audit.report.add(Wrong::StateDiffers, place, error.to_string());
            return;
        }
    };
    for digest in commitments(&body) {
        audit.committed.entry(digest).or_insert((event.session, link.sequence));
    }
    let Some(state) = state else { return };
    let mut delta = Delta { last_at: Some(event.at), ..Delta::default() };
    let mut view = View { id: event.session, state, delta: &mut delta };
    match apply(&mut view, Moment { run: event.run, at: event.at }, &body) {
        Ok(()) => state.merge(delta),
        Err(conflict) => audit.report.add(Wrong::StateDiffers, place, conflict.to_string()),
    }
}
