//! Reads JSON strictly: one value, no key twice, nothing after it, and bounds on size and depth.
//!
//! Rejected: reading straight into the library's own value type, which keeps the last of two equal keys,
//! so that two readers of one text could see different arguments.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::PRIVATE_KEY_PREFIX;
use crate::limits;

/// Why a text was not taken as JSON. It never quotes the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotJson {
    /// It is longer than [`limits::ARGUMENTS_BYTES_MAX`].
    #[error("longer than {} bytes", limits::ARGUMENTS_BYTES_MAX)]
    TooLong,
    /// It is nested too deeply.
    #[error("nested too deeply")]
    TooDeep,
    /// An object has one key twice.
    #[error("an object has one key twice")]
    DuplicateKey,
    /// A key is one that the JSON library keeps for itself.
    #[error("a key begins with {PRIVATE_KEY_PREFIX}, which the JSON library keeps for itself")]
    PrivateKey,
    /// It is not one JSON value.
    #[error("not one JSON value: stopped at line {line}, column {column}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, in bytes from 1; 0 for the start of a line.
        column: usize,
    },
}

/// Reads one JSON value from arguments that a model or a caller wrote. The text of numbers is kept.
///
/// # Errors
///
/// [`NotJson`] for text that is too long or too deep, a key that stands twice in one object, text after
/// the value, or anything that is not JSON.
pub fn parse_strict(text: &str) -> Result<Value, NotJson> {
    if text.len() > limits::ARGUMENTS_BYTES_MAX {
        return Err(NotJson::TooLong);
    }
    read(text, limits::ARGUMENTS_DEPTH_MAX)
}

/// Reads one JSON value from a record of Mast's own, which may hold arguments at its leaves.
pub(super) fn any_size(text: &str) -> Result<Value, NotJson> {
    read(text, limits::CANONICAL_DEPTH_MAX)
}

fn read(text: &str, depth: usize) -> Result<Value, NotJson> {
    refuse_private_keys(text)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut fault = None;
    let strict = Strict { depth, fault: &mut fault };
    let value = strict.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| fault.unwrap_or(NotJson::Syntax { line: error.line(), column: error.column() }))
}

/// Looks for a key of the JSON library's private protocol. It must be done on the text: the library hands
/// numbers over as objects with such a key, and afterwards the two cannot be told apart.
fn refuse_private_keys(text: &str) -> Result<(), NotJson> {
    let mut rest = text;
    while let Some((_, after_quote)) = rest.split_once('"') {
        let Some(end) = end_of_string(after_quote) else { return Ok(()) };
        let Some((body, after)) = after_quote.split_at_checked(end) else { return Ok(()) };
        rest = after.strip_prefix('"').unwrap_or_default();
        if rest.trim_start().starts_with(':') && is_private(body) {
            return Err(NotJson::PrivateKey);
        }
    }
    Ok(())
}

/// Where the string that begins here ends: the first quote that no backslash precedes.
fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

/// Whether a string's body, its escapes resolved, begins like a private key.
fn is_private(body: &str) -> bool {
    if !body.contains('\\') {
        return body.starts_with(PRIVATE_KEY_PREFIX);
    }
    // A string that cannot be read is refused by the reader itself.
    serde_json::from_str::<String>(&format!("\"{body}\""))
        .is_ok_and(|plain| plain.starts_with(PRIVATE_KEY_PREFIX))
}

/// Builds a value of at most `depth` further levels, and notes a fault that is not one of syntax.
struct Strict<'a> {
    depth: usize,
    fault: &'a mut Option<NotJson>,
}

