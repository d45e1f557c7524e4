//! The rows that a group writes, as one statement text and its parameters.

use sqlx::Sqlite;
use sqlx::sqlite::SqliteArguments;

use super::sql::{self, room};
use crate::audit::Cells;
use crate::write::Rows;

type Query = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

/// Columns of the tables that [`sql::WRITE_SMALL`] writes.
mod width {
    pub(super) const EVENT: usize = 11;
    pub(super) const CONTENT: usize = 3;
    pub(super) const CALL: usize = 7;
    pub(super) const ITEM: usize = 4;
}

/// Rows as one parameter.
fn json(rows: &[Cells]) -> Result<String, sqlx::Error> {
    serde_json::to_string(rows).map_err(|error| sqlx::Error::Encode(Box::new(error)))
}

/// The statement that writes them all in one transaction.
pub(super) fn query(rows: &Rows<'_>) -> Result<Query, sqlx::Error> {
    let is_of_calls = rows.is_of_calls();
    if is_of_calls && is_small(rows) {
        return Ok(small(rows));
    }
    let is_all = !(is_of_calls && rows.items.is_empty());
    let query = sqlx::query(if is_all { sql::WRITE_ALL } else { sql::WRITE_CALLS })
        .bind(json(rows.contents)?)
        .bind(json(&rows.calls.new)?)
        .bind(json(&rows.calls.changed)?)
        .bind(json(rows.events)?);
    if !is_all {
        return Ok(query);
    }
    Ok(query
        .bind(json(&rows.sessions)?)
        .bind(json(&rows.runs.new)?)
        .bind(json(&rows.runs.changed)?)
        .bind(json(&rows.approvals.new)?)
        .bind(json(&rows.approvals.changed)?)
        .bind(json(&rows.items)?)
        .bind(json(&rows.grants.new)?)
        .bind(json(&rows.grants.changed)?))
}

fn is_small(rows: &Rows<'_>) -> bool {
    rows.events.len() <= room::EVENTS
        && rows.contents.len() <= room::CONTENTS
        && rows.calls.new.len() <= room::NEW_CALLS
        && rows.calls.changed.len() <= room::CHANGED_CALLS
        && rows.items.len() <= room::ITEMS
}

/// A parameter for each column of each row.
fn small(rows: &Rows<'_>) -> Query {
    let query = sqlx::query(sql::WRITE_SMALL);
    let query = bind(query, rows.events, width::EVENT, room::EVENTS);
    let query = bind(query, rows.contents, width::CONTENT, room::CONTENTS);
    let query = bind(query, &rows.calls.new, width::CALL, room::NEW_CALLS);
    let query = bind(query, &rows.calls.changed, width::CALL, room::CHANGED_CALLS);
    bind(query, &rows.items, width::ITEM, room::ITEMS)
}

/// Binds rows, and NULL for those that there is room for.
fn bind(query: Query, rows: &[Cells], width: usize, room: usize) -> Query {
    let cells = rows.iter().flatten().cloned();
    let absent = std::iter::repeat_n(None, room.saturating_sub(rows.len()) * width);
    cells.chain(absent).fold(query, Query::bind)
}
