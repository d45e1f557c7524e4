//! Why a registry was not built, in words that tell the operator what to change.

use crate::limits;
use crate::schema::SchemaFault;

/// One of a tool's two schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaSide {
    /// That of the arguments.
    Input,
    /// That of the structured result.
    Output,
}

impl std::fmt::Display for SchemaSide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
        })
    }
}

/// Why the registry was not built. The variants stand in the order of the checks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The name is not a tool name.
    #[error(
        "tool {tool:?}: not a tool name. Use two or more segments of lower-case letters, digits and \
         underscores, each beginning with a letter, joined by dots, at most {} characters.",
        limits::TOOL_NAME_CHARS_MAX
    )]
    Name {
        /// The tool.
        tool: String,
    },
    /// A builtin is in a domain of servers or devices.
    #[error("tool {tool}: the domain {domain} belongs to servers and devices. Rename the tool.")]
    ReservedDomain {
        /// The tool.
        tool: String,
        /// Its domain.
        domain: String,
    },
    /// The domain is not one in which such a tool may be.
    #[error(
        "tool {tool}: {domain} is not a domain for it. A builtin needs a domain of the list in \
         kernel::name, a server's tool mcp, a device's tool device."
    )]
    UnknownDomain {
        /// The tool.
        tool: String,
        /// Its domain.
        domain: String,
    },
    /// Two declarations have one name and one version.
    #[error("tool {tool}: version {version} is declared twice. Give one of them another version.")]
    Duplicate {
        /// The tool.
        tool: String,
        /// The version.
        version: String,
    },
    /// A schema is not fit to be declared.
    #[error("tool {tool}: its {side} schema is not valid. Correct it: {fault}")]
    Schema {
        /// The tool.
        tool: String,
        /// Which schema.
        side: SchemaSide,
        /// What is wrong with it.
        #[source]
        fault: SchemaFault,
    },
    /// A field is missing or has a value that it cannot have.
    #[error("tool {tool}: {fault}")]
    Field {
        /// The tool.
        tool: String,
        /// What is wrong.
        #[source]
        fault: FieldFault,
    },
    /// The output would be trusted more than its origin allows.
    #[error(
        "tool {tool}: what comes from outside this process is external_untrusted. Declare that as its \
         output_trust."
    )]
    Trust {
        /// The tool.
        tool: String,
    },
    /// An alias leads to two tools, or is the name of another.
    #[error(
        "tool {tool}: the alias {alias:?} also means {other}. Drop one, or let one argument select \
         between them with a value for each."
    )]
    Alias {
        /// The tool.
        tool: String,
        /// The alias.
        alias: String,
        /// The other tool.
        other: String,
    },
    /// Two tools would be offered under one name.
    #[error("tool {tool}: providers would see it as {name}, and {other} too. Rename one of them.")]
    ProviderName {
        /// The tool.
        tool: String,
        /// The other tool.
        other: String,
        /// The name of both.
        name: String,
    },
}

/// What is wrong with a field of a declaration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldFault {
    /// The version is not three numbers.
    #[error("version must be three numbers joined by dots, such as 1.0.0.")]
    Version,
    /// There is no description.
    #[error("description must say what the tool does.")]
    Description,
    /// The timeout is zero.
    #[error("timeout_seconds must be more than 0.")]
    Timeout,
    /// The limit of the output is zero or beyond the global one.
    #[error("maximum_output_bytes must be from 1 to {}.", limits::OUTPUT_BYTES_MAX)]
    OutputLimit,
    /// A free argument is not an argument.
    #[error("free_arguments names {argument:?}, which the input schema has not.")]
    FreeArgument {
        /// The name.
        argument: String,
    },
    /// An alias renames to something that is not an argument.
    #[error("the alias {alias:?} renames to {argument:?}, which the input schema has not.")]
    AliasArgument {
        /// The alias.
        alias: String,
        /// The name.
        argument: String,
    },
    /// An alias cannot be a name.
    #[error("the alias {alias:?} must have 1 to {} characters and no space.", limits::TOOL_NAME_CHARS_MAX)]
    AliasName {
        /// The alias.
        alias: String,
    },
    /// A reason code is given to a fault that cannot occur.
    #[error("schema_codes names {keyword} at {instance:?}, which the input schema has not.")]
    SchemaCode {
        /// The place in the arguments.
        instance: String,
        /// The keyword.
        keyword: String,
    },
    /// A reason code is not one.
    #[error("schema_codes names {code}, which the message table has not.")]
    UnknownCode {
        /// The code.
        code: String,
    },
    /// A server is named by a tool that is not a server's, or not named by one that is.
    #[error("server_id is for tools of Model Context Protocol servers, and they need it.")]
    ServerId,
    /// A server's tool wants scopes of somebody else.
    #[error("it may only require scopes that begin with mcp. and its server's id, not {scope}.")]
    ForeignScope {
        /// The scope.
        scope: String,
    },
    /// A control tool that does more than act on the run.
    #[error(
        "a control tool must be a builtin with side_effect none, idempotency read_only or idempotent, \
         and target_kind in_process."
    )]
    Control,
}

impl Refusal {
    pub(super) fn field(tool: &str, fault: FieldFault) -> Self {
        Self::Field { tool: tool.to_owned(), fault }
    }

    pub(super) fn not_canonical(tool: &str) -> Self {
        let fault = SchemaFault::NotCanonical;
        Self::Schema { tool: tool.to_owned(), side: SchemaSide::Input, fault }
    }
}
