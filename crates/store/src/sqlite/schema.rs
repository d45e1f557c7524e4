//! The tables of a file, and how it comes to have them. See `crate::schema`.

use std::path::Path;

use mast_kernel::canonical::Digest;
use sqlx::Row as _;
use sqlx::sqlite::SqliteConnection;

use super::fault::Fault;
use crate::error::StoreError;
use crate::schema::{RECORD_META, RECORD_STEP, Recorded, Steps, meta};
use crate::sign::Seal;

/// The steps.
const STEPS: Steps = Steps {
    texts: &[
        include_str!("../migrations/sqlite/0001.sql"),
        include_str!("../migrations/sqlite/0002.sql"),
        include_str!("../migrations/sqlite/0003.sql"),
    ],
    made: "97d28c57f8eafceeffe6b0007cf421af5d9b4aa7ca29016dfc7a3e13c99a1a51",
};

/// The recorded steps, what the store says of itself and what there really is, in one round trip.
const RECORDED: &str = "SELECT 0 AS version, name AS one, value AS other FROM meta \
     UNION ALL SELECT version, sha256, sql FROM schema_steps \
     UNION ALL SELECT -1, type || ' ' || name, COALESCE(sql, '') FROM sqlite_schema ORDER BY version";

/// How often, and after which pause, a file that another process is making is tried again.
const MAKING_TRIES: u32 = 100;
const MAKING_PAUSE: std::time::Duration = std::time::Duration::from_millis(20);

/// Whether there is any table at all.
const TABLES: &str = "SELECT COUNT(*) FROM sqlite_schema";

/// Brings the file up to date, or makes its tables if it is new and empty; which store it is.
pub(super) async fn ready(
    connection: &mut SqliteConnection,
    path: &Path,
    if_new: &Seal,
    made: bool,
) -> Result<Seal, StoreError> {
    let fault = Fault { path };
    if !made {
        match sqlx::query(RECORDED).fetch_all(&mut *connection).await {
            Ok(rows) => {
                let recorded = recorded(&rows, path)?;
                match STEPS.n_behind(&recorded) {
                    0 => return STEPS.check(recorded, path),
                    n_behind => upgrade(connection, STEPS.texts.len() - n_behind, fault).await?,
                }
            }
            Err(error) if is_missing_table(&error) => make(connection, if_new, fault).await?,
            Err(error) => return Err(fault.opening(error)),
        }
    } else {
        make(connection, if_new, fault).await?;
    }
    match sqlx::query(RECORDED).fetch_all(&mut *connection).await {
        Ok(rows) => STEPS.check(recorded(&rows, path)?, path),
        // There are tables, and they are somebody else's.
        Err(error) if is_missing_table(&error) => Err(StoreError::Damaged(path.to_path_buf())),
        Err(error) => Err(fault.opening(error)),
    }
}

fn is_missing_table(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.message().starts_with("no such table"))
}

/// Makes the tables of an empty file. Two processes may try at the same time: the second finds them.
async fn make(connection: &mut SqliteConnection, seal: &Seal, fault: Fault<'_>) -> Result<(), StoreError> {
    let failed = |error| fault.during("making the tables", error);
    begin_making(connection).await.map_err(failed)?;
    let n_tables: i64 = sqlx::query(TABLES).fetch_one(&mut *connection).await.map_err(failed)?.get(0);
    if n_tables > 0 {
        // Either another process was faster, or these are somebody else's tables.
        sqlx::raw_sql("ROLLBACK").execute(&mut *connection).await.map_err(failed)?;
        return Ok(());
    }
    for (version, text) in STEPS.numbered() {
        take_step(connection, version, text).await.map_err(failed)?;
    }
    let meta = meta(seal).into_iter().fold(sqlx::query(RECORD_META), sqlx::query::Query::bind);
    meta.execute(&mut *connection).await.map_err(failed)?;
    sqlx::raw_sql("COMMIT").execute(&mut *connection).await.map_err(failed)?;
    Ok(())
}

/// Sets the kind of log and begins. The database waits for other writers by itself, but not while the
/// kind of log is changed: two processes that make one file at once must try again.
async fn begin_making(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut n_left = MAKING_TRIES;
    loop {
        match sqlx::raw_sql("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE").execute(&mut *connection).await {
            Ok(_) => return Ok(()),
            Err(error) if n_left > 0 && super::fault::is_busy(&error) => n_left -= 1,
            Err(error) => return Err(error),
        }
        tokio::time::sleep(MAKING_PAUSE).await;
    }
}

/// What the file records and has.
fn recorded(rows: &[sqlx::sqlite::SqliteRow], path: &Path) -> Result<Recorded, StoreError> {
    let read = |row: &sqlx::sqlite::SqliteRow| -> Result<_, sqlx::Error> {
        Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
    };
    rows.iter().map(|row| read(row).map_err(|_| StoreError::Damaged(path.to_path_buf()))).collect()
}

/// Takes the steps that an older file has not seen, all or none. What was there stays as it is.
async fn upgrade(
    connection: &mut SqliteConnection,
    n_taken: usize,
    fault: Fault<'_>,
) -> Result<(), StoreError> {
    let failed = |error| fault.during("bringing the tables up to date", error);
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut *connection).await.map_err(failed)?;
    let n_recorded: i64 = sqlx::query("SELECT COUNT(*) FROM schema_steps")
        .fetch_one(&mut *connection)
        .await
        .map_err(failed)?
        .get(0);
    // Another process may have been faster; then its steps are there already.
    if usize::try_from(n_recorded) == Ok(n_taken) {
        for (version, text) in STEPS.numbered().skip(n_taken) {
            take_step(connection, version, text).await.map_err(failed)?;
        }
    }
    sqlx::raw_sql("COMMIT").execute(&mut *connection).await.map_err(failed)?;
    Ok(())
}

async fn take_step(
    connection: &mut SqliteConnection,
    version: i64,
    text: &'static str,
) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(text).execute(&mut *connection).await?;
    let step = sqlx::query(RECORD_STEP).bind(version).bind(Digest::of(text.as_bytes()).to_hex()).bind(text);
    step.execute(&mut *connection).await.map(|_| ())
}
