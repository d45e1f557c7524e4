//! The only place of Mast that touches files for tools, or starts processes.
//!
//! | module | the one idea |
//! |---|---|
//! | [`path`] | which texts are paths of a workspace at all |
//! | [`workspace`] | a folder that nothing leads out of |
//! | [`vet`] | which folders may be one |
//!
//! It uses no other crate of Mast: what may be done is decided before anything comes here.

pub mod path;
pub mod vet;
pub mod workspace;

pub use path::{Escape, Inside};
pub use workspace::{Contents, Entry, EntryKind, Fault, Listing, Workspace, Written};
