//! The connection that writes, and what happens when it is lost.
//!
//! A commit whose answer did not come may have been done, may be lost, or may still be under way at a server
//! process that has not noticed yet. So it is never just tried again: a new connection is made, the old
//! server process is ended and waited for, and only then it is looked up whether the first of the events is
//! there, all of them having been one transaction.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgRow};
use sqlx::{Connection as _, Row as _};

use super::fault::{connecting, duplicate, during, is_lost, is_overtaken, is_passing};
use super::read::{cells_of, query};
use super::{rows, sql};
use crate::audit::Cells;
use crate::batch::Durability;
use crate::error::StoreError;
use crate::read::Question;
use crate::write::{Connection, Hold, Keeper, Rows, Unwritten};

/// How often, and after which first pause, a server is asked again that let nobody in; each pause is twice
/// the one before, and all of them are about thirteen seconds.
const CONNECT_TRIES: u32 = 8;
const CONNECT_PAUSE: Duration = Duration::from_millis(50);
/// How long one connection may take to be made.
const CONNECT_WAIT: Duration = Duration::from_secs(5);
/// How long a statement may take to be answered, before the connection counts as lost. Waiting for a lock
/// ends sooner.
const ANSWER_WAIT: Duration = Duration::from_secs(30);
/// How many connections may be lost, one after the other, before whoever asks is told.
const LOST_MAX: u32 = 3;
/// The oldest version that is asked in this way, as Postgres counts them.
const OLDEST_VERSION: i32 = 140_000;

/// Who serves a connection: the number of the process, and when it began, since numbers are used again.
#[derive(Debug, Clone)]
struct Served {
    pid: i32,
    began: String,
}

/// An open connection.
#[derive(Debug)]
struct Open {
    connection: PgConnection,
    served: Served,
    /// What `synchronous_commit` is for a commit that must survive a loss of power.
    full: String,
}

/// The connection that writes.
#[derive(Debug)]
pub(super) struct ServerConnection {
    options: PgConnectOptions,
    place: String,
    open: Option<Open>,
    is_holding: bool,
}

impl ServerConnection {
    /// Connects; a server that is not there, or lets nobody in, is told at once.
    pub(super) async fn new(options: PgConnectOptions, place: String) -> Result<Self, StoreError> {
        let open = connect(&options, &place).await.map_err(|failed| failed.told(&place))?;
        Ok(Self { options, place, open: Some(open), is_holding: false })
    }

    /// The connection itself, for making the tables.
    pub(super) async fn ready(&mut self) -> Result<&mut PgConnection, StoreError> {
        Ok(&mut self.opened().await?.connection)
    }

    /// The connection; made again where it was lost.
    async fn opened(&mut self) -> Result<&mut Open, StoreError> {
        if self.open.is_none() {
            self.open = Some(reconnect(&self.options, &self.place).await?);
        }
        self.open.as_mut().ok_or(StoreError::Closed)
    }

    /// Forgets a connection that is of no more use; whom it was served by.
    fn drop_lost(&mut self) -> Option<Served> {
        self.is_holding = false;
        self.open.take().map(|open| open.served)
    }

    async fn execute(&mut self, rows: &Rows<'_>) -> Result<bool, sqlx::Error> {
        let is_holding = self.is_holding;
        let open = self.opened().await.map_err(|error| sqlx::Error::Io(std::io::Error::other(error)))?;
        let level = match rows.durability {
            Durability::Normal => "off".to_owned(),
            Durability::Full => open.full.clone(),
        };
        let query = rows::query(rows, level);
        let row: PgRow = answered(query.fetch_one(&mut open.connection)).await?;
        let fits: bool = row.try_get(0)?;
        if is_holding && fits {
            answered(sqlx::raw_sql(sql::COMMIT).execute(&mut open.connection)).await?;
            self.is_holding = false;
        }
        Ok(fits)
    }

