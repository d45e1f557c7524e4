//! What a text says was done, by its words. It is the fallback for a model that attaches nothing, and can
//! only lower what a run is worth, so where a sentence is in doubt it says nothing.
//!
//! A sentence is read in that language of the table `find/words.txt` of which it has most words: an act counts if somebody is said
//! to have done it, or it is said to be done, and neither a condition nor a negation, a plan, an order or
//! somebody else's words stand before it. What is quoted, and code, is left out. Rejected: whole phrases
//! ("all tests pass"), of which a model always finds one more; and asking a model, whose reading could be
//! steered. See `docs/spec/completion.md`.

use super::{Assertion, AssertionKind};
use crate::limits::ASSERTIONS_MAX;

mod act;
mod block;
mod equation;
mod object;
mod sentence;
mod state;
mod token;
mod words;

pub(super) use equation::plain;
use sentence::Sentence;
use token::Token;
use words::{LANGUAGES, role};

/// The assertions of a text, in their order; no more than [`ASSERTIONS_MAX`].
#[must_use]
pub fn find(text: &str) -> Vec<Assertion> {
    let mut found: Vec<Assertion> = Vec::new();
    // What the sentence before a list says of all its items.
    let mut lead: Option<AssertionKind> = None;
    for block in block::own(text) {
        if found.len() >= ASSERTIONS_MAX {
            break;
        }
        let from = found.len();
        let mut is_item = lead.is_some() && block::is_item(text.get(block.clone()).unwrap_or_default());
        lead = lead.filter(|_| is_item);
        token::sentences(text, block.clone(), |tokens, may_assert| {
            if is_item {
                found.extend(lead.and_then(|kind| act::item(text, tokens, kind)));
                is_item = false;
            }
            if may_assert && found.len() < ASSERTIONS_MAX {
                lead = read(text, tokens, &mut found).or(lead);
            }
        });
        equation::read(text, block, &mut found);
        if let Some(new) = found.get_mut(from..) {
            new.sort_by_key(|assertion| {
                assertion.span.as_ref().map_or((0, 0), |span| (span.start, span.end))
            });
        }
    }
    found.dedup_by(|one, other| is_same(one, other));
    found.truncate(ASSERTIONS_MAX);
    found
}

/// Adds what a sentence asserts, in its language, or in each that it may be in. Gives what it says of the
/// items of the list that follows.
fn read(text: &str, tokens: &[Token<'_>], found: &mut Vec<Assertion>) -> Option<AssertionKind> {
    let mut lead = None;
    let says = role::PASS | role::COMPILES | role::EXISTS;
    let is_said = |language: usize| {
        tokens.iter().any(|token| token.is(language, says) || token.said(language).is_some())
    };
    let said: Vec<usize> = (0..LANGUAGES.len()).filter(|language| is_said(*language)).collect();
    let n_known = |language: usize| tokens.iter().filter(|token| token.is_known(language)).count();
    let n_best = (0..LANGUAGES.len()).map(n_known).max().unwrap_or(0);
    for language in said.into_iter().filter(|language| n_known(*language) == n_best) {
        if tokens.iter().any(|token| token.is(language, role::ELSEWHEN)) {
            continue;
        }
        let sentence = Sentence::new(text, tokens, language);
        if sentence.is_inverted() {
            continue;
        }
        let mut new = Vec::new();
        state::read(&sentence, &mut new);
        act::read(&sentence, &mut new);
        found.append(&mut new);
        lead = lead.or_else(|| act::lead(&sentence));
    }
    lead
}

/// Whether two are one, found in two languages.
fn is_same(one: &Assertion, other: &Assertion) -> bool {
    let overlap = match (&one.span, &other.span) {
        (Some(one), Some(other)) => one.start < other.end && other.start < one.end,
        (None, _) | (_, None) => false,
    };
    let is_kind = |kind: AssertionKind| one.kind == kind && other.kind == kind;
    overlap && (one.kind == other.kind && one.subject == other.subject || is_kind(AssertionKind::TestsPassed))
}
