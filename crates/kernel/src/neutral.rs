//! Neutralised markers: the control markers of chat templates and of tool-call formats are broken in
//! every text that goes to a model, so that no text can end its turn, begin another, or look like a
//! call. Many servers read such markers wherever they stand, inside a tool's result too.
//!
//! The escape is one backslash more after the first character of a marker: `<|im_end|>` is shown as
//! `<\|im_end|>`, and that as `<\\|im_end|>`. It is undone exactly by [`unescape`], which is applied to
//! everything that a model says, so that a file which holds a marker can still be read and edited. A
//! text without a marker is not touched.
//!
//! It stands in the kernel because it is pure and because both the runtime, which renders, and the
//! providers' tool-call formats, whose markers must all be here, are to use the same list. Rejected:
//! removing markers (the text could not be put back), and breaking every `<` (code would be unreadable
//! for the model and for whoever typed it). Words that are only words (`### Response:`, `USER:`, a fence)
//! are not here: envelopes are there for those. See `docs/spec/trust.md`.

mod markers;

use std::borrow::Cow;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::canonical::parse_strict;

/// Most characters that are looked at after the first of a marker.
const MARKER_CHARS_MAX: usize = 40;

/// Breaks every marker of a text, those that are broken already too.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    rewrite(text, |backslashes| backslashes + 1)
}

/// Undoes [`escape`]. What was never escaped stays as it is.
#[must_use]
pub fn unescape(text: &str) -> Cow<'_, str> {
    rewrite(text, |backslashes| backslashes.saturating_sub(1))
}

/// [`escape`] for the strings inside a JSON text; for a text that is no JSON, of the text itself. JSON
/// that Mast would refuse, as for a key that stands twice, may be read by a server all the same: where
/// its strings hold a marker they are written anew, and this alone is not undone exactly.
#[must_use]
pub fn escape_json(text: &str) -> Cow<'_, str> {
    if let Some(escaped) = in_strings(text, escape) {
        return escaped;
    }
    let mut value = serde_json::from_str::<Value>(text).unwrap_or_default();
    if in_value(&mut value, escape) { Cow::Owned(value.to_string()) } else { escape(text) }
}

/// [`unescape`] for the strings inside a JSON text. What is no JSON stays as it is: nobody acts on it.
#[must_use]
pub fn unescape_json(text: &str) -> Cow<'_, str> {
    in_strings(text, unescape).unwrap_or(Cow::Borrowed(text))
}

/// Whether a text holds a marker that is not broken.
#[must_use]
pub fn has_marker(text: &str) -> bool {
    let mut from = 0;
    while let Some(found) = next_marker(text, from) {
        if found.backslashes == 0 {
            return true;
        }
        from = found.after;
    }
    false
}

