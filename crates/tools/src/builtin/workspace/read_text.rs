//! Reads a text file of the workspace, whole.
//!
//! `path` is relative to the workspace, such as `src/main.rs`; absolute paths, `.` and `..` are refused, and so is
//! every path that leads through a link. The file must be UTF-8 text without a NUL; there is no other encoding and
//! no guessing. The answer is the text; the structured answer has `path`, `content`, `byte_count` and `checksum`
//! (`sha256:` and the digest of the bytes). A file that a tool wrote, and that is as it was written, has the trust of
//! the call that wrote it; every other is text of somebody else.
//!
//! Failures: `tool.not_found.no_such_path`, `tool.invalid_arguments.not_a_file`, `tool.invalid_arguments.not_text`,
//! `tool.invalid_arguments.path_escape`.

use std::sync::Arc;

use async_trait::async_trait;
use mast_kernel::limits;
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::resource::Resource;
use mast_kernel::spec::ToolSpec;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{arguments, on_files, reads, text, touched};
use crate::capability::Context;
use crate::tool::{Failure, Output, Tool, opening_of};
use crate::workspace::inside;

/// Most bytes of a file that is given whole.
const BYTES_MAX: u64 = 1_048_576;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
}

/// `workspace.read_text`.
#[derive(Debug, Clone, Copy)]
pub struct ReadText;

#[async_trait]
impl Tool for ReadText {
    fn spec(&self) -> ToolSpec {
        let input = json!({
            "type": "object",
            "properties": {"path": {"type": "string", "maxLength": 4096}},
            "required": ["path"],
            "additionalProperties": false
        });
        let output = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "content": {"type": "string"},
                "byte_count": {"type": "integer"},
                "checksum": {"type": "string"}
            },
            "required": ["path", "content", "byte_count", "checksum"],
            "additionalProperties": false
        });
        let description = "Reads a UTF-8 text file of the workspace, whole. The path is relative to the workspace; \
                           absolute paths and .. are refused.";
        ToolSpec {
            maximum_output_bytes: BYTES_MAX,
            ..reads("workspace.read_text", description, (input, output))
        }
    }

    fn manual(&self) -> String {
        opening_of(include_str!("read_text.rs"))
    }

    fn resources(&self, given: &Value) -> Result<Vec<Resource>, Failure> {
        let args: Args = arguments(given)?;
        Ok(touched(&inside(&args.path)?, false))
    }

    async fn run(&self, permit: Claimed<Permit>, context: &Context) -> Result<Output, Failure> {
        let args: Args = arguments(&permit.arguments().value())?;
        let path = inside(&args.path)?;
        let workspace = Arc::clone(context.workspace()?);
        let (read, label) = on_files(move || {
            let ceiling = BYTES_MAX.saturating_mul(limits::OUTPUT_CEILING_FACTOR);
            let read = text::read(workspace.read(&path)?, ceiling)?;
            let label = workspace.label(&path, read.digest);
            Ok((read, label))
        })
        .await?;
        let structured = json!({
            "path": args.path,
            "content": read.text,
            "byte_count": read.n_bytes,
            "checksum": format!("sha256:{}", read.digest),
        });
        Ok(Output { content: read.text, structured, label: Some(label) })
    }
}
