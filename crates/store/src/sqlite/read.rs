//! Reading, by connections of its own: a reader sees whole commits and waits for no writer.

use async_trait::async_trait;
use mast_kernel::approval::ApprovalStatus;
use mast_kernel::canonical::Digest;
use mast_kernel::event::{Event, Head};
use mast_kernel::id::SessionId;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Row as _, Sqlite};

use super::fault::Fault;
use super::{SqliteStore, select};
use crate::READ_ROWS_MAX;
use crate::audit::{Ask, Cells, Page, Row, from_record};
use crate::error::StoreError;
use crate::record::{ApprovalRow, CallRow, ContentRow, GrantRow, ItemRow, RunRow, SessionRow};
use crate::sign::Seal;
use crate::traits::{
    ApprovalFilter, CallFilter, GrantFilter, GrantReader, JournalReader, Reader, RunFilter, SessionFilter,
};

type Query = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

/// How many rows a reader gets that asks for `limit`.
fn bound(limit: u32) -> i64 {
    i64::from(if limit == 0 { READ_ROWS_MAX } else { limit.min(READ_ROWS_MAX) })
}

/// A number as the database holds it; what is beyond its range is beyond every row.
fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The texts of a row, also of one that is not text.
pub(super) fn cells_of(row: &SqliteRow) -> Cells {
    (0..row.len()).map(|place| text_of(row, place)).collect()
}

