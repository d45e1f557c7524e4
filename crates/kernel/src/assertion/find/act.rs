//! What an act that is said to be done asserts.

use std::ops::Range;

use super::object::{files, name};
use super::sentence::{Sentence, VERB_LAST, Verb, Voice};
use super::token::{Kind, Token, is_path};
use super::words::{Act, role};
use crate::assertion::command::{is_program, is_test_run};
use crate::assertion::{Assertion, AssertionKind, BUILD, COMMIT, TESTS};

/// Words of a command that is named without backticks.
const COMMAND_WORDS_MAX: usize = 3;

/// Tokens over which a word that makes nothing of it reaches a failure: "without a single failure".
const NIL_REACH: usize = 3;
/// What stands before a name and is none.
const TITLES: [&str; 16] = [
    "frau", "herr", "herrn", "mr", "mrs", "ms", "dr", "prof", "sr", "sra", "señor", "señora", "madame",
    "monsieur", "mme", "m",
];

/// Adds what the acts of a sentence assert.
pub(super) fn read(sentence: &Sentence<'_, '_>, found: &mut Vec<Assertion>) {
    for verb in sentence.verbs() {
        let Some(said) = sentence.said(verb.at) else { continue };
        if sentence.is_void(verb.at..verb.at + 1) {
            continue;
        }
        match said.act {
            Act::Write | Act::Change | Act::Move | Act::Delete | Act::Read => {
                found.extend(of_files(sentence, &verb, said.act));
            }
            Act::Run => found.extend(of_command(sentence, &verb, found)),
            Act::Send | Act::Notify => found.extend(of_message(sentence, &verb, said.act)),
            Act::Calculate => found.extend(of_number(sentence, &verb)),
            Act::Search | Act::Fetch => found.extend(of_web(sentence, &verb)),
            Act::Install => found.extend(of_package(sentence, &verb)),
            Act::Publish => found.extend(of_thing(sentence, &verb, AssertionKind::Published, "publish")),
            Act::Deploy => found.extend(of_thing(sentence, &verb, AssertionKind::Published, "deploy")),
            Act::Push => found.extend(of_thing(sentence, &verb, AssertionKind::Published, "push")),
            Act::Commit => found.extend(of_thing(sentence, &verb, AssertionKind::CommandRun, COMMIT)),
            Act::Build => found.extend(of_build(sentence, &verb)),
        }
    }
}

/// What a sentence that ends in a colon says of the files in the list that follows it.
pub(super) fn lead(sentence: &Sentence<'_, '_>) -> Option<AssertionKind> {
    let last = sentence.tokens.len().checked_sub(1)?;
    if sentence.kind(last) != Some(Kind::Break(':')) {
        return None;
    }
    let verb = sentence.verbs().into_iter().next_back()?;
    if sentence.is_void(verb.at..verb.at + 1)
        || sentence.regions(&verb).into_iter().flatten().any(|at| sentence.is_file(at))
    {
        return None;
    }
    match sentence.said(verb.at)?.act {
        Act::Write | Act::Change => Some(AssertionKind::FileWritten),
        Act::Delete => Some(AssertionKind::FileDeleted),
        Act::Read => Some(AssertionKind::FileRead),
        Act::Move
        | Act::Run
        | Act::Send
        | Act::Notify
        | Act::Calculate
        | Act::Search
        | Act::Fetch
        | Act::Install
        | Act::Publish
        | Act::Deploy
        | Act::Push
        | Act::Commit
        | Act::Build => None,
    }
}

