//! Lists what lies in a folder of the workspace: names and sizes, never contents.
//!
//! `path` is a folder relative to the workspace, and the empty text its root; `recursive` looks into the folders in it
//! too. Entries stand in the order of the bytes of their paths, at most 1,000 of them; `truncated` tells that there
//! are more, and then what is there is the beginning. An entry has `path`, `kind` (`file` or `directory`) and
//! `byte_count`. Links are neither followed nor listed. A listing is trusted only as far as every name in it was
//! given by a tool: a name can hold orders as well as a file can.
//!
//! Failures: `tool.not_found.no_such_path`, `tool.invalid_arguments.not_a_directory`,
//! `tool.invalid_arguments.path_escape`.

use std::sync::Arc;

use async_trait::async_trait;
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::resource::Resource;
use mast_kernel::spec::{Alias, ToolSpec};
use mast_kernel::trust::Label;
use mast_sandbox::{Entry, EntryKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{arguments, on_files, reads, touched};
use crate::capability::Context;
use crate::tool::{Failure, Output, Tool, opening_of};
use crate::workspace::folder;

/// Most entries of a listing. What a model could raise it would raise.
const ENTRIES_MAX: usize = 1_000;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default)]
    path: String,
    #[serde(default)]
    recursive: bool,
}

/// `workspace.list_files`.
#[derive(Debug, Clone, Copy)]
pub struct ListFiles;

#[async_trait]
impl Tool for ListFiles {
    fn spec(&self) -> ToolSpec {
        let input = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "maxLength": 4096, "default": ""},
                "recursive": {"type": "boolean", "default": false}
            },
            "required": [],
            "additionalProperties": false
        });
        let output = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "entries": {
                    "type": "array",
                    "maxItems": ENTRIES_MAX,
                    "items": {
                        "type": "object",
                        "properties": {
                            "path": {"type": "string"},
                            "kind": {"enum": ["file", "directory"]},
                            "byte_count": {"type": "integer"}
                        },
                        "required": ["path", "kind", "byte_count"],
                        "additionalProperties": false
                    }
                },
                "truncated": {"type": "boolean"}
            },
            "required": ["path", "entries", "truncated"],
            "additionalProperties": false
        });
        let description = "Lists the files and folders in a folder of the workspace: paths and sizes, at most 1000. \
                           An empty path is the workspace itself.";
        ToolSpec {
            maximum_output_bytes: 262_144,
            aliases: vec![Alias::plain("ls")],
            ..reads("workspace.list_files", description, (input, output))
        }
    }

    fn manual(&self) -> String {
        opening_of(include_str!("list_files.rs"))
    }

    fn resources(&self, given: &Value) -> Result<Vec<Resource>, Failure> {
        let args: Args = arguments(given)?;
        Ok(touched(&folder(&args.path)?, false))
    }

    async fn run(&self, permit: Claimed<Permit>, context: &Context) -> Result<Output, Failure> {
        let Args { path: named, recursive } = arguments(&permit.arguments().value())?;
        let path = folder(&named)?;
        let workspace = Arc::clone(context.workspace()?);
        let (listing, label) = on_files(move || {
            let listing = workspace.list(&path, recursive, ENTRIES_MAX)?;
            let names = listing.entries.iter().map(|entry| workspace.label_of_name(&entry.path));
            let label = (!listing.entries.is_empty()).then(|| Label::join_all(names));
            Ok((listing, label))
        })
        .await?;
        let mut content: String = listing.entries.iter().map(line).collect();
        if listing.truncated {
            content.push_str("… there are more: list a folder of it\n");
        }
        if listing.entries.is_empty() {
            content.push_str("nothing is there\n");
        }
        let structured = json!({
            "path": named,
            "entries": listing.entries.iter().map(as_json).collect::<Vec<_>>(),
            "truncated": listing.truncated,
        });
        Ok(Output { content: content.trim_end().to_owned(), structured, label })
    }
}

fn as_json(entry: &Entry) -> Value {
    let kind = match entry.kind {
        EntryKind::File => "file",
        EntryKind::Folder => "directory",
    };
    json!({ "path": entry.path.as_str(), "kind": kind, "byte_count": entry.byte_count })
}

/// `src/` or `src/main.rs  1204`; a line break in a name must not look like the next entry.
fn line(entry: &Entry) -> String {
    let path = entry.path.as_str().escape_debug();
    match entry.kind {
        EntryKind::Folder => format!("{path}/\n"),
        EntryKind::File => format!("{path}  {}\n", entry.byte_count),
    }
}
