//! Rehearses a write to an outside service: it always asks, records what would have been sent, and
//! sends nothing.
//!
//! The destination is a text of at most 256 characters that is recorded as it stands; nothing ever
//! connects to it or parses it. The answer tells the size and the SHA-256 of the content as UTF-8. The
//! body cannot fail, so that what a rehearsal shows is the asking itself.

use async_trait::async_trait;
use mast_kernel::canonical::Digest;
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::resource::Resource;
use mast_kernel::scope::Scope;
use mast_kernel::spec::{Egress, Idempotency, Risk, SideEffect, TargetKind, ToolKind, ToolSource, ToolSpec};
use mast_kernel::trust::{Sensitivity, Trust};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::capability::Context;
use crate::tool::{Failure, Output, Tool, opening_of};

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    destination: String,
    content: String,
}

/// `demo.external_write`.
#[derive(Debug, Clone, Copy)]
pub struct ExternalWrite;

#[async_trait]
impl Tool for ExternalWrite {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "demo.external_write".to_owned(),
            version: "1.0.0".to_owned(),
            description: "Rehearses a write to an outside service. A person is asked each time. Nothing is \
                          sent: the destination is only a label, and what would have been written is recorded."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "destination": {"type": "string", "maxLength": 256},
                    "content": {"type": "string", "maxLength": 4096}
                },
                "required": ["destination", "content"],
                "additionalProperties": false
            }),
            output_schema: Some(json!({
                "type": "object",
                "properties": {
                    "recorded": {"const": true},
                    "destination": {"type": "string"},
                    "byte_count": {"type": "integer"},
                    "checksum": {"type": "string"}
                },
                "required": ["recorded", "destination", "byte_count", "checksum"],
                "additionalProperties": false
            })),
            side_effect: SideEffect::ExternalWrite,
            risk: Risk::High,
            idempotency: Idempotency::NonIdempotent,
            required_scopes: Scope::parse("demo.write").into_iter().collect(),
            timeout_seconds: 10,
            maximum_output_bytes: 4_096,
            allow_parallel: false,
            kind: ToolKind::Capability,
            target_kind: TargetKind::InProcess,
            output_trust: Trust::InternalTool,
            output_sensitivity: Sensitivity::Public,
            egress: Egress::Composed,
            free_arguments: Vec::new(),
            schema_codes: Vec::new(),
            aliases: Vec::new(),
            source: ToolSource::Builtin,
            server_id: None,
            deprecated: false,
        }
    }

    fn manual(&self) -> String {
        opening_of(include_str!("external_write.rs"))
    }

    fn resources(&self, arguments: &Value) -> Result<Vec<Resource>, Failure> {
        let args = read(arguments)?;
        Ok(vec![Resource::Record { system: "demo".to_owned(), record: args.destination }])
    }

    async fn run(&self, permit: Claimed<Permit>, context: &Context) -> Result<Output, Failure> {
        let args = read(&permit.arguments().value())?;
        // The rehearsal keeps the whole contract of a tool that does send.
        context.mark_effect_sent().await?;
        let checksum = format!("sha256:{}", Digest::of(args.content.as_bytes()));
        let content = format!("Recorded, not sent: {} bytes for this destination.", args.content.len());
        Ok(Output::new(
            content,
            json!({
                "recorded": true,
                "destination": args.destination,
                "byte_count": args.content.len(),
                "checksum": checksum,
            }),
        ))
    }
}

fn read(arguments: &Value) -> Result<Args, Failure> {
    Args::deserialize(arguments)
        .map_err(|error| Failure::invalid_arguments("tool.invalid_arguments.schema", error.to_string()))
}
