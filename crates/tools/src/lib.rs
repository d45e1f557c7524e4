//! What a tool is, and Mast's own tools.
//!
//! A tool never sees the store, the policy, the loop or a provider: it gets a claimed permit, which
//! holds everything that it may act on, and a [`Context`] of capabilities. To add one, write one file
//! below `builtin/`, and its line in [`builtin::all`]; `docs/adding-a-tool.md` says how.
//!
//! | module | the one idea |
//! |---|---|
//! | [`tool`] | the trait, what it takes and what it gives back |
//! | [`capability`] | what a tool may use: a clock, cancellation, the mark |
//! | [`builtin`] | Mast's own tools, a file each |
//! | [`workspace`] | the folder of a run, and whose each file in it is |
//! | [`toolbox`] | the registry together with the bodies |

pub mod builtin;
pub mod capability;
pub mod tool;
pub mod toolbox;
pub mod workspace;

pub use capability::{Cancellation, Clock, Context, MarkLog};
pub use tool::{Failure, Output, Probed, Tool};
pub use toolbox::{Toolbox, ToolboxRefused};
pub use workspace::Workspace;
