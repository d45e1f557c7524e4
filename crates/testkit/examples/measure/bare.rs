//! The statements of a call without Mast around them: one connection, the parameters ready beforehand,
//! one round trip a transaction. Nothing that writes this journal through this library can do less.

use std::error::Error;
use std::path::Path;

use sqlx::ConnectOptions as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};

use super::captured::Transaction;
use super::place;

/// The store's own statements.
#[path = "../../../store/src/sqlite/sql.rs"]
#[expect(dead_code, reason = "the store uses them all")]
mod sql;

const NO_ROWS: &str = "[]";

/// The connection, to a database of its own with the same tables.
#[derive(Debug)]
pub(super) struct Bare(SqliteConnection);

/// What is bound for one transaction.
#[derive(Debug)]
pub(super) struct Parameters {
    contents: String,
    new_calls: String,
    changed_calls: String,
    events: String,
    new_approvals: Option<String>,
}

impl Parameters {
    /// The rows of a transaction, ready to be bound.
    pub(super) fn of(rows: &Transaction) -> Self {
        Self {
            contents: rows.contents.json(),
            new_calls: rows.new_calls.json(),
            changed_calls: rows.changed_calls.json(),
            events: rows.events.json(),
            new_approvals: (!rows.new_approvals.is_empty()).then(|| rows.new_approvals.json()),
        }
    }
}

impl Bare {
    /// Makes the tables, and connects as the store does.
    pub(super) async fn open(path: &Path, synchronous: SqliteSynchronous) -> Result<Self, Box<dyn Error>> {
        drop(place::disk(path).await?);
        let options = SqliteConnectOptions::new()
            .filename(path)
            .foreign_keys(false)
            .synchronous(synchronous)
            .disable_statement_logging();
        Ok(Self(options.connect().await?))
    }

    /// Writes the transactions of one call.
    pub(super) async fn call(&mut self, transactions: &[Parameters]) -> Result<(), sqlx::Error> {
        for with in transactions {
            let text = if with.new_approvals.is_some() { sql::WRITE_ALL } else { sql::WRITE_CALLS };
            let mut query = sqlx::query(text)
                .bind(&with.contents)
                .bind(&with.new_calls)
                .bind(&with.changed_calls)
                .bind(&with.events);
            if let Some(new_approvals) = &with.new_approvals {
                // Sessions, new and changed runs; approvals; changed approvals, items.
                query = query.bind(NO_ROWS).bind(NO_ROWS).bind(NO_ROWS);
                query = query.bind(new_approvals).bind(NO_ROWS).bind(NO_ROWS);
            }
            query.execute(&mut self.0).await?;
        }
        Ok(())
    }
}
