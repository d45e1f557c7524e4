//! Writes a text file of the workspace, whole; folders above it are made.
//!
//! `path` is relative to the workspace; absolute paths, `.` and `..` are refused, and so is every path that leads
//! through a link. `content` is written as it is: UTF-8, no mark before it, no line end changed or added. The file is
//! replaced in one step, or stays as it was. The structured answer has `path`, `byte_count`, `checksum` (`sha256:` and
//! the digest of the bytes) and `created`, which tells whether there was no such file before.
//!
//! Failures: `tool.invalid_arguments.not_a_file`, `tool.invalid_arguments.not_a_directory`,
//! `tool.invalid_arguments.path_escape`.

use std::sync::Arc;

use async_trait::async_trait;
use mast_kernel::canonical::Digest;
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::resource::Resource;
use mast_kernel::scope::Scope;
use mast_kernel::spec::{Idempotency, Risk, SideEffect, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{arguments, on_files, reads, touched};
use crate::capability::Context;
use crate::tool::{Failure, Output, Tool, opening_of};
use crate::workspace::inside;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
    content: String,
}

/// `workspace.write_text`.
#[derive(Debug, Clone, Copy)]
pub struct WriteText;

#[async_trait]
impl Tool for WriteText {
    fn spec(&self) -> ToolSpec {
        let input = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "maxLength": 4096},
                "content": {"type": "string", "maxLength": 1_048_576}
            },
            "required": ["path", "content"],
            "additionalProperties": false
        });
        let output = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "byte_count": {"type": "integer"},
                "checksum": {"type": "string"},
                "created": {"type": "boolean"}
            },
            "required": ["path", "byte_count", "checksum", "created"],
            "additionalProperties": false
        });
        let description = "Writes a UTF-8 text file of the workspace, whole; folders above it are made. The path is \
                           relative to the workspace. In a folder that the user chose the file stays; a run's own \
                           folder is discarded when the run ends or pauses.";
        ToolSpec {
            side_effect: SideEffect::WorkspaceWrite,
            risk: Risk::Medium,
            idempotency: Idempotency::Idempotent,
            required_scopes: Scope::parse("workspace.write").into_iter().collect(),
            maximum_output_bytes: 4_096,
            allow_parallel: false,
            ..reads("workspace.write_text", description, (input, output))
        }
    }

    fn manual(&self) -> String {
        opening_of(include_str!("write_text.rs"))
    }

    fn resources(&self, given: &Value) -> Result<Vec<Resource>, Failure> {
        let args: Args = arguments(given)?;
        Ok(touched(&inside(&args.path)?, true))
    }

    async fn run(&self, permit: Claimed<Permit>, context: &Context) -> Result<Output, Failure> {
        let Args { path: named, content } = arguments(&permit.arguments().value())?;
        let path = inside(&named)?;
        let (workspace, origin) = (Arc::clone(context.workspace()?), context.origin());
        let (byte_count, digest) = (content.len(), Digest::of(content.as_bytes()));
        let written = on_files(move || workspace.write(&path, &content, origin)).await?;
        let did = if written.created { "Created" } else { "Replaced" };
        let structured = json!({
            "path": named,
            "byte_count": byte_count,
            "checksum": format!("sha256:{digest}"),
            "created": written.created,
        });
        Ok(Output::new(format!("{did} the file: {byte_count} bytes."), structured))
    }
}
