//! Why a store could not. The text of each error says what to do about it, for the person who runs
//! Mast; a model never sees it.

use std::path::PathBuf;

use mast_kernel::canonical::NotCanonical;
use mast_kernel::event::EventFault;
use mast_kernel::id::{CallId, RunId, SessionId, StoreId};

/// What the state does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// What the event is about is not there.
    #[error("there is no {0}")]
    Missing(String),
    /// What the event makes is there already.
    #[error("there is already a {0}")]
    Exists(String),
    /// It is not in a state from which it could move like that.
    #[error("{what} is {from} and cannot become {to}")]
    Transition {
        /// What would move.
        what: String,
        /// Where it is.
        from: &'static str,
        /// Where it would move.
        to: &'static str,
    },
    /// The event says something about it that is not so.
    #[error("{what}: {why}")]
    Untrue {
        /// What the event is about.
        what: String,
        /// What is not so.
        why: &'static str,
    },
    /// Somebody else has taken the run up meanwhile; what its former owner writes does not count.
    #[error("run {run} was taken up by another process")]
    Fenced {
        /// The run.
        run: RunId,
    },
    /// Another process wrote to the session again and again meanwhile.
    #[error("another process is writing to the same session")]
    Overtaken,
}

/// Why a store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The state does not allow it. Nothing was written.
    #[error("the batch does not fit the state of its session")]
    Conflict(#[source] Conflict),
    /// There is a call with this idempotency key. Nothing was written.
    #[error("the call is on record already as {existing}")]
    DuplicateKey {
        /// That call.
        existing: CallId,
    },
    /// There is no such session.
    #[error("there is no session {0}")]
    NoSuchSession(SessionId),
    /// The batch is not to be written at all.
    #[error("a batch of {n_events} events was refused: at most {max} are written together")]
    BatchTooLarge {
        /// How many events it has.
        n_events: usize,
        /// How many it may have.
        max: usize,
    },
    /// An event binds a session to another store.
    #[error("the session says that it belongs to store {said}, and this is store {this}")]
    OtherStore {
        /// The store that the event names.
        said: StoreId,
        /// This store.
        this: StoreId,
    },
    /// A text holds a NUL, which not every database takes.
    #[error("a text of the batch holds a NUL character, which is never stored")]
    NulInText,
    /// An event cannot be written.
    #[error("an event cannot be written")]
    Event(#[from] EventFault),
    /// A value has no canonical form.
    #[error("a value cannot be written")]
    NotCanonical(#[from] NotCanonical),
    /// Something handed over earlier was not written, so nothing is any more.
    #[error(
        "the journal could not be written earlier ({0}); nothing more is recorded or done until mast is started again"
    )]
    Poisoned(String),
    /// More was handed over without waiting than the journal can be behind.
    #[error("the journal is too far behind what is to be written")]
    Overrun,
    /// The writer is gone with its runtime.
    #[error("the store is closed")]
    Closed,
    /// A row is not what Mast wrote.
    #[error("a row of `{table}` is not what mast wrote ({key}): run `mast journal verify`")]
    Unreadable {
        /// The table.
        table: &'static str,
        /// Which row.
        key: String,
    },
    /// The file is not a database, or a damaged one.
    #[error("{} is damaged or not a database of mast: move it away and start again, or put back a copy", .0.display())]
    Damaged(PathBuf),
    /// The file or its folder cannot be written.
    #[error("{} cannot be written: check the owner and mode of the file and of its folder, or choose another --data-dir", .0.display())]
    ReadOnly(PathBuf),
    /// The disk is full.
    #[error("the disk that holds {} is full: make room and try again", .0.display())]
    DiskFull(PathBuf),
    /// Another process holds the lock.
    #[error("{} is locked by another process: wait for it to end, or stop it, and try again", .0.display())]
    Locked(PathBuf),
    /// The file was made by a later version.
    #[error("{} was made by a later version of mast (schema {found}, this one knows {known}): use that version", .path.display())]
    LaterSchema {
        /// The file.
        path: PathBuf,
        /// The schema version found.
        found: i64,
        /// The newest schema version known here.
        known: i64,
    },
    /// The file's record of its schema is not the one that this version would have written.
    #[error("{}: schema step {version} is not the one that mast has under this number: it was changed by something else; put back a copy", .path.display())]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// Which step.
        version: i64,
    },
    /// The key that signs heads is not the one that the store was made with.
    #[error(
        "the signing key is not the one that this store was made with: put back the key file of this data folder"
    )]
    OtherKey,
    /// The file cannot be opened.
    #[error("{} cannot be opened: check that its folder exists and may be entered", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The address of a server is not one.
    #[error("this is not the address of a Postgres server: it is written like postgres://user@host/database")]
    BadAddress,
    /// The server cannot be reached, or does not let us in.
    #[error("{place} cannot be opened: {why}")]
    Server {
        /// The server, without a password.
        place: String,
        /// What it says, or the system.
        why: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server can be reached, and cannot be used.
    #[error("{place} cannot be used: {why}")]
    Unsuitable {
        /// The server, without a password.
        place: String,
        /// What is the matter with it.
        why: &'static str,
    },
    /// There are no tables of Mast's, and none were to be made.
    #[error("there is no store at {place} yet: it is made at the first run")]
    Absent {
        /// The server, without a password.
        place: String,
    },
    /// The connection was lost. Nothing was written.
    #[error("the connection to {place} was lost, and nothing was written: try again when it is there")]
    ConnectionLost {
        /// The server, without a password.
        place: String,
    },
    /// The connection was lost while something was written, and it cannot be found out what became of it.
    #[error("the connection to {place} was lost, and nobody can say whether the last words were written")]
    OutcomeUnknown {
        /// The server, without a password.
        place: String,
    },
    /// The database answered with another error.
    #[error("the database failed while {attempt}")]
    Database {
        /// What was attempted.
        attempt: &'static str,
        /// Its answer.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StoreError {
    /// Whether the batch is of somebody who has lost its run. What they meant to write is not missing: it
    /// never happened, as far as the journal goes.
    #[must_use]
    pub const fn is_fenced(&self) -> bool {
        matches!(self, Self::Conflict(Conflict::Fenced { .. }))
    }

    /// Whether the store is on a server that could not be reached, or is not reached any more.
    #[must_use]
    pub const fn is_unreachable(&self) -> bool {
        matches!(
            self,
            Self::Server { .. }
                | Self::Unsuitable { .. }
                | Self::ConnectionLost { .. }
                | Self::OutcomeUnknown { .. }
        )
    }

    /// Whether only the batch is at fault and the store goes on.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Conflict(_)
                | Self::DuplicateKey { .. }
                | Self::NoSuchSession(_)
                | Self::BatchTooLarge { .. }
                | Self::OtherStore { .. }
                | Self::NulInText
                | Self::Event(_)
                | Self::NotCanonical(_)
        )
    }
}
