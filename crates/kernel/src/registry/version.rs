//! Versions of tools: three numbers, ordered as numbers. Rejected: the whole of semantic versioning,
//! whose pre-releases and build notes no tool of Mast has a use for.

use std::fmt;

/// A tool's version. Each number is written without leading zeros, so that a version has one spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u32, u32, u32);

impl Version {
    /// Reads three numbers joined by dots.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(number);
        let version = Self(numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

fn number(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_numbers() {
        let parse = |text| Version::parse(text).unwrap();
        assert!(parse("1.10.0") > parse("1.9.9"));
        assert!(parse("10.0.0") > parse("9.0.0"));
        assert_eq!(parse("0.0.4294967295").to_string(), "0.0.4294967295");
    }

    #[test]
    fn a_version_has_one_spelling() {
        for bad in [
            "1",
            "1.0",
            "1.0.0.0",
            "01.0.0",
            "1.00.0",
            "1.0.",
            "",
            "1.0.x",
            "+1.0.0",
            "1.0.4294967296",
            "1.0.0 ",
        ] {
            assert_eq!(Version::parse(bad), None, "{bad:?}");
        }
    }
}
