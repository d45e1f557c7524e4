//! Every row as text, for whoever does not trust them.
//!
//! A row is written as *cells*, one text a column, and read back strictly: a row whose cells are not
//! letter by letter what Mast writes for the value they stand for is not a row. So there is one spelling
//! of each row, the same in every store, and a verifier sees a changed letter even where the value that
//! it stands for would be the same.

use mast_kernel::canonical::{Canonical, Digest};
use mast_kernel::event::{Actor, Event, Head};
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::record::{ApprovalRow, CallRow, ContentRow, GrantRow, ItemRow, RunRow, SessionRow};

/// The texts of one row, one a column; `None` where the column is empty.
pub type Cells = Vec<Option<String>>;

/// A table of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// Conversations.
    Sessions,
    /// The work on single messages.
    Runs,
    /// Proposed uses of tools.
    Calls,
    /// Questions to a person.
    Approvals,
    /// Remembered yeses.
    Grants,
    /// Items of conversations.
    Items,
    /// Values.
    Contents,
    /// The journal.
    Events,
    /// Signed heads.
    Heads,
}

impl Table {
    /// Every table.
    pub const ALL: [Self; 9] = [
        Self::Sessions,
        Self::Runs,
        Self::Calls,
        Self::Approvals,
        Self::Grants,
        Self::Items,
        Self::Contents,
        Self::Events,
        Self::Heads,
    ];

    /// Its name, as SQL has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Runs => "runs",
            Self::Calls => "calls",
            Self::Approvals => "approvals",
            Self::Grants => "grants",
            Self::Items => "items",
            Self::Contents => "contents",
            Self::Events => "events",
            Self::Heads => "heads",
        }
    }
}

/// Which rows an auditor wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// Of which table.
    pub table: Table,
    /// Of runs, calls, approvals, grants, items and events: those of this session, or, without one, those of no
    /// session that there is. The other tables are given whole.
    pub session: Option<SessionId>,
    /// After this cursor; without one, from the beginning.
    pub after: Option<i64>,
    /// At most so many; 0 for the store's own bound.
    pub limit: u32,
}

/// Rows, in the order in which they were written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// Each row with its cursor.
    pub rows: Vec<(i64, Cells)>,
}

/// A row of a table, and its one spelling.
pub(crate) trait Row: Sized {
    /// Where it stands.
    const TABLE: Table;

    /// Its cells; `None` if it cannot be written, which its types rule out.
    fn cells(&self) -> Option<Cells>;

    /// The value that the cells stand for, read leniently.
    fn parse(cells: &[Option<String>]) -> Option<Self>;

    /// The value that the cells stand for, if they are its one spelling.
    fn read(cells: &[Option<String>]) -> Option<Self> {
        let row = Self::parse(cells)?;
        (row.cells()? == cells).then_some(row)
    }
}

/// The text of one column.
fn cell(cells: &[Option<String>], place: usize) -> Option<&str> {
    cells.get(place)?.as_deref()
}

/// A row that is kept as JSON beside the columns by which it is found.
fn record_cells<T: Serialize>(columns: Cells, row: &T) -> Option<Cells> {
    let mut cells = columns;
    cells.push(Some(serde_json::to_string(row).ok()?));
    Some(cells)
}

/// The JSON is the last column.
pub(crate) fn from_record<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

macro_rules! record_row {
    ($row:ident, $table:ident, |$it:ident| [$($column:expr),*]) => {
        impl Row for $row {
            const TABLE: Table = Table::$table;

            fn cells(&self) -> Option<Cells> {
                let $it = self;
                record_cells(vec![$($column),*], self)
            }

            fn parse(cells: &[Option<String>]) -> Option<Self> {
                from_record(cells.last()?.as_deref()?)
            }
        }
    };
}

/// A column that is always filled.
fn filled(value: &impl ToString) -> Option<String> {
    Some(value.to_string())
}

/// A column that may be empty.
fn perhaps<T: ToString>(value: Option<&T>) -> Option<String> {
    value.map(ToString::to_string)
}