    /// What is known of rows when the answer did not come. See the head of this file.
    async fn look(&mut self, first: Option<&Cells>) -> Result<(), Unwritten> {
        let unknown_outcome = Unwritten::Unknown(StoreError::OutcomeUnknown { place: self.place.clone() });
        let before = self.drop_lost();
        let Ok(open) = self.opened().await else { return Err(unknown_outcome) };
        if let Some(Served { pid, began }) = before {
            let end = sqlx::query(sql::END).bind(pid).bind(began);
            match answered(end.fetch_optional(&mut open.connection)).await {
                Ok(None) => {}
                Ok(Some(row)) if row.try_get(0).unwrap_or(false) => {}
                Ok(Some(_)) | Err(_) => return Err(unknown_outcome),
            }
        }
        let Some([Some(session), Some(sequence), .., Some(hash)]) = first.map(Vec::as_slice) else {
            return Err(Unwritten::Overtaken);
        };
        let query =
            sqlx::query(sql::IS_THERE).bind(session.clone()).bind(sequence.clone()).bind(hash.clone());
        match answered(query.fetch_optional(&mut open.connection)).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Unwritten::Overtaken),
            Err(_) => Err(unknown_outcome),
        }
    }

    /// What an error of a statement that writes means.
    async fn unwritten(
        &mut self,
        attempt: &'static str,
        error: sqlx::Error,
        first: Option<&Cells>,
    ) -> Result<(), Unwritten> {
        if is_lost(&error) {
            tracing::warn!(place = %self.place, "the connection to the database was lost");
            return self.look(first).await;
        }
        self.let_go().await;
        Err(match duplicate(&error) {
            Some(columns) => Unwritten::Taken(columns),
            None if is_overtaken(&error) => Unwritten::Overtaken,
            // A server that answers with an error has undone the transaction.
            None => Unwritten::Refused(during(&self.place, attempt, error)),
        })
    }
}

#[async_trait]
impl Connection for ServerConnection {
    async fn select(&mut self, question: Question) -> Result<Vec<Cells>, StoreError> {
        let was_holding = self.is_holding;
        let mut n_left = LOST_MAX;
        loop {
            let open = self.opened().await?;
            let error = match answered(query(&question).fetch_all(&mut open.connection)).await {
                Ok(rows) => return Ok(rows.iter().map(cells_of).collect()),
                Err(error) => error,
            };
            if !is_lost(&error) {
                return Err(during(&self.place, question.attempt, error));
            }
            self.drop_lost();
            // What was held is not held any more, so it is not enough to ask again.
            if n_left == 0 || was_holding {
                return Err(during(&self.place, question.attempt, error));
            }
            n_left -= 1;
        }
    }

    async fn hold(&mut self, what: Hold) -> Result<(), StoreError> {
        let open = self.opened().await?;
        let done = async {
            let (begin, query) = match what {
                Hold::Session(session) => {
                    (sql::BEGIN, sqlx::query(sql::HOLD_SESSION).bind(session.to_string()))
                }
                Hold::Heads => (sql::BEGIN_UNSURE, sqlx::query(sql::HOLD_HEADS)),
            };
            answered(sqlx::raw_sql(begin).execute(&mut open.connection)).await?;
            answered(query.execute(&mut open.connection)).await
        };
        let done = done.await;
        self.is_holding = true;
        let Err(error) = done else { return Ok(()) };
        if is_lost(&error) {
            self.drop_lost();
        } else {
            self.let_go().await;
        }
        Err(during(&self.place, "waiting for others", error))
    }

    async fn let_go(&mut self) {
        let (Some(open), true) = (&mut self.open, self.is_holding) else { return };
        self.is_holding = false;
        // A connection whose transaction is not known to have ended is not used again.
        if answered(sqlx::raw_sql(sql::ROLLBACK).execute(&mut open.connection)).await.is_err() {
            self.drop_lost();
        }
    }

    async fn write(&mut self, rows: Rows<'_>) -> Result<(), Unwritten> {
        if let Err(error) = self.opened().await {
            return Err(Unwritten::Refused(error));
        }
        match self.execute(&rows).await {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.let_go().await;
                Err(Unwritten::Overtaken)
            }
            Err(error) => self.unwritten("writing the journal", error, rows.events.first()).await,
        }
    }

    async fn change(&mut self, question: Question) -> Result<Vec<Cells>, Unwritten> {
        let is_holding = self.is_holding;
        let open = self.opened().await.map_err(Unwritten::Refused)?;
        let done = async {
            let rows = answered(query(&question).fetch_all(&mut open.connection)).await?;
            if is_holding {
                answered(sqlx::raw_sql(sql::COMMIT).execute(&mut open.connection)).await?;
            }
            Ok(rows)
        };
        match done.await {
            Ok(rows) => {
                self.is_holding = false;
                Ok(rows.iter().map(cells_of).collect())
            }
            Err(error) => self.unwritten(question.attempt, error, None).await.map(|()| Vec::new()),
        }
    }
}

