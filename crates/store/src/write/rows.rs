//! The rows that a group writes.

use crate::audit::{Cells, Row};
use crate::batch::Durability;
use crate::fold::Changed;

/// The rows that a group writes.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    /// How sure the commit must be.
    pub(crate) durability: Durability,
    /// Where each session ended before that is not new: its id, and the number and hash of its last event.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "in a file the number that is taken says it")
    )]
    pub(crate) before: Vec<Cells>,
    pub(crate) contents: &'a [Cells],
    pub(crate) events: &'a [Cells],
    pub(crate) sessions: Vec<Cells>,
    pub(crate) runs: Changes,
    pub(crate) calls: Changes,
    pub(crate) approvals: Changes,
    pub(crate) grants: Changes,
    pub(crate) items: Vec<Cells>,
}

/// The rows of one table that are made, and those that are changed.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) new: Vec<Cells>,
    pub(crate) changed: Vec<Cells>,
}

impl Changes {
    /// Takes the cells of rows.
    pub(crate) fn take<'a, T: Row + 'a>(&mut self, rows: impl Iterator<Item = &'a Changed<T>>) {
        for Changed { row, is_new } in rows {
            let cells = row.cells();
            if *is_new { self.new.extend(cells) } else { self.changed.extend(cells) }
        }
    }

    /// Whether there are none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty()
    }
}

impl Rows<'_> {
    /// Whether only calls are made or changed, besides events, values and items: what most commits are.
    pub(crate) const fn is_of_calls(&self) -> bool {
        self.sessions.is_empty()
            && self.runs.is_empty()
            && self.approvals.is_empty()
            && self.grants.is_empty()
    }
}
