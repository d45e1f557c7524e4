//! Assertions that a model attached to its answer with the control tool, and how they stand beside those
//! that were found in its words.

use serde::Deserialize;

use super::{Assertion, AssertionKind, find};
use crate::effect::Receipt;
use crate::limits::ASSERTIONS_MAX;
use crate::message::OutcomeStatus;

/// The control tool with which a model attaches assertions.
pub const TOOL: &str = "run.assert";

/// One assertion, as the tool stores it.
#[derive(Debug, Deserialize)]
struct Stored {
    kind: AssertionKind,
    subject: Option<String>,
    text: Option<String>,
}

/// The assertions that a run attached, oldest first.
#[must_use]
pub fn attached(receipts: &[Receipt]) -> Vec<Assertion> {
    stored(receipts).map(|stored| assertion(stored, "")).take(ASSERTIONS_MAX).collect()
}

/// All assertions of an answer: those attached, and those found in its words that none of them already
/// makes. One that is attached has the bytes of the words that it quotes, or of the one it replaces.
#[must_use]
pub fn all(answer: &str, receipts: &[Receipt]) -> Vec<Assertion> {
    let mut all: Vec<Assertion> =
        stored(receipts).map(|stored| assertion(stored, answer)).take(ASSERTIONS_MAX).collect();
    for found in find(answer) {
        let is_it = |one: &&mut Assertion| one.kind == found.kind && one.subject == found.subject;
        match all.iter_mut().filter(|one| one.is_structured).find(is_it) {
            Some(one) if one.span.is_none() => one.span = found.span,
            Some(one) if one.span == found.span => {}
            Some(_) | None => all.push(found),
        }
    }
    all.sort_by_key(|assertion| assertion.span.as_ref().map_or(usize::MAX, |span| span.start));
    all.truncate(ASSERTIONS_MAX);
    all
}

fn stored(receipts: &[Receipt]) -> impl Iterator<Item = Stored> {
    let calls =
        receipts.iter().filter(|receipt| receipt.tool == TOOL && receipt.status == OutcomeStatus::Succeeded);
    let lists = calls.filter_map(|receipt| receipt.facts.get("assertions")?.as_array());
    lists.flatten().filter_map(|one| Stored::deserialize(one).ok())
}

/// A stored assertion, with the bytes of the words that it quotes where the answer has them.
fn assertion(stored: Stored, answer: &str) -> Assertion {
    let Stored { kind, subject, text } = stored;
    let text = text.filter(|text| !text.trim().is_empty());
    let span = text.and_then(|text| answer.find(&text).map(|at| at..at + text.len()));
    Assertion { kind, subject: subject.filter(|subject| !subject.is_empty()), span, is_structured: true }
}
