//! The rows that a group writes, as one statement and its parameters: an array for each column.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::run::RunStatus;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;

use super::sql;
use crate::audit::Cells;
use crate::write::Rows;

type Query = sqlx::query::Query<'static, Postgres, PgArguments>;

/// The statement that writes them all, at this level of `synchronous_commit`.
pub(super) fn query(rows: &Rows<'_>, level: String) -> Query {
    let is_of_calls = rows.is_of_calls();
    let query = sqlx::query(if is_of_calls { sql::WRITE_CALLS } else { sql::WRITE_ALL }).bind(level);
    let query = bind(query, &rows.before, &[0, 1, 2]);
    let query = bind(query, rows.events, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let query = bind(query, rows.contents, &[0, 1, 2]);
    let query = bind(query, &rows.calls.new, &[0, 1, 2, 3, 4, 5, 6]);
    let query = bind(query, &rows.calls.changed, &[0, 3, 4, 5, 6]);
    let query = bind(query, &rows.items, &[0, 1, 2, 3]);
    if is_of_calls {
        return query;
    }
    let query = bind(query, &rows.sessions, &[0, 1, 2]);
    let query = bind(query, &rows.runs.new, &[0, 1, 2, 3]);
    let query = bind(query, &rows.runs.changed, &[0, 2, 3]);
    let query = bind(query, &rows.approvals.new, &[0, 1, 2, 3, 4, 5]);
    let query = bind(query, &rows.approvals.changed, &[0, 4, 5]);
    let query = bind(query, &rows.grants.new, &[0, 1, 2, 3]);
    let query = bind(query, &rows.grants.changed, &[0, 2, 3]);
    query.bind(is_work(rows))
}

/// Whether somebody who waits for work may find some: a run is queued, or a question is answered.
fn is_work(rows: &Rows<'_>) -> bool {
    let is = |cells: &Cells, place: usize, word: &str| {
        cells.get(place).is_some_and(|cell| cell.as_deref() == Some(word))
    };
    let mut runs = rows.runs.new.iter().chain(&rows.runs.changed);
    runs.any(|cells| is(cells, 2, RunStatus::Queued.as_str()))
        || rows.approvals.changed.iter().any(|cells| !is(cells, 4, ApprovalStatus::Pending.as_str()))
}

/// Binds these columns of the rows.
fn bind(query: Query, rows: &[Cells], columns: &[usize]) -> Query {
    let column = |place: &usize| -> Vec<Option<String>> {
        rows.iter().map(|cells| cells.get(*place).cloned().flatten()).collect()
    };
    columns.iter().map(column).fold(query, Query::bind)
}
