//! What is not shown. The values of stored credentials stand nowhere in what is printed: their names stand
//! instead. What merely looks secret is hidden on a card until the person asks to see it, which they must before
//! a yes.
//!
//! Rejected: cutting or replacing whatever looks secret for good. A person cannot judge what they may
//! never see.

use std::borrow::Cow;
use std::sync::OnceLock;

use console::measure_text_width;
use mast_provider::Secret;
use serde_json::Value;

/// Fewest characters of a word that is taken for a key by its looks.
const KEY_CHARS_MIN: usize = 20;
/// How keys of well-known services begin.
const KEY_BEGINNINGS: &[&str] =
    &["sk-", "sk_", "pk_", "ghp_", "gho_", "github_pat_", "glpat-", "xox", "AKIA", "ASIA", "AIza", "eyJ"];
/// Parts of the names of fields that hold secrets.
const SECRET_NAMES: &[&str] = &["password", "passwd", "secret", "token", "api_key", "apikey", "credential"];

/// The stored credentials of this start, name and value. The process has one screen, and no place that prints may
/// forget them.
static CREDENTIALS: OnceLock<Vec<(String, Secret)>> = OnceLock::new();

/// Keeps the values of these credentials out of everything that is printed from now on.
pub(crate) fn keep_back(credentials: Vec<(String, Secret)>) {
    // A process starts one verb.
    let _first = CREDENTIALS.set(credentials);
}

/// A text with the names of stored credentials where their values stood.
pub(super) fn veiled(text: &str) -> Cow<'_, str> {
    veil(CREDENTIALS.get().map_or(&[], Vec::as_slice), text)
}

fn veil<'t>(credentials: &[(String, Secret)], text: &'t str) -> Cow<'t, str> {
    credentials.iter().fold(Cow::Borrowed(text), |text, (name, secret)| {
        let hidden = secret.hidden_in(&text, &format!("[credential {name}]"));
        hidden.map_or(text, Cow::Owned)
    })
}

/// What may be seen on a card.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sight {
    /// Whether what looks secret is shown.
    pub(crate) is_revealed: bool,
}

impl Sight {
    /// The text of a value, with what is not to be seen replaced; whether anything is hidden that a key
    /// would show.
    pub(crate) fn of(self, name: &str, value: &Value) -> (String, bool) {
        let text = veiled(&value.to_string()).into_owned();
        if self.is_revealed || !looks_secret(name, &text) {
            return (text, false);
        }
        (format!("(hidden: it looks secret; {} columns; press r to see it)", measure_text_width(&text)), true)
    }
}

/// Whether a field is named like a secret, or holds a word that looks like a key.
fn looks_secret(name: &str, text: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_named = SECRET_NAMES.iter().any(|part| name.contains(part));
    is_named || text.contains("PRIVATE KEY-----") || text.split(|c: char| !is_of_key(c)).any(is_key)
}

const fn is_of_key(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// A long word without a space that mixes letters and digits, or begins as keys do.
fn is_key(word: &str) -> bool {
    let has = |test: fn(&u8) -> bool| word.bytes().any(|byte| test(&byte));
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let begins = KEY_BEGINNINGS.iter().any(|beginning| word.starts_with(beginning));
    word.len() >= KEY_CHARS_MIN && (begins || is_mixed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_looks_secret_is_hidden_until_it_is_asked_for() {
        let closed = Sight::default();
        for (name, value) in [
            ("password", json!("hunter2")),
            ("content", json!("use sk-abcdefghijklmnopqrstuv please")),
            ("body", json!("-----BEGIN PRIVATE KEY-----\nMII")),
            ("text", json!("aB3dE6gH9jK2mN5pQ8sT")),
        ] {
            assert!(closed.of(name, &value).1, "{name}");
            let open = Sight { is_revealed: true };
            assert_eq!(open.of(name, &value), (value.to_string(), false));
        }
        for (name, value) in [
            ("content", json!("hello")),
            ("path", json!("src/a_very_long_module_name/and_another.rs")),
            ("url", json!("https://example.com/a/b/c")),
            ("expression", json!("123456789012345678901234567890 * 2")),
        ] {
            assert_eq!(closed.of(name, &value), (value.to_string(), false), "{name}");
        }
    }

    #[test]
    fn only_stored_credentials_are_replaced_and_by_their_name() {
        let stored = [("openai".to_owned(), Secret::new("top\"secretvalue"))];
        for (text, shown) in [
            ("a top\"secretvalue b", "a [credential openai] b"),
            ("{\"body\":\"top\\\"secretvalue\"}", "{\"body\":\"[credential openai]\"}"),
            ("calls with top\"secretv…", "calls with [credential openai]…"),
            ("a top b…", "a top b…"),
            ("topsecretvalue", "topsecretvalue"),
        ] {
            assert_eq!(veil(&stored, text), shown);
        }
    }
}
