//! A block of text as tokens: words in small letters, names, numbers and breaks, each with its bytes.

use std::borrow::Cow;
use std::ops::Range;

use super::words::{Meaning, Said, known};
use crate::quotation::closing;

/// Tokens of a sentence that are looked at together; a longer one is read in pieces.
const SENTENCE_TOKENS_MAX: usize = 256;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    /// What stands between backticks, or a single name between quotation marks.
    Code,
    Path,
    /// A link or an address of mail.
    Address,
    /// A quotation, whose words are somebody else's.
    Quote,
    Comma,
    /// A colon, semicolon, dash or bracket.
    Break(char),
}

/// A piece of a sentence.
#[derive(Debug, Clone)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: Cow<'a, str>,
    pub(super) span: Range<usize>,
    pub(super) meaning: Meaning,
}

impl Token<'_> {
    /// Whether it does one of these things in a language.
    pub(super) fn is(&self, language: usize, roles: u32) -> bool {
        self.meaning.roles.get(language).is_some_and(|mine| mine & roles != 0)
    }

    /// Whether it means anything in a language.
    pub(super) fn is_known(&self, language: usize) -> bool {
        self.is(language, u32::MAX) || self.said(language).is_some()
    }

    /// The act that it names in a language.
    pub(super) fn said(&self, language: usize) -> Option<Said> {
        self.meaning.said.get(language).copied().flatten()
    }
}

