//! Every statement that reads, and those few others that are the same text for both databases. A filter is a parameter that may be NULL; what
//! rows are *found* by must stand plainly in the statement, or no index is used, so there is a statement
//! for each. Numbers come as text, so that a row is read the same way from
//! either; rows are therefore ordered by `table.column`, since the bare name may mean that text.

use mast_kernel::call::CallStatus;

use crate::audit::Table;

macro_rules! sessions {
    ($by:literal) => {
        concat!(
            "SELECT record FROM sessions WHERE ",
            $by,
            " \
             AND ($1 IS NULL OR id = $1) \
             AND ($2 IS NULL OR substr(id, length(id) - length($2) + 1) = $2) \
             AND ($3 IS NULL OR principal = $3) \
             ORDER BY id DESC LIMIT $4"
        )
    };
}

pub(crate) const SESSIONS: &str = sessions!("true");
pub(crate) const SESSIONS_BY_ID: &str = sessions!("id = $1");

macro_rules! runs {
    ($by:literal) => {
        concat!(
            "SELECT record FROM runs WHERE ",
            $by,
            " \
             AND ($1 IS NULL OR id = $1) \
             AND ($2 IS NULL OR substr(id, length(id) - length($2) + 1) = $2) \
             AND ($3 IS NULL OR session = $3) \
             AND ($4 IS NULL OR status = $4) \
             ORDER BY id DESC LIMIT $5"
        )
    };
}

pub(crate) const RUNS: &str = runs!("true");
pub(crate) const RUNS_BY_ID: &str = runs!("id = $1");
pub(crate) const RUNS_BY_SESSION: &str = runs!("session = $3");
pub(crate) const RUNS_BY_STATUS: &str = runs!("status = $4");

macro_rules! calls {
    ($by:literal) => {
        concat!(
            "SELECT record FROM calls WHERE ",
            $by,
            " \
             AND ($1 IS NULL OR id = $1) \
             AND ($2 IS NULL OR substr(id, length(id) - length($2) + 1) = $2) \
             AND ($3 IS NULL OR session = $3) \
             AND ($4 IS NULL OR run = $4) \
             AND ($5 IS NULL OR status = $5) \
             AND ($6 IS NULL OR idempotency_key = $6) \
             ORDER BY id LIMIT $7"
        )
    };
}

pub(crate) const CALLS: &str = calls!("true");
pub(crate) const CALLS_BY_ID: &str = calls!("id = $1");
pub(crate) const CALLS_BY_KEY: &str = calls!("idempotency_key = $6");
pub(crate) const CALLS_BY_RUN: &str = calls!("run = $4");
pub(crate) const CALLS_BY_SESSION: &str = calls!("session = $3");
/// The list of states must be that of the partial index, letter by letter.
pub(crate) const CALLS_OPEN: &str = calls!(
    "status IN ('proposed', 'authorized', 'waiting_for_approval', 'running', 'uncertain') AND status = $5"
);

/// Whether calls in this state are in the partial index of open ones.
pub(crate) const fn is_open(status: CallStatus) -> bool {
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
             AND ($2 IS NULL OR substr(id, length(id) - length($2) + 1) = $2) \
             AND ($3 IS NULL OR session = $3) \
             AND ($4 IS NULL OR run = $4) \
             AND ($5 IS NULL OR call = $5) \
             AND ($6 IS NULL OR status = $6) \
             ORDER BY id DESC LIMIT $7"
        )
    };
}

pub(crate) const APPROVALS: &str = approvals!("true");
pub(crate) const APPROVALS_BY_ID: &str = approvals!("id = $1");
pub(crate) const APPROVALS_BY_SESSION: &str = approvals!("session = $3");
pub(crate) const APPROVALS_BY_STATUS: &str = approvals!("status = $6");

macro_rules! grants {
    ($by:literal) => {
        concat!(
            "SELECT record FROM grants WHERE ",
            $by,
            " \
             AND ($1 IS NULL OR id = $1) \
             AND ($2 IS NULL OR substr(id, length(id) - length($2) + 1) = $2) \
             AND ($3 IS NULL OR session = $3) \
             AND ($4 IS NULL OR status = $4) \
             ORDER BY id DESC LIMIT $5"
        )
    };
}

pub(crate) const GRANTS: &str = grants!("true");
pub(crate) const GRANTS_BY_ID: &str = grants!("id = $1");
pub(crate) const GRANTS_BY_SESSION: &str = grants!("session = $3");

pub(crate) const LEASE: &str = "SELECT owner, CAST(until AS TEXT) FROM leases WHERE run = $1";

pub(crate) const ITEMS: &str =
    "SELECT record FROM items WHERE session = $1 AND place > $2 ORDER BY place LIMIT $3";

/// The columns of a table, as its rows' cells have them.
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

pub(crate) const EVENTS: &str = concat!(
    "SELECT ",
    event_columns!(),
    " FROM events WHERE session = $1 AND sequence > $2 ORDER BY events.sequence LIMIT $3"
);
pub(crate) const CONTENT: &str = "SELECT commitment, salt, value FROM contents WHERE commitment = $1";
pub(crate) const HEADS: &str =
    concat!("SELECT ", head_columns!(), " FROM heads WHERE number > $1 ORDER BY heads.number LIMIT $2");

