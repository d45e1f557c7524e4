//! The rows that a group writes, as one statement text and its parameters.

use sqlx::Sqlite;
use sqlx::sqlite::SqliteArguments;

use super::sql::{self, room};
use crate::audit::{Cells, Row};
use crate::fold::Changed;

type Query = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

/// Columns of the tables that [`sql::WRITE_SMALL`] writes.
mod width {
    pub(super) const EVENT: usize = 11;
    pub(super) const CONTENT: usize = 3;
    pub(super) const CALL: usize = 7;
    pub(super) const ITEM: usize = 4;
}

/// The rows that a group writes.
#[derive(Debug, Default)]
pub(super) struct Rows<'a> {
    pub(super) contents: &'a [Cells],
    pub(super) events: &'a [Cells],
    pub(super) sessions: Vec<Cells>,
    pub(super) runs: Changes,
    pub(super) calls: Changes,
    pub(super) approvals: Changes,
    pub(super) grants: Changes,
    pub(super) items: Vec<Cells>,
}

/// The rows of one table that are made, and those that are changed.
#[derive(Debug, Default)]
pub(super) struct Changes {
    new: Vec<Cells>,
    changed: Vec<Cells>,
}

impl Changes {
    /// Takes the cells of rows.
    pub(super) fn take<'a, T: Row + 'a>(&mut self, rows: impl Iterator<Item = &'a Changed<T>>) {
        for Changed { row, is_new } in rows {
            let cells = row.cells();
            if *is_new { self.new.extend(cells) } else { self.changed.extend(cells) }
        }
    }

    const fn is_empty(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty()
    }
}

/// Rows as one parameter.
fn json(rows: &[Cells]) -> Result<String, sqlx::Error> {
    serde_json::to_string(rows).map_err(|error| sqlx::Error::Encode(Box::new(error)))
}

impl Rows<'_> {
    /// The statement that writes them all in one transaction.
    pub(super) fn query(&self) -> Result<Query, sqlx::Error> {
        let is_calls_only = self.sessions.is_empty()
            && self.runs.is_empty()
            && self.approvals.is_empty()
            && self.grants.is_empty();
        if is_calls_only && self.is_small() {
            return Ok(self.small());
        }
        let is_all = !(is_calls_only && self.items.is_empty());
        let query = sqlx::query(if is_all { sql::WRITE_ALL } else { sql::WRITE_CALLS })
            .bind(json(self.contents)?)
            .bind(json(&self.calls.new)?)
            .bind(json(&self.calls.changed)?)
            .bind(json(self.events)?);
        if !is_all {
            return Ok(query);
        }
        Ok(query
            .bind(json(&self.sessions)?)
            .bind(json(&self.runs.new)?)
            .bind(json(&self.runs.changed)?)
            .bind(json(&self.approvals.new)?)
            .bind(json(&self.approvals.changed)?)
            .bind(json(&self.items)?)
            .bind(json(&self.grants.new)?)
            .bind(json(&self.grants.changed)?))
    }

    fn is_small(&self) -> bool {
        self.events.len() <= room::EVENTS
            && self.contents.len() <= room::CONTENTS
            && self.calls.new.len() <= room::NEW_CALLS
            && self.calls.changed.len() <= room::CHANGED_CALLS
            && self.items.len() <= room::ITEMS
    }

    /// A parameter for each column of each row.
    fn small(&self) -> Query {
        let query = sqlx::query(sql::WRITE_SMALL);
        let query = bind(query, self.events, width::EVENT, room::EVENTS);
        let query = bind(query, self.contents, width::CONTENT, room::CONTENTS);
        let query = bind(query, &self.calls.new, width::CALL, room::NEW_CALLS);
        let query = bind(query, &self.calls.changed, width::CALL, room::CHANGED_CALLS);
        bind(query, &self.items, width::ITEM, room::ITEMS)
    }
}

/// Binds rows, and NULL for those that there is room for.
fn bind(query: Query, rows: &[Cells], width: usize, room: usize) -> Query {
    let cells = rows.iter().flatten().cloned();
    let absent = std::iter::repeat_n(None, room.saturating_sub(rows.len()) * width);
    cells.chain(absent).fold(query, Query::bind)
}
