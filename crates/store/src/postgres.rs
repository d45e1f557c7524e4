//! A store on a Postgres server, for several processes that share one journal.
//!
//! Writing goes through the same task as on SQLite (`crate::write`): what waits is committed together, as
//! one statement and so in one round trip. Rejected: a pool of connections that write (measured on two
//! cores, eight of them together commit less than one that commits what eight callers have waiting, and the
//! order of a session would have to be kept on top), and a transaction of several statements.
//!
//! Another process may write to the same session: each write locks the sessions that it is about, and the
//! number of an event can be taken only once. Whoever comes second holds the session, reads it again and
//! goes on; no batch is refused for that. See `docs/spec/stores.md`.

mod connection;
mod fault;
mod hint;
mod read;
mod rows;
mod schema;
mod sql;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use mast_kernel::event::{Bytes, Head};
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;
use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use crate::batch::{Batch, Committed};
use crate::error::StoreError;
use crate::record::StoreIdentity;
use crate::sign::{Seal, Signer};
use crate::traits::Writer;
use crate::upkeep::Upkeep;
use crate::write::leases::leasable;
use crate::write::{Database, Queue};
use connection::ServerConnection;

/// Connections of a process, when nobody says how many: one writes, the others read.
pub const CONNECTIONS_DEFAULT: u32 = 8;
/// How long a reader waits for a connection.
const READER_WAIT: Duration = Duration::from_secs(10);

/// How a store on a server is opened.
pub struct ServerOptions {
    /// Where: `postgres://user:password@host:port/database`. What it leaves out comes from the variables
    /// that Postgres' own programs read (`PGPASSWORD` and others) and from the file of passwords.
    pub url: String,
    /// What a store is called that is made now; an existing one keeps its own identity.
    pub identity_if_new: StoreIdentity,
    /// Signs heads; a store is bound to the key that it was made with.
    pub signer: Signer,
    /// Whether the tables are made where there are none.
    pub create: bool,
    /// Most connections at a time, at least two.
    pub connections_max: u32,
}

/// The address may hold a password.
impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerOptions").field("create", &self.create).finish_non_exhaustive()
    }
}

/// A store on a server. Dropping it is safe at any time: what was committed stays, and what was posted and
/// not flushed may be lost.
pub struct PostgresStore {
    place: String,
    seal: Seal,
    queue: Queue,
    readers: PgPool,
    hints: hint::Hints,
}

/// The pool would show its password.
impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("place", &self.place).finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Connects, and makes the tables if there are none and that is wanted. It must be called inside a
    /// tokio runtime, which then runs the writer.
    ///
    /// # Errors
    ///
    /// [`StoreError`], whose text says what to do and never holds the password.
    pub async fn open(options: ServerOptions) -> Result<Self, StoreError> {
        let ServerOptions { url, identity_if_new, signer, create, connections_max } = options;
        let connect: PgConnectOptions = url.parse().map_err(|_| StoreError::BadAddress)?;
        let connect = connect.application_name("mast").disable_statement_logging();
        let place = fault::place_of(&connect);
        let mut writer = ServerConnection::new(connect.clone(), place.clone()).await?;
        let if_new = create.then(|| Seal::new(identity_if_new, &signer));
        let seal = schema::ready(writer.ready().await?, &place, if_new.as_ref()).await?;
        if seal.key != signer.public() {
            return Err(StoreError::OtherKey);
        }
        let readers = PgPoolOptions::new()
            .max_connections(connections_max.saturating_sub(1).max(1))
            .min_connections(0)
            .acquire_timeout(READER_WAIT)
            .test_before_acquire(false)
            .connect_lazy_with(connect);
        let queue = Queue::start(Database::new(writer, seal.identity, signer));
        Ok(Self { place, seal, queue, readers, hints: hint::Hints::default() })
    }

    /// Where it is, without the password.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Which store this is.
    #[must_use]
    pub const fn store(&self) -> StoreIdentity {
        self.seal.identity
    }

    /// The key that verifies its heads.
    #[must_use]
    pub const fn key(&self) -> Bytes<32> {
        self.seal.key
    }
}

#[async_trait]
impl Writer for PostgresStore {
    async fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        self.queue.commit(batch).await
    }

    fn post(&self, batch: Batch) {
        self.queue.post(batch);
    }

    async fn flush(&self) -> Result<(), StoreError> {
        self.queue.flush().await
    }

    async fn sign_head(&self, session: SessionId, at: Instant) -> Result<Head, StoreError> {
        self.queue.sign_head(session, at).await
    }

    async fn keep_up(&self, planned: Vec<Upkeep>) -> Result<(), StoreError> {
        self.queue.keep_up(planned).await
    }
}

leasable!(PostgresStore, sql::NEXT_RUN, |store| store.hints.next(&store.readers));