/// Hands on each sentence of a block, and whether it may assert something: it has a word that does, and
/// asks nothing.
pub(super) fn sentences<'a>(text: &'a str, block: Range<usize>, mut each: impl FnMut(&[Token<'a>], bool)) {
    let mut lexer = Lexer { text, at: block.start, end: block.end, missing: Vec::new() };
    let mut tokens: Vec<Token<'a>> = Vec::new();
    while lexer.at < lexer.end {
        let ended = lexer.step(&mut tokens);
        if ended.is_some() || tokens.len() >= SENTENCE_TOKENS_MAX {
            let may_assert = mean(&mut tokens);
            each(&tokens, may_assert && ended != Some(true));
            tokens.clear();
        }
    }
    let may_assert = mean(&mut tokens);
    each(&tokens, may_assert);
}

/// Looks up what each word means, alone and in a group; a group's meaning lies on its last word. Gives
/// whether the sentence may assert something.
fn mean(tokens: &mut [Token<'_>]) -> bool {
    let mut may_assert = false;
    for at in 0..tokens.len() {
        let Some(found) = tokens.get(at).filter(|token| token.kind == Kind::Word) else { continue };
        let Some(known) = known(&found.text) else { continue };
        let groups: Vec<(usize, Meaning)> = known
            .groups
            .iter()
            .filter(|(words, _)| follow(tokens.get(at + 1..).unwrap_or_default(), words))
            .map(|(words, meaning)| (at + words.len(), *meaning))
            .collect();
        if let Some(token) = tokens.get_mut(at) {
            token.meaning.join(&known.alone);
            may_assert |= known.alone.may_assert();
        }
        for (last, meaning) in groups {
            if let Some(token) = tokens.get_mut(last) {
                token.meaning.join(&meaning);
                may_assert |= meaning.may_assert();
            }
        }
    }
    may_assert
}

fn follow(tokens: &[Token<'_>], words: &[&str]) -> bool {
    words.len() <= tokens.len() && words.iter().zip(tokens).all(|(word, token)| *word == token.text)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    /// Marks that are never closed in this block, so that none is searched for twice.
    missing: Vec<&'static [char]>,
}

impl<'a> Lexer<'a> {
    fn rest(&self, from: usize) -> &'a str {
        self.text.get(from..self.end).unwrap_or_default()
    }

    /// Takes one token. `Some` where a sentence ended, and then whether it asks.
    fn step(&mut self, tokens: &mut Vec<Token<'a>>) -> Option<bool> {
        let rest = self.rest(self.at);
        let mut letters = rest.chars();
        let Some(letter) = letters.next() else {
            self.at = self.end;
            return None;
        };
        let next = letters.next();
        if letter == '`' {
            self.code(rest, tokens);
            return None;
        }
        if let Some(ends) = closing(letter, self.before())
            && self.quote(letter, ends, tokens)
        {
            return None;
        }
        if is_name(letter) && (letter.is_alphanumeric() || next.is_some_and(is_inner)) {
            self.name(rest, tokens);
            return None;
        }
        let here = self.at..self.at + letter.len_utf8();
        self.at = here.end;
        let before_space = next.is_none_or(|next| !next.is_alphanumeric());
        let kind = match letter {
            '.' if tokens.last().is_some_and(is_cut) => return None,
            '.' | '!' | '…' if before_space => return Some(false),
            '?' => return Some(true),
            ',' => Kind::Comma,
            ';' | ':' | '(' | ')' | '–' | '—' | '|' | '→' => Kind::Break(letter),
            '-' if before_space && !tokens.is_empty() => Kind::Break(letter),
            _ => return None,
        };
        tokens.push(Token { kind, text: Cow::Borrowed(""), span: here, meaning: Meaning::default() });
        None
    }

    fn before(&self) -> Option<char> {
        self.text.get(..self.at)?.chars().next_back()
    }

    /// What stands between as many backticks as open it.
    fn code(&mut self, rest: &'a str, tokens: &mut Vec<Token<'a>>) {
        let n = rest.bytes().take_while(|byte| *byte == b'`').count();
        let mark = rest.get(..n).unwrap_or_default();
        let from = self.at + n;
        const NEVER: [&[char]; 3] = [&['`'], &['`', '`'], &['`', '`', '`']];
        let memo = NEVER.iter().find(|never| never.len() == n).copied();
        let is_known_missing = memo.is_none_or(|memo| self.missing.contains(&memo));
        let length = if is_known_missing { None } else { self.rest(from).find(mark) };
        match (length, memo) {
            (Some(length), _) => {
                let inner = self.rest(from).get(..length).unwrap_or_default().trim();
                let span = self.at..from + length + n;
                self.at = span.end;
                tokens.push(named(Kind::Code, inner, span));
            }
            (None, memo) => {
                self.missing.extend(memo);
                self.at = from;
            }
        }
    }

    /// A quotation, if it is closed. A single name between the marks is a name.
    fn quote(&mut self, letter: char, ends: &'static [char], tokens: &mut Vec<Token<'a>>) -> bool {
        if self.missing.contains(&ends) {
            return false;
        }
        let from = self.at + letter.len_utf8();
        let Some(length) = self.rest(from).find(ends) else {
            self.missing.push(ends);
            return false;
        };
        let inner = self.rest(from).get(..length).unwrap_or_default().trim();
        let close = self.rest(from + length).chars().next().map_or(0, char::len_utf8);
        let span = self.at..from + length + close;
        self.at = span.end;
        let kind = if is_path(inner) { Kind::Code } else { Kind::Quote };
        tokens.push(named(kind, inner, span));
        true
    }

    /// A run of letters: a link, a path, a number, or words.
    fn name(&mut self, rest: &'a str, tokens: &mut Vec<Token<'a>>) {
        let mut letters = rest.char_indices().peekable();
        let mut length = rest.len();
        while let Some((at, letter)) = letters.next() {
            let next = letters.peek().map(|(_, next)| *next);
            let goes_on = next.is_some_and(|next| next.is_alphanumeric() || next == '/');
            if !(is_name(letter) || (is_inner_mark(letter) && goes_on)) {
                length = at;
                break;
            }
        }
        let raw = rest.get(..length).unwrap_or_default();
        let raw = raw.trim_end_matches(['.', '-', '\'', '’', '=', '+', '#', '&']);
        let start = self.at;
        self.at = start + raw.len().max(1);
        let span = start..start + raw.len();
        let is_plain = |letter: char| letter.is_alphabetic() || matches!(letter, '\'' | '’');
        if raw.chars().all(is_plain) && !FILES.contains(&raw) {
            pieces(raw, start, tokens);
        } else if raw.contains("://") || raw.starts_with("www.") || is_mail(raw) {
            tokens.push(named(Kind::Address, raw, span));
        } else if is_path(raw) {
            tokens.push(named(Kind::Path, raw, span));
        } else if is_number(raw) {
            tokens.push(named(Kind::Number, raw, span));
        } else {
            pieces(raw, start, tokens);
        }
        if raw.is_empty() {
            self.at = start + rest.chars().next().map_or(1, char::len_utf8);
        }
    }
}

/// Words that are cut, so that the stop after them ends no sentence.
const CUT: [&str; 18] = [
    "dr", "mr", "mrs", "ms", "prof", "st", "nr", "no", "vs", "bzw", "ca", "usw", "sr", "sra", "mme", "mlle",
    "approx", "dra",
];

fn is_cut(last: &Token<'_>) -> bool {
    last.kind == Kind::Word && CUT.contains(&last.text.as_ref())
}

const fn named(kind: Kind, text: &str, span: Range<usize>) -> Token<'_> {
    const NONE: Meaning = Meaning { roles: [0; 4], said: [None; 4] };
    Token { kind, text: Cow::Borrowed(text), span, meaning: NONE }
}

/// The words of a run of letters that is no name.
fn pieces<'a>(raw: &'a str, start: usize, tokens: &mut Vec<Token<'a>>) {
    let is_apostrophe = |letter: char| matches!(letter, '\'' | '’');
    let mut at = 0;
    for piece in raw.split(|letter: char| !letter.is_alphanumeric() && !is_apostrophe(letter)) {
        let span = start + at..start + at + piece.len();
        at += piece.len();
        at += raw.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        if piece.is_empty() {
            continue;
        }
        let kind = if is_number(piece) { Kind::Number } else { Kind::Word };
        let is_plain = piece.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        let text = if is_plain {
            Cow::Borrowed(piece)
        } else {
            let mut small = piece.to_lowercase();
            small.retain(|letter| !is_apostrophe(letter));
            Cow::Owned(small)
        };
        tokens.push(Token { kind, text, span, meaning: Meaning::default() });
    }
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric()
        || matches!(
            letter,
            '_' | '.' | '/' | '-' | '@' | '~' | '+' | '%' | '&' | '=' | '#' | '\'' | '’' | '$'
        )
}

