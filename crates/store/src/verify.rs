//! Finds what has been changed, left out or moved in a journal, offline and trusting nothing that it
//! reads: every hash, commitment and signature is computed anew, and every row of the state is compared
//! with what the events say it must be.
//!
//! What can be found has a limit: whoever can write the file and has the signing key can write a whole
//! new journal. Against that helps a head whose digest somebody kept elsewhere ([`Wanted::head`]).
//! See `docs/spec/journal.md`.

mod chain;
mod content;
mod heads;
mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use mast_kernel::canonical::Digest;
use mast_kernel::event::{Head, Link};
use mast_kernel::id::SessionId;

use crate::READ_ROWS_MAX;
use crate::audit::{Ask, Cells, Row as _, Table};
use crate::error::StoreError;
use crate::fold::State;
use crate::record::SessionRow;
use crate::traits::JournalReader;

/// Findings that are told one by one; of more, only that there are more.
const FINDINGS_MAX: usize = 1_000;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// An event is not what was written.
    ChangedEvent,
    /// An event is not there.
    MissingEvent,
    /// An event stands at another place than it was written at.
    Reordered,
    /// A value is not the one that an event is committed to.
    ChangedContent,
    /// A value that an event is committed to is not there.
    MissingContent,
    /// A value is there that no event is committed to.
    OrphanContent,
    /// The end of a session, or the head that was asked for, is not there.
    DroppedTail,
    /// A head is not what was signed, or one is missing.
    ChangedHead,
    /// A head is signed with another key than the store's.
    ForeignKey,
    /// A row of the state is not what the events say.
    StateDiffers,
    /// A row belongs to no session that there is.
    StrayRow,
    /// What the store says of itself is not what was signed, or a session is of another store.
    ChangedStore,
}

impl Wrong {
    /// In words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ChangedEvent => "changed event",
            Self::MissingEvent => "missing event",
            Self::Reordered => "reordered",
            Self::ChangedContent => "changed content",
            Self::MissingContent => "missing content",
            Self::OrphanContent => "orphan content",
            Self::DroppedTail => "dropped tail",
            Self::ChangedHead => "changed head",
            Self::ForeignKey => "foreign key",
            Self::StateDiffers => "state differs",
            Self::StrayRow => "stray row",
            Self::ChangedStore => "changed store",
        }
    }
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub wrong: Wrong,
    /// In which session.
    pub session: Option<SessionId>,
    /// At which event.
    pub sequence: Option<u64>,
    /// More words for a person. Nothing of it is quoted from a content row.
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.wrong.as_str())?;
        if let Some(session) = self.session {
            write!(f, " in {session}")?;
        }
        if let Some(sequence) = self.sequence {
            write!(f, " at {sequence}")?;
        }
        write!(f, ": {}", self.detail)
    }
}

/// What is to be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Only this session (and all heads). Rows of no session and orphan values are then not looked for.
    pub session: Option<SessionId>,
    /// A digest of a head, or the hash of an event, that must be there.
    pub head: Option<Digest>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// How many sessions were looked at.
    pub n_sessions: u64,
    /// How many events were looked at.
    pub n_events: u64,
    /// How many values were looked at.
    pub n_contents: u64,
    /// How many heads were looked at.
    pub n_heads: u64,
    /// The digest of the last head.
    pub last_head: Option<Digest>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Whether more is wrong than is told.
    pub has_more: bool,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    pub(crate) fn add(&mut self, wrong: Wrong, place: Place, detail: impl Into<String>) {
        if self.findings.len() < FINDINGS_MAX {
            let detail = detail.into();
            self.findings.push(Finding { wrong, session: place.0, sequence: place.1, detail });
        } else {
            self.has_more = true;
        }
    }
}

/// Where something is wrong.
pub(crate) type Place = (Option<SessionId>, Option<u64>);

/// What the parts of a verification tell each other.
#[derive(Debug, Default)]
struct Audit {
    report: Report,
    /// Where each value is committed to first.
    committed: BTreeMap<Digest, (SessionId, u64)>,
    /// What is signed of each session: head, sequence, hash.
    signed: BTreeMap<SessionId, Vec<(u64, u64, Digest)>>,
    /// The digest that must be somewhere.
    head: Option<Digest>,
    is_head_there: bool,
    /// Whether some session's chain does not hold; then nobody can say which values belong to it.
    is_broken: bool,
}

impl Audit {
    /// Remembers whether this is the head that was asked for.
    fn see(&mut self, digest: &Digest) {
        self.is_head_there |= self.head.as_ref() == Some(digest);
    }
}

