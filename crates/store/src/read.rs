//! Reading by statements: which statement answers which question, and what its parameters are. Stores that
//! know SQL differ only in how a statement is put (`Select`) and how an audit is paged.

use async_trait::async_trait;
use mast_kernel::approval::ApprovalStatus;
use mast_kernel::canonical::Digest;
use mast_kernel::event::{Event, Head};
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;
use serde::de::DeserializeOwned;

use crate::READ_ROWS_MAX;
use crate::audit::{Ask, Cells, Page, Row, from_record};
use crate::error::StoreError;
use crate::record::{ApprovalRow, CallRow, ContentRow, GrantRow, ItemRow, RunRow, SessionRow};
use crate::select;
use crate::traits::{ApprovalFilter, CallFilter, GrantFilter, RunFilter, SessionFilter};

/// What stands for `$1` and the following in a statement.
#[derive(Debug, Clone)]
pub(crate) enum Parameter {
    /// A text, or nothing.
    Text(Option<String>),
    /// A number.
    Number(i64),
}

/// A statement with its parameters, and what it is for.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) attempt: &'static str,
    pub(crate) statement: &'static str,
    pub(crate) parameters: Vec<Parameter>,
}

impl Question {
    /// A statement without parameters.
    pub(crate) const fn new(attempt: &'static str, statement: &'static str) -> Self {
        Self { attempt, statement, parameters: Vec::new() }
    }

    /// With one more parameter.
    pub(crate) fn text(mut self, value: Option<&(impl ToString + ?Sized)>) -> Self {
        self.parameters.push(Parameter::Text(value.map(ToString::to_string)));
        self
    }

    /// With one more parameter.
    pub(crate) fn number(mut self, value: i64) -> Self {
        self.parameters.push(Parameter::Number(value));
        self
    }

    /// With how many rows are given to whoever asks for `limit`.
    fn limit(self, limit: u32) -> Self {
        self.number(i64::from(if limit == 0 { READ_ROWS_MAX } else { limit.min(READ_ROWS_MAX) }))
    }

    /// With a number as the database holds it; what is beyond its range is beyond every row.
    fn after(self, value: u64) -> Self {
        self.number(i64::try_from(value).unwrap_or(i64::MAX))
    }

    fn ending(self, value: Option<&String>) -> Self {
        self.text(value.map(|ending| ending.to_ascii_lowercase()).as_ref())
    }
}

/// Puts statements to a database.
#[async_trait]
pub(crate) trait Select: Send + Sync {
    /// The texts of the rows that answer.
    async fn select(&self, question: Question) -> Result<Vec<Cells>, StoreError>;
}

const STATE: &str = "reading the state";
const JOURNAL: &str = "reading the journal";

/// Rows whose only column is their JSON.
async fn records<T: Row + DeserializeOwned>(
    from: &impl Select,
    question: Question,
) -> Result<Vec<T>, StoreError> {
    let read = |cells: Cells| {
        let text = cells.into_iter().next().flatten().unwrap_or_default();
        from_record(&text).ok_or(StoreError::Unreadable { table: T::TABLE.name(), key: text })
    };
    from.select(question).await?.into_iter().map(read).collect()
}

/// Rows with all their columns.
async fn rows<T: Row>(from: &impl Select, question: Question) -> Result<Vec<T>, StoreError> {
    let read = |cells: Cells| {
        let key = || cells.iter().take(2).flatten().cloned().collect::<Vec<_>>().join(" ");
        T::read(&cells).ok_or_else(|| StoreError::Unreadable { table: T::TABLE.name(), key: key() })
    };
    from.select(question).await?.into_iter().map(read).collect()
}

pub(crate) async fn sessions(
    from: &impl Select,
    filter: &SessionFilter,
) -> Result<Vec<SessionRow>, StoreError> {
    let statement = if filter.id.is_some() { select::SESSIONS_BY_ID } else { select::SESSIONS };
    let question = Question::new(STATE, statement)
        .text(filter.id.as_ref())
        .ending(filter.ending.as_ref())
        .text(filter.principal.as_ref())
        .limit(filter.limit);
    records(from, question).await
}

