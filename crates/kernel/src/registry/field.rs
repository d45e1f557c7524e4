//! Whether the fields of a declaration fit together. That they are all there, and that enums have one
//! of their members, the type has settled already.

use serde_json::Value;

use super::Version;
use super::refusal::FieldFault;
use crate::limits;
use crate::message;
use crate::spec::{Alias, Idempotency, SchemaCode, SideEffect, TargetKind, ToolKind, ToolSource, ToolSpec};

/// The first fault of a declaration, in the order of its fields.
pub(super) fn check(spec: &ToolSpec) -> Result<(), FieldFault> {
    Version::parse(&spec.version).ok_or(FieldFault::Version)?;
    if spec.description.trim().is_empty() {
        return Err(FieldFault::Description);
    }
    if spec.timeout_seconds == 0 {
        return Err(FieldFault::Timeout);
    }
    if spec.maximum_output_bytes == 0 || spec.maximum_output_bytes > limits::OUTPUT_BYTES_MAX {
        return Err(FieldFault::OutputLimit);
    }
    if let Some(argument) = spec.free_arguments.iter().find(|argument| !has_argument(spec, argument)) {
        return Err(FieldFault::FreeArgument { argument: argument.clone() });
    }
    spec.aliases.iter().try_for_each(|alias| check_alias(spec, alias))?;
    spec.schema_codes.iter().try_for_each(|code| check_code(spec, code))?;
    check_server(spec)?;
    check_control(spec)
}

fn has_argument(spec: &ToolSpec, name: &str) -> bool {
    spec.input_schema.get("properties").and_then(|properties| properties.get(name)).is_some()
}

fn check_alias(spec: &ToolSpec, alias: &Alias) -> Result<(), FieldFault> {
    let n_chars = alias.name.chars().count();
    if n_chars == 0 || n_chars > limits::TOOL_NAME_CHARS_MAX || alias.name.contains(char::is_whitespace) {
        return Err(FieldFault::AliasName { alias: alias.name.clone() });
    }
    alias.arguments.iter().find(|(_, to)| !has_argument(spec, to)).map_or(Ok(()), |(_, to)| {
        Err(FieldFault::AliasArgument { alias: alias.name.clone(), argument: to.clone() })
    })
}

/// A reason code of a tool's own is for a keyword that stands at that place, and has a message.
fn check_code(spec: &ToolSpec, code: &SchemaCode) -> Result<(), FieldFault> {
    let place = code.instance.split('/').skip(1).try_fold(&spec.input_schema, below);
    if place.and_then(|schema| schema.get(&code.keyword)).is_none() {
        let SchemaCode { instance, keyword, code: _ } = code.clone();
        return Err(FieldFault::SchemaCode { instance, keyword });
    }
    match message::lookup(&code.code) {
        Some(_) => Ok(()),
        None => Err(FieldFault::UnknownCode { code: code.code.clone() }),
    }
}

/// The schema of a member or an item of what `schema` describes.
fn below<'a>(schema: &'a Value, segment: &str) -> Option<&'a Value> {
    let name = segment.replace("~1", "/").replace("~0", "~");
    schema.get("properties").and_then(|properties| properties.get(&name)).or_else(|| schema.get("items"))
}

fn check_server(spec: &ToolSpec) -> Result<(), FieldFault> {
    let Some(server) = &spec.server_id else {
        return if spec.source == ToolSource::Mcp { Err(FieldFault::ServerId) } else { Ok(()) };
    };
    if spec.source != ToolSource::Mcp || server.is_empty() {
        return Err(FieldFault::ServerId);
    }
    let own = format!("mcp.{server}.");
    spec.required_scopes
        .iter()
        .find(|scope| !scope.as_str().starts_with(&own))
        .map_or(Ok(()), |scope| Err(FieldFault::ForeignScope { scope: scope.as_str().to_owned() }))
}

/// A control tool acts on the run and on nothing else.
fn check_control(spec: &ToolSpec) -> Result<(), FieldFault> {
    let fits = spec.source == ToolSource::Builtin
        && spec.side_effect == SideEffect::None
        && matches!(spec.idempotency, Idempotency::ReadOnly | Idempotency::Idempotent)
        && spec.target_kind == TargetKind::InProcess;
    if spec.kind == ToolKind::Control && !fits { Err(FieldFault::Control) } else { Ok(()) }
}
