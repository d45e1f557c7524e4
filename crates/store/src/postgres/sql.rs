//! Every statement that only Postgres knows, or knows differently. All are constant. A commit is one
//! statement, and so one transaction and one round trip; the rows of a table come as one array a column.
//!
//! The statement begins with `held`: it locks the sessions that it writes to, one after the other in the
//! order of their ids, so that no two processes wait for each other, and it looks whether each of them ends
//! where the writer thought. Nothing is written otherwise. A process that is overtaken while it waits for
//! the lock does not see that, but then the number of its first event is taken.

/// Where `synchronous_commit` stands for this transaction (`$1`), the sessions (`$2`), and the number (`$3`)
/// and hash (`$4`) of the last event of each.
macro_rules! held {
    () => {
        "WITH held AS MATERIALIZED ( \
         SELECT set_config('synchronous_commit', $1, true) AS level, \
         (SELECT COUNT(*) FROM (SELECT 1 FROM sessions WHERE id = ANY ($2) ORDER BY id FOR UPDATE) \
         AS locked) AS n_locked, \
         NOT EXISTS (SELECT 1 FROM unnest($2, $3, $4) AS last (session, sequence, hash) \
         WHERE NOT EXISTS (SELECT 1 FROM events WHERE events.session = last.session \
         AND events.sequence = CAST(last.sequence AS BIGINT) AND events.hash = last.hash)) AS fits)"
    };
}

/// New rows of a table.
macro_rules! new {
    ($name:literal, $table:literal, $columns:literal, $arrays:literal, $values:literal, $tail:literal) => {
        concat!(
            ", ",
            $name,
            " AS (INSERT INTO ",
            $table,
            " (",
            $columns,
            ") SELECT ",
            $values,
            " FROM held, unnest(",
            $arrays,
            ") AS r (",
            $columns,
            ") WHERE held.fits",
            $tail,
            ")"
        )
    };
}

/// Changed rows of a table.
macro_rules! changed {
    ($name:literal, $table:literal, $columns:literal, $arrays:literal, $sets:literal) => {
        concat!(
            ", ",
            $name,
            " AS (UPDATE ",
            $table,
            " SET ",
            $sets,
            " FROM held, unnest(",
            $arrays,
            ") AS r (",
            $columns,
            ") WHERE held.fits AND ",
            $table,
            ".id = r.id)"
        )
    };
}

/// Events, values, calls and items.
macro_rules! of_calls {
    () => {
        concat!(
            new!(
                "new_events",
                "events",
                "session, sequence, run, actor, at, type, version, payload, salt, previous, hash",
                "$5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15",
                "r.session, CAST(r.sequence AS BIGINT), r.run, r.actor, CAST(r.at AS BIGINT), r.type, \
                 CAST(r.version AS BIGINT), r.payload, r.salt, r.previous, r.hash",
                ""
            ),
            new!(
                "new_contents",
                "contents",
                "commitment, salt, value",
                "$16, $17, $18",
                "r.commitment, r.salt, r.value",
                " ON CONFLICT DO NOTHING"
            ),
            new!(
                "new_calls",
                "calls",
                "id, session, run, status, idempotency_key, effect_sent_at, record",
                "$19, $20, $21, $22, $23, $24, $25",
                "r.id, r.session, r.run, r.status, r.idempotency_key, CAST(r.effect_sent_at AS BIGINT), \
                 r.record",
                ""
            ),
            changed!(
                "changed_calls",
                "calls",
                "id, status, idempotency_key, effect_sent_at, record",
                "$26, $27, $28, $29, $30",
                "status = r.status, idempotency_key = r.idempotency_key, \
                 effect_sent_at = CAST(r.effect_sent_at AS BIGINT), record = r.record"
            ),
            new!(
                "new_items",
                "items",
                "id, session, place, record",
                "$31, $32, $33, $34",
                "r.id, r.session, CAST(r.place AS BIGINT), r.record",
                ""
            )
        )
    };
}

/// Writes events, values, calls and items.
pub(super) const WRITE_CALLS: &str = concat!(held!(), of_calls!(), " SELECT fits, level, n_locked FROM held");

