//! Sums that a text writes out: "17 × 23 = 391".

use std::ops::Range;

use crate::assertion::{Assertion, AssertionKind};
use crate::limits::ASSERTIONS_MAX;

/// Bytes of the side of a sum that are looked at.
const SIDE_BYTES_MAX: usize = 80;

/// Adds the sums of a block of text.
pub(super) fn read(text: &str, block: Range<usize>, found: &mut Vec<Assertion>) {
    let own = text.get(block.clone()).unwrap_or_default();
    for (at, _) in own.match_indices('=') {
        if found.len() >= ASSERTIONS_MAX {
            return;
        }
        let (left, right) = (left(own, at), right(own, at + 1));
        let (Some(left), Some(right)) = (left, right) else { continue };
        let (Some(sum), Some(result)) = (own.get(left.clone()), own.get(right.clone())) else { continue };
        found.push(Assertion {
            kind: AssertionKind::ValueCalculated,
            subject: Some(format!("{}={}", plain(sum), plain(result))),
            span: Some(block.start + left.start..block.start + right.end),
            is_structured: false,
        });
    }
}

/// A sum in the calculator's own signs, without spaces.
pub(in crate::assertion) fn plain(sum: &str) -> String {
    let sign = |letter: char| match letter {
        '×' | '·' | '⋅' => Some('*'),
        '÷' => Some('/'),
        '−' => Some('-'),
        letter if letter.is_whitespace() => None,
        letter => Some(letter),
    };
    sum.chars().filter_map(sign).collect()
}

fn is_sign(letter: char) -> bool {
    matches!(letter, '+' | '-' | '*' | '/' | '^' | '×' | '·' | '⋅' | '÷' | '−' | '%')
}

/// What stands before the mark: at least two numbers and a sign between them.
fn left(text: &str, at: usize) -> Option<Range<usize>> {
    let before = text.get(..at)?;
    let fits = |letter: char| {
        letter.is_ascii_digit() || is_sign(letter) || matches!(letter, '.' | ',' | ' ' | '(' | ')')
    };
    let mut from = at;
    for (place, letter) in before.char_indices().rev() {
        if at - place > SIDE_BYTES_MAX || !fits(letter) {
            break;
        }
        from = place;
    }
    let side = text.get(from..at)?;
    let start = from + side.find(|letter: char| letter.is_ascii_digit() || letter == '(')?;
    let sum = text.get(start..at)?.trim_end();
    let is_cut = text.get(..start)?.chars().next_back().is_some_and(char::is_alphanumeric);
    let inner = sum.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == ')');
    let is_sum = inner.contains(is_sign) && sum.ends_with(|last: char| last.is_ascii_digit() || last == ')');
    (is_sum && !is_cut).then_some(start..start + sum.len())
}

/// The number after the mark.
fn right(text: &str, at: usize) -> Option<Range<usize>> {
    let after = text.get(at..)?;
    let start = at + after.find(|letter: char| letter != ' ' && letter != '*')?;
    let number = text.get(start..)?;
    let ends = |(place, letter): (usize, char)| {
        let is_inner =
            letter.is_ascii_digit() || matches!(letter, '.' | ',') || (place == 0 && letter == '-');
        (!is_inner || place > SIDE_BYTES_MAX).then_some(place)
    };
    let length = number.char_indices().find_map(ends).unwrap_or(number.len());
    let number = number.get(..length)?.trim_end_matches(['.', ',']);
    number.ends_with(|last: char| last.is_ascii_digit()).then_some(start..start + number.len())
}
