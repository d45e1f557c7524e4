//! What calls write, taken down row by row as the database gets it, so that a bare loop can write the
//! very same bytes in the very same transactions.
//!
//! Triggers in a throw-away database do the writing down. Rejected: rows made up to look alike (they
//! would drift from what Mast writes), and the final rows (a call's row grows while the call runs).

use std::error::Error;
use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Row as _};

/// One table's trigger writes a row down as a JSON array, in the order of the columns.
const TRIGGERS: &str = "
CREATE TABLE captured (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, cells TEXT NOT NULL);
CREATE TRIGGER of_events AFTER INSERT ON events BEGIN
    INSERT INTO captured (kind, cells) VALUES ('event', json_array(
        NEW.session, CAST(NEW.sequence AS TEXT), NEW.run, NEW.actor, CAST(NEW.at AS TEXT), NEW.type,
        CAST(NEW.version AS TEXT), NEW.payload, NEW.salt, NEW.previous, NEW.hash));
END;
CREATE TRIGGER of_contents AFTER INSERT ON contents BEGIN
    INSERT INTO captured (kind, cells)
        VALUES ('content', json_array(NEW.commitment, NEW.salt, NEW.value));
END;
CREATE TRIGGER of_new_calls AFTER INSERT ON calls BEGIN
    INSERT INTO captured (kind, cells) VALUES ('new call', json_array(
        NEW.id, NEW.session, NEW.run, NEW.status, NEW.idempotency_key,
        CAST(NEW.effect_sent_at AS TEXT), NEW.record));
END;
CREATE TRIGGER of_changed_calls AFTER UPDATE ON calls BEGIN
    INSERT INTO captured (kind, cells) VALUES ('changed call', json_array(
        NEW.id, NEW.session, NEW.run, NEW.status, NEW.idempotency_key,
        CAST(NEW.effect_sent_at AS TEXT), NEW.record));
END;
CREATE TRIGGER of_approvals AFTER INSERT ON approvals BEGIN
    INSERT INTO captured (kind, cells) VALUES ('new approval', json_array(
        NEW.id, NEW.session, NEW.run, NEW.call, NEW.status, NEW.record));
END;
";

const ALL: &str = "SELECT kind, cells FROM captured ORDER BY number";

/// The texts of one row, one a column.
pub(super) type Cells = Vec<Option<String>>;

/// The rows of one transaction, by table.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    pub(super) events: Vec<Cells>,
    pub(super) contents: Vec<Cells>,
    pub(super) new_calls: Vec<Cells>,
    pub(super) changed_calls: Vec<Cells>,
    pub(super) new_approvals: Vec<Cells>,
}

impl Transaction {
    /// The session that it belongs to.
    pub(super) fn session(&self) -> Option<String> {
        self.events.first().and_then(|event| event.first()).cloned().flatten()
    }
}

/// A connection that writes down from now on what another writes.
pub(super) async fn begin(path: &Path) -> Result<SqliteConnection, Box<dyn Error>> {
    let mut connection = SqliteConnectOptions::new().filename(path).connect().await?;
    sqlx::raw_sql(TRIGGERS).execute(&mut connection).await?;
    Ok(connection)
}

/// Everything that was written down, by call.
pub(super) async fn end(mut connection: SqliteConnection) -> Result<Vec<Vec<Transaction>>, Box<dyn Error>> {
    let mut calls: Vec<Vec<Transaction>> = Vec::new();
    let mut last_was_event = false;
    for row in sqlx::query(ALL).fetch_all(&mut connection).await? {
        let (kind, cells): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let cells: Cells = serde_json::from_str(&cells)?;
        let is_event = kind == "event";
        if is_event && is_proposal(&cells) {
            calls.push(vec![Transaction::default()]);
        } else if is_event && !last_was_event {
            // Within a transaction events are written first.
            calls.last_mut().ok_or("a call begins with its proposal")?.push(Transaction::default());
        }
        last_was_event = is_event;
        let transaction = calls.last_mut().and_then(|call| call.last_mut()).ok_or("no call has begun")?;
        let rows = match kind.as_str() {
            "event" => &mut transaction.events,
            "content" => &mut transaction.contents,
            "new call" => &mut transaction.new_calls,
            "changed call" => &mut transaction.changed_calls,
            _ => &mut transaction.new_approvals,
        };
        rows.push(cells);
    }
    Ok(calls)
}

/// Whether the event is the first of a call.
fn is_proposal(cells: &Cells) -> bool {
    cells.get(5).and_then(Option::as_deref) == Some("tool.call.proposed")
}
