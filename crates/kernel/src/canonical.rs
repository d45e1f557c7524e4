//! One spelling for every JSON value, and the digests taken over it.
//!
//! A call is judged, sealed, keyed and run on the same bytes: the *canonical form* of its arguments.
//! Keys are sorted by code point, there are no spaces, strings stand exactly as given, and a number is
//! written by its value, never rounded, so that `1`, `1.0` and `10e-1` are one argument. What has no
//! such form (negative zero, an absurd exponent) is refused rather than repaired.
//!
//! Rejected: RFC 8785, which passes every number through a double and so can make two different
//! amounts equal; and the plain output of a JSON library, whose spelling of numbers is its own affair.
//! See `docs/spec/arguments.md`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::Digest as _;

use crate::id::{CallId, RunId};

mod number;
mod read;
mod write;

pub use read::{NotJson, parse_strict};
pub use write::NotCanonical;

/// What every key of the JSON library's private protocol begins with.
///
/// An object with such a key would be read back as a number, not as the object that it is, so it is
/// refused wherever it could enter.
const PRIVATE_KEY_PREFIX: &str = "$serde_json::private::";

/// The first field of an idempotency key: what is keyed, and which rules made the key.
const CALL_KEY_TAG: &str = "mast.call.v1";

/// A SHA-256 digest; written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// A text that is not 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a digest: wanted 64 lower-case hexadecimal digits")]
pub struct NotADigest;

/// A digest of bytes that come piece by piece.
#[derive(Debug, Default)]
pub struct Hashing(sha2::Sha256);

impl Hashing {
    /// Adds the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        sha2::Digest::update(&mut self.0, bytes);
    }

    /// The digest of all of them: the same as [`Digest::of`] of the whole.
    #[must_use]
    pub fn digest(self) -> Digest {
        Digest(sha2::Digest::finalize(self.0).into())
    }
}

impl Digest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// The digest of several fields, each preceded by its length as 8 bytes, most significant first, so
    /// that no byte can move from one field to the next unseen.
    #[must_use]
    pub fn of_fields<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = FieldHasher::default();
        fields.into_iter().for_each(|field| hasher.take(field));
        hasher.end()
    }

    /// The digest with these 32 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Its 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn to_hex(self) -> String {
        hex(&self.0)
    }

    /// Reads 64 lower-case hexadecimal digits.
    ///
    /// # Errors
    ///
    /// [`NotADigest`] for anything else, upper-case digits too: a digest has one spelling.
    pub fn from_hex(text: &str) -> Result<Self, NotADigest> {
        if text.len() != 64 {
            return Err(NotADigest);
        }
        let mut bytes = [0_u8; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            for digit in pair {
                let value = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'f' => digit - b'a' + 10,
                    _ => return Err(NotADigest),
                };
                *byte = (*byte << 4) | value;
            }
        }
        Ok(Self(bytes))
    }
}

/// A digest of several fields that come one after the other; see [`Digest::of_fields`].
#[derive(Default)]
pub(crate) struct FieldHasher(sha2::Sha256);

impl FieldHasher {
    /// The next field.
    pub(crate) fn take(&mut self, field: &[u8]) {
        self.0.update((field.len() as u64).to_be_bytes());
        self.0.update(field);
    }

    /// The digest of all of them.
    pub(crate) fn end(self) -> Digest {
        Digest(sha2::Digest::finalize(self.0).into())
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS.get(usize::from(value & 15)).copied().map_or('0', char::from);
    let mut text = String::with_capacity(2 * bytes.len());
    text.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]));
    text
}

/// Writes the canonical form of a value at the end of a text.
///
/// # Errors
///
/// [`NotCanonical`] where the value has none; part of it may then have been written.
pub(crate) fn write_to(value: &Value, out: &mut String) -> Result<(), NotCanonical> {
    write::exact_to(value, out)
}

