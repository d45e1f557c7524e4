//! Reading from memory.

use async_trait::async_trait;
use mast_kernel::canonical::Digest;
use mast_kernel::event::{Event, Head};
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;

use super::{Held, MemoryStore};
use crate::READ_ROWS_MAX;
use crate::audit::{Ask, Cells, Page, Row, Table};
use crate::error::StoreError;
use crate::record::{ApprovalRow, CallRow, ContentRow, GrantRow, ItemRow, RunRow, SessionRow};
use crate::sign::Seal;
use crate::traits::{
    ApprovalFilter, CallFilter, GrantFilter, GrantReader, JournalReader, Reader, RunFilter, SessionFilter,
};

/// How many rows a reader gets that asks for `limit`.
fn bound(limit: u32) -> usize {
    let rows = if limit == 0 { READ_ROWS_MAX } else { limit.min(READ_ROWS_MAX) };
    usize::try_from(rows).unwrap_or(usize::MAX)
}

/// Whether what was asked for, if anything, is this.
fn fits<T: PartialEq>(wanted: Option<&T>, is: &T) -> bool {
    wanted.is_none_or(|wanted| wanted == is)
}

/// Whether the id ends in what was asked for, if anything.
fn ends(wanted: Option<&String>, id: &impl ToString) -> bool {
    wanted.is_none_or(|ending| id.to_string().ends_with(&ending.to_ascii_lowercase()))
}

#[async_trait]
impl Reader for MemoryStore {
    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>, StoreError> {
        let held = self.held();
        let rows = held.sessions.values().rev().filter_map(|held| held.state.session.as_ref());
        let wanted = rows.filter(|row| {
            fits(filter.id.as_ref(), &row.id)
                && ends(filter.ending.as_ref(), &row.id)
                && fits(filter.principal.as_ref(), &row.principal)
        });
        Ok(wanted.take(bound(filter.limit)).cloned().collect())
    }

    async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let held = self.held();
        let mut wanted: Vec<&RunRow> = held
            .sessions
            .values()
            .flat_map(|held| held.state.runs.values())
            .filter(|row| {
                fits(filter.id.as_ref(), &row.id)
                    && ends(filter.ending.as_ref(), &row.id)
                    && fits(filter.session.as_ref(), &row.session)
                    && fits(filter.status.as_ref(), &row.status)
            })
            .collect();
        wanted.sort_by_key(|row| std::cmp::Reverse(row.id));
        Ok(wanted.into_iter().take(bound(filter.limit)).cloned().collect())
    }

    async fn calls(&self, filter: &CallFilter) -> Result<Vec<CallRow>, StoreError> {
        let held = self.held();
        let mut wanted: Vec<&CallRow> = held
            .sessions
            .values()
            .flat_map(|held| held.state.calls.values())
            .filter(|row| {
                fits(filter.id.as_ref(), &row.id)
                    && ends(filter.ending.as_ref(), &row.id)
                    && fits(filter.session.as_ref(), &row.session)
                    && fits(filter.run.as_ref(), &row.run)
                    && fits(filter.status.as_ref(), &row.status)
                    && filter.idempotency_key.is_none_or(|key| row.idempotency_key == Some(key))
            })
            .collect();
        wanted.sort_by_key(|row| row.id);
        Ok(wanted.into_iter().take(bound(filter.limit)).cloned().collect())
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRow>, StoreError> {
        let held = self.held();
        let mut wanted: Vec<&ApprovalRow> = held
            .sessions
            .values()
            .flat_map(|held| held.state.approvals.values())
            .filter(|row| {
                fits(filter.id.as_ref(), &row.id)
                    && ends(filter.ending.as_ref(), &row.id)
                    && fits(filter.session.as_ref(), &row.session)
                    && fits(filter.run.as_ref(), &row.run)
                    && fits(filter.call.as_ref(), &row.call)
                    && fits(filter.status.as_ref(), &row.status)
            })
            .collect();
        wanted.sort_by_key(|row| std::cmp::Reverse(row.id));
        Ok(wanted.into_iter().take(bound(filter.limit)).cloned().collect())
    }

    async fn items(&self, session: SessionId, after: u64, limit: u32) -> Result<Vec<ItemRow>, StoreError> {
        let held = self.held();
        let rows = held.sessions.get(&session).map(|held| held.state.items.as_slice()).unwrap_or_default();
        Ok(rows.iter().filter(|row| row.place > after).take(bound(limit)).cloned().collect())
    }
}