/// What the sentence before a list says of an item that begins with a file.
pub(super) fn item(text: &str, tokens: &[Token<'_>], kind: AssertionKind) -> Option<Assertion> {
    let sentence = Sentence::new(text, tokens, 0);
    let at = tokens.iter().position(|token| token.kind != Kind::Number)?;
    let subject = sentence.is_file(at).then(|| name(&sentence, at))?;
    sentence.assertion(kind, subject, at, at)
}

fn of_files(sentence: &Sentence<'_, '_>, verb: &Verb, act: Act) -> Vec<Assertion> {
    let mut regions = sentence.regions(verb).into_iter();
    let Some((kind, tokens)) = regions.find_map(|region| files(sentence, region, act)) else {
        return of_some_file(sentence, verb, act).into_iter().collect();
    };
    let only = tokens.len() == 1;
    let one = |(place, at): (usize, &usize)| {
        let subject = name(sentence, *at);
        let (from, to) = match place {
            0 if only => (verb.start.min(*at), verb.at.max(*at)),
            0 => (verb.start.min(*at), *at),
            _ => (*at, *at),
        };
        sentence.assertion(kind, subject, from, to)
    };
    tokens.iter().enumerate().filter_map(one).collect()
}

/// "I have deleted the file": which one, the sentence does not say.
fn of_some_file(sentence: &Sentence<'_, '_>, verb: &Verb, act: Act) -> Option<Assertion> {
    let kind = match act {
        Act::Write => AssertionKind::FileWritten,
        Act::Delete => AssertionKind::FileDeleted,
        Act::Change
        | Act::Move
        | Act::Read
        | Act::Run
        | Act::Send
        | Act::Notify
        | Act::Calculate
        | Act::Search
        | Act::Fetch
        | Act::Install
        | Act::Publish
        | Act::Deploy
        | Act::Push
        | Act::Commit
        | Act::Build => return None,
    };
    let [region, _] = sentence.regions(verb);
    let names = |at: usize| matches!(sentence.kind(at), Some(Kind::Code | Kind::Path | Kind::Address));
    if region.clone().any(names) || sentence.has(region.clone(), role::NOT | role::PREP | role::FROM) {
        return None;
    }
    let at = sentence.first(region, role::FILE)?;
    sentence.assertion(kind, None, verb.start.min(at), verb.at.max(at))
}

/// A command, a test run or a build, and whether it is said to have ended well.
fn of_command(sentence: &Sentence<'_, '_>, verb: &Verb, found: &[Assertion]) -> Option<Assertion> {
    let regions = sentence.regions(verb);
    let end = sentence.tokens.len();
    let good = (verb.start..end)
        .find(|at| sentence.is(*at, role::GOOD) && !sentence.is_void(*at..*at + 1))
        .filter(|_| !fails(sentence));
    for region in regions {
        let code = region.clone().find(|at| is_command(sentence, *at));
        if let Some(at) = code {
            let kind =
                if good.is_some() { AssertionKind::CommandSucceeded } else { AssertionKind::CommandRun };
            let to = verb.at.max(at).max(good.unwrap_or(0));
            let from = verb.start.min(at);
            return sentence.assertion(kind, Some(&sentence.tokens.get(at)?.text), from, to);
        }
        if let Some((from, to, command)) = spoken(sentence, region.clone()) {
            let kind =
                if good.is_some() { AssertionKind::CommandSucceeded } else { AssertionKind::CommandRun };
            let to = verb.at.max(to).max(good.unwrap_or(0));
            return sentence.assertion(kind, Some(&command), verb.start.min(from), to);
        }
        if let Some(at) = sentence.first(region.clone(), role::TEST | role::BUILD) {
            let is_test = sentence.is(at, role::TEST);
            let (subject, passed) = if is_test {
                (TESTS, AssertionKind::TestsPassed)
            } else {
                (BUILD, AssertionKind::BuildPassed)
            };
            let to = verb.at.max(at).max(good.unwrap_or(0));
            let from = verb.start.min(at);
            let assertion = match good {
                Some(_) => sentence.assertion(passed, None, from, to)?,
                None => sentence.assertion(AssertionKind::CommandRun, Some(subject), from, to)?,
            };
            let is_said = |other: &Assertion| {
                matches!(other.kind, AssertionKind::TestsPassed | AssertionKind::BuildPassed)
                    && overlap(other, &assertion)
            };
            return (!found.iter().any(is_said)).then_some(assertion);
        }
    }
    None
}

/// Whether a token names a command rather than a function.
fn is_command(sentence: &Sentence<'_, '_>, at: usize) -> bool {
    let is_function = |text: &str| text.ends_with(')') && !text.contains(' ');
    sentence.tokens.get(at).is_some_and(|token| token.kind == Kind::Code && !is_function(&token.text))
}

fn overlap(one: &Assertion, other: &Assertion) -> bool {
    match (&one.span, &other.span) {
        (Some(one), Some(other)) => one.start < other.end && other.start < one.end,
        (None, _) | (_, None) => false,
    }
}

/// Whether a sentence says that something failed.
pub(super) fn fails(sentence: &Sentence<'_, '_>) -> bool {
    (0..sentence.tokens.len()).any(|at| {
        let is_nil = |back: usize| {
            at.checked_sub(back).is_some_and(|before| {
                sentence.is(before, role::NIL)
                    || sentence.tokens.get(before).is_some_and(|token| token.text == "0")
            })
        };
        sentence.is(at, role::FAIL) && !(1..=NIL_REACH).any(is_nil)
    })
}

/// A command that is named in plain words: its program, and what follows it.
fn spoken(sentence: &Sentence<'_, '_>, region: Range<usize>) -> Option<(usize, usize, String)> {
    let word = |at: usize| sentence.tokens.get(at).filter(|token| token.kind == Kind::Word);
    let from = region.clone().find(|at| word(*at).is_some_and(|token| is_program(&token.text)))?;
    let is_own = |at: &usize| {
        let roles = role::AND | role::INTO | role::PREP | role::FILL | role::THE | role::THEY | role::FROM;
        word(*at).is_some() && !sentence.is(*at, roles)
    };
    let words: Vec<&str> = (from..region.end)
        .take(COMMAND_WORDS_MAX)
        .take_while(is_own)
        .filter_map(|at| Some(sentence.tokens.get(at)?.text.as_ref()))
        .collect();
    Some((from, from + words.len().max(1) - 1, words.join(" ")))
}

fn of_message(sentence: &Sentence<'_, '_>, verb: &Verb, act: Act) -> Option<Assertion> {
    let [first, second] = sentence.regions(verb);
    let noun = sentence.first(first, role::MAIL).or_else(|| sentence.first(second, role::MAIL));
    let recipient = recipient(sentence, verb.start..sentence.after(verb).end);
    let to = match (act, noun) {
        // What "was notified" can be a program as well; who was notified by the speaker is a person.
        (Act::Notify, None) if verb.voice == Voice::Passive && recipient.is_none() => return None,
        (Act::Notify, noun) => noun.unwrap_or(verb.at),
        (_, Some(noun)) => noun,
        (_, None) => return None,
    };
    sentence.assertion(AssertionKind::MessageSent, recipient, verb.start.min(to), verb.at.max(to))
}

/// To whom a message went, where that is a name.
fn recipient<'s>(sentence: &'s Sentence<'_, '_>, clause: Range<usize>) -> Option<&'s str> {
    let end = clause.end;
    for at in clause {
        let is_title = sentence.tokens.get(at).is_some_and(|token| TITLES.contains(&token.text.as_ref()));
        let name = if is_title { at + 1 } else { at };
        let Some(token) = sentence.tokens.get(name).filter(|_| at > 0) else { continue };
        let is_to = sentence
            .tokens
            .get(at - 1)
            .is_some_and(|before| matches!(before.text.as_ref(), "to" | "an" | "a" | "à"));
        if !is_to {
            continue;
        }
        let written = sentence.text.get(token.span.clone()).unwrap_or_default();
        let is_last = name + 1 >= end || sentence.is_joint(name + 1) || sentence.is_break(name + 1);
        let is_name = match token.kind {
            Kind::Address | Kind::Code => true,
            Kind::Word => !sentence.is(at, role::THE) && (written.starts_with(char::is_uppercase) || is_last),
            Kind::Number | Kind::Path | Kind::Quote | Kind::Comma | Kind::Break(_) => false,
        };
        if is_name {
            return Some(if token.kind == Kind::Word { written } else { token.text.as_ref() });
        }
    }
    None
}

