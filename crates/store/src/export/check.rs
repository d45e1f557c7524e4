//! Checking an export, line by line, with nothing but the public key. Only the heads are remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read as _};

use mast_kernel::canonical::{Digest, Hashing};
use mast_kernel::event::{Bytes, Disclosure, Head, Link};
use mast_kernel::id::{SessionId, TenantId};
use serde_json::Value;

use super::{First, LINE_BYTES_MAX, Last, Line, VERSION};
use crate::sign::is_signed;
use crate::verify::{Report, Wrong};

/// Why a file could not be checked at all.
#[derive(Debug, thiserror::Error)]
pub enum NotAnExport {
    /// It cannot be read.
    #[error("the file cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// It does not begin like one.
    #[error("the file does not begin as an export of a journal does")]
    Other,
    /// It is of a later version of Mast.
    #[error("the export has version {0}, this version of mast knows up to {VERSION}")]
    Version(u32),
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checking {
    /// What is wrong, and how much was looked at.
    pub report: Report,
    /// The key that the file is signed with.
    pub key: Bytes<32>,
}

/// Checks an export: that it is whole, that every event follows the one before it and is as it was written,
/// and that the end of each session is signed. Without a `key` it is held against the key in the file, and
/// so only shows that somebody who had that key made it.
///
/// # Errors
///
/// [`NotAnExport`] where it is none. What is wrong in it is in the report.
pub fn check(from: &mut impl BufRead, key: Option<Bytes<32>>) -> Result<Checking, NotAnExport> {
    let mut lines = Lines { from, number: 0, hashing: Hashing::default() };
    let Some((_, Some(Line::MastJournal(first)))) = lines.next()? else { return Err(NotAnExport::Other) };
    if first.version != VERSION {
        return Err(NotAnExport::Version(first.version));
    }
    let mut file = File::begin(first, key);
    let mut last = None;
    loop {
        let so_far = lines.hashing.clone().digest();
        let Some((_, line)) = lines.next()? else { break };
        let number = lines.number;
        if last.is_some() {
            file.wrong(Wrong::ChangedStore, None, number, "there is more behind the end");
            break;
        }
        match line {
            Some(Line::Head(head)) => file.head(number, &head),
            Some(Line::Event(event)) => file.event(number, &event),
            Some(Line::End(end)) => last = Some((number, end, so_far)),
            Some(Line::MastJournal(_)) => file.wrong(Wrong::ChangedStore, None, number, "another beginning"),
            None => file.wrong(Wrong::ChangedEvent, None, number, "the line is not what mast writes"),
        }
    }
    file.end(last);
    Ok(Checking { report: file.report, key: first.key })
}

/// The lines of the file, and the digest of those that were read.
struct Lines<'a, R> {
    from: &'a mut R,
    number: u64,
    hashing: Hashing,
}

impl<R: BufRead> Lines<'_, R> {
    /// The next line; none inside where it is not one of ours, or not letter by letter what Mast writes.
    fn next(&mut self) -> Result<Option<(u64, Option<Line>)>, NotAnExport> {
        let mut text = Vec::new();
        if self.from.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut text)? == 0 {
            return Ok(None);
        }
        self.hashing.add(&text);
        self.number += 1;
        let line = text
            .strip_suffix(b"\n")
            .and_then(|text| serde_json::from_slice::<Line>(text).ok().zip(Some(text)));
        let line = line.filter(|(line, text)| serde_json::to_vec(line).is_ok_and(|written| written == *text));
        Ok(Some((self.number, line.map(|(line, _)| line))))
    }
}

/// What is known of the file so far.
struct File {
    first: First,
    report: Report,
    /// The last head: its number and digest.
    last_head: (u64, Digest),
    /// What is signed of each session: sequence and hash.
    signed: BTreeMap<SessionId, BTreeMap<u64, Digest>>,
    /// Sessions that are over.
    seen: BTreeSet<SessionId>,
    /// The session at hand, and where its chain stands.
    open: Option<(SessionId, Link)>,
}

impl File {
    fn begin(first: First, key: Option<Bytes<32>>) -> Self {
        let seal = first.seal();
        let mut file = Self {
            first,
            report: Report::default(),
            last_head: (0, seal.genesis()),
            signed: BTreeMap::new(),
            seen: BTreeSet::new(),
            open: None,
        };
        if !seal.is_signed() {
            file.wrong(Wrong::ChangedStore, None, 1, "what the store says of itself is not what was signed");
        }
        if key.is_some_and(|key| key != first.key) {
            file.wrong(Wrong::ForeignKey, None, 1, "the file is signed with another key than the one given");
        }
        file
    }

    fn wrong(&mut self, wrong: Wrong, place: Option<(SessionId, u64)>, line: u64, what: &str) {
        let place = (place.map(|(session, _)| session), place.map(|(_, sequence)| sequence));
        self.report.add(wrong, place, format!("{what} (line {line})"));
    }