impl Strict<'_> {
    /// The same for what is inside an array or object.
    fn inner<E: serde::de::Error>(&mut self) -> Result<Strict<'_>, E> {
        let Some(depth) = self.depth.checked_sub(1) else {
            *self.fault = Some(NotJson::TooDeep);
            return Err(E::custom("too deep"));
        };
        Ok(Strict { depth, fault: self.fault })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(self.inner()?)? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        let mut next_key = members.next_key::<String>()?;
        if next_key.as_ref().is_some_and(|key| key.starts_with(PRIVATE_KEY_PREFIX)) {
            // Text with such a key was refused before, so this is the library handing over a number.
            let number: String = members.next_value()?;
            return number.parse::<Number>().map(Value::Number).map_err(A::Error::custom);
        }
        self.inner::<A::Error>()?;
        let mut all = Map::new();
        while let Some(key) = next_key {
            let value = members.next_value_seed(self.inner()?)?;
            if all.insert(key, value).is_some() {
                *self.fault = Some(NotJson::DuplicateKey);
                return Err(A::Error::custom("one key twice"));
            }
            next_key = members.next_key()?;
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn check(text: &str, expect: &Result<Value, NotJson>) {
        assert_eq!(&parse_strict(text), expect, "{text}");
    }

    fn is_syntax(text: &str) -> bool {
        matches!(parse_strict(text), Err(NotJson::Syntax { .. }))
    }

    #[test]
    fn one_value_and_nothing_after_it() {
        check(" {\"a\": [1, null]} \n", &Ok(json!({"a": [1, null]})));
        for bad in [
            "",
            " ",
            "{} {}",
            "1 2",
            "{}x",
            "{\"a\":}",
            "[1,]",
            "'a'",
            "NaN",
            "Infinity",
            "-",
            "01",
            "1.",
            ".5",
            "+1",
            "\u{feff}{}",
            "{a:1}",
            "\"\n\"",
            "\"\\ud800\"",
            "nul",
        ] {
            assert!(is_syntax(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_key_stands_once() {
        check(r#"{"a":1,"a":1}"#, &Err(NotJson::DuplicateKey));
        check(r#"{"a":1,"\u0061":2}"#, &Err(NotJson::DuplicateKey));
        check(r#"[{"x":{"a":1,"b":2,"a":3}}]"#, &Err(NotJson::DuplicateKey));
        check("{\"\u{e9}\":1,\"e\u{301}\":2}", &Ok(json!({"\u{e9}": 1, "e\u{301}": 2})));
    }

    #[test]
    fn the_librarys_own_keys_do_not_become_numbers() {
        for text in [
            r#"{"$serde_json::private::Number":"5"}"#,
            r#"{"$serde_json::private::Number" : 5}"#,
            r#"{"\u0024serde_json::private::Number":"5"}"#,
            r#"[1,{"a":{"$serde_json::private::RawValue":"[]"}}]"#,
            r#"{"a\\":"\"","$serde_json::private::Number":"1"}"#,
        ] {
            check(text, &Err(NotJson::PrivateKey));
        }
        // As a value it is a text like any other.
        check(r#"["$serde_json::private::Number"]"#, &Ok(json!(["$serde_json::private::Number"])));
    }

    #[test]
    fn the_text_of_a_number_is_kept() {
        for text in ["1.0", "1.10", "123456789012345678901234567890.5", "-0.0"] {
            assert_eq!(parse_strict(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn depth_and_size_have_bounds() {
        let arrays = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let objects = |depth: usize| format!("{}{{}}{}", "{\"a\":".repeat(depth - 1), "}".repeat(depth - 1));
        for nested in [arrays(64), objects(64)] {
            assert!(parse_strict(&nested).is_ok());
        }
        for nested in [arrays(65), objects(65), arrays(100_000)] {
            check(&nested, &Err(NotJson::TooDeep));
        }
        let text = |length: usize| format!("\"{}\"", "a".repeat(length - 2));
        assert!(parse_strict(&text(limits::ARGUMENTS_BYTES_MAX)).is_ok());
        check(&text(limits::ARGUMENTS_BYTES_MAX + 1), &Err(NotJson::TooLong));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let parsed = parse_strict(&text);
            prop_assert_eq!(parsed.is_ok(), serde_json::from_str::<Value>(&text).is_ok());
        }

        #[test]
        fn what_looks_like_json_does_not_either(text in "[\\[\\]{}:,\"\\\\u0-9a-e$ .+-]{0,40}") {
            // Whatever is taken, the library takes too, and it means the same.
            if let Ok(value) = parse_strict(&text) {
                prop_assert_eq!(Some(value), serde_json::from_str(&text).ok());
            }
        }

        #[test]
        fn what_the_library_writes_is_read(key in any::<String>(), text in any::<String>(), number in any::<f64>()) {
            prop_assume!(!key.starts_with(PRIVATE_KEY_PREFIX));
            let value = json!({key: [text, number]});
            prop_assert_eq!(parse_strict(&value.to_string()), Ok(value));
        }
    }
}
