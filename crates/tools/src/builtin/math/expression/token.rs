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

/// The tokens of `expression`, without the blank space between them, and one [`Kind::End`].
pub(super) fn tokens(expression: &str) -> Result<Vec<Token>, Fault> {
    let is_too_long =
        expression.len() > EXPRESSION_CHARS_MAX && expression.chars().nth(EXPRESSION_CHARS_MAX).is_some();
    if is_too_long {
        let what = "more characters than an expression may have";
        return Err(Fault::at(Reason::ExpressionTooLong, expression, expression.len(), what));
    }
    let bytes = expression.as_bytes();
    let mut tokens = Vec::with_capacity(bytes.len().min(EXPRESSION_TOKENS_MAX) / 2 + 2);
    let mut start = 0;
    while let Some(first) = bytes.get(start) {
        if is_blank(*first) {
            start += 1;
            continue;
        }
        let Some((kind, length)) = token(*first, bytes.get(start..).unwrap_or_default()) else {
            return Err(Fault::at(
                Reason::Syntax,
                expression,
                start,
                "a character that no token begins with",
            ));
        };
        if tokens.len() == EXPRESSION_TOKENS_MAX {
            let what = "more tokens than an expression may have";
            return Err(Fault::at(Reason::ExpressionTooLong, expression, start, what));
        }
        tokens.push(Token { kind, start, end: start + length });
        start += length;
    }
    tokens.push(Token { kind: Kind::End, start, end: start });
    Ok(tokens)
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

    fn check(expression: &str, expect: &[(Kind, &str)]) {
        let mut found: Vec<_> = tokens(expression)
            .unwrap()
            .iter()
            .map(|t| (t.kind, expression.get(t.start..t.end).unwrap()))
            .collect();
        assert_eq!(found.pop(), Some((Kind::End, "")));
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
        assert_eq!(tokens(&"(".repeat(EXPRESSION_TOKENS_MAX)).unwrap().len(), EXPRESSION_TOKENS_MAX + 1);
        let too_many = tokens(&"(".repeat(EXPRESSION_TOKENS_MAX + 1)).unwrap_err();
        assert_eq!(too_many.reason, Reason::ExpressionTooLong);
    }
}
