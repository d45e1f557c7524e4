//! Writing, the same for every database: one task takes what is queued, folds it onto what it knows of each
//! session, and commits it as few transactions as order allows. What differs is a [`Connection`].
//!
//! Another process may write to the same sessions. Nothing here relies on being alone: what is known may be
//! out of date, the database then refuses the rows, and the session is read again.

mod cache;
mod group;
pub(crate) mod leases;
mod queue;
mod rows;

use std::fmt::Debug;

use async_trait::async_trait;
use mast_kernel::id::SessionId;

use crate::audit::Cells;
use crate::error::StoreError;
use crate::read::Question;

pub(crate) use group::Database;
pub(crate) use queue::Queue;
pub(crate) use rows::Rows;

/// What nobody else is to change for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// A session.
    Session(SessionId),
    /// The chain of heads.
    Heads,
}

/// Why rows were not written.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// One of them would have been the second of its kind: `table.column`, or several parted by commas.
    /// Nothing was written.
    Taken(String),
    /// A session does not end where it was thought to. Nothing was written.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "a file says so by a number that is taken")
    )]
    Overtaken,
    /// The database refused before it wrote anything; it may do so now, and not later.
    Refused(StoreError),
    /// Nobody can say what was written.
    Unknown(StoreError),
}

/// A connection that writes.
#[async_trait]
pub(crate) trait Connection: Send + Debug {
    /// Reads.
    async fn select(&mut self, question: Question) -> Result<Vec<Cells>, StoreError>;

    /// Waits until nobody else writes to it, and sees to it that nobody does until the next write or
    /// [`Connection::let_go`].
    async fn hold(&mut self, what: Hold) -> Result<(), StoreError>;

    /// Lets go of what it holds, unwritten.
    async fn let_go(&mut self);

    /// Writes rows: all of them or none, as one transaction.
    async fn write(&mut self, rows: Rows<'_>) -> Result<(), Unwritten>;

    /// Changes something that is no part of the journal, as a transaction of its own or as the end of what
    /// is held. If it is not known whether it was done, that is [`Unwritten::Overtaken`]: it may be done
    /// again.
    async fn change(&mut self, question: Question) -> Result<Vec<Cells>, Unwritten>;
}

/// A connection that takes away and makes anew what is no single write.
#[async_trait]
pub(crate) trait Keeper: Connection {
    /// Does all of these as one transaction, if the first gives a row; otherwise [`Unwritten::Overtaken`].
    async fn change_all(&mut self, questions: Vec<Question>) -> Result<(), Unwritten>;

    /// Gives back the room of what was removed, as far as others let it.
    async fn tidy(&mut self);
}