/// Whether what begins with a mark is a name: `./a`, `~/a`, `.env`, `#ops`.
fn is_inner(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '/' | '.')
}

const fn is_inner_mark(letter: char) -> bool {
    matches!(letter, ':' | ',' | '\\')
}

fn is_mail(raw: &str) -> bool {
    raw.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
}

fn is_number(raw: &str) -> bool {
    raw.starts_with(|first: char| first.is_ascii_digit() || first == '-')
        && raw.bytes().any(|byte| byte.is_ascii_digit())
        && raw.bytes().skip(1).all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'%'))
}

/// Endings that are those of a host rather than of a file.
const HOSTS: [&str; 14] =
    ["com", "org", "net", "io", "de", "fr", "es", "eu", "dev", "ai", "uk", "ch", "at", "example"];
/// Files that are known by their name alone.
const FILES: [&str; 8] =
    ["Makefile", "Dockerfile", "LICENSE", "README", "CHANGELOG", "Justfile", "Procfile", "Gemfile"];

/// Whether a text is the name of a file or folder, by its looks.
pub(super) fn is_path(raw: &str) -> bool {
    let raw = without_line(raw);
    let fits = |letter: char| letter.is_alphanumeric() || "_./-@~+$ #%".contains(letter);
    if raw.is_empty() || raw.starts_with('-') || raw.contains(' ') || !raw.chars().all(fits) {
        return false;
    }
    if FILES.contains(&raw) {
        return true;
    }
    let last = raw.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if !raw.contains('/') {
        return has_ending(last);
    }
    let is_rooted = ["./", "../", "~/", "/"].iter().any(|root| raw.starts_with(root));
    let is_long = raw.matches('/').count() > 1 && raw.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_count = raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/' || byte == b'.');
    !last.is_empty()
        && !is_count
        && (is_rooted || is_long || raw.ends_with('/') || has_ending(last) || FILES.contains(&last))
}

/// Whether a name ends as files do.
fn has_ending(name: &str) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let is_small = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_ending = ending.len() <= 8
        && ending.starts_with(|first: char| first.is_ascii_lowercase())
        && ending.bytes().all(is_small);
    if stem.is_empty() {
        return is_ending && ending.len() > 1;
    }
    let is_product = ending == "js" && stem.starts_with(|first: char| first.is_uppercase());
    let is_amount = stem.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_ending && !is_product && !is_amount && name.len() > 3 && !HOSTS.contains(&ending)
}

/// A path without the line that stands after it: `src/a.rs:12`.
pub(super) fn without_line(path: &str) -> &str {
    let mut path = path;
    while let Some((before, line)) = path.rsplit_once(':') {
        if line.is_empty() || !line.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        path = before;
    }
    path
}
