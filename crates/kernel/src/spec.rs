//! The full declaration of a tool. Everything that is said about a tool anywhere (its schema in a
//! prompt, its page in the manual, its row in a table, its aliases) is derived from this one value.
//! See `docs/spec/tools.md`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canonical::{Canonical, Digest, NotCanonical};
use crate::scope::Scope;
use crate::trust::{Sensitivity, Trust};

/// Declares an enum whose members have a lower-snake wire form, with the list of all members.
macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$member_doc:meta])* $member:ident = $wire:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$member_doc])* #[serde(rename = $wire)] $member,)*
        }

        impl $name {
            /// Every member, in the declared order.
            pub const ALL: &'static [Self] = &[$(Self::$member,)*];

            /// The wire form.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$member => $wire,)* }
            }

            /// The member with this wire form.
            #[must_use]
            pub fn from_wire(text: &str) -> Option<Self> {
                match text { $($wire => Some(Self::$member),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(crate) use wire_enum;

wire_enum! {
    /// What a tool may do to the world. The matrix is keyed by it.
    SideEffect {
        /// Computes, or reads what the platform itself knows.
        None = "none",
        /// Reads files of the workspace.
        WorkspaceRead = "workspace_read",
        /// Changes files of the workspace.
        WorkspaceWrite = "workspace_write",
        /// Reads from the network.
        NetworkRead = "network_read",
        /// Runs a program.
        CodeExecution = "code_execution",
        /// Installs a package.
        PackageInstall = "package_install",
        /// Opens the network to a sandbox.
        SandboxNetwork = "sandbox_network",
        /// Sends a message to somebody.
        ExternalMessage = "external_message",
        /// Changes data of an outside service.
        ExternalWrite = "external_write",
        /// Deletes data of an outside service.
        ExternalDelete = "external_delete",
        /// Spends money.
        Financial = "financial",
        /// Publishes something.
        Publication = "publication",
        /// Reads raw credentials.
        CredentialAccess = "credential_access",
        /// Touches the host outside any workspace.
        HostAccess = "host_access",
        /// Uses privileges of the host.
        Privileged = "privileged",
    }
}

impl SideEffect {
    /// Whether nothing anywhere is changed by it.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self, Self::None | Self::WorkspaceRead | Self::NetworkRead)
    }
}

wire_enum! {
    /// How bad a mistake would be. It orders queues, sets expiries and the size of a card; it never
    /// selects a decision.
    Risk {
        /// Nothing to repair.
        Low = "low",
        /// Easily repaired.
        Medium = "medium",
        /// Hard to repair.
        High = "high",
        /// Not to be repaired.
        Critical = "critical",
    }
}

wire_enum! {
    /// Whether doing it again is safe. It decides what happens after a crash.
    Idempotency {
        /// Nothing is changed.
        ReadOnly = "read_only",
        /// Twice is as once.
        Idempotent = "idempotent",
        /// Twice is as once if the other side is shown the same key.
        ConditionallyIdempotent = "conditionally_idempotent",
        /// Twice is twice.
        NonIdempotent = "non_idempotent",
    }
}

impl Idempotency {
    /// Whether a claimed call of this class, with or without its mark, may have changed something. A class
    /// that must mark has not acted before; an idempotent one need not say when it does.
    #[must_use]
    pub const fn may_have_acted(self, is_marked: bool) -> bool {
        match self {
            Self::ReadOnly => false,
            Self::Idempotent => true,
            Self::ConditionallyIdempotent | Self::NonIdempotent => is_marked,
        }
    }
}

wire_enum! {
    /// Whether a tool acts on the world or on the run.
    ToolKind {
        /// Acts on the world.
        Capability = "capability",
        /// Acts on the run.
        Control = "control",
    }
}

wire_enum! {
    /// Who wrote the tool.
    ToolSource {
        /// Mast.
        Builtin = "builtin",
        /// A server that speaks the Model Context Protocol.
        Mcp = "mcp",
        /// A paired device.
        Device = "device",
        /// A program inside the sandbox.
        Sandbox = "sandbox",
    }
}

wire_enum! {
    /// Where a tool's body runs.
    TargetKind {
        /// In this process.
        InProcess = "in_process",
        /// In the sandbox.
        Sandbox = "sandbox",
        /// On a Model Context Protocol server.
        McpServer = "mcp_server",
        /// On a paired device.
        Device = "device",
        /// At a web provider.
        WebProvider = "web_provider",
        /// In a browser.
        Browser = "browser",
    }
}

wire_enum! {
    /// Whether a call may carry text of the model's making to the network.
    Egress {
        /// It sends nothing.
        None = "none",
        /// It sends only what a handle names.
        Handle = "handle",
        /// It sends text that the model composed.
        Composed = "composed",
    }
}

/// A fault of the input schema that has a reason code of its own: the calculator's `maxLength` is
/// `expression_too_long`, not `schema`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaCode {
    /// JSON Pointer of the faulty place in the arguments, such as `/expression`.
    pub instance: String,
    /// The keyword of the schema that was violated, such as `maxLength`.
    pub keyword: String,
    /// The full reason code.
    pub code: String,
}

/// Another name that reaches this tool, with what must be renamed in the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alias {
    /// The other name; the grammar of tool names does not bind it.
    pub name: String,
    /// Pairs (argument as the alias has it, argument as the tool has it).
    pub arguments: Vec<(String, String)>,
    /// Where one name packs several actions: the argument that selects, and its value for this tool.
    pub action: Option<(String, String)>,
}

