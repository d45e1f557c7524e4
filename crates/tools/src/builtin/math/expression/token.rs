//! From characters to tokens. The bounds on characters and on tokens are enforced here, before
//! anything is parsed, whatever the caller has checked already.

use mast_kernel::limits::{EXPRESSION_CHARS_MAX, EXPRESSION_TOKENS_MAX};

use super::fault::{Fault, Reason};

/// What a token is. `^` and `**` are one operator with two spellings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Name,
    Plus,
    Minus,
    Times,
    Over,
    FloorOver,
    Modulo,
    Power,
    Open,
    Close,
    Comma,
    /// Stands behind the last token, so that a parser can always look at one.
    End,
}

/// A token and the bytes that it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Reads an expression token by token.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    expression: &'a str,
    next: usize,
    n_tokens: usize,
}

impl<'a> Lexer<'a> {
    /// A lexer at the beginning of `expression`, unless that has too many characters.
    pub(super) fn new(expression: &'a str) -> Result<Self, Fault> {
        let is_too_long =
            expression.len() > EXPRESSION_CHARS_MAX && expression.chars().nth(EXPRESSION_CHARS_MAX).is_some();
        if is_too_long {
            let what = "more characters than an expression may have";
            return Err(Fault::at(Reason::ExpressionTooLong, expression, expression.len(), what));
        }
        Ok(Self { expression, next: 0, n_tokens: 0 })
    }

    /// The next token, after any blank space; [`Kind::End`] when there is no more.
    pub(super) fn token(&mut self) -> Result<Token, Fault> {
        let bytes = self.expression.as_bytes();
        let mut start = self.next;
        while bytes.get(start).is_some_and(|byte| is_blank(*byte)) {
            start += 1;
        }
        let Some(first) = bytes.get(start) else {
            self.next = start;
            return Ok(Token { kind: Kind::End, start, end: start });
        };
        let Some((kind, length)) = token(*first, bytes.get(start..).unwrap_or_default()) else {
            let what = "a character that no token begins with";
            return Err(Fault::at(Reason::Syntax, self.expression, start, what));
        };
        if self.n_tokens == EXPRESSION_TOKENS_MAX {
            let what = "more tokens than an expression may have";
            return Err(Fault::at(Reason::ExpressionTooLong, self.expression, start, what));
        }
        self.n_tokens += 1;
        self.next = start + length;
        Ok(Token { kind, start, end: self.next })
    }

    /// Reads to the end, for the sake of the faults that may be there.
    pub(super) fn rest(&mut self) -> Result<(), Fault> {
        while self.token()?.kind != Kind::End {}
        Ok(())
    }

    /// The text that is read.
    pub(super) const fn expression(&self) -> &'a str {
        self.expression
    }
}

/// ASCII blank space; other kinds of space are no part of the language.
const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The kind and length of the token at the beginning of `rest`, whose first byte is `first`.
fn token(first: u8, rest: &[u8]) -> Option<(Kind, usize)> {
    let doubled = rest.get(1) == Some(&first);
    Some(match first {
        b'0'..=b'9' => (Kind::Number, number_length(rest)),
        b'a'..=b'z' => (Kind::Name, run(rest, |b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')),
        b'+' => (Kind::Plus, 1),
        b'-' => (Kind::Minus, 1),
        b'*' if doubled => (Kind::Power, 2),
        b'*' => (Kind::Times, 1),
        b'/' if doubled => (Kind::FloorOver, 2),
        b'/' => (Kind::Over, 1),
        b'%' => (Kind::Modulo, 1),
        b'^' => (Kind::Power, 1),
        b'(' => (Kind::Open, 1),
        b')' => (Kind::Close, 1),
        b',' => (Kind::Comma, 1),
        _ => return None,
    })
}

/// How many bytes at the beginning of `rest` belong to a class.
fn run(rest: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    rest.iter().position(|byte| !belongs(*byte)).unwrap_or(rest.len())
}

/// The length of `digit+ ["." digit+] [("e" | "E") ["+" | "-"] digit+]`, as long as it can be. A point
/// or an `e` that no digit follows is left over, and is the parser's fault to find.
fn number_length(rest: &[u8]) -> usize {
    let digits_at = |place: usize| run(rest.get(place..).unwrap_or_default(), |b| b.is_ascii_digit());
    let mut length = digits_at(0);
    if rest.get(length) == Some(&b'.') {
        let fraction = digits_at(length + 1);
        if fraction > 0 {
            length += 1 + fraction;
        }
    }
    if let Some(b'e' | b'E') = rest.get(length) {
        let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits_at(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All tokens before the end.
    fn tokens(expression: &str) -> Result<Vec<Token>, Fault> {
        let mut lexer = Lexer::new(expression)?;
        let mut tokens = Vec::new();
        loop {
            let token = lexer.token()?;
            if token.kind == Kind::End {
                return Ok(tokens);
            }
            tokens.push(token);
        }
    }

    fn check(expression: &str, expect: &[(Kind, &str)]) {
        let tokens = tokens(expression).unwrap();
        let found: Vec<_> =
            tokens.iter().map(|t| (t.kind, expression.get(t.start..t.end).unwrap())).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn the_longest_token_wins() {
        check("17 * 23", &[(Kind::Number, "17"), (Kind::Times, "*"), (Kind::Number, "23")]);
        check("2***3", &[(Kind::Number, "2"), (Kind::Power, "**"), (Kind::Times, "*"), (Kind::Number, "3")]);
        check("1.5e-3e", &[(Kind::Number, "1.5e-3"), (Kind::Name, "e")]);
        check("1e+ ", &[(Kind::Number, "1"), (Kind::Name, "e"), (Kind::Plus, "+")]);
        check(
            "log10\t(9)",
            &[(Kind::Name, "log10"), (Kind::Open, "("), (Kind::Number, "9"), (Kind::Close, ")")],
        );
    }

    #[test]
    fn what_is_no_token_is_said_with_its_place() {
        for (expression, place) in
            [(".5", 1), ("5.", 2), ("1_000", 2), ("é", 1), ("2 × 3", 3), ("1\u{a0}", 2)]
        {
            let fault = tokens(expression).unwrap_err();
            assert_eq!(fault.reason, Reason::Syntax, "{expression}");
            assert!(fault.detail.starts_with(&format!("character {place}:")), "{expression}: {fault}");
        }
    }

    #[test]
    fn both_bounds_at_n_and_at_n_plus_1() {
        assert!(tokens(&" ".repeat(EXPRESSION_CHARS_MAX)).is_ok());
        assert!(tokens(&"1".repeat(EXPRESSION_CHARS_MAX)).is_ok());
        let too_long = tokens(&"é".repeat(EXPRESSION_CHARS_MAX + 1)).unwrap_err();
        assert_eq!(too_long.reason, Reason::ExpressionTooLong, "characters are counted, not bytes");
        assert_eq!(tokens(&"é".repeat(EXPRESSION_CHARS_MAX)).unwrap_err().reason, Reason::Syntax);
        assert_eq!(tokens(&"(".repeat(EXPRESSION_TOKENS_MAX)).unwrap().len(), EXPRESSION_TOKENS_MAX);
        let too_many = tokens(&"(".repeat(EXPRESSION_TOKENS_MAX + 1)).unwrap_err();
        assert_eq!(too_many.reason, Reason::ExpressionTooLong);
    }
}