/// "I calculated it: 391". A number is the result where it ends the sentence, or follows a colon.
fn of_number(sentence: &Sentence<'_, '_>, verb: &Verb) -> Option<Assertion> {
    let end = sentence.tokens.len();
    let is_number = |at: &usize| sentence.kind(*at) == Some(Kind::Number);
    let is_result = |at: &usize| {
        is_number(at) && (at + 1 == end || at.checked_sub(1).is_some_and(|before| sentence.is_break(before)))
    };
    let number = (verb.at..end).rev().find(is_result);
    let subject = number.and_then(|at| Some(sentence.tokens.get(at)?.text.as_ref()));
    let object = sentence.after(verb).find(|at| !sentence.is(*at, role::THE) && !is_number(at));
    let to = if sentence.language == VERB_LAST { verb.at } else { object.unwrap_or(verb.at) };
    sentence.assertion(AssertionKind::ValueCalculated, subject, verb.start, to.max(verb.at))
}

fn of_web(sentence: &Sentence<'_, '_>, verb: &Verb) -> Option<Assertion> {
    let regions = sentence.regions(verb);
    let address = |at: &usize| sentence.kind(*at) == Some(Kind::Address);
    if let Some(at) = regions.clone().into_iter().find_map(|mut region| region.find(address)) {
        let subject = sentence.tokens.get(at)?.text.as_ref();
        let (from, to) = (verb.start.min(at), verb.at.max(at));
        return sentence.assertion(AssertionKind::WebRead, Some(subject), from, to);
    }
    let at = regions.into_iter().find_map(|region| sentence.first(region, role::WEB));
    let at = at.or_else(|| sentence.is(verb.at, role::WEB).then_some(verb.at))?;
    sentence.assertion(AssertionKind::WebRead, None, verb.start.min(at), verb.at.max(at))
}

