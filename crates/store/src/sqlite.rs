//! A store in one SQLite file: write-ahead log, one writer.
//!
//! All writing goes through one task (`crate::write`) that takes what is queued and commits it as one
//! transaction, in one round trip to the database: connections run on threads of their own, and each
//! awaited statement is two changes of thread, which cost more than the statement. Rejected: a pool of
//! writers (they wait for each other's lock by sleeping), and a transaction a batch.
//!
//! Another process may have the same file open. A session's events are numbered without gaps and the
//! database holds their number unique, so whoever comes second is refused, reads again and tries again;
//! no other lock is needed, because every change of a session's state is an event of that session.
//! See `docs/spec/journal.md`.

mod connection;
mod fault;
mod read;
mod rows;
mod schema;
mod sql;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mast_kernel::event::{Bytes, Head};
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Connection as _};

use crate::batch::{Batch, Committed};
use crate::error::StoreError;
use crate::record::StoreIdentity;
use crate::sign::{Seal, Signer};
use crate::traits::Writer;
use crate::upkeep::Upkeep;
use crate::write::leases::leasable;
use crate::write::{Database, Queue};
use connection::FileConnection;
use fault::Fault;

/// How long a statement waits for the lock of another process.
const BUSY_WAIT: Duration = Duration::from_secs(5);
/// Connections for reading; each is opened when it is first needed.
const READERS_MAX: u32 = 4;

/// How a store is opened.
#[derive(Debug)]
pub struct OpenOptions {
    /// The file.
    pub path: PathBuf,
    /// What a store is called that is made now; an existing one keeps its own identity.
    pub identity_if_new: StoreIdentity,
    /// Signs heads; a store is bound to the key that it was made with.
    pub signer: Signer,
    /// Whether a file that is not there is made.
    pub create: bool,
}

/// A store in one file. Dropping it is safe at any time: what was committed stays, and what was posted
/// and not flushed may be lost.
#[derive(Debug)]
pub struct SqliteStore {
    path: Arc<Path>,
    seal: Seal,
    queue: Queue,
    readers: SqlitePool,
}

impl SqliteStore {
    /// Opens the file, and makes it if it is not there and that is wanted. It must be called inside a
    /// tokio runtime, which then runs the writer.
    ///
    /// # Errors
    ///
    /// [`StoreError`], whose text says what to do.
    pub async fn open(options: OpenOptions) -> Result<Self, StoreError> {
        let OpenOptions { path, identity_if_new, signer, create } = options;
        let path: Arc<Path> = path.into();
        let made = create && make_private_file(&path)?;
        let fault = Fault { path: &path };
        let connect = connect_options(&path).synchronous(SqliteSynchronous::Normal);
        let mut normal = connect.connect().await.map_err(|error| fault.opening(error))?;
        let seal = Seal::new(identity_if_new, &signer);
        let seal = schema::ready(&mut normal, &path, &seal, made).await?;
        if seal.key != signer.public() {
            return Err(StoreError::OtherKey);
        }
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS_MAX)
            .min_connections(0)
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(connect_options(&path).pragma("query_only", "ON"));
        let queue = Queue::start(Database::new(
            FileConnection::new(Arc::clone(&path), normal),
            seal.identity,
            signer,
        ));
        Ok(Self { path, seal, queue, readers })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
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
impl Writer for SqliteStore {
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

leasable!(SqliteStore, sql::NEXT_RUN, |_store| std::future::pending::<()>());

/// What all connections have in common. The statements are too many and too frequent to be logged.
fn connect_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .foreign_keys(false)
        .busy_timeout(BUSY_WAIT)
        .disable_statement_logging()
}

/// A second connection for what must survive a loss of power.
async fn connect_full(path: &Path) -> Result<SqliteConnection, StoreError> {
    let options = connect_options(path).synchronous(SqliteSynchronous::Full);
    SqliteConnection::connect_with(&options).await.map_err(|error| Fault { path }.opening(error))
}

/// Makes an empty file that only its owner can read, if there is none; whether it did.
fn make_private_file(path: &Path) -> Result<bool, StoreError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(Fault { path }.making(error)),
    }
}
