//! The connections that write to the file: one for what must survive the end of the process, and one for
//! what must survive a loss of power.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::sqlite::SqliteConnection;

use super::fault::{Fault, duplicate};
use super::read::{cells_of, query};
use super::{connect_full, rows, sql};
use crate::audit::Cells;
use crate::batch::Durability;
use crate::error::StoreError;
use crate::read::Question;
use crate::write::{Connection, Hold, Keeper, Rows, Unwritten};

/// After so many transactions a process is one that writes much, and is looked at again after as many.
const GROUPS_OF_A_SHORT_LIFE: u64 = 64;

/// The connections that write.
#[derive(Debug)]
pub(super) struct FileConnection {
    path: Arc<Path>,
    normal: SqliteConnection,
    full: Option<SqliteConnection>,
    n_groups: u64,
}

impl FileConnection {
    pub(super) const fn new(path: Arc<Path>, normal: SqliteConnection) -> Self {
        Self { path, normal, full: None, n_groups: 0 }
    }

    async fn execute(&mut self, rows: &Rows<'_>) -> Result<(), sqlx::Error> {
        let is_full = rows.durability == Durability::Full;
        if is_full && self.full.is_none() {
            let full = connect_full(&self.path)
                .await
                .map_err(|error| sqlx::Error::Io(std::io::Error::other(error)))?;
            self.full = Some(full);
        }
        let connection = match &mut self.full {
            Some(full) if is_full => full,
            _ => &mut self.normal,
        };
        // The setting belongs to the connection that commits, and either may be the one that is at it.
        if self.n_groups % GROUPS_OF_A_SHORT_LIFE == GROUPS_OF_A_SHORT_LIFE - 1 {
            sqlx::raw_sql(sql::LONG_LOG).execute(&mut *connection).await?;
        }
        self.n_groups = self.n_groups.wrapping_add(1);
        let result = rows::query(rows)?.execute(&mut *connection).await;
        if result.is_err() && sqlx::raw_sql(sql::ROLLBACK).execute(&mut *connection).await.is_err() {
            tracing::debug!("the transaction that failed was rolled back by the database itself");
        }
        result.map(|_| ())
    }

    /// After a write that failed nobody can say what is on the disk; only where the database refused
    /// before it wrote does the store go on.
    fn unwritten(&self, attempt: &'static str, error: sqlx::Error) -> Unwritten {
        if let Some(columns) = duplicate(&error) {
            return Unwritten::Taken(columns.to_owned());
        }
        match (Fault { path: &self.path }.during(attempt, error)) {
            error @ (StoreError::Locked(_) | StoreError::DiskFull(_) | StoreError::ReadOnly(_)) => {
                Unwritten::Refused(error)
            }
            error => Unwritten::Unknown(error),
        }
    }
}

#[async_trait]
impl Connection for FileConnection {
    async fn select(&mut self, question: Question) -> Result<Vec<Cells>, StoreError> {
        let attempt = question.attempt;
        let rows = query(question).fetch_all(&mut self.normal).await;
        let rows = rows.map_err(|error| Fault { path: &self.path }.during(attempt, error))?;
        Ok(rows.iter().map(cells_of).collect())
    }

    /// There is one lock for the whole file, and a transaction that writes takes it first of all: to be
    /// overtaken again and again another process would have to be faster every time.
    async fn hold(&mut self, _what: Hold) -> Result<(), StoreError> {
        Ok(())
    }

    async fn let_go(&mut self) {}

    async fn write(&mut self, rows: Rows<'_>) -> Result<(), Unwritten> {
        self.execute(&rows).await.map_err(|error| self.unwritten("writing the journal", error))
    }

    async fn change(&mut self, question: Question) -> Result<Vec<Cells>, Unwritten> {
        let attempt = question.attempt;
        match query(question).fetch_all(&mut self.normal).await {
            Ok(rows) => Ok(rows.iter().map(cells_of).collect()),
            Err(error) => Err(self.unwritten(attempt, error)),
        }
    }
}

#[async_trait]
impl Keeper for FileConnection {
    async fn change_all(&mut self, questions: Vec<Question>) -> Result<(), Unwritten> {
        let done = async {
            sqlx::raw_sql(sql::BEGIN).execute(&mut self.normal).await?;
            for (number, question) in questions.into_iter().enumerate() {
                let rows = query(question).fetch_all(&mut self.normal).await?;
                if number == 0 && rows.is_empty() {
                    return Ok(false);
                }
            }
            sqlx::raw_sql(sql::COMMIT).execute(&mut self.normal).await?;
            Ok(true)
        };
        let failed = match done.await {
            Ok(true) => return Ok(()),
            Ok(false) => Unwritten::Overtaken,
            Err(error) => self.unwritten("upkeep", error),
        };
        if sqlx::raw_sql(sql::ROLLBACK).execute(&mut self.normal).await.is_err() {
            tracing::debug!("the transaction that failed was rolled back by the database itself");
        }
        Err(failed)
    }

    /// The file is written anew: what is only marked as free would still be in it.
    async fn tidy(&mut self) {
        if let Err(error) = sqlx::raw_sql(sql::TIDY).execute(&mut self.normal).await {
            tracing::warn!(%error, "what was cut off is still in the file, as free room: somebody else has it open");
        }
    }
}