record_row!(SessionRow, Sessions, |row| [filled(&row.id), filled(&row.principal)]);
record_row!(RunRow, Runs, |row| [filled(&row.id), filled(&row.session), filled(&row.status)]);
record_row!(CallRow, Calls, |row| [
    filled(&row.id),
    filled(&row.session),
    filled(&row.run),
    filled(&row.status),
    perhaps(row.idempotency_key.as_ref()),
    perhaps(row.effect_sent_at.map(Instant::micros).as_ref())
]);
record_row!(ApprovalRow, Approvals, |row| [
    filled(&row.id),
    filled(&row.session),
    filled(&row.run),
    filled(&row.call),
    filled(&row.status)
]);
record_row!(GrantRow, Grants, |row| [filled(&row.id), filled(&row.session), filled(&row.status)]);
record_row!(ItemRow, Items, |row| [filled(&row.id), filled(&row.session), filled(&row.place)]);

impl Row for ContentRow {
    const TABLE: Table = Table::Contents;

    fn cells(&self) -> Option<Cells> {
        Some(vec![filled(&self.commitment), filled(&self.salt), filled(&self.value)])
    }

    fn parse(cells: &[Option<String>]) -> Option<Self> {
        Some(Self {
            commitment: cell(cells, 0)?.parse().ok()?,
            salt: cell(cells, 1)?.parse().ok()?,
            value: Canonical::from_text(cell(cells, 2)?).ok()?,
        })
    }
}

impl Row for Event {
    const TABLE: Table = Table::Events;

    fn cells(&self) -> Option<Cells> {
        let payload = Canonical::of(&serde_json::Value::Object(self.payload.clone())).ok()?;
        Some(vec![
            filled(&self.session),
            filled(&self.sequence),
            perhaps(self.run.as_ref()),
            filled(&self.actor),
            filled(&self.at.micros()),
            filled(&self.kind),
            filled(&self.version),
            filled(&payload),
            filled(&self.salt),
            filled(&self.previous),
            filled(&self.hash),
        ])
    }

    fn parse(cells: &[Option<String>]) -> Option<Self> {
        let run = match cells.get(2)? {
            Some(text) => Some(text.parse().ok()?),
            None => None,
        };
        Some(Self {
            session: cell(cells, 0)?.parse().ok()?,
            sequence: cell(cells, 1)?.parse().ok()?,
            run,
            actor: Actor::from_wire(cell(cells, 3)?)?,
            at: Instant::from_micros(cell(cells, 4)?.parse().ok()?),
            kind: cell(cells, 5)?.to_owned(),
            version: cell(cells, 6)?.parse().ok()?,
            payload: serde_json::from_str(cell(cells, 7)?).ok()?,
            salt: cell(cells, 8)?.parse().ok()?,
            previous: cell(cells, 9)?.parse().ok()?,
            hash: cell(cells, 10)?.parse().ok()?,
        })
    }
}

impl Row for Head {
    const TABLE: Table = Table::Heads;

    fn cells(&self) -> Option<Cells> {
        Some(vec![
            filled(&self.number),
            filled(&self.session),
            filled(&self.sequence),
            filled(&self.hash),
            filled(&self.previous_head),
            filled(&self.at.micros()),
            filled(&self.key),
            filled(&self.signature),
        ])
    }

    fn parse(cells: &[Option<String>]) -> Option<Self> {
        Some(Self {
            number: cell(cells, 0)?.parse().ok()?,
            session: cell(cells, 1)?.parse().ok()?,
            sequence: cell(cells, 2)?.parse().ok()?,
            hash: cell(cells, 3)?.parse::<Digest>().ok()?,
            previous_head: cell(cells, 4)?.parse().ok()?,
            at: Instant::from_micros(cell(cells, 5)?.parse().ok()?),
            key: cell(cells, 6)?.parse().ok()?,
            signature: cell(cells, 7)?.parse().ok()?,
        })
    }
}
