//! Assertions: what a final message says was done, and whether a receipt says so too.
//!
//! A receipt supports what it literally says and nothing else, so its statement stands beside what it
//! supports. What has no receipt is marked, never removed: to take words away can turn a sentence round.
//! A model can attach its assertions with `run.assert`; what is found in its text by phrases is the fallback,
//! and can only lower what a run is worth. See `docs/spec/completion.md`.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::effect::Receipt;
use crate::id::CallId;
use crate::spec::wire_enum;

wire_enum! {
    /// What is said to have been done.
    AssertionKind {
        /// A file was written, made or changed.
        FileWritten = "file_written",
        /// A file was read, or a part of it.
        FileRead = "file_read",
        /// A file was read from its beginning to its end.
        FileReadWhole = "file_read_whole",
        /// A file is there.
        FileExists = "file_exists",
        /// A file was deleted.
        FileDeleted = "file_deleted",
        /// A command was run.
        CommandRun = "command_run",
        /// A command was run and ended well.
        CommandSucceeded = "command_succeeded",
        /// Tests were run and passed.
        TestsPassed = "tests_passed",
        /// A build was run and passed.
        BuildPassed = "build_passed",
        /// A message was sent.
        MessageSent = "message_sent",
        /// A value was calculated.
        ValueCalculated = "value_calculated",
        /// Something was looked up on the network.
        WebRead = "web_read",
        /// A package was installed.
        PackageInstalled = "package_installed",
        /// Something was published, deployed or pushed.
        Published = "published",
    }
}

/// One thing that a message says was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assertion {
    /// What is said to have been done.
    pub kind: AssertionKind,
    /// To what: a path, a command, a number, a recipient. Absent where the text names nothing.
    pub subject: Option<String>,
    /// The bytes of the text that say so. Absent where no text does.
    pub span: Option<Range<usize>>,
    /// Whether the model attached it with `run.assert`.
    pub is_structured: bool,
}

/// What the receipts say of an assertion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "support", rename_all = "snake_case")]
pub enum Support {
    /// A receipt says so.
    Supported {
        /// Of which call.
        by: CallId,
        /// What the receipt literally says.
        statement: String,
    },
    /// No receipt says so, or one says otherwise.
    Unsupported {
        /// What is on record instead, in a few words.
        why: String,
    },
    /// Nothing on record could say it, whether it is so or not.
    NotCheckable {
        /// Why not.
        why: String,
    },
}

/// An assertion with what the receipts say of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// What is asserted.
    pub assertion: Assertion,
    /// What is on record.
    #[serde(flatten)]
    pub support: Support,
}

impl Checked {
    /// Whether it is to be marked.
    #[must_use]
    pub const fn is_unsupported(&self) -> bool {
        matches!(self.support, Support::Unsupported { .. })
    }
}

/// The subject of an assertion that tests were run, whatever by.
const TESTS: &str = "tests";
/// The subject of an assertion that a build was run, whatever by.
const BUILD: &str = "build";
/// The subject of an assertion that changes were committed, whatever by.
const COMMIT: &str = "git commit";

mod attached;
mod check;
mod command;
mod find;

pub use attached::{TOOL, all, attached};

pub use check::check;
pub use find::find;

/// The text with a mark after each assertion that has no receipt. Nothing is taken away.
#[must_use]
pub fn marked(text: &str, checked: &[Checked]) -> String {
    let unsupported = unsupported(text, checked);
    let mark = |(span, why): (Range<usize>, &str)| (span.end..span.end, format!(" [not on record: {why}]"));
    replaced(text, unsupported.into_iter().map(mark))
}

/// The text without the words of each assertion that has no receipt, and a note where they stood, since a
/// sentence can mean something else without them.
#[must_use]
pub fn removed(text: &str, checked: &[Checked]) -> String {
    let unsupported = unsupported(text, checked);
    let gap = |(span, why): (Range<usize>, &str)| (span, format!("[removed, not on record: {why}]"));
    replaced(text, unsupported.into_iter().map(gap))
}

/// The bytes of each assertion that has no receipt, in their order, with why.
fn unsupported<'a>(text: &str, checked: &'a [Checked]) -> Vec<(Range<usize>, &'a str)> {
    let mut found: Vec<(Range<usize>, &str)> = Vec::new();
    for one in checked {
        if let (Some(span), Support::Unsupported { why }) = (&one.assertion.span, &one.support)
            && text.get(span.clone()).is_some()
        {
            found.push((span.clone(), why));
        }
    }
    found.sort_unstable_by(|(one, _), (other, _)| (one.start, one.end).cmp(&(other.start, other.end)));
    found.dedup();
    found
}

/// The text with other words in these places. What overlaps with a place before it is left as it is.
fn replaced(text: &str, places: impl Iterator<Item = (Range<usize>, String)>) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (span, words) in places.filter(|(span, _)| span.start <= span.end) {
        if span.start < from {
            continue;
        }
        out.push_str(text.get(from..span.start).unwrap_or_default());
        out.push_str(&words);
        from = span.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}