/// Writes everything; `$61` is whether others are told that there may be work.
pub(super) const WRITE_ALL: &str = concat!(
    held!(),
    of_calls!(),
    new!(
        "new_sessions",
        "sessions",
        "id, principal, record",
        "$35, $36, $37",
        "r.id, r.principal, r.record",
        ""
    ),
    new!(
        "new_runs",
        "runs",
        "id, session, status, record",
        "$38, $39, $40, $41",
        "r.id, r.session, r.status, r.record",
        ""
    ),
    changed!(
        "changed_runs",
        "runs",
        "id, status, record",
        "$42, $43, $44",
        "status = r.status, record = r.record"
    ),
    new!(
        "new_approvals",
        "approvals",
        "id, session, run, call, status, record",
        "$45, $46, $47, $48, $49, $50",
        "r.id, r.session, r.run, r.call, r.status, r.record",
        ""
    ),
    changed!(
        "changed_approvals",
        "approvals",
        "id, status, record",
        "$51, $52, $53",
        "status = r.status, record = r.record"
    ),
    new!(
        "new_grants",
        "grants",
        "id, session, status, record",
        "$54, $55, $56, $57",
        "r.id, r.session, r.status, r.record",
        ""
    ),
    changed!(
        "changed_grants",
        "grants",
        "id, status, record",
        "$58, $59, $60",
        "status = r.status, record = r.record"
    ),
    " SELECT fits, level, n_locked, CASE WHEN fits AND $61 THEN CAST(pg_notify('mast', '') AS TEXT) END \
     FROM held"
);

/// Takes the lease of the oldest run that could go on and that nobody works on; what somebody else is about
/// to take is passed over. Whoever finds a run in the moment in which another has just taken it is told so
/// by an empty second column. `$1` owner, `$2` until, `$3` now, `$4` priority.
pub(super) const NEXT_RUN: &str = "WITH found AS MATERIALIZED ( \
     SELECT runs.id FROM runs LEFT JOIN leases ON leases.run = runs.id \
     WHERE runs.status IN ('queued', 'running', 'waiting_for_approval') \
     AND COALESCE(CAST(runs.record AS JSON) ->> 'priority', 'normal') = $4 \
     AND (leases.run IS NULL OR leases.until <= $3) \
     AND (runs.status <> 'waiting_for_approval' OR NOT EXISTS \
     (SELECT 1 FROM approvals WHERE approvals.run = runs.id \
     AND approvals.status = 'pending' \
     AND CAST(CAST(approvals.record AS JSON) ->> 'expires_at' AS BIGINT) > $3)) \
     ORDER BY runs.id LIMIT 1 FOR UPDATE OF runs SKIP LOCKED), \
     taken AS (INSERT INTO leases (run, owner, until) SELECT found.id, $1, $2 FROM found \
     ON CONFLICT (run) DO UPDATE SET owner = excluded.owner, until = excluded.until \
     WHERE leases.until <= $3 RETURNING run) \
     SELECT found.id, taken.run FROM found LEFT JOIN taken ON taken.run = found.id";

/// Begins a transaction that holds something until its end.
pub(super) const BEGIN: &str = "BEGIN";
/// The same for what may be lost with the power.
pub(super) const BEGIN_UNSURE: &str = "BEGIN; SET LOCAL synchronous_commit = off";
/// Waits for a session, and holds it.
pub(super) const HOLD_SESSION: &str = "SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE";
/// Waits for the chain of heads of this schema, and holds it.
pub(super) const HOLD_HEADS: &str =
    "SELECT pg_advisory_xact_lock(1296126804, hashtext('heads ' || current_schema()))";
/// Ends a transaction.
pub(super) const COMMIT: &str = "COMMIT";
/// Ends a transaction, unwritten.
pub(super) const ROLLBACK: &str = "ROLLBACK";

/// Settings of every connection that writes: plans are made once, and nobody is waited for without end.
pub(super) const SETTINGS: &str = "SET plan_cache_mode = force_generic_plan; SET jit = off; \
     SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '20s'";

/// Who serves this connection, so that it can be told later whether it still does, and how sure a commit is
/// by this server's own settings.
pub(super) const WHO: &str = "SELECT pid, CAST(EXTRACT(EPOCH FROM backend_start) AS TEXT), \
     current_setting('synchronous_commit'), CAST(current_setting('server_version_num') AS INTEGER), \
     pg_is_in_recovery() FROM pg_stat_activity WHERE pid = pg_backend_pid()";

/// Ends whoever served the connection that was lost, if it is still there, and waits until it is gone.
pub(super) const END: &str = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
     WHERE pid = $1 AND CAST(EXTRACT(EPOCH FROM backend_start) AS TEXT) = $2";

/// Whether an event is there.
pub(super) const IS_THERE: &str =
    "SELECT 1 FROM events WHERE session = $1 AND sequence = CAST($2 AS BIGINT) AND hash = $3";
