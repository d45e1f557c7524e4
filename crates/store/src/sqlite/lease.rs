//! Leases in the file. They are written by the one task that writes, so that they wait for no lock.

use async_trait::async_trait;
use mast_kernel::id::RunId;
use mast_kernel::instant::Instant;
use sqlx::Row as _;

use super::group::Database;
use super::{SqliteStore, select, sql};
use crate::error::StoreError;
use crate::lease::{Lease, Leases, Wanted};
use crate::record::RunRow;
use crate::traits::Reader as _;

/// What is asked about leases.
#[derive(Debug)]
pub(super) enum Change {
    Take { lease: Lease, now: Instant },
    Release { run: RunId, owner: String },
    Next { owner: String, now: Instant, until: Instant, priority: &'static str },
}

impl Database {
    /// Changes a lease; the run whose lease was changed, if one was.
    pub(super) async fn change(&mut self, what: Change) -> Result<Option<String>, StoreError> {
        let query = match what {
            Change::Take { lease, now } => sqlx::query(sql::TAKE_LEASE)
                .bind(lease.run.to_string())
                .bind(lease.owner)
                .bind(lease.until.micros())
                .bind(now.micros()),
            Change::Release { run, owner } => {
                sqlx::query(sql::RELEASE_LEASE).bind(run.to_string()).bind(owner)
            }
            Change::Next { owner, now, until, priority } => {
                sqlx::query(sql::NEXT_RUN).bind(owner).bind(until.micros()).bind(now.micros()).bind(priority)
            }
        };
        let (connection, fault) = self.quick();
        let row = query.fetch_optional(connection).await;
        let row = row.map_err(|error| fault.during("changing a lease", error))?;
        Ok(row.and_then(|row| row.try_get(0).ok()))
    }
}

#[async_trait]
impl Leases for SqliteStore {
    async fn take(&self, lease: &Lease, now: Instant) -> Result<bool, StoreError> {
        let taken = self.queue.change(Change::Take { lease: lease.clone(), now }).await?;
        Ok(taken.is_some())
    }

    async fn release(&self, run: RunId, owner: &str) -> Result<(), StoreError> {
        self.queue.change(Change::Release { run, owner: owner.to_owned() }).await.map(|_| ())
    }

    async fn lease(&self, run: RunId) -> Result<Option<Lease>, StoreError> {
        let query = sqlx::query(select::LEASE).bind(run.to_string());
        let row = self.fetch("reading a lease", query).await?.pop();
        let unreadable = || StoreError::Unreadable { table: "leases", key: run.to_string() };
        let read = |row: &sqlx::sqlite::SqliteRow| {
            let (owner, until) = (row.try_get(0).ok()?, row.try_get(1).ok()?);
            Some(Lease { run, owner, until: Instant::from_micros(until) })
        };
        row.as_ref().map(|row| read(row).ok_or_else(unreadable)).transpose()
    }

    async fn next(&self, wanted: &Wanted<'_>) -> Result<Option<RunRow>, StoreError> {
        let owner = wanted.owner.to_owned();
        let (now, until, priority) = (wanted.now, wanted.until, wanted.priority.as_str());
        let taken = self.queue.change(Change::Next { owner, now, until, priority }).await?;
        let Some(id) = taken else { return Ok(None) };
        let unreadable = || StoreError::Unreadable { table: "leases", key: id.clone() };
        self.run(id.parse().map_err(|_| unreadable())?).await
    }
}
