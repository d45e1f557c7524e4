//! Ids: 128 bits (UUIDv7 when the platform makes them), one Rust type for each kind, written as a kind
//! prefix and 26 characters of Crockford's base 32, so that a person can see what an id names and read
//! it aloud. Rejected: bare UUIDs (kinds get mixed up) and numbers from a sequence (they leak counts).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Crockford's base 32: no I, L, O or U.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters of an id after its prefix.
const N_CHARS: usize = 26;

/// A text that is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an id of the form {prefix}_ and 26 characters of base 32")]
pub struct NotAnId {
    /// The prefix that was wanted.
    pub prefix: &'static str,
}

/// Writes the kind and 128 bits as 26 lower-case characters, most significant first.
fn encode(prefix: &str, bits: u128) -> String {
    let mut text = String::with_capacity(prefix.len() + 1 + N_CHARS);
    text.push_str(prefix);
    text.push('_');
    for place in (0..N_CHARS).rev() {
        let digit = usize::try_from((bits >> (5 * place)) & 31).unwrap_or(0);
        text.push(ALPHABET.get(digit).copied().map_or('0', char::from));
    }
    text
}

/// Reads 26 characters back; upper case and Crockford's look-alikes (i, l, o) are accepted.
fn decode(text: &str) -> Option<u128> {
    if text.len() != N_CHARS {
        return None;
    }
    text.bytes().try_fold(0_u128, |bits, byte| {
        let plain = match byte.to_ascii_lowercase() {
            b'i' | b'l' => b'1',
            b'o' => b'0',
            other => other,
        };
        let digit = ALPHABET.iter().position(|candidate| *candidate == plain)?;
        if bits >> 123 != 0 {
            return None;
        }
        Some((bits << 5) | u128::try_from(digit).ok()?)
    })
}

macro_rules! typed_id {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// What every id of this kind begins with.
            pub const PREFIX: &'static str = $prefix;

            /// The id with these 128 bits.
            #[must_use]
            pub const fn from_u128(bits: u128) -> Self {
                Self(bits)
            }

            /// The 128 bits of the id.
            #[must_use]
            pub const fn as_u128(self) -> u128 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&encode($prefix, self.0))
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                text.strip_prefix(concat!($prefix, "_"))
                    .and_then(decode)
                    .map(Self)
                    .ok_or(NotAnId { prefix: $prefix })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&encode($prefix, self.0))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

typed_id! {
    /// A whole store: made once when its first table is made, so that a copy put back can be told.
    StoreId = "sto";
    /// A conversation.
    SessionId = "ses";
    /// The work on one user message.
    RunId = "run";
    /// One proposed use of one tool.
    CallId = "call";
    /// A question to a person.
    ApprovalId = "apr";
    /// A remembered yes.
    GrantId = "grt";
    /// Stored bytes that a person or a tool can fetch.
    ArtifactId = "art";
    /// One item of a conversation.
    ItemId = "item";
    /// A person or a program that acts.
    PrincipalId = "prn";
    /// The owner of sessions that must never see each other's.
    TenantId = "ten";
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_id_shows_its_kind() {
        assert_eq!(RunId::from_u128(1).to_string(), "run_00000000000000000000000001");
        assert_eq!(RunId::from_u128(u128::MAX).to_string(), "run_7zzzzzzzzzzzzzzzzzzzzzzzzz");
        assert!("call_00000000000000000000000000".parse::<RunId>().is_err());
        assert!("run_zzzzzzzzzzzzzzzzzzzzzzzzzz".parse::<RunId>().is_err(), "over 128 bits");
    }

    proptest! {
        #[test]
        fn an_id_reads_back(bits in any::<u128>()) {
            let id = SessionId::from_u128(bits);
            prop_assert_eq!(id.to_string().parse::<SessionId>(), Ok(id));
            prop_assert_eq!(id.to_string().to_uppercase().replacen("SES", "ses", 1).parse::<SessionId>(), Ok(id));
        }
    }
}
