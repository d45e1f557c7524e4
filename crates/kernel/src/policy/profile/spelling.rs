//! The spellings that count as the same where a rule tightens: paths, words of commands, names of programs.
//!
//! A text may mean several things: `\` parts folders for some programs and is a letter for others. So a
//! path has *readings*, and a rule holds when one of them is covered. Reading more can only make a rule hold
//! more often; that is right here and nowhere else, since what is read so can ask or deny and never allow
//! (see `Tightening`). Rejected: one reading for all, because whichever is taken, somebody writes the other.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;

use crate::protected::fold;

/// Where a word of a command may part into an option, a name, a list, and what stands around a path.
const SEPARATORS: [char; 23] = [
    '=', '@', ':', ',', '<', '>', ';', '|', '&', '!', '^', '+', '(', ')', '[', ']', '{', '}', '"', '\'', '`',
    '$', '%',
];
/// From how many of them on what follows is read to the end of the word too, and not only to the next.
const SUFFIXES_MAX: usize = 16;
/// Letters of options that may stand in one word before a value that is glued to them.
const GLUED_LETTERS_MAX: usize = 4;

/// A text in the spelling that is compared: compatibility forms taken apart, case folded (so that `ß` is
/// `ss`, and one sigma is the other), nothing that cannot be seen. Taken apart and not composed, so that
/// what a wildcard cuts off is cut alike.
pub(super) fn same(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let is_small = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        return if is_small { Cow::Borrowed(text) } else { Cow::Owned(text.to_ascii_lowercase()) };
    }
    let folded = fold(text);
    let folded = folded.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    Cow::Owned(fold(&folded.collect::<String>()).nfkd().collect())
}

/// The same without the dots and spaces that some file systems leave away at the end of a name.
pub(super) fn same_name(name: &str) -> Cow<'_, str> {
    match same(name) {
        Cow::Borrowed(name) => Cow::Borrowed(trimmed(name)),
        Cow::Owned(name) if trimmed(&name).len() == name.len() => Cow::Owned(name),
        Cow::Owned(name) => Cow::Owned(trimmed(&name).to_owned()),
    }
}

fn trimmed(name: &str) -> &str {
    let bare = name.trim_end_matches(['.', ' ']);
    if bare.is_empty() { name } else { bare }
}

/// The name of a program: without its folder, and without the ending that it has on Windows.
pub(super) fn program_name(word: &str) -> Cow<'_, str> {
    let bare = |word: &str| -> Range<usize> {
        let start = word.rfind(['/', '\\']).map_or(0, |at| at + 1);
        let name = trimmed(word.get(start..).unwrap_or_default());
        let name = name.strip_suffix(".exe").filter(|bare| !bare.is_empty()).unwrap_or(name);
        start..start + name.len()
    };
    match same(word) {
        Cow::Borrowed(word) => Cow::Borrowed(word.get(bare(word)).unwrap_or(word)),
        Cow::Owned(word) => Cow::Owned(word.get(bare(&word)).unwrap_or(&word).to_owned()),
    }
}

/// A word of a command after its program. Options stay as they are, because `-d` and `-D` are two.
pub(super) fn same_word(word: &str) -> Cow<'_, str> {
    if word.starts_with('-') { Cow::Borrowed(word) } else { same(word) }
}

/// Names of folders, and of a file below them.
pub(super) type Segments<'a> = Vec<Cow<'a, str>>;

/// What a path may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Readings<'a> {
    /// Only `/` parts, and only `..` goes back.
    written: Segments<'a>,
    /// Whatever looks like them does too, where that makes a difference.
    seen: Option<Segments<'a>>,
}

impl<'a> Readings<'a> {
    /// The readings of a path.
    pub(super) fn of(path: &'a str) -> Self {
        let seen = (!path.is_ascii() || path.contains('\\')).then(|| {
            let folded = same(path);
            let names = segments(folded.split(['/', '\\']));
            names.into_iter().map(|name| Cow::Owned(name.into_owned())).collect()
        });
        Self { written: segments(path.split('/')), seen }
    }

    /// Each reading.
    pub(super) fn each(&self) -> impl Iterator<Item = &Segments<'a>> {
        std::iter::once(&self.written).chain(&self.seen)
    }

    /// The same on its own feet.
    pub(super) fn into_owned(self) -> Readings<'static> {
        let own = |segments: Segments<'_>| -> Segments<'static> {
            segments.into_iter().map(|name| Cow::Owned(name.into_owned())).collect()
        };
        Readings { written: own(self.written), seen: self.seen.map(own) }
    }
}

/// The names, without `.`, and with each `..` taken back as far as the text tells.
fn segments<'a>(names: impl Iterator<Item = &'a str>) -> Segments<'a> {
    let mut segments = Vec::new();
    for name in names {
        match name {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(same_name(name)),
        }
    }
    segments
}