    fn head(&mut self, line: u64, head: &Head) {
        self.report.n_heads += 1;
        let place = Some((head.session, head.sequence));
        if self.report.n_events > 0 {
            self.wrong(Wrong::ChangedHead, place, line, "a head stands behind the first event");
        }
        if head.key != self.first.key {
            self.wrong(Wrong::ForeignKey, place, line, "the head is signed with another key");
        } else if !is_signed(head) {
            self.wrong(Wrong::ChangedHead, place, line, "the head is not what was signed");
        } else {
            // That it was to be cut off there says nothing of the event itself.
            let signed = self.signed.entry(head.session).or_default();
            let is_cut = |hash: &Digest| Head::cut_behind(hash) == head.hash;
            if !signed.get(&head.sequence).is_some_and(is_cut) {
                signed.insert(head.sequence, head.hash);
            }
        }
        let (number, digest) = self.last_head;
        if head.number != number.saturating_add(1) || head.previous_head != digest {
            self.wrong(Wrong::ChangedHead, place, line, "the head does not follow the one before it");
        }
        self.last_head = (head.number, head.digest());
        self.report.last_head = Some(head.digest());
    }

    fn event(&mut self, line: u64, event: &Disclosure) {
        self.report.n_events += 1;
        let shown = event.shown();
        let session = shown.get("session").and_then(|session| session.as_str()?.parse::<SessionId>().ok());
        let sequence = shown.get("sequence").and_then(|sequence| sequence.as_u64());
        let (Some(session), Some(sequence)) = (session, sequence) else {
            return self.wrong(Wrong::ChangedEvent, None, line, "the event does not say which one it is");
        };
        let place = Some((session, sequence));
        let link = match self.open {
            Some((open, link)) if open == session => link,
            _ => {
                self.close(line);
                self.begin_session(session, &shown, line)
            }
        };
        let expected = link.sequence.saturating_add(1);
        if sequence < expected {
            self.wrong(Wrong::Reordered, place, line, "the event stands behind a later one");
        } else if sequence > expected {
            let what = format!("event {expected} is not there");
            self.wrong(Wrong::MissingEvent, place, line, &what);
        } else if event.previous != link.hash {
            self.wrong(Wrong::ChangedEvent, place, line, "the event does not follow the one before it");
        }
        if event.computed_hash().ok() != Some(event.hash) {
            self.wrong(Wrong::ChangedEvent, place, line, "the event is not what was written");
        }
        let signed = self.signed.get(&session).and_then(|signed| signed.get(&sequence));
        if signed.is_some_and(|hash| *hash != event.hash) {
            self.wrong(Wrong::ChangedEvent, place, line, "a head was signed over another event");
        }
        self.open = Some((session, Link { sequence, hash: event.hash }));
    }

    /// Where the chain of a session must begin.
    fn begin_session(&mut self, session: SessionId, shown: &BTreeMap<&str, &Value>, line: u64) -> Link {
        self.report.n_sessions += 1;
        if !self.seen.insert(session) {
            self.wrong(Wrong::Reordered, Some((session, 1)), line, "the session was there already");
        }
        let tenant = shown.get("payload.tenant").and_then(|tenant| tenant.as_str()?.parse::<TenantId>().ok());
        let store = shown.get("payload.store").and_then(|store| store.as_str());
        let Some(tenant) = tenant.filter(|_| store == Some(self.first.store.to_string().as_str())) else {
            let what = "the session does not begin with an event that binds it to this store";
            self.wrong(Wrong::ChangedStore, Some((session, 1)), line, what);
            return Link { sequence: 0, hash: Digest::of(b"") };
        };
        Link::genesis(tenant, session, self.first.store)
    }

    /// The session at hand is over: its end must be the last thing that is signed of it.
    fn close(&mut self, line: u64) {
        let Some((session, link)) = self.open.take() else { return };
        let signed = self.signed.get(&session).and_then(|signed| signed.last_key_value());
        match signed.map(|(sequence, _)| *sequence) {
            Some(sequence) if sequence > link.sequence => {
                let what = "a head was signed over a later event, which is not there";
                self.wrong(Wrong::DroppedTail, Some((session, sequence)), line, what);
            }
            Some(sequence) if sequence == link.sequence => {}
            _ => {
                self.wrong(Wrong::DroppedTail, Some((session, link.sequence)), line, "its end is not signed");
            }
        }
    }

    fn end(&mut self, last: Option<(u64, Last, Digest)>) {
        let Some((line, last, lines)) = last else {
            self.close(0);
            let what = "the end of the file is not there";
            return self.report.add(Wrong::DroppedTail, (None, None), what);
        };
        self.close(line);
        let counts = [self.report.n_sessions, self.report.n_heads, self.report.n_events];
        if [last.sessions, last.heads, last.events] != counts || !last.is_signed(lines, &self.first.key) {
            self.wrong(Wrong::DroppedTail, None, line, "the file as a whole is not what was signed");
        }
    }
}