#[async_trait]
impl Keeper for ServerConnection {
    async fn change_all(&mut self, questions: Vec<Question>) -> Result<(), Unwritten> {
        let open = self.opened().await.map_err(Unwritten::Refused)?;
        let done = async {
            answered(sqlx::raw_sql(sql::BEGIN).execute(&mut open.connection)).await?;
            for (number, question) in questions.iter().enumerate() {
                let rows = answered(query(question).fetch_all(&mut open.connection)).await?;
                if number == 0 && rows.is_empty() {
                    return Ok(false);
                }
            }
            answered(sqlx::raw_sql(sql::COMMIT).execute(&mut open.connection)).await?;
            Ok(true)
        };
        let done = done.await;
        self.is_holding = !matches!(done, Ok(true));
        match done {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.let_go().await;
                Err(Unwritten::Overtaken)
            }
            Err(error) => self.unwritten("upkeep", error, None).await,
        }
    }

    /// A server does so by itself.
    async fn tidy(&mut self) {}
}

/// The answer, if it comes in time.
async fn answered<T>(asked: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, sqlx::Error> {
    let late = |_| sqlx::Error::Io(std::io::Error::from(std::io::ErrorKind::TimedOut));
    tokio::time::timeout(ANSWER_WAIT, asked).await.map_err(late)?
}

/// Why there is no connection.
enum NotConnected {
    Sql(sqlx::Error),
    Unsuitable(&'static str),
}

impl NotConnected {
    fn told(self, place: &str) -> StoreError {
        match self {
            Self::Sql(error) => connecting(place, error),
            Self::Unsuitable(why) => StoreError::Unsuitable { place: place.to_owned(), why },
        }
    }
}

async fn connect(options: &PgConnectOptions, place: &str) -> Result<Open, NotConnected> {
    let late = |_| NotConnected::Sql(sqlx::Error::Io(std::io::Error::from(std::io::ErrorKind::TimedOut)));
    let opening = async {
        let mut connection = PgConnection::connect_with(options).await?;
        sqlx::raw_sql(sql::SETTINGS).execute(&mut connection).await?;
        let row = sqlx::query(sql::WHO).fetch_one(&mut connection).await?;
        Ok::<_, sqlx::Error>((connection, row))
    };
    let (connection, row) =
        tokio::time::timeout(CONNECT_WAIT, opening).await.map_err(late)?.map_err(NotConnected::Sql)?;
    let read = || -> Result<_, sqlx::Error> {
        let served = Served { pid: row.try_get(0)?, began: row.try_get(1)? };
        Ok((served, row.try_get::<String, _>(2)?, row.try_get::<i32, _>(3)?, row.try_get::<bool, _>(4)?))
    };
    let (served, level, version, is_copy) = read().map_err(NotConnected::Sql)?;
    if version < OLDEST_VERSION {
        return Err(NotConnected::Unsuitable("its server is older than Postgres 14"));
    }
    if is_copy {
        return Err(NotConnected::Unsuitable("its server is a copy that only reads"));
    }
    tracing::debug!(place, pid = served.pid, "connected");
    let full = if level == "off" { "on".to_owned() } else { level };
    Ok(Open { connection, served, full })
}

/// Connects again, as long as the server may only be on its way up.
async fn reconnect(options: &PgConnectOptions, place: &str) -> Result<Open, StoreError> {
    let mut pause = CONNECT_PAUSE;
    for _ in 1..CONNECT_TRIES {
        match connect(options, place).await {
            Ok(open) => return Ok(open),
            Err(NotConnected::Sql(error)) if is_passing(&error) => {}
            Err(failed) => return Err(failed.told(place)),
        }
        tokio::time::sleep(pause).await;
        pause = pause.saturating_mul(2);
    }
    connect(options, place).await.map_err(|failed| failed.told(place))
}
