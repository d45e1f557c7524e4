//! One sentence, read in one language: who speaks, what is not meant, and where a clause begins.

use std::ops::Range;

use super::token::{Kind, Token, is_path};
use super::words::{Said, role};
use crate::assertion::{Assertion, AssertionKind};

/// Tokens over which a helping verb reaches its verb, and a verb its object.
const REACH: usize = 30;
/// Tokens before a verb that stands at the beginning of what it says.
const BARE_TOKENS_MAX: usize = 8;
/// The language in which a verb stands at the end of its clause.
pub(super) const VERB_LAST: usize = 1;

/// How an act is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// Somebody did it.
    Active,
    /// It was done.
    Passive,
    /// "Created report.md."
    Bare,
}

/// An act that is said to be done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verb {
    pub(super) at: usize,
    pub(super) voice: Voice,
    /// The first token of its clause.
    pub(super) start: usize,
}

/// A sentence in one language.
pub(super) struct Sentence<'a, 'b> {
    pub(super) text: &'a str,
    pub(super) tokens: &'b [Token<'a>],
    pub(super) language: usize,
    /// Where what is said is a condition, a wish, an order, or somebody else's word.
    blocked: Vec<bool>,
}

impl<'a, 'b> Sentence<'a, 'b> {
    pub(super) fn new(text: &'a str, tokens: &'b [Token<'a>], language: usize) -> Self {
        let (mut strong, mut weak) = (false, false);
        let blocked = tokens.iter().map(|token| {
            if token.kind == Kind::Break(';') {
                (strong, weak) = (false, false);
            }
            if matches!(token.kind, Kind::Comma | Kind::Break(_)) || token.is(language, role::AND) {
                weak = false;
            }
            strong |= token.is(language, role::STRONG | role::TOLD);
            weak |= token.is(language, role::WEAK);
            strong || weak
        });
        let blocked = blocked.collect();
        Self { text, tokens, language, blocked }
    }

    pub(super) fn is(&self, at: usize, roles: u32) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(self.language, roles))
    }

    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub(super) fn said(&self, at: usize) -> Option<Said> {
        self.tokens.get(at)?.said(self.language)
    }

    pub(super) fn has(&self, range: Range<usize>, roles: u32) -> bool {
        self.first(range, roles).is_some()
    }

    pub(super) fn first(&self, mut range: Range<usize>, roles: u32) -> Option<usize> {
        range.find(|at| self.is(*at, roles))
    }

    pub(super) fn is_joint(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Comma) || self.is(at, role::AND)
    }

    pub(super) fn is_break(&self, at: usize) -> bool {
        matches!(self.kind(at), Some(Kind::Break(_)))
    }

    /// Whether it names a file.
    pub(super) fn is_file(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| match token.kind {
            Kind::Path => true,
            Kind::Code => is_path(&token.text),
            Kind::Word | Kind::Number | Kind::Address | Kind::Quote | Kind::Comma | Kind::Break(_) => false,
        })
    }

    /// Whether what stands there is no assertion: a condition, a wish, an order, reported, or negated.
    pub(super) fn is_void(&self, range: Range<usize>) -> bool {
        let from = self.clause(range.start);
        range.clone().any(|at| self.blocked.get(at).copied().unwrap_or(true))
            || self.has(from..range.end, role::NOT)
    }

    /// Whether a helping verb stands first in a language where that makes a condition: "Wurde sie gelöscht, …".
    pub(super) fn is_inverted(&self) -> bool {
        self.language == VERB_LAST && self.is(0, role::BEEN)
    }

    /// The first token of the clause of this one.
    pub(super) fn clause(&self, at: usize) -> usize {
        let first = at.saturating_sub(REACH);
        let ends = |at: &usize| self.is_joint(*at) || self.is_break(*at);
        (first..at).rev().find(ends).map_or(first, |end| end + 1)
    }

    /// Each act that is said to be done, in the order of the text.
    pub(super) fn verbs(&self) -> Vec<Verb> {
        let mut verbs: Vec<Verb> = Vec::new();
        for at in 0..self.tokens.len() {
            let Some(said) = self.said(at) else { continue };
            if let Some(verb) = self.verb(at, said, &verbs) {
                verbs.push(verb);
            }
        }
        verbs
    }

    /// Whether an act is said to be done, by whom stands before it.
    fn verb(&self, at: usize, said: Said, before: &[Verb]) -> Option<Verb> {
        let of = |voice, start| Some(Verb { at, voice, start });
        if said.alone {
            let is_passive = at > 0 && self.tokens.get(at - 1).is_some_and(|before| before.text == "se");
            return if is_passive { of(Voice::Passive, self.clause(at)) } else { of(Voice::Active, at) };
        }
        if self.is(at + 1, role::BY) {
            return None;
        }
        let is_last = self.language == VERB_LAST;
        if is_last && self.is(at + 1, role::HAVE) {
            return of(Voice::Active, self.clause(at));
        }
        let first = at.saturating_sub(REACH);
        let mut joined = false;
        for place in (first..at).rev() {
            if self.is_break(place) {
                return self.bare(place + 1, at, said);
            }
            joined |= self.is_joint(place);
            let near = before.iter().rev().take_while(|verb| verb.at >= place);
            if let Some(other) = near.last().filter(|verb| verb.at == place) {
                let start = if is_last { self.clause(at) } else { at };
                return if joined { of(other.voice, start) } else { None };
            }
            if said.with_helper && self.is(place, role::BEEN) && (is_last || !joined) {
                return of(Voice::Passive, self.clause(place));
            }
            if said.with_helper && self.is(place, role::HAVE)
                || said.with_agent && self.is(place, role::AGENT)
            {
                return of(Voice::Active, self.clause(place));
            }
            if self.is(place, role::OTHER) {
                return None;
            }
        }
        if first > 0 { None } else { self.bare(0, at, said) }
    }

    /// An act without a word of who did it: "Created `a.rs`", "`a.rs` created".
    fn bare(&self, from: usize, at: usize, said: Said) -> Option<Verb> {
        let says_nothing = |place: usize| {
            self.is(place, role::FILL | role::FILE | role::TEST | role::BUILD | role::MAIL)
                || matches!(self.kind(place), Some(Kind::Code | Kind::Path | Kind::Number | Kind::Comma))
        };
        let fits = !said.imperative && at - from <= BARE_TOKENS_MAX && (from..at).all(says_nothing);
        let start = (from..at).find(|place| !self.is(*place, role::FILL)).unwrap_or(at);
        fits.then_some(Verb { at, voice: Voice::Bare, start })
    }

    /// What stands after a verb, up to the next one.
    pub(super) fn after(&self, verb: &Verb) -> Range<usize> {
        let from = verb.at + 1;
        let last = (from + REACH).min(self.tokens.len());
        let ends = |at: &usize| {
            self.said(*at).is_some()
                || self.is(*at, role::STRONG)
                || matches!(self.kind(*at), Some(Kind::Break(mark)) if !matches!(mark, ':' | '('))
        };
        from..(from..last).find(ends).unwrap_or(last)
    }

    /// What stands before a verb, back to the one before it. What follows that one may still be its own,
    /// so a verb that does not stand last begins with its own clause then.
    fn before(&self, verb: &Verb) -> Range<usize> {
        let first = verb.at.saturating_sub(REACH);
        let ends = |at: &usize| self.said(*at).is_some() || self.is_break(*at);
        let end = (first..verb.at).rev().find(ends);
        let from = end.map_or(first, |end| end + 1);
        let is_shared = self.language != VERB_LAST && end.is_some_and(|end| self.said(end).is_some());
        if is_shared { verb.start.max(from)..verb.at } else { from..verb.at }
    }

    /// Where the objects of a verb may stand, the likelier place first.
    pub(super) fn regions(&self, verb: &Verb) -> [Range<usize>; 2] {
        let is_before = self.language == VERB_LAST || verb.voice != Voice::Active;
        if is_before { [self.before(verb), self.after(verb)] } else { [self.after(verb), 0..0] }
    }

    /// An assertion about what stands from one token to another.
    pub(super) fn assertion(
        &self,
        kind: AssertionKind,
        subject: Option<&str>,
        from: usize,
        to: usize,
    ) -> Option<Assertion> {
        let span = self.tokens.get(from)?.span.start..self.tokens.get(to)?.span.end;
        Some(Assertion { kind, subject: subject.map(str::to_owned), span: Some(span), is_structured: false })
    }
}
