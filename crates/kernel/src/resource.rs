//! Resources: what a call would touch, parsed from its arguments before anything is decided. Rules are
//! written on resources, not on tool names, so that one file is refused through every tool that could
//! reach it. Parsing touches nothing. See `docs/spec/policy.md`.

use serde::{Deserialize, Serialize};

/// One thing that a call would touch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Resource {
    /// A file or folder of the workspace, relative to its root; empty for the root itself.
    Path {
        /// Path below the root.
        path: String,
        /// Whether it would be changed.
        write: bool,
    },
    /// A host on the network.
    Host {
        /// Name or address, as it stands in the URL.
        host: String,
        /// Whether the platform itself issued the link (a *handle*); else the model composed it.
        handle: bool,
    },
    /// A record of an outside service.
    Record {
        /// Which service.
        system: String,
        /// Which record, exactly as named.
        record: String,
    },
    /// One simple command: an argument vector, or a segment of a shell text.
    Command {
        /// The words, the program first; empty where the text could not be read.
        words: Vec<String>,
        /// Whether the words are exactly what would run. False where a word is made at run time (a
        /// variable, a substitution, a pattern) or the text could not be read: then a person is asked.
        exact: bool,
    },
    /// A file that a command names as its own input or output, as written: by a redirection.
    Redirect {
        /// The path as written, unresolved.
        path: String,
        /// Whether it would be changed.
        write: bool,
    },
}
