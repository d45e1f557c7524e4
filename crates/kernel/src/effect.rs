//! Effects: what a run meant to do, what the executor said of it, what was seen afterwards, and what of
//! that proves anything. A report of success says that a body ended well, never that the world is now as
//! it was meant to be; only a later look at the same thing does.
//!
//! Pure: it reads receipts, which are made from call rows, and no model's words. Rejected: taking the
//! newest read of a file as proof whatever its size (half a file proves no whole one), and taking one
//! failed look as proof that something is gone. See `docs/spec/completion.md`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::CallId;
use crate::instant::Instant;
use crate::message::OutcomeStatus;
use crate::resource::Resource;
use crate::spec::{SideEffect, wire_enum};
use crate::trust::Label;

mod judge;

pub use judge::states;
pub(crate) use judge::{clean, is_change, is_deletion, is_not_found, later_changes, paths, state, written};

/// What is on record of one call. (A record: `docs/spec/completion.md` names its fields.)
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The call.
    pub call: CallId,
    /// The tool's registry name.
    pub tool: String,
    /// What the tool may do to the world.
    pub side_effect: SideEffect,
    /// What the call named; empty for one that may touch anything of its class.
    pub resources: Vec<Resource>,
    /// How it ended.
    pub status: OutcomeStatus,
    /// Why it did not succeed.
    pub reason_code: Option<String>,
    /// When its body began; absent where it never did.
    pub started_at: Option<Instant>,
    /// When its body ended; absent where it did not, or nobody knows.
    pub completed_at: Option<Instant>,
    /// Whether it took in all of what it names: a whole file, a whole listing, every place searched.
    pub is_whole: bool,
    /// How far its output may be believed.
    pub label: Label,
    /// What it literally says, such as `math.calculate gave 391`.
    pub statement: String,
    /// The structured result.
    pub facts: Value,
}

/// Characters of a tool's own words in a receipt's statement.
const WORDS_CHARS_MAX: usize = 200;

/// The first words of a text, on one line, as a receipt's statement quotes them.
#[must_use]
pub fn first_words(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(WORDS_CHARS_MAX) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

wire_enum! {
    /// How far an effect is known.
    EffectState {
        /// It was asked for and never begun.
        Intended = "intended",
        /// The executor said that it did it; nobody looked.
        Executed = "executed",
        /// It was looked at afterwards, whole and with no change since.
        Observed = "observed",
        /// It was looked at afterwards, and it is what was meant.
        Verified = "verified",
        /// The executor said that it did it, and it lies where nobody here can look, or what was seen
        /// is something else.
        Unverified = "unverified",
        /// Nobody can say how much of it happened.
        Unknown = "unknown",
    }
}
