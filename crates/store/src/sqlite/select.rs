//! Every statement that readers read with. A filter is a parameter that may be NULL; what rows are
//! *found* by must stand plainly in the statement, or no index is used, so there is a statement for each.

use mast_kernel::call::CallStatus;

use crate::audit::Table;

macro_rules! sessions {
    ($by:literal) => {
        concat!(
            "SELECT record FROM sessions WHERE ",
            $by,
            " \
             AND ($1 IS NULL OR id = $1) \
             AND ($2 IS NULL OR substr(id, -length($2)) = $2) \
             AND ($3 IS NULL OR principal = $3) \
             ORDER BY id DESC LIMIT $4"
        )
    };
}

pub(super) const SESSIONS: &str = sessions!("true");
pub(super) const SESSIONS_BY_ID: &str = sessions!("id = $1");

macro_rules! runs {
    ($by:literal) => {
        concat!(
            "SELECT record FROM runs WHERE ",
            $by,
            " \
             AND ($1 IS NULL OR id = $1) \
             AND ($2 IS NULL OR substr(id, -length($2)) = $2) \
             AND ($3 IS NULL OR session = $3) \
             AND ($4 IS NULL OR status = $4) \
             ORDER BY id DESC LIMIT $5"
        )
    };
}

pub(super) const RUNS: &str = runs!("true");
pub(super) const RUNS_BY_ID: &str = runs!("id = $1");
pub(super) const RUNS_BY_SESSION: &str = runs!("session = $3");
pub(super) const RUNS_BY_STATUS: &str = runs!("status = $4");

macro_rules! calls {
    ($by:literal) => {
        concat!(
            "SELECT record FROM calls WHERE ",
            $by,
            " \
             AND ($1 IS NULL OR id = $1) \
             AND ($2 IS NULL OR substr(id, -length($2)) = $2) \
             AND ($3 IS NULL OR session = $3) \
             AND ($4 IS NULL OR run = $4) \
             AND ($5 IS NULL OR status = $5) \
             AND ($6 IS NULL OR idempotency_key = $6) \
             ORDER BY id LIMIT $7"
        )
    };
}

pub(super) const CALLS: &str = calls!("true");
pub(super) const CALLS_BY_ID: &str = calls!("id = $1");
pub(super) const CALLS_BY_KEY: &str = calls!("idempotency_key = $6");
pub(super) const CALLS_BY_RUN: &str = calls!("session = (SELECT session FROM runs WHERE id = $4)");
pub(super) const CALLS_BY_SESSION: &str = calls!("session = $3");
/// The list of states must be that of the partial index, letter by letter.
pub(super) const CALLS_OPEN: &str = calls!(
    "status IN ('proposed', 'authorized', 'waiting_for_approval', 'running', 'uncertain') AND status = $5"
);

/// Whether calls in this state are in the partial index of open ones.
pub(super) const fn is_open(status: CallStatus) -> bool {
    matches!(
        status,
        CallStatus::Proposed
            | CallStatus::Authorized
            | CallStatus::WaitingForApproval
            | CallStatus::Running
            | CallStatus::Uncertain
    )
}

macro_rules! approvals {
    ($by:literal) => {
        concat!(
            "SELECT record FROM approvals WHERE ",
            $by,
            " \
             AND ($1 IS NULL OR id = $1) \
             AND ($2 IS NULL OR substr(id, -length($2)) = $2) \
             AND ($3 IS NULL OR session = $3) \
             AND ($4 IS NULL OR run = $4) \
             AND ($5 IS NULL OR call = $5) \
             AND ($6 IS NULL OR status = $6) \
             ORDER BY id DESC LIMIT $7"
        )
    };
}

pub(super) const APPROVALS: &str = approvals!("true");
pub(super) const APPROVALS_BY_ID: &str = approvals!("id = $1");
pub(super) const APPROVALS_BY_SESSION: &str = approvals!("session = $3");
pub(super) const APPROVALS_BY_STATUS: &str = approvals!("status = $6");

macro_rules! grants {
    ($by:literal) => {
        concat!(
            "SELECT record FROM grants WHERE ",
            $by,
            " \
             AND ($1 IS NULL OR id = $1) \
             AND ($2 IS NULL OR substr(id, -length($2)) = $2) \
             AND ($3 IS NULL OR session = $3) \
             AND ($4 IS NULL OR status = $4) \
             ORDER BY id DESC LIMIT $5"
        )
    };
}

