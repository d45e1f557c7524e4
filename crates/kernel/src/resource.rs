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
}
