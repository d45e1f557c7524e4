//! Upkeep of a store: conversations that are over are cut off, and the rows of the state are made anew.
//!
//! A cut takes a whole conversation away, with its events, values and rows. What stays are its signed heads and,
//! behind them, one that says where it was cut, so that a verifier can tell a cut from a loss: only who has the
//! key can cut. Rejected: cutting off the beginning of a conversation, whose later rows could then not be made
//! from its events any more. See `docs/spec/journal.md`.

use std::collections::BTreeSet;

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::canonical::Digest;
use mast_kernel::event::Link;
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;

use crate::audit::{Cells, Row};
use crate::error::StoreError;
use crate::fold::State;
use crate::traits::JournalReader;
use crate::verify::{Walked, walk};

/// Something to be done to one session.
#[derive(Debug, Clone)]
pub struct Upkeep {
    pub(crate) session: SessionId,
    /// Where its chain ends: if it does not any more, nothing is done.
    pub(crate) end: Link,
    pub(crate) what: What,
}

/// What is to be done.
#[derive(Debug, Clone)]
pub(crate) enum What {
    /// It is taken away; these are its values.
    Cut { at: Instant, contents: BTreeSet<Digest> },
    /// Its rows are made anew.
    Rebuild(Box<State>),
}

/// Why a session is not cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotCut {
    /// Its chain does not hold.
    #[error("its journal does not hold: see mast journal verify")]
    Broken,
    /// Something happened in it since.
    #[error("it is not that old")]
    Young,
    /// A run of it has not ended.
    #[error("a run of it has not ended")]
    Open,
    /// Nobody knows what became of a call.
    #[error("nobody knows what became of a call: see mast runs reconcile")]
    InDoubt,
}

/// The cut of a session in which nothing happened since `before` and in which nothing is open.
///
/// # Errors
///
/// [`StoreError`] where the store cannot be read.
pub async fn cut(
    journal: &dyn JournalReader,
    session: SessionId,
    (before, at): (Instant, Instant),
) -> Result<Result<Upkeep, NotCut>, StoreError> {
    let Some(Walked { state, end, contents }) = walk(journal, session).await? else {
        return Ok(Err(NotCut::Broken));
    };
    let is_asked =
        |status: ApprovalStatus| matches!(status, ApprovalStatus::Pending | ApprovalStatus::Approved);
    Ok(if state.last_at.is_none_or(|last| last >= before) {
        Err(NotCut::Young)
    } else if state.calls.values().any(|call| call.status == CallStatus::Uncertain) {
        Err(NotCut::InDoubt)
    } else if state.runs.values().any(|run| !run.status.is_ended())
        || state.approvals.values().any(|approval| is_asked(approval.status))
    {
        Err(NotCut::Open)
    } else {
        Ok(Upkeep { session, end, what: What::Cut { at, contents } })
    })
}

/// The rows of a session, made anew from its events; none where its chain does not hold.
///
/// # Errors
///
/// [`StoreError`] where the store cannot be read.
pub async fn rebuild(journal: &dyn JournalReader, session: SessionId) -> Result<Option<Upkeep>, StoreError> {
    let walked = walk(journal, session).await?;
    Ok(walked.map(|Walked { state, end, .. }| Upkeep { session, end, what: What::Rebuild(Box::new(state)) }))
}

/// What a database is asked to do for it, in one transaction. The first statement gives a row only if the
/// session still ends where it did.
pub(crate) fn statements(upkeep: &Upkeep) -> Vec<crate::read::Question> {
    use crate::read::Question;
    let Upkeep { session, end, what } = upkeep;
    let ask = |statement| Question::new("upkeep", statement);
    let sequence = end.sequence.to_string();
    let mut asked = vec![ask(sql::HOLDS).text(Some(session)).text(Some(&sequence)).text(Some(&end.hash))];
    match what {
        What::Cut { contents, .. } => {
            asked.extend(contents.iter().map(|commitment| ask(sql::FORGET).text(Some(commitment))));
            asked.extend(sql::CUT.iter().map(|statement| ask(statement).text(Some(session))));
        }
        What::Rebuild(state) => {
            asked.extend(sql::ROWS.iter().map(|statement| ask(statement).text(Some(session))));
            let mut make = |statement: &'static str, cells: Option<Cells>| {
                let cells = cells.into_iter();
                asked.extend(cells.map(|cells| {
                    cells.iter().fold(ask(statement), |question, cell| question.text(cell.as_ref()))
                }));
            };
            make(sql::SESSION, state.session.as_ref().and_then(Row::cells));
            state.runs.values().for_each(|row| make(sql::RUN, row.cells()));
            state.calls.values().for_each(|row| make(sql::CALL, row.cells()));
            state.approvals.values().for_each(|row| make(sql::APPROVAL, row.cells()));
            state.grants.values().for_each(|row| make(sql::GRANT, row.cells()));
            state.items.iter().for_each(|row| make(sql::ITEM, row.cells()));
        }
    }
    asked
}

/// The statements. They are the same for every database.
mod sql {
    /// Whether the session still ends there; it is locked meanwhile.
    pub(super) const HOLDS: &str = "UPDATE sessions SET principal = principal WHERE id = $1 \
         AND EXISTS (SELECT 1 FROM events WHERE session = $1 AND sequence = CAST($2 AS BIGINT) AND hash = $3) \
         AND NOT EXISTS (SELECT 1 FROM events WHERE session = $1 AND sequence > CAST($2 AS BIGINT)) \
         RETURNING id";

    pub(super) const FORGET: &str = "DELETE FROM contents WHERE commitment = $1";

    /// Takes a session away.
    pub(super) const CUT: &[&str] = &[
        "DELETE FROM leases WHERE run IN (SELECT id FROM runs WHERE session = $1)",
        "DELETE FROM items WHERE session = $1",
        "DELETE FROM grants WHERE session = $1",
        "DELETE FROM approvals WHERE session = $1",
        "DELETE FROM calls WHERE session = $1",
        "DELETE FROM runs WHERE session = $1",
        "DELETE FROM events WHERE session = $1",
        "DELETE FROM sessions WHERE id = $1",
    ];

    /// Takes its rows away that are to be made anew.
    pub(super) const ROWS: &[&str] = &[
        "DELETE FROM items WHERE session = $1",
        "DELETE FROM grants WHERE session = $1",
        "DELETE FROM approvals WHERE session = $1",
        "DELETE FROM calls WHERE session = $1",
        "DELETE FROM runs WHERE session = $1",
    ];

    pub(super) const SESSION: &str = "UPDATE sessions SET principal = $2, record = $3 WHERE id = $1";
    pub(super) const RUN: &str = "INSERT INTO runs (id, session, status, record) VALUES ($1, $2, $3, $4)";
    pub(super) const CALL: &str = "INSERT INTO calls \
         (id, session, run, status, idempotency_key, effect_sent_at, record) \
         VALUES ($1, $2, $3, $4, $5, CAST($6 AS BIGINT), $7)";
    pub(super) const APPROVAL: &str =
        "INSERT INTO approvals (id, session, run, call, status, record) VALUES ($1, $2, $3, $4, $5, $6)";
    pub(super) const GRANT: &str = "INSERT INTO grants (id, session, status, record) VALUES ($1, $2, $3, $4)";
    pub(super) const ITEM: &str =
        "INSERT INTO items (id, session, place, record) VALUES ($1, $2, CAST($3 AS BIGINT), $4)";
}
