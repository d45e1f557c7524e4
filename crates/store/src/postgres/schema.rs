//! The tables of a database, and how it comes to have them. See `crate::schema`.
//!
//! Only Mast's own tables are looked at: others may stand beside them. What is compared is the list that
//! `MADE` gives, which has no expression in it, since different versions of Postgres print them differently.

use std::path::Path;

use mast_kernel::canonical::Digest;
use sqlx::Row as _;
use sqlx::postgres::{PgConnection, PgRow};

use super::fault::during;
use crate::error::StoreError;
use crate::schema::{RECORD_META, RECORD_STEP, Recorded, Steps, meta};
use crate::sign::Seal;

/// The steps.
const STEPS: Steps = Steps {
    texts: &[include_str!("../migrations/postgres/0001.sql")],
    made: "df66a8613b27d026da7b80fbe4142e4787f616c3c2b657e9a8301202a733e638",
};

/// What there really is of Mast's tables in the schema that new tables would go to: name and text.
const MADE: &str = "WITH ours AS (SELECT c.oid, c.relname, c.relkind, c.relpersistence, c.relrowsecurity, \
     c.relispartition FROM pg_class c WHERE c.relnamespace = (SELECT oid FROM pg_namespace \
     WHERE nspname = current_schema()) AND c.relname IN ('events', 'contents', 'heads', 'sessions', 'runs', \
     'calls', 'approvals', 'grants', 'items', 'leases', 'meta', 'schema_steps')) \
     SELECT CAST('table ' || relname AS TEXT), \
     concat_ws(' ', relkind, relpersistence, relrowsecurity, relispartition) FROM ours \
     UNION ALL SELECT 'column ' || o.relname || '.' || a.attname, concat_ws(' ', \
     format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, a.atthasdef, l.collname) \
     FROM ours o JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped \
     LEFT JOIN pg_collation l ON l.oid = a.attcollation \
     UNION ALL SELECT 'index ' || o.relname || ' ' || n.relname, concat_ws(' ', i.indisunique, i.indisvalid, \
     i.indisready, (SELECT string_agg(COALESCE(a.attname, '-'), ',' ORDER BY k.place) \
     FROM unnest(i.indkey) WITH ORDINALITY AS k (number, place) \
     LEFT JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum = k.number), i.indpred IS NOT NULL) \
     FROM ours o JOIN pg_index i ON i.indrelid = o.oid JOIN pg_class n ON n.oid = i.indexrelid \
     UNION ALL SELECT 'constraint ' || o.relname || ' ' || k.conname, \
     concat_ws(' ', k.contype, k.convalidated, k.condeferrable) \
     FROM ours o JOIN pg_constraint k ON k.conrelid = o.oid WHERE k.contype <> 'n' \
     UNION ALL SELECT 'trigger ' || o.relname || ' ' || t.tgname, CAST(t.tgenabled AS TEXT) \
     FROM ours o JOIN pg_trigger t ON t.tgrelid = o.oid \
     UNION ALL SELECT 'rule ' || o.relname || ' ' || r.rulename, CAST(r.ev_enabled AS TEXT) \
     FROM ours o JOIN pg_rewrite r ON r.ev_class = o.oid \
     UNION ALL SELECT 'policy ' || o.relname || ' ' || p.polname, '' \
     FROM ours o JOIN pg_policy p ON p.polrelid = o.oid \
     UNION ALL SELECT 'heir of ' || o.relname, CAST(h.inhrelid AS TEXT) \
     FROM ours o JOIN pg_inherits h ON h.inhparent = o.oid OR h.inhrelid = o.oid";

/// What the store says of itself, and the recorded steps.
const RECORDED: &str = "SELECT CAST(0 AS BIGINT), name, value FROM meta \
     UNION ALL SELECT version, sha256, sql FROM schema_steps";

/// Lets nobody else make tables in this schema until the end of the transaction.
const ALONE: &str = "SELECT pg_advisory_xact_lock(1296126804, hashtext('tables ' || current_schema()))";