pub(crate) async fn runs(from: &impl Select, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
    let statement = match filter {
        RunFilter { id: Some(_), .. } => select::RUNS_BY_ID,
        RunFilter { session: Some(_), .. } => select::RUNS_BY_SESSION,
        RunFilter { status: Some(_), .. } => select::RUNS_BY_STATUS,
        RunFilter { .. } => select::RUNS,
    };
    let question = Question::new(STATE, statement)
        .text(filter.id.as_ref())
        .ending(filter.ending.as_ref())
        .text(filter.session.as_ref())
        .text(filter.status.as_ref())
        .limit(filter.limit);
    records(from, question).await
}

pub(crate) async fn calls(from: &impl Select, filter: &CallFilter) -> Result<Vec<CallRow>, StoreError> {
    let statement = match filter {
        CallFilter { id: Some(_), .. } => select::CALLS_BY_ID,
        CallFilter { idempotency_key: Some(_), .. } => select::CALLS_BY_KEY,
        CallFilter { run: Some(_), .. } => select::CALLS_BY_RUN,
        CallFilter { session: Some(_), .. } => select::CALLS_BY_SESSION,
        CallFilter { status: Some(status), .. } if select::is_open(*status) => select::CALLS_OPEN,
        CallFilter { .. } => select::CALLS,
    };
    let question = Question::new(STATE, statement)
        .text(filter.id.as_ref())
        .ending(filter.ending.as_ref())
        .text(filter.session.as_ref())
        .text(filter.run.as_ref())
        .text(filter.status.as_ref())
        .text(filter.idempotency_key.as_ref())
        .limit(filter.limit);
    records(from, question).await
}

pub(crate) async fn approvals(
    from: &impl Select,
    filter: &ApprovalFilter,
) -> Result<Vec<ApprovalRow>, StoreError> {
    let statement = match filter {
        ApprovalFilter { id: Some(_), .. } => select::APPROVALS_BY_ID,
        ApprovalFilter { session: Some(_), .. } => select::APPROVALS_BY_SESSION,
        ApprovalFilter { status: Some(ApprovalStatus::Pending | ApprovalStatus::Approved), .. } => {
            select::APPROVALS_BY_STATUS
        }
        ApprovalFilter { .. } => select::APPROVALS,
    };
    let question = Question::new(STATE, statement)
        .text(filter.id.as_ref())
        .ending(filter.ending.as_ref())
        .text(filter.session.as_ref())
        .text(filter.run.as_ref())
        .text(filter.call.as_ref())
        .text(filter.status.as_ref())
        .limit(filter.limit);
    records(from, question).await
}

pub(crate) async fn items(
    from: &impl Select,
    session: SessionId,
    after: u64,
    limit: u32,
) -> Result<Vec<ItemRow>, StoreError> {
    let question = Question::new(STATE, select::ITEMS).text(Some(&session)).after(after).limit(limit);
    records(from, question).await
}

pub(crate) async fn grants(from: &impl Select, filter: &GrantFilter) -> Result<Vec<GrantRow>, StoreError> {
    let statement = match filter {
        GrantFilter { id: Some(_), .. } => select::GRANTS_BY_ID,
        GrantFilter { session: Some(_), .. } => select::GRANTS_BY_SESSION,
        GrantFilter { .. } => select::GRANTS,
    };
    let question = Question::new(STATE, statement)
        .text(filter.id.as_ref())
        .ending(filter.ending.as_ref())
        .text(filter.session.as_ref())
        .text(filter.status.as_ref())
        .limit(filter.limit);
    records(from, question).await
}

pub(crate) async fn events(
    from: &impl Select,
    session: SessionId,
    after: u64,
    limit: u32,
) -> Result<Vec<Event>, StoreError> {
    let question = Question::new(JOURNAL, select::EVENTS).text(Some(&session)).after(after).limit(limit);
    rows(from, question).await
}

pub(crate) async fn last_moment(
    from: &impl Select,
    session: SessionId,
) -> Result<Option<Instant>, StoreError> {
    let question = Question::new(JOURNAL, select::LAST_MOMENTS).text(Some(&session));
    let cells = from.select(question).await?.into_iter().flatten().flatten();
    Ok(cells.filter_map(|at| at.parse().ok()).map(Instant::from_micros).max())
}

pub(crate) async fn content(
    from: &impl Select,
    commitment: &Digest,
) -> Result<Option<ContentRow>, StoreError> {
    let question = Question::new(JOURNAL, select::CONTENT).text(Some(&commitment.to_hex()));
    Ok(rows(from, question).await?.pop())
}

