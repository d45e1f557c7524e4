//! Writes a value in its canonical form, exactly or with its strings normalised.

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization as _;

use super::number::{self, NumberFault};
use super::{NotJson, PRIVATE_KEY_PREFIX};
use crate::limits;

/// Why a value has no canonical form. It never quotes the value.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
pub enum NotCanonical {
    /// It is a Rust value that cannot be written as JSON at all.
    #[default]
    #[error("the value cannot be written as JSON")]
    NotWritable,
    /// It contains a zero with a minus sign.
    #[error("a negative zero has no canonical form")]
    NegativeZero,
    /// It contains a number that is too large or too small to be written out.
    #[error("a number's exponent is beyond {}", limits::NUMBER_EXPONENT_MAX)]
    Exponent,
    /// It contains a number whose text is not a JSON number.
    #[error("a number is not a JSON number")]
    MalformedNumber,
    /// It contains a key that the JSON library would take for its own.
    #[error("a key begins with {PRIVATE_KEY_PREFIX}, which the JSON library keeps for itself")]
    PrivateKey,
    /// It is nested too deeply.
    #[error("nested more than {} deep", limits::CANONICAL_DEPTH_MAX)]
    TooDeep,
    /// It was given as text, and the text is not JSON.
    #[error("the text is not JSON")]
    NotJson(#[source] NotJson),
    /// It was given as text, and the text is not in its one spelling.
    #[error("the text is JSON, but not in its canonical spelling")]
    OtherSpelling,
}

impl From<NumberFault> for NotCanonical {
    fn from(fault: NumberFault) -> Self {
        match fault {
            NumberFault::NegativeZero => Self::NegativeZero,
            NumberFault::Exponent => Self::Exponent,
            NumberFault::Malformed => Self::MalformedNumber,
        }
    }
}

/// How strings and keys are written.
#[derive(Clone, Copy)]
enum Strings {
    /// Exactly as given.
    Exact,
    /// After Unicode's NFC.
    Nfc,
}

/// The canonical form.
pub(super) fn exact(value: &Value) -> Result<String, NotCanonical> {
    let mut out = String::new();
    write_value(value, Strings::Exact, limits::CANONICAL_DEPTH_MAX, &mut out)?;
    Ok(out)
}

/// Writes the canonical form at the end of a text; what was written before a fault stays there.
pub(super) fn exact_to(value: &Value, out: &mut String) -> Result<(), NotCanonical> {
    write_value(value, Strings::Exact, limits::CANONICAL_DEPTH_MAX, out)
}

/// The canonical form after all strings and keys are brought to NFC. Keys that thereby become equal all
/// stay, in the order of what they name, so that the result depends on nothing else.
pub(super) fn normalised(value: &Value) -> Result<String, NotCanonical> {
    let mut out = String::new();
    write_value(value, Strings::Nfc, limits::CANONICAL_DEPTH_MAX, &mut out)?;
    Ok(out)
}

fn write_value(value: &Value, strings: Strings, depth: usize, out: &mut String) -> Result<(), NotCanonical> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) if number::is_plain(number.as_str()) => out.push_str(number.as_str()),
        Value::Number(number) => out.push_str(&number::canonical(number.as_str())?),
        Value::String(text) => write_string(text, strings, out),
        Value::Array(items) => {
            let depth = depth.checked_sub(1).ok_or(NotCanonical::TooDeep)?;
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_value(item, strings, depth, out)?;
            }
            out.push(']');
        }
        Value::Object(members) => {
            let depth = depth.checked_sub(1).ok_or(NotCanonical::TooDeep)?;
            write_object(members, strings, depth, out)?;
        }
    }
    Ok(())
}

fn write_object(
    members: &Map<String, Value>,
    strings: Strings,
    depth: usize,
    out: &mut String,
) -> Result<(), NotCanonical> {
    if members.keys().any(|key| key.starts_with(PRIVATE_KEY_PREFIX)) {
        return Err(NotCanonical::PrivateKey);
    }
    if let Strings::Nfc = strings {
        return write_normalised(members, depth, out);
    }
    let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
    sorted.sort_unstable_by_key(|(key, _)| *key);
    out.push('{');
    for (place, (key, value)) in sorted.into_iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        write_exact(key, out);
        out.push(':');
        write_value(value, strings, depth, out)?;
    }
    out.push('}');
    Ok(())
}

/// The members under their normalised keys. Equal ones are in the order of the text of their values.
fn write_normalised(
    members: &Map<String, Value>,
    depth: usize,
    out: &mut String,
) -> Result<(), NotCanonical> {
    let mut written = Vec::with_capacity(members.len());
    for (key, value) in members {
        let mut text = String::new();
        write_value(value, Strings::Nfc, depth, &mut text)?;
        written.push((key.nfc().collect::<String>(), text));
    }
    written.sort_unstable();
    out.push('{');
    for (place, (key, text)) in written.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        write_exact(key, out);
        out.push(':');
        out.push_str(text);
    }
    out.push('}');
    Ok(())
}

fn write_string(text: &str, strings: Strings, out: &mut String) {
    match strings {
        Strings::Exact => write_exact(text, out),
        Strings::Nfc => write_exact(&text.nfc().collect::<String>(), out),
    }
}

/// Writes a string with the escapes that JSON demands and no others. Most need none, and each event of a
/// journal is written with dozens of them, so those are not taken through the JSON library.
pub(super) fn write_exact(text: &str, out: &mut String) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.reserve(text.len() + 2);
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&Value::from(text).to_string());
    }
}