/// The canonical form of a string.
pub(crate) fn of_text(text: &str) -> String {
    let mut out = String::new();
    write::write_exact(text, &mut out);
    out
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl std::str::FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        Self::from_hex(text)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_hex())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_hex(&text).map_err(serde::de::Error::custom)
    }
}

/// A JSON value in its one spelling.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Canonical {
    text: String,
}

impl Canonical {
    /// The canonical form of a value.
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] where the value has none.
    pub fn of(value: &Value) -> Result<Self, NotCanonical> {
        write::exact(value).map(|text| Self { text })
    }

    /// The canonical form of the JSON that a Rust value is written as.
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] where there is none.
    pub fn of_record<T: Serialize>(record: &T) -> Result<Self, NotCanonical> {
        let value = serde_json::to_value(record).map_err(|_| NotCanonical::NotWritable)?;
        Self::of(&value)
    }

    /// Takes back a text that was written as a canonical form, such as one read from a store.
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] where the text is not JSON, or not in its one spelling.
    pub fn from_text(text: &str) -> Result<Self, NotCanonical> {
        let value = read::any_size(text).map_err(NotCanonical::NotJson)?;
        let canonical = Self::of(&value)?;
        if canonical.text == text { Ok(canonical) } else { Err(NotCanonical::OtherSpelling) }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text as UTF-8.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// SHA-256 of the text.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.as_bytes())
    }

    /// The value, with its numbers spelt as they are here.
    #[must_use]
    pub fn value(&self) -> Value {
        // Only `of` makes a canonical form, and whatever it writes can be read (a property test), so
        // the null is never seen.
        read::any_size(&self.text).unwrap_or(Value::Null)
    }
}

impl fmt::Display for Canonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The *match hash*: the digest of a value's canonical form after every string and key has been brought
/// to Unicode's NFC, so that two spellings of one word count as the same call.
///
/// It serves the search for repetitions only. Nothing is permitted, sealed or keyed by it.
///
/// # Errors
///
/// [`NotCanonical`] where the value has no canonical form.
pub fn match_digest(value: &Value) -> Result<Digest, NotCanonical> {
    write::normalised(value).map(|text| Digest::of(text.as_bytes()))
}

/// What makes one call different from every other; see [`idempotency_key`].
#[derive(Debug, Clone, Copy)]
pub struct CallIdentity<'a> {
    /// The run that it belongs to.
    pub run: RunId,
    /// The step of that run, counted from 1.
    pub step: u32,
    /// Mast's own id of the call; never the provider's.
    pub call: CallId,
    /// Registry name of the tool.
    pub tool: &'a str,
    /// Exact version of the tool.
    pub version: &'a str,
    /// Definition pin of the tool.
    pub pin: Digest,
    /// Digest of the exact canonical arguments.
    pub arguments: Digest,
}

