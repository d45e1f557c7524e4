//! The statements of a call without Mast around them: one connection, the parameters ready beforehand,
//! one round trip a transaction. Nothing that writes this journal through this library can do less.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Row as _};

use super::captured::{Cells, Transaction};
use super::place;
use sql::room;

/// The store's own statements.
#[path = "../../../store/src/sqlite/sql.rs"]
#[expect(dead_code, reason = "the store uses them all")]
mod sql;

const ROWS: &str = "SELECT (SELECT COUNT(*) FROM events) + (SELECT COUNT(*) FROM contents) \
     + (SELECT COUNT(*) FROM calls) + (SELECT COUNT(*) FROM approvals)";

/// Columns of an event, a value, a call and an item.
const WIDTHS: [usize; 4] = [11, 3, 7, 4];

/// How long a connection waits for another's transaction.
const BUSY: Duration = Duration::from_secs(60);

/// The connection, to a database of its own with the same tables.
#[derive(Debug)]
pub(super) struct Bare(SqliteConnection);

/// One transaction, ready to be executed: the store's statement for rows of this kind, and what is bound.
#[derive(Debug)]
pub(super) struct Ready {
    text: &'static str,
    parameters: Cells,
}

impl Ready {
    /// The statement and the parameters of these rows.
    pub(super) fn of(rows: &Transaction) -> Result<Self, serde_json::Error> {
        if rows.new_approvals.is_empty() {
            return Ok(Self { text: sql::WRITE_SMALL, parameters: small(rows) });
        }
        // Values, calls, events, then sessions, runs, approvals and items.
        let none = Vec::new();
        let tables = [&rows.contents, &rows.new_calls, &rows.changed_calls, &rows.events];
        let others = [&none, &none, &none, &rows.new_approvals, &none, &none];
        let json = |rows: &Vec<Cells>| serde_json::to_string(rows).map(Some);
        let parameters = tables.into_iter().chain(others).map(json).collect::<Result<_, _>>()?;
        Ok(Self { text: sql::WRITE_ALL, parameters })
    }
}

/// Each column of each row, and NULL for the rows that there is room for.
fn small(rows: &Transaction) -> Cells {
    let [event, content, call, item] = WIDTHS;
    let tables = [
        (&rows.events, event * room::EVENTS),
        (&rows.contents, content * room::CONTENTS),
        (&rows.new_calls, call * room::NEW_CALLS),
        (&rows.changed_calls, call * room::CHANGED_CALLS),
        (&Vec::new(), item * room::ITEMS),
    ];
    let mut parameters = Cells::new();
    for (rows, n_cells) in tables {
        let end = parameters.len() + n_cells;
        parameters.extend(rows.iter().flatten().cloned());
        parameters.resize(end, None);
    }
    parameters
}

impl Bare {
    /// Makes the tables, and connects as the store does.
    pub(super) async fn open(path: &Path, synchronous: SqliteSynchronous) -> Result<Self, Box<dyn Error>> {
        drop(place::disk(path).await?);
        Self::connect(path, synchronous).await
    }

    /// Connects to a database that has the tables; where another writes, it waits.
    pub(super) async fn connect(path: &Path, synchronous: SqliteSynchronous) -> Result<Self, Box<dyn Error>> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .foreign_keys(false)
            .synchronous(synchronous)
            .busy_timeout(BUSY)
            .disable_statement_logging();
        Ok(Self(options.connect().await?))
    }

    /// Writes the transactions of one call.
    pub(super) async fn call(&mut self, transactions: &[Ready]) -> Result<(), sqlx::Error> {
        for Ready { text, parameters } in transactions {
            let query = sqlx::query(*text);
            let query = parameters.iter().fold(query, |query, cell| query.bind(cell.as_deref()));
            query.execute(&mut self.0).await?;
        }
        Ok(())
    }

    /// Writes these calls, one after the other.
    pub(super) async fn calls(&mut self, calls: &[Vec<Ready>]) -> Result<(), sqlx::Error> {
        for transactions in calls {
            self.call(transactions).await?;
        }
        Ok(())
    }

    /// How many rows are there, of events, values, calls and questions.
    pub(super) async fn n_rows(&mut self) -> Result<i64, sqlx::Error> {
        sqlx::query(ROWS).fetch_one(&mut self.0).await?.try_get(0)
    }
}
