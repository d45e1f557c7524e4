//! What the end of a run is worth: a function of what was required, and of what is on record. The answer's
//! own words are no argument of it, so no text can raise a completion, and none can lower it.
//! See `docs/spec/completion.md`.
//!
//! Rejected: taking requirements from the task's wording. A requirement that was guessed wrong fails a run
//! that did what it was asked, and one that was missed passes a run that did not.

use serde::{Deserialize, Serialize};

use crate::canonical::Digest;
use crate::effect::Receipt;
use crate::instant::Instant;
use crate::message::OutcomeStatus;
use crate::resource::Resource;
use crate::run::Completion;
use crate::spec::SideEffect;

/// How a file was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileState {
    /// How many bytes it has.
    pub size_bytes: u64,
    /// SHA-256 of its bytes.
    pub digest: Digest,
    /// When it was last changed, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<Instant>,
}

/// One look at one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Looked {
    /// The path, as it was named.
    pub path: String,
    /// How the file was found; none where there is no such file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<FileState>,
}

/// A command that must pass on what the run leaves behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequiredCheck {
    /// The command line, as a person wrote it.
    pub command: String,
    /// Its *guard set* as it was before the run: the tests, their configuration, the program. A run that
    /// changes what judges it is not judged by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guard: Vec<Looked>,
}

/// What a person requires of a run besides an answer. It is part of the turn contract, so it is fixed
/// before the first model call, and so is what was there before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Required {
    /// Paths that must be read whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Files that the run must make or change, as they were before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Looked>,
    /// Commands that must pass afterwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<RequiredCheck>,
}

impl Required {
    /// These files and commands, not looked at yet.
    #[must_use]
    pub fn of(files: &[String], commands: &[String]) -> Self {
        let file = |path: &String| Looked { path: path.clone(), state: None };
        let check = |command: &String| RequiredCheck { command: command.clone(), guard: Vec::new() };
        Self {
            reads: Vec::new(),
            files: files.iter().map(file).collect(),
            checks: commands.iter().map(check).collect(),
        }
    }

    /// Whether an answer is enough.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.files.is_empty() && self.checks.is_empty()
    }
}

/// What came of one required command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Checking {
    /// It passed, through the gate, on a frozen copy.
    Passed {
        /// Digest of the copy.
        copy: Digest,
    },
    /// It ran on the frozen copy and did not pass.
    Failed {
        /// Digest of the copy.
        copy: Digest,
    },
    /// What it judges by was changed in the run, so it was not run.
    Changed {
        /// Which files.
        paths: Vec<String>,
    },
    /// It was not run, or nobody knows how it ended.
    NotRun {
        /// Reason code.
        code: String,
    },
}

/// One required command, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedCommand {
    /// The command line.
    pub command: String,
    /// What came of it.
    #[serde(flatten)]
    pub checking: Checking,
}

/// Why an end is worth no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Reason code; its sentence is in [`crate::message`].
    pub code: String,
    /// What it is about: the path or the command; none where that is the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// What else belongs to it, such as the files that were changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<String>,
}

/// What is on record when a run has answered.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// Whether the answer is whole: neither cut off nor held back.
    pub is_whole: bool,
    /// The receipts of the run's calls, oldest first.
    pub receipts: &'a [Receipt],
    /// The required files as they are now, in the order in which they are required.
    pub files: &'a [Looked],
    /// What came of the required commands.
    pub checks: &'a [CheckedCommand],
}

/// What an end is worth, and why no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// What it is worth.
    pub completion: Completion,
    /// Why no more; what is missing first.
    pub reasons: Vec<Reason>,
}

/// What the end of a run that answered is worth.
#[must_use]
pub fn decide(required: &Required, evidence: &Evidence<'_>) -> Decided {
    let mut found = Found::default();
    if !evidence.is_whole {
        found.missing("run.answer_cut", None);
    }
    for path in &required.reads {
        if !evidence.receipts.iter().any(|receipt| has_read(receipt, path)) {
            found.missing("run.read_missing", Some(path));
        }
    }
    for before in &required.files {
        let now = evidence.files.iter().find(|now| now.path == before.path);
        file(&mut found, before, now.and_then(|now| now.state.as_ref()), evidence.receipts);
    }
    for check in &required.checks {
        let came = evidence.checks.iter().find(|came| came.command == check.command);
        checked(&mut found, &check.command, came.map(|came| &came.checking));
    }
    for receipt in evidence.receipts.iter().filter(|receipt| receipt.status == OutcomeStatus::Uncertain) {
        found.doubtful("run.effect_unknown", Some(&receipt.tool), Vec::new());
    }
    let completion = if !found.missing.is_empty() {
        Completion::Incomplete
    } else if !found.doubtful.is_empty() || required.is_empty() {
        Completion::Unverified
    } else if required.checks.is_empty() {
        Completion::Satisfied
    } else {
        Completion::Verified
    };
    let mut reasons = found.missing;
    reasons.extend(found.doubtful);
    Decided { completion, reasons }
}

