//! Claims and outcomes on a Postgres server, and a script for `pgbench` that writes the same rows: one statement
//! a commit, prepared, so that its round trips are ours.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use super::Figure;
use super::ledger::{CALLERS, Written};

/// Events of a call, and of these the ones that stand in its first commit.
const OF_CALL: &str = "SELECT actor, type, payload, salt, previous, hash FROM events \
     WHERE strpos(payload, (SELECT id FROM calls ORDER BY id LIMIT 1)) > 0 ORDER BY sequence";
const CALL: &str = "SELECT status, idempotency_key, record FROM calls ORDER BY id LIMIT 1";
const CONTENTS: &str = "SELECT salt, value FROM contents WHERE strpos($1, commitment) > 0";
/// The event that begins a call's second commit.
const OUTCOME: &str = "tool.call.completed";
/// What the script's rows are of, per client and per call.
const SESSION: &str = "'ses_bench' || CAST(:client_id AS TEXT)";
const CALL_ID: &str = "'call_bench' || CAST(:client_id AS TEXT) || '-' || CAST(:n AS TEXT)";

/// Writes the script to this file, and gives the figures of the store. The server is the one of the tests.
pub(super) async fn measure(folder: &Path, script: &Path) -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut figures = Vec::new();
    for n_callers in CALLERS {
        let folder = folder.join(n_callers.to_string());
        std::fs::create_dir_all(&folder)?;
        let written = Written::by(n_callers, &folder.join("captured.db")).await?;
        let url = mast_testkit::server::empty_schema().await;
        let store = mast_testkit::server::store_at(url.clone(), n_callers).await;
        let nanos = written.again(&store).await?;
        figures.push(Figure { name: format!("server {n_callers}"), nanos });
        let mut connection = PgConnection::connect(&url).await?;
        std::fs::write(script, text(&mut connection).await?)?;
        // The script's own rows stand beside ours, in the same tables.
        let path = format!("ALTER ROLE CURRENT_USER SET search_path = {}", schema(&url));
        sqlx::raw_sql(AssertSqlSafe(path)).execute(&mut connection).await?;
        connection.close().await?;
    }
    Ok(figures)
}

fn schema(url: &str) -> &str {
    url.rsplit('=').next().unwrap_or_default()
}

/// The script: two statements, each a commit of one call.
async fn text(connection: &mut PgConnection) -> Result<String, Box<dyn Error>> {
    let events = sqlx::query(OF_CALL).fetch_all(&mut *connection).await?;
    let call = sqlx::query(CALL).fetch_one(&mut *connection).await?;
    let outcome =
        events.iter().position(|event| cell(event, 1) == OUTCOME).ok_or("the call has an outcome")?;
    let (claim, settled) = events.split_at(outcome);
    let mut script = "\\set n :n + 1\n".to_owned();
    let insert = format!(
        "INSERT INTO calls (id, session, run, status, idempotency_key, record) \
         SELECT {CALL_ID}, {SESSION}, 'run', {}, {CALL_ID}, {} FROM held",
        literal(&cell(&call, 0)),
        literal(&cell(&call, 2))
    );
    let update = format!(
        "UPDATE calls SET status = {}, record = {} FROM held WHERE id = {CALL_ID}",
        literal(&cell(&call, 0)),
        literal(&cell(&call, 2))
    );
    for (first, events, change) in [(1, claim, insert), (1 + claim.len(), settled, update)] {
        let payloads: String = events.iter().map(|event| cell(event, 2)).collect();
        let contents = sqlx::query(CONTENTS).bind(&payloads).fetch_all(&mut *connection).await?;
        script += &statement((first, events), &contents, &change)?;
    }
    Ok(script)
}

/// One commit: the session is held, and its rows are written.
fn statement(
    (first, events): (usize, &[PgRow]),
    contents: &[PgRow],
    change: &str,
) -> Result<String, std::fmt::Error> {
    let mut text = format!(
        "WITH held AS MATERIALIZED (SELECT count(*) FROM (SELECT 1 FROM sessions WHERE id = {SESSION} FOR UPDATE) \
         AS locked), new_events AS (INSERT INTO events (session, sequence, run, actor, at, type, version, payload, \
         salt, previous, hash) VALUES "
    );
    for (index, event) in events.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let [actor, kind, payload, salt, previous, hash] =
            [0, 1, 2, 3, 4, 5].map(|place| literal(&cell(event, place)));
        write!(
            text,
            "{comma}({SESSION}, :n * 16 + {}, 'run', {actor}, 1785157391123456, {kind}, 1, {payload}, {salt}, \
             {previous}, {hash})",
            first + index
        )?;
    }
    text += ")";
    for (index, content) in contents.iter().enumerate() {
        let [salt, value] = [0, 1].map(|place| literal(&cell(content, place)));
        write!(
            text,
            ", new_content{index} AS (INSERT INTO contents (commitment, salt, value) \
             VALUES ({CALL_ID} || '-{first}-{index}', {salt}, {value}))"
        )?;
    }
    writeln!(text, " {change};")?;
    Ok(text)
}

fn cell(row: &PgRow, place: usize) -> String {
    row.try_get::<Option<String>, _>(place).ok().flatten().unwrap_or_default()
}

/// A text in SQL, in which `pgbench` finds no variable.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace(':', ": "))
}
