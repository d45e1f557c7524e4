//! A folder in memory: tools that read and change its files, somebody who looks at them, and a verifier
//! whose command judges a frozen copy. What the command says is a function of the copy, nothing else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mast_kernel::canonical::Digest;
use mast_kernel::completion::{FileState, Looked};
use mast_kernel::id::RunId;
use mast_kernel::instant::Instant;
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::resource::Resource;
use mast_kernel::spec::{SideEffect, ToolSpec};
use mast_runtime::{Artifacts, CannotLook, CheckCall, Frozen, NotVerified, Verifier};
use mast_tools::{Context, Failure, Output, Tool};
use serde_json::{Map, Value, json};

use crate::probe::Probe;

/// Below this the tests of the folder stand: its guard set.
const TESTS: &str = "tests/";

/// The files of a folder, by their path.
pub type Files = BTreeMap<String, String>;

/// A folder in memory.
#[derive(Debug)]
pub struct Folder {
    files: Mutex<Files>,
    frozen: Mutex<BTreeMap<String, Files>>,
    passes: fn(&Files) -> bool,
}

impl Folder {
    /// A folder with these files, whose command passes on a copy where `passes` says so.
    #[must_use]
    pub fn with(files: &[(&str, &str)], passes: fn(&Files) -> bool) -> Arc<Self> {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Arc::new(Self { files: Mutex::new(files), frozen: Mutex::default(), passes })
    }

    /// Writes a file, as somebody would who is not in the run.
    pub fn put(&self, path: &str, text: &str) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(path.to_owned(), text.to_owned());
    }

    /// The files as they are now.
    #[must_use]
    pub fn files(&self) -> Files {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many copies nobody has discarded.
    #[must_use]
    pub fn n_frozen(&self) -> usize {
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Its tools: reading, writing, and the command.
    #[must_use]
    pub fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        [Does::Reads, Does::Writes, Does::Checks]
            .into_iter()
            .map(|does| Arc::new(FolderTool { does, folder: Arc::clone(self) }) as Arc<dyn Tool>)
            .collect()
    }

    fn copy(&self, handle: &str) -> Option<Files> {
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner).get(handle).cloned()
    }
}

fn state(text: &str) -> FileState {
    let size_bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    FileState { size_bytes, digest: Digest::of(text.as_bytes()), modified_at: None::<Instant> }
}

fn digest(files: &Files) -> Digest {
    Digest::of(serde_json::to_string(files).expect("a map of texts is JSON").as_bytes())
}

#[async_trait]
impl Artifacts for Folder {
    async fn look(&self, path: &str) -> Result<Option<FileState>, CannotLook> {
        Ok(self.files().get(path).map(|text| state(text)))
    }
}

#[async_trait]
impl Verifier for Folder {
    async fn guard(&self, _: &str, copy: Option<&Frozen>) -> Result<Vec<Looked>, NotVerified> {
        let files = match copy {
            None => self.files(),
            Some(copy) => self.copy(&copy.handle).ok_or_else(|| NotVerified("no such copy".to_owned()))?,
        };
        let tests = files.iter().filter(|(path, _)| path.starts_with(TESTS));
        Ok(tests.map(|(path, text)| Looked { path: path.clone(), state: Some(state(text)) }).collect())
    }

    async fn freeze(&self, run: RunId) -> Result<Frozen, NotVerified> {
        let files = self.files();
        let copy = Frozen { handle: run.to_string(), digest: digest(&files) };
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner).insert(copy.handle.clone(), files);
        Ok(copy)
    }

    fn call(&self, command: &str, copy: &Frozen) -> CheckCall {
        let arguments = json!({ "command": command, "copy": copy.handle });
        CheckCall { tool: "sandbox.check".to_owned(), arguments }
    }

    async fn discard(&self, copy: Frozen) {
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner).remove(&copy.handle);
    }
}

/// What a tool of the folder does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Reads,
    Writes,
    Checks,
}

/// One tool of the folder.
#[derive(Debug)]
struct FolderTool {
    does: Does,
    folder: Arc<Folder>,
}

/// A closed object of these fields, all required.
fn object(fields: &[(&str, &str)]) -> Value {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let fields: Map<String, Value> =
        fields.iter().map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind }))).collect();
    json!({ "type": "object", "properties": fields, "required": names, "additionalProperties": false })
}

#[async_trait]
impl Tool for FolderTool {
    fn spec(&self) -> ToolSpec {
        let (name, effect, takes, gives): (_, _, &[_], &[_]) = match self.does {
            Does::Reads => (
                "workspace.read_text",
                SideEffect::WorkspaceRead,
                &[("path", "string")],
                &[("text", "string")],
            ),
            Does::Writes => (
                "workspace.write_text",
                SideEffect::WorkspaceWrite,
                &[("content", "string"), ("path", "string")],
                &[("size_bytes", "integer")],
            ),
            Does::Checks => (
                "sandbox.check",
                SideEffect::CodeExecution,
                &[("command", "string"), ("copy", "string")],
                &[("copy", "string"), ("exit_code", "integer")],
            ),
        };
        ToolSpec {
            input_schema: object(takes),
            output_schema: Some(object(gives)),
            ..Probe::new(name, effect).spec
        }
    }

    fn resources(&self, arguments: &Value) -> Result<Vec<Resource>, Failure> {
        let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        Ok(vec![match self.does {
            Does::Reads => Resource::Path { path: text("path"), write: false },
            Does::Writes => Resource::Path { path: text("path"), write: true },
            Does::Checks => {
                let words = text("command").split_whitespace().map(str::to_owned).collect();
                Resource::Command { words, exact: true }
            }
        }])
    }

    async fn run(&self, permit: Claimed<Permit>, context: &Context) -> Result<Output, Failure> {
        let given = permit.arguments().value();
        let text = |name: &str| given[name].as_str().unwrap_or_default().to_owned();
        if self.does != Does::Reads {
            context.mark_effect_sent().await?;
        }
        match self.does {
            Does::Reads => {
                let path = text("path");
                let found = self.folder.files().get(path.trim_start_matches("./")).cloned();
                let found = found.ok_or_else(|| Failure::internal("the folder has no such file"))?;
                Ok(Output::new(found.clone(), json!({ "text": found })))
            }
            Does::Writes => {
                self.folder.put(&text("path"), &text("content"));
                let size_bytes = text("content").len();
                let said = format!("wrote {size_bytes} bytes to {}", text("path"));
                Ok(Output::new(said, json!({ "size_bytes": size_bytes })))
            }
            Does::Checks => {
                let copy = self.folder.copy(&text("copy"));
                let copy = copy.ok_or_else(|| Failure::internal("there is no such copy"))?;
                let exit_code = i32::from(!(self.folder.passes)(&copy));
                let said = format!("`{}` ended {exit_code}", text("command"));
                let facts = json!({ "copy": digest(&copy).to_string(), "exit_code": exit_code });
                Ok(Output::new(said, facts))
            }
        }
    }
}