pub(super) const GRANTS: &str = grants!("true");
pub(super) const GRANTS_BY_ID: &str = grants!("id = $1");
pub(super) const GRANTS_BY_SESSION: &str = grants!("session = $3");

pub(super) const LEASE: &str = "SELECT owner, until FROM leases WHERE run = $1";

pub(super) const ITEMS: &str =
    "SELECT record FROM items WHERE session = $1 AND place > $2 ORDER BY place LIMIT $3";

macro_rules! event_columns {
    () => {
        "session, CAST(sequence AS TEXT), run, actor, CAST(at AS TEXT), type, CAST(version AS TEXT), \
         payload, salt, previous, hash"
    };
}

macro_rules! head_columns {
    () => {
        "CAST(number AS TEXT), session, CAST(sequence AS TEXT), hash, previous_head, CAST(at AS TEXT), key, \
         signature"
    };
}

pub(super) const EVENTS: &str = concat!(
    "SELECT ",
    event_columns!(),
    " FROM events WHERE session = $1 AND sequence > $2 ORDER BY sequence LIMIT $3"
);
pub(super) const CONTENT: &str = "SELECT commitment, salt, value FROM contents WHERE commitment = $1";
pub(super) const HEADS: &str =
    concat!("SELECT ", head_columns!(), " FROM heads WHERE number > $1 ORDER BY number LIMIT $2");

/// Whole tables, for an audit. `$1` stands for nothing and is not used.
macro_rules! whole {
    ($columns:expr, $table:literal) => {
        concat!(
            "SELECT CAST(rowid AS TEXT), ",
            $columns,
            " FROM ",
            $table,
            " WHERE $1 IS NULL AND rowid >= $2 ORDER BY rowid LIMIT $3"
        )
    };
}

/// The rows of one session, for an audit, in the order in which they were written.
macro_rules! of_session {
    ($columns:expr, $table:literal) => {
        concat!(
            "SELECT CAST(rowid AS TEXT), ",
            $columns,
            " FROM ",
            $table,
            " WHERE session = $1 AND rowid >= $2 ORDER BY rowid LIMIT $3"
        )
    };
}

/// The rows of sessions that there are not, for an audit.
macro_rules! strays {
    ($columns:expr, $table:literal) => {
        concat!(
            "SELECT CAST(rowid AS TEXT), ",
            $columns,
            " FROM ",
            $table,
            " WHERE $1 IS NULL AND session NOT IN (SELECT id FROM sessions) AND rowid >= $2 \
             ORDER BY rowid LIMIT $3"
        )
    };
}

macro_rules! call_columns {
    () => {
        "id, session, run, status, idempotency_key, CAST(effect_sent_at AS TEXT), record"
    };
}

macro_rules! approval_columns {
    () => {
        "id, session, run, call, status, record"
    };
}

/// The statement of one page of an audit.
pub(super) const fn shelf(table: Table, has_session: bool) -> &'static str {
    match (table, has_session) {
        (Table::Sessions, _) => whole!("id, principal, record", "sessions"),
        (Table::Contents, _) => whole!("commitment, salt, value", "contents"),
        (Table::Heads, _) => whole!(head_columns!(), "heads"),
        (Table::Runs, true) => of_session!("id, session, status, record", "runs"),
        (Table::Runs, false) => strays!("id, session, status, record", "runs"),
        (Table::Calls, true) => of_session!(call_columns!(), "calls"),
        (Table::Calls, false) => strays!(call_columns!(), "calls"),
        (Table::Approvals, true) => of_session!(approval_columns!(), "approvals"),
        (Table::Approvals, false) => strays!(approval_columns!(), "approvals"),
        (Table::Grants, true) => of_session!("id, session, status, record", "grants"),
        (Table::Grants, false) => strays!("id, session, status, record", "grants"),
        (Table::Items, true) => of_session!("id, session, CAST(place AS TEXT), record", "items"),
        (Table::Items, false) => strays!("id, session, CAST(place AS TEXT), record", "items"),
        (Table::Events, true) => of_session!(event_columns!(), "events"),
        (Table::Events, false) => strays!(event_columns!(), "events"),
    }
}