/// The reasons so far.
#[derive(Debug, Default)]
struct Found {
    missing: Vec<Reason>,
    doubtful: Vec<Reason>,
}

impl Found {
    fn missing(&mut self, code: &str, about: Option<&str>) {
        let about = about.map(str::to_owned);
        self.missing.push(Reason { code: code.to_owned(), about, list: Vec::new() });
    }

    fn doubtful(&mut self, code: &str, about: Option<&str>, list: Vec<String>) {
        self.doubtful.push(Reason { code: code.to_owned(), about: about.map(str::to_owned), list });
    }
}

/// A required file must be there, must not be empty, and must be this run's work.
fn file(found: &mut Found, before: &Looked, now: Option<&FileState>, receipts: &[Receipt]) {
    let path = before.path.as_str();
    let Some(now) = now else { return found.missing("run.file_missing", Some(path)) };
    if now.size_bytes == 0 {
        return found.missing("run.file_empty", Some(path));
    }
    let is_made = receipts.iter().any(|receipt| has_written(receipt, path) || has_run_over(receipt, now));
    let is_changed = before.state.as_ref().is_none_or(|before| before.digest != now.digest);
    match (is_made, is_changed) {
        (true, _) => {}
        (false, true) => found.doubtful("run.file_without_receipt", Some(path), Vec::new()),
        (false, false) => found.missing("run.file_unchanged", Some(path)),
    }
}

fn checked(found: &mut Found, command: &str, came: Option<&Checking>) {
    match came {
        Some(Checking::Passed { .. }) => {}
        Some(Checking::Failed { .. }) => found.missing("run.verifier_failed", Some(command)),
        Some(Checking::Changed { paths }) => {
            found.doubtful("run.verifier_changed", Some(command), paths.clone());
        }
        Some(Checking::NotRun { code }) => found.doubtful(code, Some(command), Vec::new()),
        None => found.doubtful("run.verifier_unavailable", Some(command), Vec::new()),
    }
}

/// Which guarded files are not as they were: changed, gone, or new.
#[must_use]
pub fn changed(before: &[Looked], after: &[Looked]) -> Vec<String> {
    let digest = |looks: &[Looked], path: &str| {
        looks
            .iter()
            .find(|look| look.path == path)
            .and_then(|look| look.state.as_ref())
            .map(|state| state.digest)
    };
    let mut paths: Vec<&str> = before.iter().chain(after).map(|look| look.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let is_changed = |path: &&str| digest(before, path) != digest(after, path);
    paths.into_iter().filter(is_changed).map(str::to_owned).collect()
}

/// Whether a call read this path, all of it.
fn has_read(receipt: &Receipt, path: &str) -> bool {
    let is_it = |resource: &Resource| matches!(resource, Resource::Path { path: read, write: false } if same(read, path));
    receipt.status == OutcomeStatus::Succeeded && receipt.is_whole && receipt.resources.iter().any(is_it)
}

/// Whether a call wrote this path.
fn has_written(receipt: &Receipt, path: &str) -> bool {
    let is_it = |resource: &Resource| match resource {
        Resource::Path { path: written, write: true } | Resource::Redirect { path: written, write: true } => {
            same(written, path)
        }
        _ => false,
    };
    receipt.status == OutcomeStatus::Succeeded && receipt.resources.iter().any(is_it)
}

/// Whether a program that succeeded ran when the file was last changed.
fn has_run_over(receipt: &Receipt, now: &FileState) -> bool {
    let (Some(began), Some(ended), Some(changed)) =
        (receipt.started_at, receipt.completed_at, now.modified_at)
    else {
        return false;
    };
    let is_program = matches!(receipt.side_effect, SideEffect::CodeExecution | SideEffect::HostAccess);
    is_program && receipt.status == OutcomeStatus::Succeeded && began <= changed && changed <= ended
}

/// Whether two spellings below one root are the same path.
fn same(a: &str, b: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        path.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
    };
    a.starts_with('/') == b.starts_with('/') && parts(a) == parts(b)
}
