//! Every statement that writes, or that the writer reads with. All are constant. A small batch has a
//! parameter for each column of each row; a larger one comes as one JSON array of arrays a table, so that
//! one text writes any number of rows. Either is one round trip.

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
        insert!(
            "contents",
            ("commitment", "salt", "value"),
            ["0", "1", "2"],
            $parameter,
            "ON CONFLICT DO NOTHING"
        )
    };
}

macro_rules! events {
    ($parameter:literal) => {
        insert!(
            "events",
            (
                "session", "sequence", "run", "actor", "at", "type", "version", "payload", "salt",
                "previous", "hash"
            ),
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
            ("id", "session", "run", "status", "idempotency_key", "effect_sent_at", "record"),
            ["0", "1", "2", "3", "4", "5", "6"],
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

macro_rules! grants {
    ($parameter:literal, $tail:literal) => {
        insert!("grants", ("id", "session", "status", "record"), ["0", "1", "2", "3"], $parameter, $tail)
    };
}

/// How many rows of each kind [`WRITE_SMALL`] has room for.
pub(super) mod room {
    /// Events.
    pub(in super::super) const EVENTS: usize = 8;
    /// Values.
    pub(in super::super) const CONTENTS: usize = 3;
    /// New calls.
    pub(in super::super) const NEW_CALLS: usize = 1;
    /// Changed calls.
    pub(in super::super) const CHANGED_CALLS: usize = 1;
    /// Items.
    pub(in super::super) const ITEMS: usize = 2;
}

/// Rows of their own parameters; one whose first is NULL is absent. (Rows from JSON cost the database
/// several times as much, and a statement for each row costs a change of thread each.)
macro_rules! bound {
    ($table:literal, $columns:literal, [$first:literal $(, $row:literal)*], $tail:literal) => {
        concat!(
            "INSERT INTO ", $table, " (", $columns, ") SELECT * FROM (VALUES ", $first $(, ", ", $row)*,
            ") WHERE column1 IS NOT NULL ", $tail, ";\n"
        )
    };
}

/// Writes what a step of a run is up to the claim of its call, or one call's outcome: a few events,
/// values and items, a new call, a changed call. The parameters are the columns of each row in this
/// order; an absent row is all NULL.
pub(super) const WRITE_SMALL: &str = concat!(
    "BEGIN IMMEDIATE;\n",
    bound!(
        "events",
        "session, sequence, run, actor, at, type, version, payload, salt, previous, hash",
        [
            "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            "($12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)",
            "($23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33)",
            "($34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44)",
            "($45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55)",
            "($56, $57, $58, $59, $60, $61, $62, $63, $64, $65, $66)",
            "($67, $68, $69, $70, $71, $72, $73, $74, $75, $76, $77)",
            "($78, $79, $80, $81, $82, $83, $84, $85, $86, $87, $88)"
        ],
        ""
    ),
    bound!(
        "contents",
        "commitment, salt, value",
        ["($89, $90, $91)", "($92, $93, $94)", "($95, $96, $97)"],
        "ON CONFLICT DO NOTHING"
    ),
    bound!(
        "calls",
        "id, session, run, status, idempotency_key, effect_sent_at, record",
        ["($98, $99, $100, $101, $102, $103, $104)"],
        ""
    ),
    bound!(
        "calls",
        "id, session, run, status, idempotency_key, effect_sent_at, record",
        ["($105, $106, $107, $108, $109, $110, $111)"],
        "ON CONFLICT (id) DO UPDATE SET status = excluded.status, \
         idempotency_key = excluded.idempotency_key, effect_sent_at = excluded.effect_sent_at, \
         record = excluded.record"
    ),
    bound!(
        "items",
        "id, session, place, record",
        ["($112, $113, $114, $115)", "($116, $117, $118, $119)"],
        ""
    ),
    "COMMIT"
);

/// Writes values, calls and events, any number of each.
/// `$1` values, `$2` new calls, `$3` changed calls, `$4` events.
pub(super) const WRITE_CALLS: &str = concat!(
    "BEGIN IMMEDIATE;\n",
    events!("$4"),
    contents!("$1"),
    calls!("$2", ""),
    calls!(
        "$3",
        "ON CONFLICT (id) DO UPDATE SET status = excluded.status, \
         idempotency_key = excluded.idempotency_key, effect_sent_at = excluded.effect_sent_at, \
         record = excluded.record"
    ),
    "COMMIT"
);

/// Writes everything. `$1` values, `$2` new calls, `$3` changed calls, `$4` events, `$5` sessions, `$6`
/// new runs, `$7` changed runs, `$8` new approvals, `$9` changed approvals, `$10` items, `$11` new grants,
/// `$12` changed grants.
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
         idempotency_key = excluded.idempotency_key, effect_sent_at = excluded.effect_sent_at, \
         record = excluded.record"
    ),
    approvals!("$8", ""),
    approvals!("$9", "ON CONFLICT (id) DO UPDATE SET status = excluded.status, record = excluded.record"),
    grants!("$11", ""),
    grants!("$12", "ON CONFLICT (id) DO UPDATE SET status = excluded.status, record = excluded.record"),
    insert!("items", ("id", "session", "place", "record"), ["0", "1", "2", "3"], "$10", ""),
    "COMMIT"
);

/// Begins and ends upkeep.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";
pub(super) const COMMIT: &str = "COMMIT";

/// Writes the file anew, and empties the log.
pub(super) const TIDY: &str = "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)";

/// Ends a transaction that failed half-way.
pub(super) const ROLLBACK: &str = "ROLLBACK";

/// When the log is copied back into the file, in a process that writes much. The usual 1,000 pages are
/// right for a process that ends soon, since whoever opens the file next must read the whole log.
pub(super) const LONG_LOG: &str = "PRAGMA wal_autocheckpoint = 4000";

/// Takes the lease of the oldest run that could go on and that nobody works on.
/// `$1` owner, `$2` until, `$3` now, `$4` priority.
pub(super) const NEXT_RUN: &str = "INSERT INTO leases (run, owner, until) \
     SELECT runs.id, $1, $2 FROM runs LEFT JOIN leases ON leases.run = runs.id \
     WHERE runs.status IN ('queued', 'running', 'waiting_for_approval') \
     AND CASE WHEN json_valid(runs.record) THEN COALESCE(json_extract(runs.record, '$.priority'), 'normal') END \
     = $4 \
     AND (leases.run IS NULL OR leases.until <= $3) \
     AND (runs.status <> 'waiting_for_approval' OR NOT EXISTS \
     (SELECT 1 FROM approvals WHERE approvals.run = runs.id \
     AND approvals.status = 'pending' AND json_extract(approvals.record, '$.expires_at') > $3)) \
     ORDER BY runs.id LIMIT 1 \
     ON CONFLICT (run) DO UPDATE SET owner = excluded.owner, until = excluded.until RETURNING run, run";
