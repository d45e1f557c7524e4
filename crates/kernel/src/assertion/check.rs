//! Whether a receipt says what an assertion says.
//!
//! A call that was denied, failed, or whose outcome nobody knows supports nothing. What a program did that
//! says nothing of itself is not held against a text: then the assertion is not checkable.

use super::command::{Does, commands, does, is_masked, words_of};
use super::{Assertion, AssertionKind, Checked, Receipt, Support};
use crate::effect::{EffectState, is_change, later_changes, state, written};
use crate::message::OutcomeStatus;
use crate::spec::SideEffect;
use serde_json::Value;

mod file;
mod outside;
mod run;
mod value;

/// Endings of files that no test and no build depends on.
const PROSE: [&str; 9] = ["md", "txt", "rst", "adoc", "log", "svg", "png", "pdf", "csv"];

/// Each assertion with what the receipts of its run say of it. The receipts are in the order of their calls.
#[must_use]
pub fn check(assertions: Vec<Assertion>, receipts: &[Receipt]) -> Vec<Checked> {
    let record = Record::of(receipts);
    let one = |assertion: Assertion| {
        let support = support(&record, &assertion);
        Checked { assertion, support }
    };
    assertions.into_iter().map(one).collect()
}

fn support(record: &Record<'_>, assertion: &Assertion) -> Support {
    let subject = assertion.subject.as_deref();
    match assertion.kind {
        AssertionKind::FileWritten => file::written(record, subject),
        AssertionKind::FileRead => file::read(record, subject, false),
        AssertionKind::FileReadWhole => file::read(record, subject, true),
        AssertionKind::FileExists => file::exists(record, subject),
        AssertionKind::FileDeleted => file::deleted(record, subject),
        AssertionKind::CommandRun => run::command(record, subject, false),
        AssertionKind::CommandSucceeded => run::command(record, subject, true),
        AssertionKind::TestsPassed => run::passed(record, Does::Test, subject),
        AssertionKind::BuildPassed => run::passed(record, Does::Build, None),
        AssertionKind::MessageSent => outside::message(record, subject),
        AssertionKind::ValueCalculated => value::calculated(record, subject),
        AssertionKind::WebRead => outside::web(record, subject),
        AssertionKind::PackageInstalled => outside::package(record, subject),
        AssertionKind::Published => outside::published(record, subject),
    }
}

/// The receipts of a run, with what of them is asked again and again.
struct Record<'a> {
    receipts: &'a [Receipt],
    entries: Vec<Entry<'a>>,
}

/// One receipt.
struct Entry<'a> {
    place: usize,
    receipt: &'a Receipt,
    all: &'a [Receipt],
    /// The commands that it ran, each as its words.
    commands: Vec<Vec<String>>,
}

impl<'a> Record<'a> {
    fn of(receipts: &'a [Receipt]) -> Self {
        let entries = receipts.iter().enumerate().map(|(place, receipt)| {
            let named = words_of(&receipt.resources);
            let commands = match line(receipt) {
                Some(line) if named.is_empty() => commands(line),
                Some(_) | None => named,
            };
            Entry { place, receipt, all: receipts, commands }
        });
        Self { receipts, entries: entries.collect() }
    }

