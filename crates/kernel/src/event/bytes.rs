//! A fixed number of bytes, written as lower-case hexadecimal digits: salts, keys, signatures.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `N` bytes with one spelling: `2 * N` lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes<const N: usize>([u8; N]);

/// A text that is not the wanted number of lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not {n_digits} lower-case hexadecimal digits")]
pub struct NotHex {
    /// How many digits were wanted.
    pub n_digits: usize,
}

impl<const N: usize> Bytes<N> {
    /// These bytes.
    #[must_use]
    pub const fn new(bytes: [u8; N]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; N] {
        &self.0
    }

    /// These bytes, if there are exactly `N`.
    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl<const N: usize> fmt::Display for Bytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::canonical::hex(&self.0))
    }
}

impl<const N: usize> fmt::Debug for Bytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const N: usize> FromStr for Bytes<N> {
    type Err = NotHex;

    fn from_str(text: &str) -> Result<Self, NotHex> {
        let fault = NotHex { n_digits: 2 * N };
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(fault),
        };
        if text.len() != 2 * N {
            return Err(fault);
        }
        let mut bytes = [0_u8; N];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            for place in pair {
                *byte = (*byte << 4) | digit(*place)?;
            }
        }
        Ok(Self(bytes))
    }
}

impl<const N: usize> Serialize for Bytes<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Bytes<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_spelling() {
        let bytes: Bytes<2> = "0aff".parse().unwrap();
        assert_eq!(bytes.as_bytes(), &[0x0a, 0xff]);
        assert_eq!(bytes.to_string(), "0aff");
        for bad in ["0AFF", "0af", "0afff", "0agf", "", "é0a"] {
            assert_eq!(bad.parse::<Bytes<2>>(), Err(NotHex { n_digits: 4 }), "{bad}");
        }
    }
}
