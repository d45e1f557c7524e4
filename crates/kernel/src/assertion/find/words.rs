//! What words do in a sentence: the table `words.txt`, read once.
//!
//! A word means something in each language by itself. A sentence is in the language of which it has most
//! words, so that a verb of one language is not read with the negations of another.

use std::collections::BTreeMap;
use std::sync::LazyLock;

const TABLE: &str = include_str!("words.txt");

/// The languages, in the order in which a word's meanings are kept.
pub(super) const LANGUAGES: [&str; 4] = ["en", "de", "fr", "es"];

/// What a word does besides being an act, one bit each.
pub(super) mod role {
    pub(in super::super) const AGENT: u32 = 1;
    pub(in super::super) const OTHER: u32 = 1 << 1;
    pub(in super::super) const HAVE: u32 = 1 << 2;
    pub(in super::super) const BEEN: u32 = 1 << 3;
    pub(in super::super) const NOT: u32 = 1 << 4;
    pub(in super::super) const STRONG: u32 = 1 << 5;
    pub(in super::super) const WEAK: u32 = 1 << 6;
    pub(in super::super) const TOLD: u32 = 1 << 7;
    pub(in super::super) const ELSEWHEN: u32 = 1 << 8;
    pub(in super::super) const PASS: u32 = 1 << 9;
    pub(in super::super) const GOOD: u32 = 1 << 10;
    pub(in super::super) const FAIL: u32 = 1 << 11;
    pub(in super::super) const NIL: u32 = 1 << 12;
    pub(in super::super) const PART: u32 = 1 << 13;
    pub(in super::super) const THEY: u32 = 1 << 14;
    pub(in super::super) const TEST: u32 = 1 << 15;
    pub(in super::super) const BUILD: u32 = 1 << 16;
    pub(in super::super) const COMPILES: u32 = 1 << 17;
    pub(in super::super) const FILE: u32 = 1 << 18;
    pub(in super::super) const MAIL: u32 = 1 << 19;
    pub(in super::super) const WEB: u32 = 1 << 20;
    pub(in super::super) const PACK: u32 = 1 << 21;
    pub(in super::super) const THING: u32 = 1 << 22;
    pub(in super::super) const INTO: u32 = 1 << 23;
    pub(in super::super) const FROM: u32 = 1 << 24;
    pub(in super::super) const PREP: u32 = 1 << 25;
    pub(in super::super) const AND: u32 = 1 << 26;
    pub(in super::super) const THE: u32 = 1 << 27;
    pub(in super::super) const FILL: u32 = 1 << 28;
    pub(in super::super) const WHOLE: u32 = 1 << 29;
    pub(in super::super) const EXISTS: u32 = 1 << 30;
    pub(in super::super) const BY: u32 = 1 << 31;
}

const ROLES: [(&str, u32); 32] = [
    ("agent", role::AGENT),
    ("other", role::OTHER),
    ("have", role::HAVE),
    ("been", role::BEEN),
    ("not", role::NOT),
    ("strong", role::STRONG),
    ("weak", role::WEAK),
    ("told", role::TOLD),
    ("elsewhen", role::ELSEWHEN),
    ("pass", role::PASS),
    ("good", role::GOOD),
    ("fail", role::FAIL),
    ("nil", role::NIL),
    ("part", role::PART),
    ("they", role::THEY),
    ("test", role::TEST),
    ("build", role::BUILD),
    ("compiles", role::COMPILES),
    ("file", role::FILE),
    ("mail", role::MAIL),
    ("web", role::WEB),
    ("pack", role::PACK),
    ("thing", role::THING),
    ("into", role::INTO),
    ("from", role::FROM),
    ("prep", role::PREP),
    ("and", role::AND),
    ("the", role::THE),
    ("fill", role::FILL),
    ("whole", role::WHOLE),
    ("exists", role::EXISTS),
    ("by", role::BY),
];

/// What somebody says to have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Write,
    Change,
    Move,
    Delete,
    Read,
    Run,
    Send,
    Notify,
    Calculate,
    Search,
    Fetch,
    Install,
    Publish,
    Deploy,
    Push,
    Commit,
    Build,
}

const ACTS: [(&str, Act); 17] = [
    ("write", Act::Write),
    ("change", Act::Change),
    ("move", Act::Move),
    ("delete", Act::Delete),
    ("read", Act::Read),
    ("run", Act::Run),
    ("send", Act::Send),
    ("notify", Act::Notify),
    ("calculate", Act::Calculate),
    ("search", Act::Search),
    ("fetch", Act::Fetch),
    ("install", Act::Install),
    ("publish", Act::Publish),
    ("deploy", Act::Deploy),
    ("push", Act::Push),
    ("commit", Act::Commit),
    ("build", Act::Build),
];

/// An act, with what a word must have before it to say that it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) act: Act,
    /// It is enough that somebody is named: "I wrote".
    pub(super) with_agent: bool,
    /// It is enough that a helping verb stands there: "was written".
    pub(super) with_helper: bool,
    /// It is enough by itself: "escribí".
    pub(super) alone: bool,
    /// The same word may be an order, so at the beginning of a sentence it says nothing.
    pub(super) imperative: bool,
}

/// What a word, or a group of them, means in each language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) roles: [u32; LANGUAGES.len()],
    pub(super) said: [Option<Said>; LANGUAGES.len()],
}

