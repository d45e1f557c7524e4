//! The tables, and how a file comes to have them: numbered steps, each recorded in the file with its
//! digest and text, so that a file that was changed by something else is refused rather than misread.

use std::path::Path;

use mast_kernel::canonical::Digest;
use mast_kernel::instant::Instant;
use sqlx::Row as _;
use sqlx::sqlite::SqliteConnection;

use super::fault::Fault;
use crate::error::StoreError;
use crate::record::StoreIdentity;
use crate::sign::Seal;

/// The steps, in order; the first has number 1. A step that was released never changes.
const STEPS: [&str; 3] = [
    include_str!("../migrations/sqlite/0001.sql"),
    include_str!("../migrations/sqlite/0002.sql"),
    include_str!("../migrations/sqlite/0003.sql"),
];

/// The recorded steps, what the store says of itself and what there really is, in one round trip.
const RECORDED: &str = "SELECT 0 AS version, name AS one, value AS other FROM meta \
     UNION ALL SELECT version, sha256, sql FROM schema_steps \
     UNION ALL SELECT -1, type || ' ' || name, COALESCE(sql, '') FROM sqlite_schema ORDER BY version";

/// SHA-256 over everything that the steps make: tables and indices as the file has them, and nothing
/// beside. A trigger could let a commit be nothing, so a file that has one is not used.
const MADE: &str = "93546653fadc1ce58fdcab4ef4b720d7d2abae41cfbe5b5f818f52956c3473dc";

/// How often, and after which pause, a file that another process is making is tried again.
const MAKING_TRIES: u32 = 100;
const MAKING_PAUSE: std::time::Duration = std::time::Duration::from_millis(20);

/// Whether there is any table at all.
const TABLES: &str = "SELECT COUNT(*) FROM sqlite_schema";

const RECORD_STEP: &str = "INSERT INTO schema_steps (version, sha256, sql) VALUES ($1, $2, $3)";
const RECORD_META: &str = "INSERT INTO meta (name, value) VALUES ('store', $1), ('created_at', $2), \
     ('key', $3), ('signature', $4)";

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
            Ok(rows) => match n_steps_behind(&rows) {
                0 => return check(&rows, path),
                n_behind => upgrade(connection, STEPS.len() - n_behind, fault).await?,
            },
            Err(error) if is_missing_table(&error) => make(connection, if_new, fault).await?,
            Err(error) => return Err(fault.opening(error)),
        }
    } else {
        make(connection, if_new, fault).await?;
    }
    match sqlx::query(RECORDED).fetch_all(&mut *connection).await {
        Ok(rows) => check(&rows, path),
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
    for (version, text) in (1_i64..).zip(STEPS) {
        take_step(connection, version, text).await.map_err(failed)?;
    }
    let meta = sqlx::query(RECORD_META)
        .bind(seal.identity.id.to_string())
        .bind(seal.identity.created_at.micros().to_string())
        .bind(seal.key.to_string())
        .bind(seal.signature.to_string());
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

/// How many steps of this version's a file has not seen, if those that it has are this version's.
fn n_steps_behind(rows: &[sqlx::sqlite::SqliteRow]) -> usize {
    let steps = rows.iter().filter(|row| row.try_get::<i64, _>(0).is_ok_and(|version| version > 0));
    let texts: Vec<String> = steps.filter_map(|row| row.try_get(2).ok()).collect();
    let is_beginning = !texts.is_empty() && texts.iter().zip(STEPS).all(|(text, step)| text == step);
    if is_beginning { STEPS.len().saturating_sub(texts.len()) } else { 0 }
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
        for (version, text) in (1_i64..).zip(STEPS).skip(n_taken) {
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

/// Compares what the file records with what this version would have written.
fn check(rows: &[sqlx::sqlite::SqliteRow], path: &Path) -> Result<Seal, StoreError> {
    let damaged = || StoreError::Damaged(path.to_path_buf());
    let (mut meta, mut steps) = (std::collections::BTreeMap::new(), Vec::new());
    let mut made = std::collections::BTreeMap::new();
    for row in rows {
        let column = |place: usize| row.try_get::<String, _>(place).map_err(|_| damaged());
        match row.try_get::<i64, _>(0).map_err(|_| damaged())? {
            -1 => {
                made.insert(column(1)?, column(2)?);
            }
            0 => {
                meta.insert(column(1)?, column(2)?);
            }
            version => steps.push((version, column(1)?, column(2)?)),
        }
    }
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    if let Some((found, ..)) = steps.last().filter(|(version, ..)| *version > known) {
        return Err(StoreError::LaterSchema { path: path.to_path_buf(), found: *found, known });
    }
    for (version, text) in (1_i64..).zip(STEPS) {
        let expected = (version, Digest::of(text.as_bytes()).to_hex(), text.to_owned());
        if !steps.contains(&expected) {
            return Err(StoreError::OtherSchema { path: path.to_path_buf(), version });
        }
    }
    let made = made.iter().flat_map(|(name, sql)| [name.as_bytes(), sql.as_bytes()]);
    if Digest::of_fields(made).to_hex() != MADE {
        return Err(StoreError::OtherSchema { path: path.to_path_buf(), version: known });
    }
    let read = |name: &str| meta.get(name).ok_or_else(damaged);
    let identity = StoreIdentity {
        id: read("store")?.parse().map_err(|_| damaged())?,
        created_at: Instant::from_micros(read("created_at")?.parse().map_err(|_| damaged())?),
    };
    let seal = Seal {
        identity,
        key: read("key")?.parse().map_err(|_| damaged())?,
        signature: read("signature")?.parse().map_err(|_| damaged())?,
    };
    let is_one_spelling = seal.identity.id.to_string() == *read("store")?
        && seal.identity.created_at.micros().to_string() == *read("created_at")?;
    if is_one_spelling { Ok(seal) } else { Err(damaged()) }
}
