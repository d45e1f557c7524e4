//! One call of a transcript, and the receipt that it is.

use serde_json::{Map, Value, json};

use crate::effect::{Receipt, first_words};
use crate::id::CallId;
use crate::instant::Instant;
use crate::message::OutcomeStatus;
use crate::resource::Resource;
use crate::spec::SideEffect;
use crate::trust::Label;

/// What stands before an exit code in the results of agents' tools.
const EXIT_WORDS: [&str; 5] =
    ["exit code", "exit status", "exited with code", "return code", "exited with status"];
/// Arguments that name a file, and those that hold a command.
const PATHS: [&str; 6] = ["path", "file_path", "filename", "file", "target_file", "notebook_path"];
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "code"];
/// Words of tools' names, by what the tool does.
const WRITES: [&str; 10] =
    ["write", "edit", "create", "update", "patch", "replace", "insert", "append", "save", "multiedit"];
const DELETES: [&str; 3] = ["delete", "remove", "unlink"];
const SENDS: [&str; 8] = ["send", "mail", "email", "message", "post", "notify", "publish", "reply"];
const LOOKS_OUT: [&str; 7] = ["fetch", "browse", "web", "http", "url", "download", "websearch"];
/// Arguments by which a tool reads a part only.
const PARTS: [&str; 6] = ["offset", "limit", "start_line", "end_line", "view_range", "line_range"];

/// A call.
#[derive(Debug)]
pub(super) struct Call {
    id: Value,
    tool: String,
    arguments: Map<String, Value>,
    result: Option<(String, bool)>,
}