/// Verifies a journal.
///
/// # Errors
///
/// [`StoreError`] where the store cannot be read at all. What is wrong in it is in the report.
pub async fn verify(journal: &dyn JournalReader, wanted: Wanted) -> Result<Report, StoreError> {
    let mut audit = Audit { head: wanted.head, ..Audit::default() };
    let seal = journal.seal();
    if !seal.is_signed() {
        let detail = "what the store says of itself (id, time, key) is not what was signed";
        audit.report.add(Wrong::ChangedStore, (None, None), detail);
    }
    heads::verify(journal, &mut audit).await?;
    let mut sessions = Shelf::new(Table::Sessions, None);
    while let Some(cells) = sessions.next(journal).await? {
        verify_session(journal, &mut audit, wanted, &cells).await?;
    }
    if wanted.session.is_none() {
        find_strays(journal, &mut audit).await?;
        content::verify_all(journal, &mut audit).await?;
    } else {
        content::verify_committed(journal, &mut audit).await?;
    }
    for (session, signed) in std::mem::take(&mut audit.signed) {
        if wanted.session.is_none_or(|only| only == session) && !was_cut(&signed) {
            let sequence = signed.iter().map(|(_, sequence, _)| *sequence).max();
            let detail = "there are signed heads of a session that is not there";
            audit.report.add(Wrong::DroppedTail, (Some(session), sequence), detail);
        }
    }
    if audit.head.is_some() && !audit.is_head_there {
        let detail = "the head that was given is not in this journal: its end was dropped or replaced";
        audit.report.add(Wrong::DroppedTail, (wanted.session, None), detail);
    }
    Ok(audit.report)
}

async fn verify_session(
    journal: &dyn JournalReader,
    audit: &mut Audit,
    wanted: Wanted,
    cells: &Cells,
) -> Result<(), StoreError> {
    let id = cells.first().cloned().flatten().unwrap_or_default();
    let Some(session) = id.parse::<SessionId>().ok().filter(|parsed| parsed.to_string() == id) else {
        audit.report.add(Wrong::StateDiffers, (None, None), "a row of sessions has an id that is none");
        return Ok(());
    };
    if wanted.session.is_some_and(|only| only != session) {
        return Ok(());
    }
    audit.report.n_sessions += 1;
    let row = SessionRow::read(cells);
    if row.is_none() {
        let detail = "the row of the session is not what mast writes";
        audit.report.add(Wrong::StateDiffers, (Some(session), None), detail);
    }
    if let Some((folded, _)) = chain::verify(journal, audit, session).await? {
        if row.is_some() && row != folded.session {
            let detail = "the row of the session is not what its first event says";
            audit.report.add(Wrong::StateDiffers, (Some(session), None), detail);
        }
        state::verify(journal, audit, session, &folded).await?;
    }
    Ok(())
}

/// Whether the last thing that was signed of a session that is not there is that it was cut off.
fn was_cut(signed: &[(u64, u64, Digest)]) -> bool {
    let Some((last, before)) = signed.split_last() else { return false };
    let is_end =
        |(_, sequence, hash): &&(u64, u64, Digest)| *sequence == last.1 && Head::cut_behind(hash) == last.2;
    before.iter().any(|head| is_end(&head))
}

/// Every session that there is a row of, in the order of their ids.
///
/// # Errors
///
/// [`StoreError`] where the store cannot be read.
pub async fn all_sessions(journal: &dyn JournalReader) -> Result<Vec<SessionId>, StoreError> {
    let (mut sessions, mut found) = (Shelf::new(Table::Sessions, None), BTreeSet::new());
    while let Some(cells) = sessions.next(journal).await? {
        found.extend(cells.first().and_then(|id| id.as_ref()?.parse::<SessionId>().ok()));
    }
    Ok(found.into_iter().collect())
}

/// What follows from a session's events, where its chain holds.
pub(crate) struct Walked {
    pub(crate) state: State,
    pub(crate) end: Link,
    /// The values that it is committed to.
    pub(crate) contents: BTreeSet<Digest>,
}

/// Goes through the events of one session alone; none where something is wrong with them.
pub(crate) async fn walk(
    journal: &dyn JournalReader,
    session: SessionId,
) -> Result<Option<Walked>, StoreError> {
    let mut audit = Audit::default();
    let folded = chain::verify(journal, &mut audit, session).await?;
    let contents = audit.committed.into_keys().collect();
    Ok(folded.map(|(state, end)| Walked { state, end, contents }))
}

/// Rows of sessions that there are not.
async fn find_strays(journal: &dyn JournalReader, audit: &mut Audit) -> Result<(), StoreError> {
    for table in [Table::Runs, Table::Calls, Table::Approvals, Table::Grants, Table::Items, Table::Events] {
        let mut strays = Shelf::new(table, None);
        let mut n_rows = 0_u64;
        while strays.next(journal).await?.is_some() {
            n_rows += 1;
        }
        if n_rows > 0 {
            let detail = format!("{n_rows} rows of {} belong to no session that there is", table.name());
            audit.report.add(Wrong::StrayRow, (None, None), detail);
        }
    }
    Ok(())
}

/// The rows of one table, one after the other, read page by page.
#[derive(Debug)]
struct Shelf {
    ask: Ask,
    page: std::vec::IntoIter<(i64, Cells)>,
    is_done: bool,
}

impl Shelf {
    fn new(table: Table, session: Option<SessionId>) -> Self {
        let ask = Ask { table, session, after: None, limit: READ_ROWS_MAX };
        Self { ask, page: Vec::new().into_iter(), is_done: false }
    }

    async fn next(&mut self, journal: &dyn JournalReader) -> Result<Option<Cells>, StoreError> {
        loop {
            if let Some((cursor, cells)) = self.page.next() {
                self.ask.after = Some(cursor);
                return Ok(Some(cells));
            }
            if self.is_done {
                return Ok(None);
            }
            let rows = journal.shelf(&self.ask).await?.rows;
            self.is_done = rows.len() < usize::try_from(READ_ROWS_MAX).unwrap_or(usize::MAX);
            self.page = rows.into_iter();
        }
    }
}
