//! The journal and state of Mast: the only place that knows SQL.
//!
//! What is written is *events*; the rows of the state are a fold of them, made in the same transaction,
//! so state and journal cannot disagree. Salts, ids and times come from the caller: nothing here asks
//! for randomness or reads a clock.
//!
//! | module | the one idea |
//! |---|---|
//! | [`traits`] | what a store can do: [`Writer`], [`Reader`], [`GrantReader`], [`JournalReader`] |
//! | [`batch`] | what is committed together |
//! | [`record`] | the rows of the state |
//! | `fold` | how an event changes the rows, and when it may not |
//! | [`lease`] | who works on which run |
//! | [`memory`] | a store that is gone with the process |
//! | [`sqlite`] | a store in one file |
//! | `postgres` | a store on a server, with the feature of this name |
//! | `write`, `read`, `select`, `schema` | what the two have in common |
//! | [`claim`] | the commit before an effect |
//! | [`sign`] | heads, signed |
//! | [`audit`] | every row as text, for whoever does not trust them |
//! | [`verify`] | what has been changed, left out or moved |
//! | [`upkeep`] | conversations cut off, rows made anew |
//! | [`error`] | why a store could not |
//!
//! To add a store: a module beside [`sqlite`] and a line in `tests/it/conformance.rs`.

pub mod audit;
pub mod batch;
pub mod claim;
pub mod error;
pub mod export;
mod fold;
pub mod lease;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
mod prepare;
mod read;
pub mod record;
mod schema;
mod select;
pub mod sign;
pub mod sqlite;
pub mod traits;
pub mod upkeep;
pub mod verify;
mod write;

pub use batch::{Batch, Committed, Durability, Fence, NewContent};
pub use claim::PendingClaim;
pub use error::{Conflict, StoreError};
pub use lease::{Lease, Leases};
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresStore, ServerOptions};
pub use record::{ApprovalRow, CallRow, ContentRow, GrantRow, ItemRow, RunRow, SessionRow, StoreIdentity};
pub use sqlite::{OpenOptions, SqliteStore};
pub use traits::{
    ApprovalFilter, CallFilter, GrantFilter, GrantReader, JournalReader, Reader, RunFilter, SessionFilter,
    Store, Writer,
};

/// Most rows or events that one read gives; more are read page by page.
pub const READ_ROWS_MAX: u32 = 1_000;
/// Most batches whose callers wait at the writer; more wait before it.
pub const QUEUE_BATCHES_MAX: usize = 1_024;
/// Most batches that were handed over without waiting and are not written yet; one more poisons the store.
pub const QUEUE_POSTED_MAX: usize = 65_536;
/// Most events in one batch.
pub const BATCH_EVENTS_MAX: usize = 4_096;