#[async_trait]
impl GrantReader for MemoryStore {
    async fn last_moment(&self, session: SessionId) -> Result<Option<Instant>, StoreError> {
        let held = self.held();
        let of_session = held.sessions.get(&session).and_then(|held| held.state.last_at);
        Ok(of_session.max(held.heads.last().map(|head| head.at)))
    }

    async fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRow>, StoreError> {
        let held = self.held();
        let mut wanted: Vec<&GrantRow> = held
            .sessions
            .values()
            .flat_map(|held| held.state.grants.values())
            .filter(|row| {
                fits(filter.id.as_ref(), &row.id)
                    && ends(filter.ending.as_ref(), &row.id)
                    && fits(filter.session.as_ref(), &row.session)
                    && fits(filter.status.as_ref(), &row.status)
            })
            .collect();
        wanted.sort_by_key(|row| std::cmp::Reverse(row.id));
        Ok(wanted.into_iter().take(bound(filter.limit)).cloned().collect())
    }
}

#[async_trait]
impl JournalReader for MemoryStore {
    fn seal(&self) -> Seal {
        self.seal
    }

    async fn events(&self, session: SessionId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        let held = self.held();
        let events = held.sessions.get(&session).map(|held| held.events.as_slice()).unwrap_or_default();
        let after = events.iter().map(AsRef::as_ref).filter(|event| event.sequence > after);
        Ok(after.take(bound(limit)).cloned().collect())
    }

    async fn content(&self, commitment: &Digest) -> Result<Option<ContentRow>, StoreError> {
        Ok(self.held().contents.get(commitment).cloned())
    }

    async fn heads(&self, after: u64, limit: u32) -> Result<Vec<Head>, StoreError> {
        let held = self.held();
        Ok(held.heads.iter().filter(|head| head.number > after).take(bound(limit)).copied().collect())
    }

    async fn shelf(&self, ask: &Ask) -> Result<Page, StoreError> {
        let held = self.held();
        let skipped = usize::try_from(ask.after.unwrap_or(0)).unwrap_or(usize::MAX);
        let cells = held.cells(ask, skipped, bound(ask.limit));
        let rows = (ask.after.unwrap_or(0).saturating_add(1)..).zip(cells).collect();
        Ok(Page { rows })
    }
}

impl Held {
    /// Some of the rows that an auditor asks for. No row is without its session here.
    fn cells(&self, ask: &Ask, skipped: usize, limit: usize) -> Vec<Cells> {
        let of_session = ask.session.and_then(|id| self.sessions.get(&id));
        let page = Window { skipped, limit };
        match (ask.table, of_session) {
            (Table::Sessions, _) => {
                page.of(self.sessions.values().filter_map(|held| held.state.session.as_ref()))
            }
            (Table::Contents, _) => page.of(self.contents.values()),
            (Table::Heads, _) => page.of(self.heads.iter()),
            (Table::Runs, Some(held)) => page.of(held.state.runs.values()),
            (Table::Calls, Some(held)) => page.of(held.state.calls.values()),
            (Table::Approvals, Some(held)) => page.of(held.state.approvals.values()),
            (Table::Grants, Some(held)) => page.of(held.state.grants.values()),
            (Table::Items, Some(held)) => page.of(held.state.items.iter()),
            (Table::Events, Some(held)) => page.of(held.events.iter().map(AsRef::as_ref)),
            (
                Table::Runs | Table::Calls | Table::Approvals | Table::Grants | Table::Items | Table::Events,
                None,
            ) => Vec::new(),
        }
    }
}

/// Which of some rows are wanted.
struct Window {
    skipped: usize,
    limit: usize,
}

impl Window {
    /// The cells of the rows that are wanted.
    fn of<'a, T: Row + 'a>(&self, rows: impl Iterator<Item = &'a T>) -> Vec<Cells> {
        rows.skip(self.skipped).take(self.limit).filter_map(Row::cells).collect()
    }
}