/// Whole tables, for an audit. `$1` stands for nothing and is not used.
macro_rules! whole {
    ($cursor:literal, $columns:expr, $table:literal) => {
        concat!(
            "SELECT CAST(",
            $cursor,
            " AS TEXT), ",
            $columns,
            " FROM ",
            $table,
            " WHERE $1 IS NULL AND ",
            $cursor,
            " >= $2 ORDER BY ",
            $table,
            ".",
            $cursor,
            " LIMIT $3"
        )
    };
}

/// The rows of one session, for an audit.
macro_rules! of_session {
    ($cursor:literal, $columns:expr, $table:literal) => {
        concat!(
            "SELECT CAST(",
            $cursor,
            " AS TEXT), ",
            $columns,
            " FROM ",
            $table,
            " WHERE session = $1 AND ",
            $cursor,
            " >= $2 ORDER BY ",
            $table,
            ".",
            $cursor,
            " LIMIT $3"
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
             ORDER BY ",
            $table,
            ".rowid LIMIT $3"
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

macro_rules! item_columns {
    () => {
        "id, session, CAST(place AS TEXT), record"
    };
}

/// The statement of one page of an audit. Events and items are paged by a session's own numbers, which are in
/// an index; every other table has a number for each row, in the order in which they were written.
pub(crate) const fn shelf(table: Table, has_session: bool) -> &'static str {
    match (table, has_session) {
        (Table::Sessions, _) => whole!("rowid", "id, principal, record", "sessions"),
        (Table::Contents, _) => whole!("rowid", "commitment, salt, value", "contents"),
        (Table::Heads, _) => whole!("number", head_columns!(), "heads"),
        (Table::Runs, true) => of_session!("rowid", "id, session, status, record", "runs"),
        (Table::Runs, false) => strays!("id, session, status, record", "runs"),
        (Table::Calls, true) => of_session!("rowid", call_columns!(), "calls"),
        (Table::Calls, false) => strays!(call_columns!(), "calls"),
        (Table::Approvals, true) => of_session!("rowid", approval_columns!(), "approvals"),
        (Table::Approvals, false) => strays!(approval_columns!(), "approvals"),
        (Table::Grants, true) => of_session!("rowid", "id, session, status, record", "grants"),
        (Table::Grants, false) => strays!("id, session, status, record", "grants"),
        (Table::Items, true) => of_session!("place", item_columns!(), "items"),
        (Table::Items, false) => strays!(item_columns!(), "items"),
        (Table::Events, true) => of_session!("sequence", event_columns!(), "events"),
        (Table::Events, false) => strays!(event_columns!(), "events"),
    }
}

/// Where a session stands: the end of its chain and its moment, its row, the greatest place of its items.
pub(crate) const STANDING: &str = "SELECT CAST(sequence AS TEXT), hash, CAST(at AS TEXT), \
     (SELECT record FROM sessions WHERE id = $1), \
     CAST((SELECT COALESCE(MAX(place), 0) FROM items WHERE session = $1) AS TEXT) \
     FROM events WHERE session = $1 ORDER BY events.sequence DESC LIMIT 1";

/// The moment of a session's last event, and of the store's last head.
pub(crate) const LAST_MOMENTS: &str = "SELECT \
     CAST((SELECT at FROM events WHERE session = $1 ORDER BY events.sequence DESC LIMIT 1) AS TEXT), \
     CAST((SELECT at FROM heads ORDER BY heads.number DESC LIMIT 1) AS TEXT)";

/// One row of the state.
pub(crate) const RUN: &str = "SELECT record FROM runs WHERE id = $1";
/// One row of the state.
pub(crate) const CALL: &str = "SELECT record FROM calls WHERE id = $1";
/// One row of the state.
pub(crate) const APPROVAL: &str = "SELECT record FROM approvals WHERE id = $1";
/// One row of the state.
pub(crate) const GRANT: &str = "SELECT record FROM grants WHERE id = $1";
/// The call that has a key.
pub(crate) const CALL_WITH_KEY: &str = "SELECT id FROM calls WHERE idempotency_key = $1";

/// The last head.
pub(crate) const LAST_HEAD: &str =
    concat!("SELECT ", head_columns!(), " FROM heads ORDER BY heads.number DESC LIMIT 1");

/// Adds a head.
pub(crate) const WRITE_HEAD: &str = "INSERT INTO heads \
     (number, session, sequence, hash, previous_head, at, key, signature) \
     VALUES (CAST($1 AS BIGINT), $2, CAST($3 AS BIGINT), $4, $5, CAST($6 AS BIGINT), $7, $8)";

/// Takes a lease or renews one's own. `$1` run, `$2` owner, `$3` until, `$4` now.
pub(crate) const TAKE_LEASE: &str = "INSERT INTO leases (run, owner, until) VALUES ($1, $2, $3) \
     ON CONFLICT (run) DO UPDATE SET owner = excluded.owner, until = excluded.until \
     WHERE leases.until <= $4 OR leases.owner = excluded.owner RETURNING run";

/// Gives a lease back. `$1` run, `$2` owner.
pub(crate) const RELEASE_LEASE: &str = "DELETE FROM leases WHERE run = $1 AND owner = $2 RETURNING run";