fn of_package(sentence: &Sentence<'_, '_>, verb: &Verb) -> Option<Assertion> {
    for region in sentence.regions(verb) {
        let code = region.clone().find(|at| sentence.kind(*at) == Some(Kind::Code));
        let noun = sentence.first(region, role::PACK);
        if let Some(at) = code.or(noun) {
            let subject = code.and_then(|at| Some(sentence.tokens.get(at)?.text.as_ref()));
            return sentence.assertion(
                AssertionKind::PackageInstalled,
                subject,
                verb.start.min(at),
                verb.at.max(at),
            );
        }
    }
    None
}

/// Something published, deployed, pushed or committed.
fn of_thing(
    sentence: &Sentence<'_, '_>,
    verb: &Verb,
    kind: AssertionKind,
    subject: &str,
) -> Option<Assertion> {
    let mut regions = sentence.regions(verb).into_iter();
    let at = regions.find_map(|region| sentence.first(region, role::THING))?;
    sentence.assertion(kind, Some(subject), verb.start.min(at), verb.at.max(at))
}

fn of_build(sentence: &Sentence<'_, '_>, verb: &Verb) -> Option<Assertion> {
    let mut regions = sentence.regions(verb).into_iter();
    let at = regions.find_map(|region| sentence.first(region, role::THING | role::BUILD))?;
    let good = (verb.start..sentence.tokens.len())
        .find(|at| sentence.is(*at, role::GOOD) && !sentence.is_void(*at..*at + 1));
    let to = verb.at.max(at).max(good.unwrap_or(0));
    match good.filter(|_| !fails(sentence)) {
        Some(_) => sentence.assertion(AssertionKind::BuildPassed, None, verb.start.min(at), to),
        None => {
            sentence.assertion(AssertionKind::CommandRun, Some(BUILD), verb.start.min(at), verb.at.max(at))
        }
    }
}

/// Whether a token names a command by which tests run.
pub(super) fn names_tests(sentence: &Sentence<'_, '_>, at: usize) -> bool {
    sentence
        .tokens
        .get(at)
        .is_some_and(|token| token.kind == Kind::Code && !is_path(&token.text) && is_test_run(&token.text))
}
