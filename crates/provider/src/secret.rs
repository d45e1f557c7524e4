//! A key that cannot print itself: no `Display`, no `Serialize`, and a `Debug` of three stars. The
//! type is the rule, so that no log line, error or derived `Debug` has to remember it.

use std::fmt;

/// Fewest bytes of a key that is looked for in a text.
const TELLABLE_BYTES_MIN: usize = 8;

/// A credential of one provider.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key; blanks around it, which come from files and copied lines, are dropped.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself, for the header of a request and nothing else.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// `text` with `instead` wherever the key stands, as it is or as JSON has it, also where a cut left only its
    /// beginning; none where it stands nowhere. A key too short to be told from other text is not looked for.
    #[must_use]
    pub fn hidden_in(&self, text: &str, instead: &str) -> Option<String> {
        if self.0.len() < TELLABLE_BYTES_MIN {
            return None;
        }
        let in_json = serde_json::to_string(&self.0).unwrap_or_default();
        let in_json = in_json.trim_start_matches('"').strip_suffix('"').unwrap_or(&self.0);
        let mut hidden = text.replace(&self.0, instead).replace(in_json, instead);
        if let Some(before) = hidden.strip_suffix('…').and_then(|cut| without_beginning(cut, &self.0)) {
            hidden = format!("{before}{instead}…");
        }
        (hidden != text).then_some(hidden)
    }

    /// `text` without the key, for words of a server that may repeat it.
    pub(crate) fn scrub(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "***") }
    }
}

/// A text without the beginning of the key that it ends in, where that is long enough to tell.
fn without_beginning<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    (TELLABLE_BYTES_MIN..key.len()).rev().find_map(|n| text.strip_suffix(key.get(..n)?))
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_print_itself() {
        let secret = Secret::new(" sk-live-1234\n");
        assert_eq!(format!("{secret:?} {:#?}", Some(&secret)), "*** Some(\n    ***,\n)");
        assert_eq!(secret.scrub("bad key sk-live-1234"), "bad key ***");
        assert_eq!(secret.expose(), "sk-live-1234");
    }
}