/// Every part of a word of a command that may be a path: the word, what stands between two separators and
/// behind one, and what is glued to an option (`-fsecrets/a`). What a program makes of it is not known.
pub(super) fn parts(word: &str) -> Vec<&str> {
    let mut parts = vec![word];
    cut(word, &mut parts);
    let Some(option) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else { return parts };
    // Letters alone are rather options in a row than a value.
    let most = if option.contains(['/', '\\', '.']) { GLUED_LETTERS_MAX } else { 1 };
    for (n_letters, (at, letter)) in (1..=most).zip(option.char_indices()) {
        let Some(value) = option.get(at + letter.len_utf8()..) else { break };
        if !letter.is_alphanumeric() || value.is_empty() {
            break;
        }
        parts.push(value);
        // What stands behind a separator is there already.
        if n_letters == 1 || value.contains(SEPARATORS) {
            parts.extend(value.split(SEPARATORS).next().filter(|part| part.len() < value.len()));
        }
    }
    parts
}

fn cut<'w>(word: &'w str, parts: &mut Vec<&'w str>) {
    let mut starts = word.match_indices(SEPARATORS).map(|(at, separator)| at + separator.len()).peekable();
    if starts.peek().is_none() {
        return;
    }
    parts.extend(word.split(SEPARATORS).filter(|part| !part.is_empty()));
    parts.extend(starts.take(SUFFIXES_MAX).filter_map(|at| word.get(at..)).filter(|rest| !rest.is_empty()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_spelling_for_what_is_taken_for_the_same() {
        for (text, expect) in [
            ("Abc", "abc"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("CAFE\u{301}", "cafe\u{301}"),
            ("ｓｅｃｒｅｔｓ", "secrets"),
            ("se\u{200b}crets", "secrets"),
            ("straße", "strasse"),
            ("ΟΔΟΣ", "οδοσ"),
            ("οδος", "οδοσ"),
        ] {
            assert_eq!(same(text), expect, "{text:?}");
        }
        for (word, expect) in [
            ("/usr/bin/git", "git"),
            ("GIT", "git"),
            ("C:\\bin\\Git.EXE", "git"),
            ("git. ", "git"),
            ("ｇｉｔ", "git"),
            (".exe", ".exe"),
            ("", ""),
        ] {
            assert_eq!(program_name(word), expect, "{word:?}");
        }
    }

    #[test]
    fn a_path_is_read_in_every_way_that_somebody_has() {
        let read = |path: &str| -> Vec<String> {
            Readings::of(path).each().map(|segments| segments.join("/")).collect()
        };
        assert_eq!(read("./A//b/../c."), ["a/c"]);
        assert_eq!(read("a\\b"), ["a\\b", "a/b"]);
        // The file is below `a` for who takes `\` for a letter, and beside it for who does not.
        assert_eq!(read("a/x\\..\\..\\b"), ["a/x\\..\\..\\b", "b"]);
        assert_eq!(read("a/\u{ff0e}\u{ff0e}/b"), ["a/../b", "b"]);
        assert_eq!(read("../a"), ["a"]);
    }

    #[test]
    fn the_parts_of_a_word() {
        for (word, part) in [
            ("-d@secrets/a", "secrets/a"),
            ("-fsecrets/a", "secrets/a"),
            ("-xzfsecrets/a", "secrets/a"),
            ("HEAD:secrets/a", "secrets/a"),
            ("if=secrets/a", "secrets/a"),
            ("./secrets:/x", "./secrets"),
            ("--file=secrets/a", "secrets/a"),
            ("--file=secrets/a,b", "secrets/a,b"),
            ("-vsecrets/a:/x:ro", "secrets/a"),
            ("{\"f\":\"secrets/a\"}", "secrets/a"),
            ("open('secrets/a')", "secrets/a"),
            (":!secrets/a", "secrets/a"),
            ("--file=secrets/my notes", "secrets/my notes"),
            ("-asecrets", "secrets"),
            ("--", "--"),
        ] {
            assert!(parts(word).contains(&part), "{word:?}: {:?}", parts(word));
        }
        assert_eq!(parts("-"), ["-"]);
        assert_eq!(parts("-rf"), ["-rf", "f"]);
        assert_eq!(parts("plain"), ["plain"]);
        assert!(!parts("fix the secrets").contains(&"secrets"), "a sentence is no list");
    }

    #[test]
    fn the_parts_of_a_word_have_bounds() {
        let word = |n: usize| format!("{}x,y", "=".repeat(n - 1) + "=");
        assert!(parts(&word(SUFFIXES_MAX)).contains(&"x,y"));
        assert!(!parts(&word(SUFFIXES_MAX + 1)).contains(&"x,y"));
        assert!(parts(&word(SUFFIXES_MAX + 1)).contains(&"x"), "a part is never passed over");
        let glued = |n: usize| format!("-{}s/a", "x".repeat(n));
        assert!(parts(&glued(GLUED_LETTERS_MAX)).contains(&"s/a"));
        assert!(!parts(&glued(GLUED_LETTERS_MAX + 1)).contains(&"s/a"));
    }

    proptest! {
        #[test]
        fn the_spelling_does_not_depend_on_case_or_form(text in "\\PC{0,12}") {
            let plain = same(&text).into_owned();
            prop_assert_eq!(&*same(&plain), &*plain, "once is enough");
            let forms = [text.nfd().collect(), text.nfc().collect(), text.nfkd().collect()];
            for form in forms.into_iter().chain([text.to_uppercase(), text.to_lowercase()]) {
                prop_assert_eq!(&*same(&form), &*plain);
            }
        }
    }
}