impl Call {
    /// A call as it was proposed.
    pub(super) fn new(id: Option<&Value>, tool: Option<&Value>, arguments: Value) -> Self {
        let tool = tool.and_then(Value::as_str).unwrap_or("unknown").to_owned();
        let arguments = match arguments {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        Self { id: id.cloned().unwrap_or_default(), tool, arguments, result: None }
    }

    /// Whether this is the id of a call without a result.
    pub(super) fn waits_for(&self, id: &Value) -> bool {
        self.result.is_none() && self.id == *id
    }

    /// Its result.
    pub(super) fn end(&mut self, text: &str, is_error: bool) {
        self.result = Some((text.to_owned(), is_error));
    }

    /// What it is on record for.
    pub(super) fn receipt(&self, place: usize) -> Receipt {
        let (side_effect, resources) = self.does();
        let place = i64::try_from(place).unwrap_or(i64::MAX / 4);
        let (text, is_error) = match &self.result {
            Some((text, is_error)) => (text.as_str(), *is_error),
            None => ("", false),
        };
        let status = match &self.result {
            None => OutcomeStatus::Uncertain,
            Some(_) if is_error => OutcomeStatus::Failed,
            Some(_) => OutcomeStatus::Succeeded,
        };
        Receipt {
            call: CallId::from_u128(u128::try_from(place + 1).unwrap_or_default()),
            tool: self.tool.clone(),
            side_effect,
            resources,
            status,
            reason_code: None,
            started_at: Some(Instant::from_micros(2 * place)),
            completed_at: self.result.as_ref().map(|_| Instant::from_micros(2 * place + 1)),
            is_whole: !PARTS.iter().any(|part| self.arguments.contains_key(*part)),
            label: Label::piped(),
            statement: format!("{} gave {}", self.tool, first_words(text)),
            facts: self.facts(text),
        }
    }

    /// Its arguments, its result, and the exit code that the result tells.
    fn facts(&self, text: &str) -> Value {
        let mut facts = self.arguments.clone();
        if let Some(command) = self.command() {
            facts.insert("command".to_owned(), json!(command));
        }
        if let Ok(Value::Object(fields)) = serde_json::from_str(text) {
            facts.extend(fields);
        } else {
            facts.insert("output".to_owned(), json!(text));
        }
        let told = ["exit_code", "exitCode", "returncode", "return_code", "exit_status"];
        let code = told.iter().find_map(|key| facts.get(*key)?.as_i64()).or_else(|| exit_code(text));
        if let Some(code) = code {
            facts.insert("exit_code".to_owned(), json!(code));
        }
        Value::Object(facts)
    }

    /// What it may do, and to what.
    fn does(&self) -> (SideEffect, Vec<Resource>) {
        if self.command().is_some() {
            return (SideEffect::CodeExecution, Vec::new());
        }
        let patched = self.patched();
        if !patched.is_empty() {
            return (SideEffect::WorkspaceWrite, patched);
        }
        let words = self.words();
        let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        if let Some(path) = PATHS.iter().find_map(|key| self.arguments.get(*key)?.as_str()) {
            let write = has(&WRITES) || has(&DELETES);
            let side_effect = if write { SideEffect::WorkspaceWrite } else { SideEffect::WorkspaceRead };
            return (side_effect, vec![Resource::Path { path: path.to_owned(), write }]);
        }
        if let Some(url) = self.arguments.get("url").and_then(Value::as_str) {
            let host = url.split("://").last().unwrap_or(url).split(['/', '?', '#']).next().unwrap_or(url);
            return (SideEffect::NetworkRead, vec![Resource::Host { host: host.to_owned(), handle: false }]);
        }
        if has(&LOOKS_OUT) {
            return (SideEffect::NetworkRead, Vec::new());
        }
        if has(&SENDS) {
            return (SideEffect::ExternalMessage, Vec::new());
        }
        (SideEffect::None, Vec::new())
    }

    /// The words of its name, and of the verb that an editor takes as an argument.
    fn words(&self) -> Vec<String> {
        let mut spaced = String::new();
        for letter in self.tool.chars() {
            if letter.is_ascii_uppercase() {
                spaced.push(' ');
            }
            spaced.push(letter.to_ascii_lowercase());
        }
        let verb = self.text("command").filter(|verb| self.is_editor_verb(verb)).unwrap_or_default();
        let name = if verb.is_empty() { spaced.as_str() } else { verb };
        let words =
            name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.arguments.get(key).and_then(Value::as_str)
    }

    /// Whether this is what an editor is to do with the file that stands beside it, and no command line.
    fn is_editor_verb(&self, verb: &str) -> bool {
        self.arguments.contains_key("path") && !verb.contains(char::is_whitespace)
    }

    /// The command line that it runs.
    fn command(&self) -> Option<String> {
        COMMANDS.iter().find_map(|key| match self.arguments.get(*key)? {
            Value::String(text) if !self.is_editor_verb(text) => Some(text.clone()),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                // A shell that is handed a text runs the text.
                match words.as_slice() {
                    [_, flag, text] if flag.starts_with('-') && flag.ends_with('c') => {
                        Some((*text).to_owned())
                    }
                    words => Some(words.join(" ")),
                }
            }
            _ => None,
        })
    }

    /// The files of a patch in an envelope.
    fn patched(&self) -> Vec<Resource> {
        let texts = self.arguments.values().filter_map(Value::as_str);
        let lines = texts.filter(|text| text.contains("*** Begin Patch")).flat_map(str::lines);
        let path = |line: &str| {
            let heads = ["*** Add File: ", "*** Update File: ", "*** Delete File: "];
            heads.iter().find_map(|head| line.strip_prefix(head)).map(|path| path.trim().to_owned())
        };
        lines.filter_map(path).map(|path| Resource::Path { path, write: true }).collect()
    }
}

/// The exit code that a text tells last.
fn exit_code(text: &str) -> Option<i64> {
    let lower = text.to_ascii_lowercase();
    let ends = EXIT_WORDS.iter().filter_map(|words| lower.rfind(words).map(|at| at + words.len()));
    let rest = lower.get(ends.max()?..)?.trim_start_matches([' ', ':', '=', '`', '*']);
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '-').unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}