pub(crate) async fn heads(from: &impl Select, after: u64, limit: u32) -> Result<Vec<Head>, StoreError> {
    rows(from, Question::new(JOURNAL, select::HEADS).after(after).limit(limit)).await
}

/// A page of an audit, by the statement that this database pages with.
pub(crate) async fn shelf(
    from: &impl Select,
    statement: &'static str,
    ask: &Ask,
) -> Result<Page, StoreError> {
    // Rows may have any number, the smallest too: the first page has no lower bound.
    let Some(first) = ask.after.map_or(Some(i64::MIN), |after| after.checked_add(1)) else {
        return Ok(Page { rows: Vec::new() });
    };
    let question = Question::new("reading for an audit", statement)
        .text(ask.session.as_ref())
        .number(first)
        .limit(ask.limit);
    let read = |cells: Cells| {
        let mut cells = cells.into_iter();
        let cursor = cells.next().flatten().and_then(|cursor| cursor.parse().ok()).unwrap_or(i64::MAX);
        (cursor, cells.collect())
    };
    Ok(Page { rows: from.select(question).await?.into_iter().map(read).collect() })
}

/// Makes a store readable whose statements are put by `Select`, and whose audits are paged by `$shelf`.
macro_rules! readable {
    ($store:ty, $shelf:path) => {
        #[async_trait::async_trait]
        impl $crate::traits::Reader for $store {
            async fn sessions(
                &self,
                filter: &$crate::SessionFilter,
            ) -> Result<Vec<$crate::SessionRow>, $crate::StoreError> {
                $crate::read::sessions(self, filter).await
            }

            async fn runs(
                &self,
                filter: &$crate::RunFilter,
            ) -> Result<Vec<$crate::RunRow>, $crate::StoreError> {
                $crate::read::runs(self, filter).await
            }

            async fn calls(
                &self,
                filter: &$crate::CallFilter,
            ) -> Result<Vec<$crate::CallRow>, $crate::StoreError> {
                $crate::read::calls(self, filter).await
            }

            async fn approvals(
                &self,
                filter: &$crate::ApprovalFilter,
            ) -> Result<Vec<$crate::ApprovalRow>, $crate::StoreError> {
                $crate::read::approvals(self, filter).await
            }

            async fn items(
                &self,
                session: mast_kernel::id::SessionId,
                after: u64,
                limit: u32,
            ) -> Result<Vec<$crate::ItemRow>, $crate::StoreError> {
                $crate::read::items(self, session, after, limit).await
            }
        }

        #[async_trait::async_trait]
        impl $crate::traits::GrantReader for $store {
            async fn last_moment(
                &self,
                session: mast_kernel::id::SessionId,
            ) -> Result<Option<mast_kernel::instant::Instant>, $crate::StoreError> {
                $crate::read::last_moment(self, session).await
            }

            async fn grants(
                &self,
                filter: &$crate::GrantFilter,
            ) -> Result<Vec<$crate::GrantRow>, $crate::StoreError> {
                $crate::read::grants(self, filter).await
            }
        }

        #[async_trait::async_trait]
        impl $crate::traits::JournalReader for $store {
            fn seal(&self) -> $crate::sign::Seal {
                self.seal
            }

            async fn events(
                &self,
                session: mast_kernel::id::SessionId,
                after: u64,
                limit: u32,
            ) -> Result<Vec<mast_kernel::event::Event>, $crate::StoreError> {
                $crate::read::events(self, session, after, limit).await
            }

            async fn content(
                &self,
                commitment: &mast_kernel::canonical::Digest,
            ) -> Result<Option<$crate::ContentRow>, $crate::StoreError> {
                $crate::read::content(self, commitment).await
            }

            async fn heads(
                &self,
                after: u64,
                limit: u32,
            ) -> Result<Vec<mast_kernel::event::Head>, $crate::StoreError> {
                $crate::read::heads(self, after, limit).await
            }

            async fn shelf(
                &self,
                ask: &$crate::audit::Ask,
            ) -> Result<$crate::audit::Page, $crate::StoreError> {
                $crate::read::shelf(self, $shelf(ask.table, ask.session.is_some()), ask).await
            }
        }
    };
}
pub(crate) use readable;