/// Rewrites the strings and the keys of a JSON text; as it was where none of them changes, none where
/// it is no JSON.
fn in_strings(text: &str, change: impl Fn(&str) -> Cow<'_, str> + Copy) -> Option<Cow<'_, str>> {
    let mut value = parse_strict(text).ok()?;
    let changed = in_value(&mut value, change);
    Some(if changed { Cow::Owned(value.to_string()) } else { Cow::Borrowed(text) })
}

fn in_value(value: &mut Value, change: impl Fn(&str) -> Cow<'_, str> + Copy) -> bool {
    match value {
        Value::String(text) => {
            let Cow::Owned(new) = change(text) else { return false };
            *text = new;
            true
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| in_value(item, change) | any),
        Value::Object(fields) => {
            let mut any = false;
            for value in fields.values_mut() {
                any |= in_value(value, change);
            }
            if fields.keys().any(|key| matches!(change(key), Cow::Owned(_))) {
                any = true;
                let renamed = std::mem::take(fields).into_iter();
                fields.extend(renamed.map(|(key, value)| (change(&key).into_owned(), value)));
            }
            any
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A marker in a text, broken or not.
struct Found {
    /// Where its first character ends: where the backslashes stand.
    at: usize,
    /// How many stand there.
    backslashes: usize,
    /// Where they end.
    after: usize,
}

fn rewrite(text: &str, backslashes: impl Fn(usize) -> usize) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(found) = next_marker(text, from) {
        from = found.after;
        let kept = backslashes(found.backslashes);
        if kept == found.backslashes {
            continue;
        }
        out.push_str(text.get(copied..found.at).unwrap_or_default());
        out.extend(std::iter::repeat_n('\\', kept));
        copied = found.after;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// The next marker at or after a place. Each character is looked at once as a first one, and at most
/// once as what follows the nearest first one before it, so that the whole is linear.
fn next_marker(text: &str, mut from: usize) -> Option<Found> {
    loop {
        let rest = text.get(from..)?;
        let at = rest.bytes().position(|byte| matches!(byte, b'<' | b'[' | b']') || byte >= 0xc2)?;
        let first = rest.get(at..)?.chars().next()?;
        let end = from + at + first.len_utf8();
        from = end;
        let Some(opener) = opener(first) else { continue };
        let behind = text.get(end..)?;
        let tail = behind.trim_start_matches('\\');
        let backslashes = behind.len() - tail.len();
        if is_marker(opener, tail) {
            return Some(Found { at: end, backslashes, after: end + backslashes });
        }
    }
}

/// `<`, `[` or `]`, where the character is one or looks like one.
fn opener(first: char) -> Option<char> {
    let folded = if first.is_ascii() { first } else { alike(first).or_else(|| first.nfkc().next())? };
    matches!(folded, '<' | '[' | ']').then_some(folded)
}

fn alike(letter: char) -> Option<char> {
    markers::ALIKE.iter().find(|(letters, _)| letters.contains(letter)).map(|(_, like)| *like)
}

/// Characters that nobody sees, and that may stand between the letters of a marker.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{1bca0}'..='\u{1bca3}' | '\u{e0000}'..='\u{e0fff}')
}

/// What stands after the first character and its backslashes, as far as it could belong to a marker:
/// what cannot be seen is left out, what looks alike is alike, and it ends with the next first
/// character of a marker, so that an escape there changes nothing here.
fn seen(tail: &str) -> String {
    let mut out = String::new();
    for letter in tail.chars() {
        if out.len() >= MARKER_CHARS_MAX {
            break;
        }
        if letter.is_whitespace() {
            out.push(' ');
            break;
        }
        if let Some(opener) = opener(letter) {
            out.push(opener);
            break;
        }
        if letter.is_ascii() {
            out.push(letter);
        } else if let Some(like) = alike(letter) {
            out.push(like);
        } else if !is_invisible(letter) {
            out.extend(letter.nfkc().map(|letter| alike(letter).unwrap_or(letter)));
        }
    }
    out
}

fn is_marker(opener: char, tail: &str) -> bool {
    // Most of what follows a bracket or a `<` is decided by its first letter.
    let Some(next) = tail.chars().next() else { return false };
    let may_begin = |letters: &str| !next.is_ascii() || letters.contains(next);
    match opener {
        '<' if next.is_ascii_alphabetic() || may_begin("|/") => {
            !is_plain(tail, &[markers::ANGLE, markers::ANGLE_CLOSED]) && is_angle(&seen(tail))
        }
        '[' if next.is_ascii_alphabetic() || may_begin("|/") => {
            !is_plain(tail, &[markers::SQUARE, markers::UPPER]) && is_square(&seen(tail))
        }
        ']' => may_begin("~") && matches!(seen(tail).to_lowercase().as_str(), "~b]" | "~!b["),
        _ => false,
    }
}

/// Whether it begins with a whole word that is surely in none of these lists, as nearly all words of code
/// do: this is told without folding a letter.
fn is_plain(tail: &str, lists: &[&[&str]]) -> bool {
    let of_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let end = tail.bytes().position(|byte| !of_word(byte));
    let Some((word, behind)) = end.and_then(|end| tail.split_at_checked(end)) else { return false };
    if word.is_empty() || !behind.starts_with(|next: char| next.is_ascii() && !"|:~".contains(next)) {
        return false;
    }
    let bare = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_word = |mark: &&str| mark.eq_ignore_ascii_case(word) || mark.eq_ignore_ascii_case(bare);
    let is_tag = word.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("untrusted"));
    !is_tag && !lists.iter().any(|list| list.iter().any(is_word))
}

fn is_angle(seen: &str) -> bool {
    let seen = seen.to_lowercase();
    let seen = seen.strip_prefix('/').unwrap_or(&seen);
    // `<|name|>` in all its forms: a bar, and no blank behind it.
    if let Some(inside) = seen.strip_prefix('|') {
        return !inside.starts_with(['>', ' ']);
    }
    if seen.starts_with("untrusted") {
        return true;
    }
    let end = seen.find(|letter: char| !(letter.is_alphanumeric() || "_:.-".contains(letter)));
    let (word, behind) = seen.split_at(end.unwrap_or(seen.len()));
    let bare = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let spaced = word.rsplit_once(':').is_some_and(|(_, word)| markers::SPACED.contains(&word));
    let closed = |mark: &str| seen.strip_prefix(mark).is_some_and(|behind| behind.starts_with('>'));
    // `<name|>` is how some templates end what `<|name>` began.
    (!word.is_empty() && behind.starts_with("|>"))
        || spaced
        || markers::ANGLE.contains(&word)
        || (bare.len() < word.len() && markers::ANGLE.contains(&bare))
        || markers::ANGLE_CLOSED.iter().any(|mark| closed(mark))
}

fn is_square(seen: &str) -> bool {
    let seen = seen.strip_prefix('/').unwrap_or(seen);
    if seen.eq_ignore_ascii_case("e~[") {
        return true;
    }
    let Some((word, _)) = seen.split_once(']') else { return false };
    markers::UPPER.contains(&word) || markers::SQUARE.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests;
