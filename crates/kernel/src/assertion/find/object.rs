//! Which of the files that a clause names an act is about.

use std::ops::Range;

use super::sentence::Sentence;
use super::token::{Kind, is_path, without_line};
use super::words::{Act, role};
use crate::assertion::AssertionKind;

/// Words between a verb and the file that it is about.
const WORDS_BETWEEN_MAX: usize = 2;

/// Where a file stands in a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Directly at the verb.
    Direct,
    /// After a word that says into what.
    Into,
    /// After a word that says out of what.
    From,
    /// After something else.
    Elsewhere,
}

/// Files that are named together, by their tokens.
type Group = (Place, Vec<usize>);

/// The tokens of the files that an act is about, and what is said of them.
pub(super) fn files(
    sentence: &Sentence<'_, '_>,
    region: Range<usize>,
    act: Act,
) -> Option<(AssertionKind, Vec<usize>)> {
    let is_whole = sentence.has(region.clone(), role::WHOLE);
    let groups = groups(sentence, region);
    let at = |place: Place| {
        groups.iter().filter(move |(other, _)| *other == place).map(|(_, files)| files.clone())
    };
    let direct = at(Place::Direct).next();
    let found = match act {
        Act::Write => {
            let into = at(Place::Into).next().filter(|into| !is_folder(sentence, into));
            (AssertionKind::FileWritten, into.or(direct))
        }
        Act::Change => (AssertionKind::FileWritten, direct.or_else(|| at(Place::Into).next_back())),
        Act::Move => (AssertionKind::FileWritten, at(Place::Into).next()),
        Act::Delete if direct.is_some() => (AssertionKind::FileDeleted, direct),
        Act::Delete => {
            let from = at(Place::From).next();
            (AssertionKind::FileWritten, from.or_else(|| at(Place::Into).next()))
        }
        Act::Read if is_whole => (AssertionKind::FileReadWhole, direct),
        Act::Read => (AssertionKind::FileRead, direct),
        Act::Run
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
    Some((found.0, found.1?))
}

/// What a token names.
pub(super) fn name<'s>(sentence: &'s Sentence<'_, '_>, at: usize) -> Option<&'s str> {
    Some(without_line(&sentence.tokens.get(at)?.text))
}

/// Whether the only file of a group is a folder, by its looks.
fn is_folder(sentence: &Sentence<'_, '_>, group: &[usize]) -> bool {
    let is_one = |at: &usize| name(sentence, *at).is_some_and(|path| path.ends_with('/') || !is_path(path));
    group.iter().all(is_one)
}

fn groups(sentence: &Sentence<'_, '_>, region: Range<usize>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let (mut place, mut n_words) = (Place::Direct, 0);
    // Whether only a joint or a word that says nothing stands since the last file.
    let mut goes_on = false;
    let from = region.clone().find(|at| !sentence.is_joint(*at)).unwrap_or(region.end);
    for at in from..region.end {
        if sentence.is_file(at) {
            match groups.last_mut().filter(|_| goes_on) {
                Some((_, group)) => group.push(at),
                None => groups.push((place, vec![at])),
            }
            (place, goes_on) = (Place::Elsewhere, true);
            continue;
        }
        let is_quiet = sentence.is(at, role::THE | role::FILL | role::FILE)
            || matches!(sentence.kind(at), Some(Kind::Number | Kind::Break(_)));
        goes_on &= is_quiet || sentence.is_joint(at);
        if sentence.is(at, role::WHOLE) {
            (place, n_words) = (Place::Direct, 0);
        } else if sentence.is(at, role::INTO) {
            (place, n_words, goes_on) = (Place::Into, WORDS_BETWEEN_MAX, false);
        } else if sentence.is(at, role::FROM) {
            (place, n_words, goes_on) = (Place::From, WORDS_BETWEEN_MAX, false);
        } else if sentence.is(at, role::PREP) || sentence.is_joint(at) {
            place = Place::Elsewhere;
        } else if !is_quiet {
            n_words += 1;
            place = if n_words > WORDS_BETWEEN_MAX { Place::Elsewhere } else { place };
        }
    }
    groups
}