/// Where new tables go.
const SCHEMA: &str = "SELECT current_schema() IS NOT NULL";

/// Makes the tables if there are none and that is wanted, or takes the steps that were not taken; which
/// store it is.
pub(super) async fn ready(
    connection: &mut PgConnection,
    place: &str,
    if_new: Option<&Seal>,
) -> Result<Seal, StoreError> {
    let failed = |error| during(place, "looking at the tables", error);
    let has_schema: bool = first(connection, SCHEMA).await.map_err(failed)?;
    if !has_schema {
        let why = "the schema that its search_path names is not there";
        return Err(StoreError::Unsuitable { place: place.to_owned(), why });
    }
    let found = match recorded(connection).await.map_err(failed)? {
        Some(recorded) if STEPS.n_behind(&recorded) == 0 => recorded,
        found => {
            if found.is_none() && if_new.is_none() {
                return Err(StoreError::Absent { place: place.to_owned() });
            }
            make(connection, if_new).await.map_err(|error| during(place, "making the tables", error))?;
            let absent = || StoreError::Absent { place: place.to_owned() };
            recorded(connection).await.map_err(failed)?.ok_or_else(absent)?
        }
    };
    STEPS.check(found, Path::new(place))
}

async fn first<T>(connection: &mut PgConnection, statement: &'static str) -> Result<T, sqlx::Error>
where
    T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    sqlx::query(statement).fetch_one(connection).await?.try_get(0)
}

/// What the database records and has; none if it has none of the tables.
async fn recorded(connection: &mut PgConnection) -> Result<Option<Recorded>, sqlx::Error> {
    let read = |row: &PgRow| Ok((-1, row.try_get(0)?, row.try_get(1)?));
    let made = sqlx::query(MADE).fetch_all(&mut *connection).await?;
    if made.is_empty() {
        return Ok(None);
    }
    let mut recorded: Recorded = made.iter().map(read).collect::<Result<_, sqlx::Error>>()?;
    let has = |name: &str| recorded.iter().any(|(_, one, _)| one == name);
    if has("table meta") && has("table schema_steps") {
        let read = |row: &PgRow| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
        let rows = sqlx::query(RECORDED).fetch_all(&mut *connection).await?;
        recorded.extend(rows.iter().map(read).collect::<Result<Vec<_>, sqlx::Error>>()?);
    }
    Ok(Some(recorded))
}

/// Takes the steps that were not taken, all or none. Whoever comes second waits, and finds them taken.
async fn make(connection: &mut PgConnection, if_new: Option<&Seal>) -> Result<(), sqlx::Error> {
    sqlx::raw_sql("BEGIN").execute(&mut *connection).await?;
    let made = make_alone(connection, if_new).await;
    let end = if made.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = sqlx::raw_sql(end).execute(&mut *connection).await;
    made.and(ended.map(|_| ()))
}

async fn make_alone(connection: &mut PgConnection, if_new: Option<&Seal>) -> Result<(), sqlx::Error> {
    sqlx::query(ALONE).execute(&mut *connection).await?;
    let recorded = recorded(connection).await?;
    let n_taken = match (&recorded, if_new) {
        (Some(recorded), _) => STEPS.texts.len() - STEPS.n_behind(recorded),
        (None, Some(_)) => 0,
        (None, None) => return Ok(()),
    };
    for (version, text) in STEPS.numbered().skip(n_taken) {
        sqlx::raw_sql(text).execute(&mut *connection).await?;
        let digest = Digest::of(text.as_bytes()).to_hex();
        let step = sqlx::query(RECORD_STEP).bind(version).bind(digest).bind(text);
        step.execute(&mut *connection).await?;
    }
    if let (None, Some(seal)) = (recorded, if_new) {
        let meta = meta(seal).into_iter().fold(sqlx::query(RECORD_META), sqlx::query::Query::bind);
        meta.execute(&mut *connection).await?;
    }
    Ok(())
}
