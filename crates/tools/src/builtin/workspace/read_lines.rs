//! Reads some lines of a text file of the workspace, with their numbers.
//!
//! `path` is relative to the workspace; `first` is the number of the first line (1 if it is left out) and `count` how
//! many are wanted (at most 2,000, and so many if it is left out). Each line of the answer begins with its number and
//! a tab; one of more than 2,000 characters is clipped, and says so. The structured answer has `path`, `first`,
//! `lines` (without line ends), `total` (lines of the whole file) and `checksum` of the whole file. The file must be
//! UTF-8 text without a NUL. Trust is that of the whole file, see `workspace.read_text`.
//!
//! Failures: `tool.not_found.no_such_path`, `tool.invalid_arguments.not_a_file`, `tool.invalid_arguments.not_text`,
//! `tool.invalid_arguments.path_escape`.

use std::sync::Arc;

use async_trait::async_trait;
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::resource::Resource;
use mast_kernel::spec::{Alias, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{arguments, on_files, reads, text, touched};
use crate::capability::Context;
use crate::tool::{Failure, Output, Tool, opening_of};
use crate::workspace::inside;

/// Most lines of an answer.
const LINES_MAX: usize = 2_000;
/// Most characters of a line.
const LINE_CHARS_MAX: usize = 2_000;
/// Most bytes of a file of which lines are read.
const BYTES_MAX: u64 = 64 << 20;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
    #[serde(default = "one")]
    first: usize,
    #[serde(default = "all")]
    count: usize,
}

const fn one() -> usize {
    1
}

const fn all() -> usize {
    LINES_MAX
}

/// `workspace.read_lines`.
#[derive(Debug, Clone, Copy)]
pub struct ReadLines;

#[async_trait]
impl Tool for ReadLines {
    fn spec(&self) -> ToolSpec {
        let input = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "maxLength": 4096},
                "first": {"type": "integer", "minimum": 1, "default": 1},
                "count": {"type": "integer", "minimum": 1, "maximum": LINES_MAX, "default": LINES_MAX}
            },
            "required": ["path"],
            "additionalProperties": false
        });
        let output = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "first": {"type": "integer"},
                "lines": {"type": "array", "maxItems": LINES_MAX, "items": {"type": "string"}},
                "total": {"type": "integer"},
                "checksum": {"type": "string"}
            },
            "required": ["path", "first", "lines", "total", "checksum"],
            "additionalProperties": false
        });
        let description = "Reads lines of a UTF-8 text file of the workspace, each with its number. first is the \
                           number of the first line, count how many; at most 2000 at once.";
        ToolSpec {
            maximum_output_bytes: 1_048_576,
            aliases: vec![Alias::plain("read_file")],
            ..reads("workspace.read_lines", description, (input, output))
        }
    }

    fn manual(&self) -> String {
        opening_of(include_str!("read_lines.rs"))
    }

    fn resources(&self, given: &Value) -> Result<Vec<Resource>, Failure> {
        let args: Args = arguments(given)?;
        Ok(touched(&inside(&args.path)?, false))
    }

    async fn run(&self, permit: Claimed<Permit>, context: &Context) -> Result<Output, Failure> {
        let Args { path: named, first, count } = arguments(&permit.arguments().value())?;
        let path = inside(&named)?;
        let workspace = Arc::clone(context.workspace()?);
        let (read, label) = on_files(move || {
            let read = text::read(workspace.read(&path)?, BYTES_MAX)?;
            let label = workspace.label(&path, read.digest);
            Ok((read, label))
        })
        .await?;
        if read.n_bytes > BYTES_MAX {
            return Err(Failure::invalid_arguments(
                "tool.output_too_large.ceiling",
                "a file of more than 64 MiB",
            ));
        }
        let lines: Vec<String> =
            read.text.lines().skip(first.saturating_sub(1)).take(count).map(clipped).collect();
        let total = read.text.lines().count();
        let numbered = lines.iter().zip(first..).map(|(line, number)| format!("{number}\t{line}"));
        let content = match lines.is_empty() {
            true => format!("the file has {total} lines"),
            false => numbered.collect::<Vec<_>>().join("\n"),
        };
        let structured = json!({
            "path": named,
            "first": first,
            "lines": lines,
            "total": total,
            "checksum": format!("sha256:{}", read.digest),
        });
        Ok(Output { content, structured, label: Some(label) })
    }
}

/// A line, or the beginning of one that is too long.
fn clipped(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS_MAX) {
        None => line.to_owned(),
        Some((at, _)) => {
            let (begin, rest) = line.split_at_checked(at).unwrap_or((line, ""));
            format!("{begin}[… {} characters left out here]", rest.chars().count())
        }
    }
}