impl Alias {
    /// An alias whose arguments are those of the tool.
    #[must_use]
    pub fn plain(name: &str) -> Self {
        Self { name: name.to_owned(), arguments: Vec::new(), action: None }
    }
}

/// Everything that Mast must know of a tool before it may be offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// Dotted name, see [`crate::name::is_tool_name`].
    pub name: String,
    /// Three numbers joined by dots.
    pub version: String,
    /// What the model reads.
    pub description: String,
    /// JSON Schema 2020-12 of the arguments: an object, closed at every level.
    pub input_schema: Value,
    /// JSON Schema 2020-12 of the structured result; none for tools from outside.
    pub output_schema: Option<Value>,
    /// What it may do to the world.
    pub side_effect: SideEffect,
    /// How bad a mistake would be.
    pub risk: Risk,
    /// Whether doing it again is safe.
    pub idempotency: Idempotency,
    /// Scopes that the caller must hold, every one.
    pub required_scopes: Vec<Scope>,
    /// Seconds that a call may take.
    pub timeout_seconds: u32,
    /// Bytes of output, as UTF-8, before the output is cut and kept as an artifact.
    pub maximum_output_bytes: u64,
    /// Whether it may run beside its siblings.
    pub allow_parallel: bool,
    /// Whether it acts on the world or on the run.
    pub kind: ToolKind,
    /// Where its body runs.
    pub target_kind: TargetKind,
    /// The best trust that its output can have.
    pub output_trust: Trust,
    /// The least sensitivity that its output can have.
    pub output_sensitivity: Sensitivity,
    /// Whether it may carry the model's text to the network.
    pub egress: Egress,
    /// Arguments that a remembered yes leaves open.
    pub free_arguments: Vec<String>,
    /// Schema faults with a reason code of their own.
    pub schema_codes: Vec<SchemaCode>,
    /// Other names that reach it.
    pub aliases: Vec<Alias>,
    /// Who wrote it.
    pub source: ToolSource,
    /// Which server it is from; only for Model Context Protocol tools.
    pub server_id: Option<String>,
    /// Whether an unversioned lookup passes it over.
    pub deprecated: bool,
}

impl ToolSpec {
    /// The declaration of a tool that only computes: no side effect, LOW risk, READ_ONLY, two seconds,
    /// 64 KiB of output that is INTERNAL_TOOL and PUBLIC. Change what differs.
    #[must_use]
    pub fn pure(name: &str, description: &str, input_schema: Value, output_schema: Value) -> Self {
        Self {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            description: description.to_owned(),
            input_schema,
            output_schema: Some(output_schema),
            side_effect: SideEffect::None,
            risk: Risk::Low,
            idempotency: Idempotency::ReadOnly,
            required_scopes: Vec::new(),
            timeout_seconds: 2,
            maximum_output_bytes: 65_536,
            allow_parallel: true,
            kind: ToolKind::Capability,
            target_kind: TargetKind::InProcess,
            output_trust: Trust::InternalTool,
            output_sensitivity: Sensitivity::Public,
            egress: Egress::None,
            free_arguments: Vec::new(),
            schema_codes: Vec::new(),
            aliases: Vec::new(),
            source: ToolSource::Builtin,
            server_id: None,
            deprecated: false,
        }
    }

    /// The definition pin: SHA-256 over the canonical form of the whole declaration. A call is bound
    /// to the definition that was shown to the model.
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] when a schema holds a value without a canonical form (a negative zero, say).
    pub fn pin(&self) -> Result<Digest, NotCanonical> {
        // Serialising a plain record of text, numbers and JSON values cannot fail; were it to, the null
        // would still be pinned as one definition, and the registry would refuse its schema.
        let value = serde_json::to_value(self).unwrap_or(Value::Null);
        Ok(Canonical::of(&value)?.digest())
    }

    /// The first segment of the name.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// Whether a call of it may run beside others: it reads, is READ_ONLY, and says so.
    #[must_use]
    pub fn runs_beside_others(&self) -> bool {
        self.side_effect.is_read() && self.idempotency == Idempotency::ReadOnly && self.allow_parallel
    }
}
