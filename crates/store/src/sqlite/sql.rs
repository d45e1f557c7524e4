//! Every statement that writes, or that the writer reads with. Rows come as one JSON array of arrays a
//! table, so that one constant text writes any number of them in one round trip.

/// How the rows of a table are taken from their parameter.
macro_rules! insert {
    ($table:literal, ($($column:literal),+), [$($place:literal),+], $parameter:literal, $tail:literal) => {
        concat!(
            "INSERT INTO ", $table, insert!(@names $($column),+), " SELECT ", insert!(@places $($place),+),
            " FROM json_each(", $parameter, ") WHERE true ", $tail, ";\n"
        )
    };
    (@names $first:literal $(, $column:literal)*) => { concat!(" (", $first $(, ", ", $column)*, ")") };
    (@places $first:literal $(, $place:literal)*) => {
        concat!("value->>", $first $(, ", value->>", $place)*)
    };
}

macro_rules! contents {
    ($parameter:literal) => {
        insert!("contents", ("commitment", "salt", "value"), ["0", "1", "2"], $parameter, "ON CONFLICT DO NOTHING")
    };
}

macro_rules! events {
    ($parameter:literal) => {
        insert!(
            "events",
            ("session", "sequence", "run", "actor", "at", "type", "version", "payload", "salt", "previous", "hash"),
            ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"],
            $parameter,
            ""
        )
    };
}

macro_rules! calls {
    ($parameter:literal, $tail:literal) => {
        insert!(
            "calls",
            ("id", "session", "run", "status", "idempotency_key", "record"),
            ["0", "1", "2", "3", "4", "5"],
            $parameter,
            $tail
        )
    };
}

macro_rules! runs {
    ($parameter:literal, $tail:literal) => {
        insert!("runs", ("id", "session", "status", "record"), ["0", "1", "2", "3"], $parameter, $tail)
    };
}

macro_rules! approvals {
    ($parameter:literal, $tail:literal) => {
        insert!(
            "approvals",
            ("id", "session", "run", "call", "status", "record"),
            ["0", "1", "2", "3", "4", "5"],
            $parameter,
            $tail
        )
    };
}

/// Writes values, calls and events: what most batches are.
/// `$1` values, `$2` new calls, `$3` changed calls, `$4` events.
pub(super) const WRITE_CALLS: &str = concat!(
    "BEGIN IMMEDIATE;\n",
    events!("$4"),
    contents!("$1"),
    calls!("$2", ""),
    calls!(
        "$3",
        "ON CONFLICT (id) DO UPDATE SET status = excluded.status, \
         idempotency_key = excluded.idempotency_key, record = excluded.record"
    ),
    "COMMIT"
);

/// Writes everything. `$1` values, `$2` new calls, `$3` changed calls, `$4` events, `$5` sessions, `$6`
/// new runs, `$7` changed runs, `$8` new approvals, `$9` changed approvals, `$10` items.
pub(super) const WRITE_ALL: &str = concat!(
    "BEGIN IMMEDIATE;\n",
    events!("$4"),
    contents!("$1"),
    insert!("sessions", ("id", "principal", "record"), ["0", "1", "2"], "$5", ""),
    runs!("$6", ""),
    runs!("$7", "ON CONFLICT (id) DO UPDATE SET status = excluded.status, record = excluded.record"),
    calls!("$2", ""),
    calls!(
        "$3",
        "ON CONFLICT (id) DO UPDATE SET status = excluded.status, \
         idempotency_key = excluded.idempotency_key, record = excluded.record"
    ),
    approvals!("$8", ""),
    approvals!("$9", "ON CONFLICT (id) DO UPDATE SET status = excluded.status, record = excluded.record"),
    insert!("items", ("id", "session", "place", "record"), ["0", "1", "2", "3"], "$10", ""),
    "COMMIT"
);

/// Ends a transaction that failed half-way.
pub(super) const ROLLBACK: &str = "ROLLBACK";

/// Where a session stands: the end of its chain, its row, the greatest place of its items.
pub(super) const STANDING: &str = "SELECT sequence, hash, \
     (SELECT record FROM sessions WHERE id = $1), \
     (SELECT COALESCE(MAX(place), 0) FROM items WHERE session = $1) \
     FROM events WHERE session = $1 ORDER BY sequence DESC LIMIT 1";

/// One row of the state.
pub(super) const RUN: &str = "SELECT record FROM runs WHERE id = $1";
/// One row of the state.
pub(super) const CALL: &str = "SELECT record FROM calls WHERE id = $1";
/// One row of the state.
pub(super) const APPROVAL: &str = "SELECT record FROM approvals WHERE id = $1";
/// The call that has a key.
pub(super) const CALL_WITH_KEY: &str = "SELECT id FROM calls WHERE idempotency_key = $1";

/// The last head.
pub(super) const LAST_HEAD: &str = "SELECT CAST(number AS TEXT), session, CAST(sequence AS TEXT), hash, \
     previous_head, CAST(at AS TEXT), key, signature FROM heads ORDER BY number DESC LIMIT 1";

/// Adds a head.
pub(super) const WRITE_HEAD: &str = "INSERT INTO heads \
     (number, session, sequence, hash, previous_head, at, key, signature) \
     VALUES (CAST($1 AS INTEGER), $2, CAST($3 AS INTEGER), $4, $5, CAST($6 AS INTEGER), $7, $8)";