fn text_of(row: &SqliteRow, place: usize) -> Option<String> {
    let bytes = row.try_get_unchecked::<Option<Vec<u8>>, _>(place).ok().flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn text(value: Option<&impl ToString>) -> Option<String> {
    value.map(ToString::to_string)
}

fn ending(value: Option<&String>) -> Option<String> {
    value.map(|ending| ending.to_ascii_lowercase())
}

impl SqliteStore {
    pub(super) async fn fetch(
        &self,
        attempt: &'static str,
        query: Query,
    ) -> Result<Vec<SqliteRow>, StoreError> {
        query
            .fetch_all(&self.readers)
            .await
            .map_err(|error| Fault { path: &self.path }.during(attempt, error))
    }

    /// Rows whose only column is their JSON.
    async fn records<T: Row + serde::de::DeserializeOwned>(
        &self,
        query: Query,
    ) -> Result<Vec<T>, StoreError> {
        let table = T::TABLE.name();
        let rows = self.fetch("reading the state", query).await?;
        let read = |row: &SqliteRow| {
            let text = text_of(row, 0).unwrap_or_default();
            from_record(&text).ok_or(StoreError::Unreadable { table, key: text })
        };
        rows.iter().map(read).collect()
    }

    /// Rows with all their columns.
    async fn rows<T: Row>(&self, query: Query) -> Result<Vec<T>, StoreError> {
        let table = T::TABLE.name();
        let rows = self.fetch("reading the journal", query).await?;
        let read = |row: &SqliteRow| {
            let cells = cells_of(row);
            let key = || cells.iter().take(2).flatten().cloned().collect::<Vec<_>>().join(" ");
            T::read(&cells).ok_or_else(|| StoreError::Unreadable { table, key: key() })
        };
        rows.iter().map(read).collect()
    }
}

#[async_trait]
impl Reader for SqliteStore {
    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>, StoreError> {
        let statement = if filter.id.is_some() { select::SESSIONS_BY_ID } else { select::SESSIONS };
        let query = sqlx::query(statement)
            .bind(text(filter.id.as_ref()))
            .bind(ending(filter.ending.as_ref()))
            .bind(text(filter.principal.as_ref()))
            .bind(bound(filter.limit));
        self.records(query).await
    }

    async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let statement = match filter {
            RunFilter { id: Some(_), .. } => select::RUNS_BY_ID,
            RunFilter { session: Some(_), .. } => select::RUNS_BY_SESSION,
            RunFilter { status: Some(_), .. } => select::RUNS_BY_STATUS,
            RunFilter { .. } => select::RUNS,
        };
        let query = sqlx::query(statement)
            .bind(text(filter.id.as_ref()))
            .bind(ending(filter.ending.as_ref()))
            .bind(text(filter.session.as_ref()))
            .bind(text(filter.status.as_ref()))
            .bind(bound(filter.limit));
        self.records(query).await
    }

    async fn calls(&self, filter: &CallFilter) -> Result<Vec<CallRow>, StoreError> {
        let statement = match filter {
            CallFilter { id: Some(_), .. } => select::CALLS_BY_ID,
            CallFilter { idempotency_key: Some(_), .. } => select::CALLS_BY_KEY,
            CallFilter { run: Some(_), .. } => select::CALLS_BY_RUN,
            CallFilter { session: Some(_), .. } => select::CALLS_BY_SESSION,
            CallFilter { status: Some(status), .. } if select::is_open(*status) => select::CALLS_OPEN,
            CallFilter { .. } => select::CALLS,
        };
        let query = sqlx::query(statement)
            .bind(text(filter.id.as_ref()))
            .bind(ending(filter.ending.as_ref()))
            .bind(text(filter.session.as_ref()))
            .bind(text(filter.run.as_ref()))
            .bind(text(filter.status.as_ref()))
            .bind(text(filter.idempotency_key.as_ref()))
            .bind(bound(filter.limit));
        self.records(query).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRow>, StoreError> {
        let statement = match filter {
            ApprovalFilter { id: Some(_), .. } => select::APPROVALS_BY_ID,
            ApprovalFilter { session: Some(_), .. } => select::APPROVALS_BY_SESSION,
            ApprovalFilter { status: Some(ApprovalStatus::Pending | ApprovalStatus::Approved), .. } => {
                select::APPROVALS_BY_STATUS
            }
            ApprovalFilter { .. } => select::APPROVALS,
        };
        let query = sqlx::query(statement)
            .bind(text(filter.id.as_ref()))
            .bind(ending(filter.ending.as_ref()))
            .bind(text(filter.session.as_ref()))
            .bind(text(filter.run.as_ref()))
            .bind(text(filter.call.as_ref()))
            .bind(text(filter.status.as_ref()))
            .bind(bound(filter.limit));
        self.records(query).await
    }

    async fn items(&self, session: SessionId, after: u64, limit: u32) -> Result<Vec<ItemRow>, StoreError> {
        let query =
            sqlx::query(select::ITEMS).bind(session.to_string()).bind(number(after)).bind(bound(limit));
        self.records(query).await
    }
}

#[async_trait]
impl GrantReader for SqliteStore {
    async fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRow>, StoreError> {
        let statement = match filter {
            GrantFilter { id: Some(_), .. } => select::GRANTS_BY_ID,
            GrantFilter { session: Some(_), .. } => select::GRANTS_BY_SESSION,
            GrantFilter { .. } => select::GRANTS,
        };
        let query = sqlx::query(statement)
            .bind(text(filter.id.as_ref()))
            .bind(ending(filter.ending.as_ref()))
            .bind(text(filter.session.as_ref()))
            .bind(text(filter.status.as_ref()))
            .bind(bound(filter.limit));
        self.records(query).await
    }
}

#[async_trait]
impl JournalReader for SqliteStore {
    fn seal(&self) -> Seal {
        self.seal
    }

    async fn events(&self, session: SessionId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        let query =
            sqlx::query(select::EVENTS).bind(session.to_string()).bind(number(after)).bind(bound(limit));
        self.rows(query).await
    }

    async fn content(&self, commitment: &Digest) -> Result<Option<ContentRow>, StoreError> {
        let query = sqlx::query(select::CONTENT).bind(commitment.to_hex());
        Ok(self.rows(query).await?.pop())
    }

    async fn heads(&self, after: u64, limit: u32) -> Result<Vec<Head>, StoreError> {
        let query = sqlx::query(select::HEADS).bind(number(after)).bind(bound(limit));
        self.rows(query).await
    }

    async fn shelf(&self, ask: &Ask) -> Result<Page, StoreError> {
        // Rows may have any number, the smallest too: the first page has no lower bound.
        let Some(from) = ask.after.map_or(Some(i64::MIN), |after| after.checked_add(1)) else {
            return Ok(Page { rows: Vec::new() });
        };
        let query = sqlx::query(select::shelf(ask.table, ask.session.is_some()))
            .bind(text(ask.session.as_ref()))
            .bind(from)
            .bind(bound(ask.limit));
        let rows = self.fetch("reading for an audit", query).await?;
        let read = |row: &SqliteRow| {
            let mut cells = cells_of(row).into_iter();
            let cursor = cells.next().flatten().and_then(|cursor| cursor.parse().ok()).unwrap_or(i64::MAX);
            (cursor, cells.collect())
        };
        Ok(Page { rows: rows.iter().map(read).collect() })
    }
}