    /// The entries, newest first.
    fn newest(&self) -> impl Iterator<Item = &Entry<'a>> {
        self.entries.iter().rev()
    }

    /// The newest entry that succeeded and fits.
    fn done(&self, fits: impl Fn(&Entry<'a>) -> bool) -> Option<&Entry<'a>> {
        self.newest().find(|entry| entry.is_done() && fits(entry))
    }

    /// What is to be said where nothing supports an assertion: how a call ended that fits, that a program
    /// ran which says nothing of itself, or that there is no such call.
    fn unsupported(&self, what: &str, fits: impl Fn(&Entry<'a>) -> bool, by_program: bool) -> Support {
        if let Some(entry) = self.newest().find(|entry| !entry.is_done() && fits(entry)) {
            return Support::Unsupported { why: entry.ending() };
        }
        if by_program && let Some(entry) = self.done(Entry::is_opaque) {
            let why =
                format!("{} ran a program that may have done it, and does not say so", entry.receipt.tool);
            return Support::NotCheckable { why };
        }
        Support::Unsupported { why: format!("no call of this run {what}") }
    }

    /// What changed the files after a call in which tests or a build ran.
    fn changed_since(&self, entry: &Entry<'a>) -> Option<Support> {
        let mut unclear = None;
        for (place, later) in later_changes(self.receipts, entry.place, entry.receipt) {
            let Some(other) = self.entries.get(place) else { continue };
            let why = format!("{} changed files afterwards, or may have", later.tool);
            match other.changes() {
                Changes::No => {}
                Changes::Yes => return Some(Support::Unsupported { why }),
                Changes::Maybe => unclear = Some(Support::NotCheckable { why }),
            }
        }
        unclear
    }
}

/// Whether a call changed files that tests and builds depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changes {
    No,
    Maybe,
    Yes,
}

impl Entry<'_> {
    /// Why its effect is not what was meant, where that is known.
    fn doubt(&self) -> Option<String> {
        let (state, why) = state(self.all, self.place, self.receipt);
        (state == EffectState::Unverified).then_some(why)
    }

    fn is_done(&self) -> bool {
        self.receipt.status == OutcomeStatus::Succeeded && self.receipt.started_at.is_some()
    }

    fn supported(&self) -> Support {
        Support::Supported { by: self.receipt.call, statement: self.receipt.statement.clone() }
    }

    /// How a call ended that does not count.
    fn ending(&self) -> String {
        let tool = &self.receipt.tool;
        match self.receipt.status {
            OutcomeStatus::Denied => format!("{tool} was denied"),
            OutcomeStatus::Unavailable => format!("{tool} was not available"),
            OutcomeStatus::Failed => format!("{tool} failed"),
            OutcomeStatus::Uncertain => format!("nobody knows the outcome of {tool}"),
            OutcomeStatus::Succeeded => format!("{tool} did not begin"),
        }
    }

    fn is_program(&self) -> bool {
        matches!(self.receipt.side_effect, SideEffect::CodeExecution | SideEffect::SandboxNetwork)
            || self.receipt.side_effect == SideEffect::HostAccess
    }

    fn any(&self, what: Does) -> bool {
        self.commands.iter().any(|words| does(words, what))
    }

    /// Whether it ran a program of which nobody can say what else it did.
    fn is_opaque(&self) -> bool {
        let is_plain = |words: &Vec<String>| {
            [Does::KeepFiles, Does::Test, Does::Read, Does::Write, Does::Delete]
                .into_iter()
                .any(|what| does(words, what))
        };
        self.is_program() && (self.commands.is_empty() || !self.commands.iter().all(is_plain))
    }

    fn changes(&self) -> Changes {
        if !is_change(self.receipt) {
            return Changes::No;
        }
        let is_prose = |path: &str| path.rsplit_once('.').is_some_and(|(_, ending)| PROSE.contains(&ending));
        let mut paths = written(self.receipt).peekable();
        let touches = paths.peek().is_some() && !paths.all(is_prose);
        match self.receipt.side_effect {
            SideEffect::WorkspaceWrite if touches || written(self.receipt).next().is_none() => Changes::Yes,
            _ if !self.is_program() => Changes::No,
            _ if touches || self.any(Does::Write) || self.any(Does::Delete) || self.any(Does::Change) => {
                Changes::Yes
            }
            _ => {
                let is_harmless = |words: &Vec<String>| {
                    [Does::KeepFiles, Does::Test, Does::Build, Does::Read]
                        .into_iter()
                        .any(|what| does(words, what))
                };
                let is_known = !self.commands.is_empty() && self.commands.iter().all(is_harmless);
                if is_known { Changes::No } else { Changes::Maybe }
            }
        }
    }

    /// The exit code that its facts tell.
    fn exit(&self) -> Option<i64> {
        let facts = &self.receipt.facts;
        ["exit_code", "exit_status", "return_code"].iter().find_map(|key| facts.get(*key)?.as_i64())
    }

    /// Whether that code is the one of this command, and not of another that ran beside it.
    fn exit_is_of(&self, place: usize) -> bool {
        let is_last = place + 1 == self.commands.len();
        match line(self.receipt) {
            Some(line) if is_masked(line) => false,
            Some(line) => is_last || !line.trim().contains([';', '\n']),
            None => self.commands.len() <= 1,
        }
    }

    /// What it printed, or all that its facts tell.
    fn output(&self) -> String {
        let facts = &self.receipt.facts;
        let printed = ["stdout", "stderr", "output"].iter().filter_map(|key| facts.get(*key)?.as_str());
        let printed: Vec<&str> = printed.collect();
        if !printed.is_empty() {
            return printed.join("\n");
        }
        match facts {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        }
    }

    /// Whether a text stands in what it names or what it tells, in capitals or not.
    fn mentions(&self, text: &str) -> bool {
        let wanted = text.trim_start_matches(['@', '#']).to_lowercase();
        let resources = serde_json::to_string(&self.receipt.resources).unwrap_or_default();
        let facts = self.receipt.facts.to_string();
        resources.to_lowercase().contains(&wanted) || facts.to_lowercase().contains(&wanted)
    }

    /// Whether the last part of the tool's name has one of these words.
    fn tool_has(&self, words: &[&str]) -> bool {
        let action = self.receipt.tool.rsplit('.').next().unwrap_or_default();
        action.split('_').any(|word| words.contains(&word))
    }
}

/// The command line that a receipt's facts tell.
fn line(receipt: &Receipt) -> Option<&str> {
    receipt.facts.get("command").and_then(Value::as_str)
}