/// The key under which an outside service and the store can tell a repetition of this call: SHA-256 over
/// length-prefixed fields, each as the text in which Mast shows it.
#[must_use]
pub fn idempotency_key(identity: &CallIdentity<'_>) -> Digest {
    let CallIdentity { run, step, call, tool, version, pin, arguments } = identity;
    let fields = [
        CALL_KEY_TAG.to_owned(),
        run.to_string(),
        step.to_string(),
        call.to_string(),
        (*tool).to_owned(),
        (*version).to_owned(),
        pin.to_hex(),
        arguments.to_hex(),
    ];
    Digest::of_fields(fields.iter().map(String::as_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn check(text: &str, expect: &str) {
        let value = parse_strict(text).unwrap();
        assert_eq!(Canonical::of(&value).unwrap().as_str(), expect, "{text}");
    }

    fn refuse(text: &str, expect: &NotCanonical) {
        let value = parse_strict(text).unwrap();
        assert_eq!(Canonical::of(&value).unwrap_err(), *expect, "{text}");
    }

    #[test]
    fn keys_are_sorted_by_code_point_and_spaces_go() {
        check(r#"{ "b" : 1, "a" : [ true , null ] }"#, r#"{"a":[true,null],"b":1}"#);
        check(r#"{"é":1,"z":2,"Z":3,"":4,"𝕏":5,"ﬀ":6}"#, r#"{"":4,"Z":3,"z":2,"é":1,"ﬀ":6,"𝕏":5}"#);
    }

    #[test]
    fn strings_stand_as_given_with_the_least_escapes() {
        check(r#""\u0041\/\u00e9\u2028\ud83d\ude00""#, "\"A/é\u{2028}😀\"");
        check(r#""\u0000\u001f\u007f\b\f\n\r\t\"\\""#, "\"\\u0000\\u001f\u{7f}\\b\\f\\n\\r\\t\\\"\\\\\"");
        check("\"e\u{301}\"", "\"e\u{301}\"");
    }

    #[test]
    fn numbers_are_written_by_value() {
        for (text, expect) in [
            ("1", "1"),
            ("1.0", "1"),
            ("10e-1", "1"),
            ("0.1E+1", "1"),
            ("-1.50", "-1.5"),
            ("0", "0"),
            ("0.000e99", "0"),
            ("0e999999999999999999999", "0"),
            ("100", "100"),
            ("1.05", "1.05"),
            ("0.0000001", "0.0000001"),
            ("0.00000001", "1e-8"),
            ("0.000000012", "1.2e-8"),
            ("123456789012345678901", "123456789012345678901"),
            ("100000000000000000000", "100000000000000000000"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("1234567890123456789012", "1.234567890123456789012e+21"),
            ("12.5e20", "1.25e+21"),
            ("0.1000000000000000000000000000000000000001", "0.1000000000000000000000000000000000000001"),
            ("9007199254740993", "9007199254740993"),
            ("1e-00000000000000000000000000000000000001", "0.1"),
            ("1e100000", "1e+100000"),
            ("-1e-100000", "-1e-100000"),
        ] {
            check(text, expect);
        }
    }

    #[test]
    fn what_has_no_canonical_form_is_refused() {
        for zero in ["-0", "-0.0", "-0e5", "[-0.00E-3]"] {
            refuse(zero, &NotCanonical::NegativeZero);
        }
        for beyond in ["1e100001", "-1e-100001", "10e100000", "1e99999999999999999999"] {
            refuse(beyond, &NotCanonical::Exponent);
        }
        let private = json!({"$serde_json::private::Number": "5"});
        assert_eq!(Canonical::of(&private).unwrap_err(), NotCanonical::PrivateKey);
    }

    #[test]
    fn nesting_has_a_bound() {
        let nested = |depth: usize| (0..depth).fold(json!(0), |inner, _| json!([inner]));
        assert!(Canonical::of(&nested(96)).is_ok());
        assert_eq!(Canonical::of(&nested(97)).unwrap_err(), NotCanonical::TooDeep);
        let deepest = Canonical::of(&nested(96)).unwrap();
        assert_eq!(deepest.value(), nested(96));
    }

    #[test]
    fn a_stored_text_is_taken_back_only_in_its_one_spelling() {
        assert_eq!(Canonical::from_text(r#"{"a":1}"#).unwrap().as_str(), r#"{"a":1}"#);
        assert_eq!(Canonical::from_text(r#"{"a":1.0}"#), Err(NotCanonical::OtherSpelling));
        assert_eq!(Canonical::from_text(r#"{"a": 1}"#), Err(NotCanonical::OtherSpelling));
        assert!(matches!(Canonical::from_text("{"), Err(NotCanonical::NotJson(_))));
    }

    #[test]
    fn a_digest_has_one_spelling() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let digest = Digest::of(b"");
        assert_eq!([digest.to_hex(), digest.to_string(), format!("{digest:?}")], [empty; 3]);
        assert_eq!(serde_json::to_string(&digest).unwrap(), format!("\"{empty}\""));
        assert_eq!(serde_json::from_str::<Digest>(&format!("\"{empty}\"")).unwrap(), digest);
        for bad in [
            empty.trim_start_matches('e'),
            &empty.to_uppercase(),
            &format!("{empty}0"),
            &empty.replace('e', "g"),
            &"é".repeat(32),
        ] {
            assert_eq!(Digest::from_hex(bad), Err(NotADigest));
        }
    }

    #[test]
    fn the_match_hash_sees_words_and_not_their_bytes() {
        let [composed, taken_apart] = ["{\"caf\u{e9}\":\"\u{e9}\"}", "{\"cafe\u{301}\":\"e\u{301}\"}"]
            .map(|text| parse_strict(text).unwrap());
        assert_eq!(match_digest(&composed), match_digest(&taken_apart));
        assert_ne!(Canonical::of(&composed).unwrap().digest(), Canonical::of(&taken_apart).unwrap().digest());
    }

    #[test]
    fn keys_that_are_one_word_all_count_in_a_fixed_order() {
        let [one, other, less] =
            ["{\"\u{e9}\":1,\"e\u{301}\":2}", "{\"e\u{301}\":1,\"\u{e9}\":2}", "{\"\u{e9}\":1}"]
                .map(|text| match_digest(&parse_strict(text).unwrap()).unwrap());
        assert_eq!(one, other);
        assert_ne!(one, less);
    }

    fn identity() -> CallIdentity<'static> {
        CallIdentity {
            run: RunId::from_u128(1),
            step: 2,
            call: CallId::from_u128(3),
            tool: "math.calculate",
            version: "1.0.0",
            pin: Digest::of(b"pin"),
            arguments: Digest::of(br#"{"expression":"17 * 23"}"#),
        }
    }

    /// The value was computed apart from this code, by Python's hashlib over the fields as
    /// `docs/spec/arguments.md` lists them.
    #[test]
    fn the_idempotency_key_is_what_the_page_says() {
        assert_eq!(
            idempotency_key(&identity()).to_hex(),
            "b384cac1a8ab873bf1de4ff527fd26f9a831bde045c467c01cb361f4fa12cf2a"
        );
    }

    #[test]
    fn every_field_is_part_of_the_key() {
        let whole = identity();
        let others = [
            CallIdentity { run: RunId::from_u128(2), ..whole },
            CallIdentity { step: 3, ..whole },
            CallIdentity { call: CallId::from_u128(4), ..whole },
            CallIdentity { tool: "math.calculat", ..whole },
            CallIdentity { version: "1.0.1", ..whole },
            CallIdentity { pin: Digest::of(b"nip"), ..whole },
            CallIdentity { arguments: Digest::of(b"{}"), ..whole },
        ];
        let mut keys: Vec<Digest> = others.iter().chain([&whole]).map(idempotency_key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), others.len() + 1);
    }

    /// A number as text, in any of its spellings.
    fn number() -> impl Strategy<Value = String> {
        prop_oneof![
            "-?[1-9][0-9]{0,30}(\\.[0-9]{0,12}[1-9])?([eE][+-]?[0-9]{1,4})?",
            "(0|[1-9][0-9]{0,5})(\\.[0-9]{1,9})?"
        ]
    }

    /// A text, often with letters that Unicode can spell in several ways.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![any::<String>(), "[ab\u{e9}\u{1e69}\u{212b}\u{ac01}\u{301}\u{323}]{0,6}"]
    }

    /// A value that has a canonical form.
    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            number().prop_map(|text| parse_strict(&text).unwrap()),
            text().prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
                prop::collection::vec((text(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// The same value with the members of every object the other way round.
    fn reversed(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(reversed).collect(),
            Value::Object(members) => {
                members.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect()
            }
            leaf => leaf.clone(),
        }
    }

    /// The same value with every string and key changed.
    fn respelled(value: &Value, spell: &impl Fn(&str) -> String) -> Value {
        match value {
            Value::String(text) => spell(text).into(),
            Value::Array(items) => items.iter().map(|item| respelled(item, spell)).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, value)| (spell(key), respelled(value, spell))).collect()
            }
            leaf => leaf.clone(),
        }
    }

    proptest! {
        #[test]
        fn a_string_is_written_as_the_json_library_writes_it(text in any::<String>(), plain in "[ -~]*") {
            for text in [text, plain] {
                let canonical = Canonical::of(&Value::from(text.as_str())).unwrap();
                prop_assert_eq!(canonical.as_str(), serde_json::to_string(&text).unwrap());
            }
        }

        #[test]
        fn what_is_plain_at_a_glance_is_its_own_spelling(text in "-?0{0,2}[0-9]{0,25}") {
            if number::is_plain(&text) {
                prop_assert_eq!(number::canonical(&text), Ok(text));
            }
        }

        #[test]
        fn the_order_of_members_does_not_count(value in json_value()) {
            let canonical = Canonical::of(&value).unwrap();
            prop_assert_eq!(&canonical, &Canonical::of(&reversed(&value)).unwrap());
            prop_assert_eq!(match_digest(&value), match_digest(&reversed(&value)));
        }

        #[test]
        fn a_canonical_text_reads_back_to_itself(value in json_value()) {
            let canonical = Canonical::of(&value).unwrap();
            prop_assert_eq!(&Canonical::from_text(canonical.as_str()).unwrap(), &canonical);
            prop_assert_eq!(&Canonical::of(&canonical.value()).unwrap(), &canonical);
        }

        #[test]
        fn equal_numbers_have_one_text(digits in "[1-9][0-9]{0,20}", exponent in -60_i64..60, zeros in 0_usize..9, shift in 0_usize..30) {
            let written = format!("{digits}{}.{}e{}", "0".repeat(shift), "0".repeat(zeros + 1), exponent - shift as i64);
            let plain = format!("{digits}e{exponent}");
            let of = |text: &str| Canonical::of(&parse_strict(text).unwrap()).unwrap();
            prop_assert_eq!(of(&written), of(&plain));
            let next = format!("{digits}1e{}", exponent - 1);
            prop_assert_ne!(of(&next), of(&plain));
        }

        #[test]
        fn the_value_of_a_number_stays(text in number()) {
            let parsed = parse_strict(&text).unwrap();
            let canonical = Canonical::of(&parsed).unwrap();
            let before = parsed.as_f64();
            prop_assert_eq!(before, canonical.value().as_f64());
        }

        #[test]
        fn the_match_hash_is_stable_under_normalisation(value in json_value()) {
            use unicode_normalization::UnicodeNormalization as _;
            let apart = respelled(&value, &|text| text.nfd().collect());
            // Two keys that are one word become one key when they are spelt alike; the others do not.
            let count = |value: &Value| value.to_string().matches("\":").count();
            let together = respelled(&value, &|text| text.nfc().collect());
            prop_assume!(count(&together) == count(&value) && count(&apart) == count(&value));
            prop_assert_eq!(match_digest(&value), match_digest(&apart));
            prop_assert_eq!(match_digest(&value), match_digest(&together));
            let same_bytes = Canonical::of(&value).unwrap().digest() == Canonical::of(&apart).unwrap().digest();
            prop_assert_eq!(same_bytes, value == apart);
        }

        #[test]
        fn no_byte_can_move_over_a_border(tool in "[a-z.]{2,20}", version in "[0-9.]{1,9}") {
            let (start, end) = tool.split_at(tool.len() - 1);
            let moved = format!("{end}{version}");
            let one = CallIdentity { tool: &tool, version: &version, ..identity() };
            let other = CallIdentity { tool: start, version: &moved, ..identity() };
            prop_assert_ne!(idempotency_key(&one), idempotency_key(&other));
        }

        #[test]
        fn a_digest_reads_back(bytes in any::<[u8; 32]>()) {
            let digest = Digest::from_bytes(bytes);
            prop_assert_eq!(Digest::from_hex(&digest.to_hex()), Ok(digest));
        }
    }
}