impl Meaning {
    fn add(&mut self, language: usize, entry: Entry) {
        match entry {
            Entry::Role(role) => {
                if let Some(roles) = self.roles.get_mut(language) {
                    *roles |= role;
                }
            }
            Entry::Said(said) => {
                if let Some(place) = self.said.get_mut(language) {
                    *place = Some(place.filter(|old| old.act == said.act).map_or(said, |old| old.or(said)));
                }
            }
            Entry::Imperative => {
                if let Some(said) = self.said.get_mut(language).and_then(Option::as_mut) {
                    said.imperative = true;
                }
            }
        }
    }

    /// Whether a sentence with it may assert something.
    pub(super) fn may_assert(&self) -> bool {
        let says = role::PASS | role::COMPILES | role::EXISTS;
        self.said.iter().any(Option::is_some) || self.roles.iter().any(|roles| roles & says != 0)
    }

    pub(super) fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.roles.iter_mut().zip(other.roles) {
            *mine |= theirs;
        }
        for (mine, theirs) in self.said.iter_mut().zip(other.said) {
            *mine = theirs.or(*mine);
        }
    }
}

impl Said {
    const fn or(self, other: Self) -> Self {
        Self {
            act: self.act,
            with_agent: self.with_agent || other.with_agent,
            with_helper: self.with_helper || other.with_helper,
            alone: self.alone || other.alone,
            imperative: self.imperative || other.imperative,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Entry {
    Role(u32),
    Said(Said),
    Imperative,
}

/// A word by itself, and the groups that it begins.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) alone: Meaning,
    pub(super) groups: Vec<(Vec<&'static str>, Meaning)>,
}

/// The words of one length.
type Words = BTreeMap<&'static str, Known>;

/// Words by their length in bytes: most words of a text mean nothing, and that is soon seen.
static WORDS: LazyLock<Vec<Words>> = LazyLock::new(|| parse(TABLE));

/// What is known of a word.
pub(super) fn known(word: &str) -> Option<&'static Known> {
    WORDS.get(word.len())?.get(word)
}

/// Lines that are not of the form are passed over; a test holds the file to it.
fn parse(table: &'static str) -> Vec<Words> {
    let mut words: Vec<Words> = Vec::new();
    let lines = table.lines().filter_map(line);
    // An order is a property of an act, so it is added when the acts are known.
    let (orders, others): (Vec<_>, Vec<_>) =
        lines.partition(|(_, entry, _)| matches!(entry, Entry::Imperative));
    for (language, entry, group) in others.into_iter().chain(orders) {
        for text in group.split(' ') {
            let mut parts = text.split('_');
            let first = parts.next().unwrap_or_default();
            if words.len() <= first.len() {
                words.resize_with(first.len() + 1, Words::new);
            }
            let Some(words) = words.get_mut(first.len()) else { continue };
            let first = words.entry(first).or_default();
            let rest: Vec<&str> = parts.collect();
            if rest.is_empty() {
                first.alone.add(language, entry);
            } else if let Some((_, meaning)) = first.groups.iter_mut().find(|(words, _)| *words == rest) {
                meaning.add(language, entry);
            } else {
                let mut meaning = Meaning::default();
                meaning.add(language, entry);
                first.groups.push((rest, meaning));
            }
        }
    }
    words
}

/// A line of the table: its language, what it says of its words, and these.
fn line(line: &'static str) -> Option<(usize, Entry, &'static str)> {
    let mut parts = line.splitn(3, " | ");
    let (language, kind, words) = (parts.next()?, parts.next()?, parts.next()?);
    let language = LANGUAGES.iter().position(|known| *known == language)?;
    Some((language, entry(kind)?, words))
}

fn entry(kind: &str) -> Option<Entry> {
    if kind == "imperative" {
        return Some(Entry::Imperative);
    }
    let Some((form, act)) = kind.split_once(' ') else {
        return ROLES.iter().find(|(name, _)| *name == kind).map(|(_, role)| Entry::Role(*role));
    };
    let (_, act) = ACTS.iter().find(|(name, _)| *name == act)?;
    let (with_agent, with_helper, alone) = match form {
        "did" => (true, false, false),
        "done" => (false, true, false),
        "says" => (false, false, true),
        _ => return None,
    };
    Some(Entry::Said(Said { act: *act, with_agent, with_helper, alone, imperative: false }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_has_its_form() {
        for text in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            assert!(line(text).is_some(), "{text}");
            let words = text.splitn(3, " | ").nth(2).unwrap();
            for word in words.split([' ', '_']) {
                assert!(!word.is_empty() && word == word.to_lowercase(), "{text}");
                assert!(word.chars().all(|letter| letter.is_alphanumeric() || letter == '.'), "{text}");
            }
        }
    }

    #[test]
    fn every_language_has_every_act_and_every_guard() {
        for language in LANGUAGES {
            let kinds: Vec<&str> = TABLE
                .lines()
                .filter_map(|line| line.strip_prefix(language)?.strip_prefix(" | "))
                .filter_map(|line| line.split(" | ").next())
                .collect();
            for (act, _) in ACTS {
                assert!(kinds.contains(&format!("done {act}").as_str()), "{language} {act}");
            }
            for (role, _) in ROLES.iter().filter(|(role, _)| *role != "by") {
                assert!(kinds.contains(role), "{language} {role}");
            }
        }
    }

    #[test]
    fn a_word_can_be_several_things_and_begin_a_group() {
        let been = known("ha").unwrap();
        let (_, meaning) = been.groups.iter().find(|(words, _)| words == &["sido"]).unwrap();
        assert!(meaning.roles.iter().any(|roles| roles & role::BEEN == role::BEEN));
        let read = known("read").unwrap().alone.said[0].unwrap();
        assert!(read.with_agent && read.with_helper && read.imperative && read.act == Act::Read);
    }
}
