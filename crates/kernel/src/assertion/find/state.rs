//! What a sentence says is so: that tests pass, that a build does, that a file is there.

use super::act::{fails, names_tests};
use super::object::name;
use super::sentence::{Sentence, VERB_LAST};
use super::token::{Kind, is_path};
use super::words::role;
use crate::assertion::{Assertion, AssertionKind};

/// Tokens between what passes and the word that says so.
const REACH: usize = 8;

/// Adds what the sentence says is so.
pub(super) fn read(sentence: &Sentence<'_, '_>, found: &mut Vec<Assertion>) {
    for at in 0..sentence.tokens.len() {
        if sentence.is(at, role::PASS) {
            found.extend(passes(sentence, at).filter(|new| !found.contains(new)));
        }
        if sentence.is(at, role::COMPILES) {
            found.extend(compiles(sentence, at));
        }
        if sentence.is(at, role::EXISTS) {
            found.extend(exists(sentence, at));
        }
    }
}

/// "All 42 tests pass", "passes all tests", "the build succeeds", "`make` passes".
fn passes(sentence: &Sentence<'_, '_>, at: usize) -> Option<Assertion> {
    if fails(sentence) {
        return None;
    }
    let noun = noun_before(sentence, at).or_else(|| tests_after(sentence, at))?;
    let (low, high) = (noun.min(at), noun.max(at));
    if sentence.is_void(low..high + 1) || is_joined_away(sentence, noun, at) {
        return None;
    }
    let start = phrase_start(sentence, noun.min(at));
    if sentence.has(start..high, role::PART | role::NOT) || is_share(sentence, start..high) {
        return None;
    }
    if !sentence.is(noun, role::TEST | role::BUILD) && !names_tests(sentence, noun) {
        let command = sentence.tokens.get(noun)?.text.as_ref();
        return sentence.assertion(AssertionKind::CommandSucceeded, Some(command), start, high);
    }
    if sentence.is(noun, role::BUILD) && !sentence.is(noun, role::TEST) {
        return sentence.assertion(AssertionKind::BuildPassed, None, start, high);
    }
    let is_number = |at: &usize| sentence.kind(*at) == Some(Kind::Number);
    let count = (start..high).find(is_number).and_then(|at| Some(sentence.tokens.get(at)?.text.as_ref()));
    sentence.assertion(AssertionKind::TestsPassed, count, start, high)
}

/// What stands before the word that says that it passes.
fn noun_before(sentence: &Sentence<'_, '_>, at: usize) -> Option<usize> {
    for place in (at.saturating_sub(REACH)..at).rev() {
        let is_stand_in = sentence.is(place + 1, role::THEY) || sentence.is(place + 1, role::AND);
        match sentence.kind(place)? {
            Kind::Break(mark) if mark != ':' => return None,
            Kind::Comma if !is_stand_in && !is_count(sentence, place + 1) => return None,
            Kind::Code => {
                let text = &sentence.tokens.get(place)?.text;
                return (names_tests(sentence, place) || (text.contains(' ') && !is_path(text)))
                    .then_some(place);
            }
            Kind::Word if sentence.is(place, role::TEST | role::BUILD) => return Some(place),
            Kind::Word
            | Kind::Number
            | Kind::Path
            | Kind::Address
            | Kind::Quote
            | Kind::Comma
            | Kind::Break(_) => {}
        }
    }
    None
}

/// "passes all tests": the noun, where it ends what is said.
fn tests_after(sentence: &Sentence<'_, '_>, at: usize) -> Option<usize> {
    let quiet = |place: &usize| {
        sentence.is(*place, role::THE | role::FILL) || sentence.kind(*place) == Some(Kind::Number)
    };
    let noun = (at + 1..at + 6).find(|place| sentence.is(*place, role::TEST) || !quiet(place))?;
    let is_tests = sentence.is(noun, role::TEST);
    let is_ended = sentence.kind(noun + 1).is_none()
        || sentence.is_break(noun + 1)
        || sentence.is_joint(noun + 1)
        || sentence.is(noun + 1, role::FILL | role::PREP);
    let is_wish = at.checked_sub(1).is_some_and(|before| sentence.is(before, role::INTO));
    (is_tests && is_ended && !is_wish && sentence.language != VERB_LAST).then_some(noun)
}

/// Whether an "and" between them begins something else than what stands for the tests.
fn is_joined_away(sentence: &Sentence<'_, '_>, noun: usize, at: usize) -> bool {
    let (low, high) = (noun.min(at), noun.max(at));
    let joint = (low + 1..high).rev().find(|place| sentence.is(*place, role::AND));
    joint.is_some_and(|joint| {
        let stands_in = sentence.is(joint + 1, role::THEY) || is_count(sentence, joint + 1);
        // "Tests were run and passed": nobody else is named.
        !(stands_in || joint + 1 == high || sentence.is(joint + 1, role::FILL | role::BEEN))
    })
}

fn is_count(sentence: &Sentence<'_, '_>, at: usize) -> bool {
    sentence.kind(at) == Some(Kind::Number)
}

/// Where a noun's own words begin: articles, numbers, one word that says which.
fn phrase_start(sentence: &Sentence<'_, '_>, noun: usize) -> usize {
    let (mut start, mut n_others) = (noun, 0);
    for place in (noun.saturating_sub(REACH)..noun).rev() {
        let is_own = sentence.is(place, role::THE | role::NIL | role::NOT | role::PART | role::THEY)
            || is_count(sentence, place)
            || sentence.is(place, role::PREP | role::FROM | role::INTO)
                && is_count(sentence, place.wrapping_sub(1));
        let is_other = sentence.kind(place) == Some(Kind::Word) && !sentence.is_joint(place) && n_others == 0;
        if !(is_own || is_other && sentence.said(place).is_none()) {
            break;
        }
        n_others += usize::from(!is_own);
        start = if is_own { place } else { start };
    }
    start
}

/// "9 of 12 tests pass".
fn is_share(sentence: &Sentence<'_, '_>, range: std::ops::Range<usize>) -> bool {
    let text = |at: usize| sentence.tokens.get(at).map(|token| token.text.as_ref());
    let numbers: Vec<&str> = range.filter(|at| is_count(sentence, *at)).filter_map(text).collect();
    matches!(numbers.as_slice(), [one, other, ..] if one != other)
}

/// "It compiles", "the project builds cleanly".
fn compiles(sentence: &Sentence<'_, '_>, at: usize) -> Option<Assertion> {
    let from = sentence.clause(at);
    let what = role::THING | role::BUILD | role::THEY;
    let noun = (from.max(at.saturating_sub(REACH))..at).find(|place| sentence.is(*place, what))?;
    if fails(sentence) || sentence.is_void(noun..at + 1) {
        return None;
    }
    sentence.assertion(AssertionKind::BuildPassed, None, phrase_start(sentence, noun), at)
}

/// "report.md exists".
fn exists(sentence: &Sentence<'_, '_>, at: usize) -> Option<Assertion> {
    let from = sentence.clause(at);
    let file = (from..at).rev().find(|place| sentence.is_file(*place))?;
    if sentence.is_void(file..at + 1) || sentence.has(from..file, role::PREP | role::INTO | role::FROM) {
        return None;
    }
    sentence.assertion(AssertionKind::FileExists, name(sentence, file), file, at)
}
