//! The settings file: TOML, each value with its line. What is not a known setting is refused, since a
//! setting that is misspelt would otherwise be one that silently does not hold.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use mast_kernel::limits::CONFIG_BYTES_MAX;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::setting::{Kind, SETTINGS, Value, setting};
use super::{ConfigError, bad_value};

/// What the file sets: each key with its value and its line, counted from 1.
pub(crate) type FileValues = BTreeMap<&'static str, (Value, usize)>;

/// Reads the text of the file; none if it is not there.
pub(crate) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_path_buf(), source };
    let bytes = match crate::files::read(path, CONFIG_BYTES_MAX) {
        Ok((bytes, _)) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            return Err(ConfigError::TooLarge { path: path.to_path_buf() });
        }
        Err(error) => return Err(unreadable(error)),
    };
    let text = String::from_utf8(bytes).map_err(|error| ConfigError::Syntax {
        file: shown(path),
        line: 1 + error
            .as_bytes()
            .iter()
            .take(error.utf8_error().valid_up_to())
            .filter(|b| **b == b'\n')
            .count(),
        what: "this is not UTF-8 text".to_owned(),
    })?;
    Ok(Some(text))
}

/// Reads the settings out of the text of the file.
pub(crate) fn parse(path: &Path, text: &str) -> Result<FileValues, ConfigError> {
    let reader = Reader { file: shown(path), text };
    let document = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        file: reader.file.clone(),
        line: reader.line(&error.span().unwrap_or_default()),
        what: error.message().lines().collect::<Vec<_>>().join(", "),
    })?;
    let mut values = FileValues::new();
    for (table, content) in document.get_ref() {
        reader.table(table, content, &mut values)?;
    }
    Ok(values)
}

/// What the file is called in a message: its name alone, as a person thinks of it.
fn shown(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

struct Reader<'t> {
    file: String,
    text: &'t str,
}

impl Reader<'_> {
    /// The line of a place in the text, counted from 1.
    fn line(&self, span: &Range<usize>) -> usize {
        1 + self.text.bytes().take(span.start).filter(|byte| *byte == b'\n').count()
    }

    fn table(
        &self,
        name: &Spanned<toml::de::DeString<'_>>,
        content: &Spanned<DeValue<'_>>,
        values: &mut FileValues,
    ) -> Result<(), ConfigError> {
        let table = name.get_ref().as_ref();
        if !tables().contains(&table) {
            return Err(self.unknown(table, name, tables()));
        }
        let DeValue::Table(entries) = content.get_ref() else {
            let known = keys_of(table);
            return Err(ConfigError::NotATable {
                file: self.file.clone(),
                line: self.line(&name.span()),
                key: table.to_owned(),
                known,
            });
        };
        for (key, value) in entries {
            let full = format!("{table}.{}", key.get_ref());
            let Some(setting) = setting(&full) else {
                return Err(self.unknown(&full, key, keys_of(table)));
            };
            let read = read_value(setting.kind, value.get_ref()).ok_or_else(|| {
                let text = value.get_ref().as_str().unwrap_or_default();
                bad_value(setting, text, format!("{} line {}", self.file, self.line(&value.span())))
            })?;
            values.insert(setting.key, (read, self.line(&key.span())));
        }
        Ok(())
    }

    fn unknown(
        &self,
        key: &str,
        at: &Spanned<toml::de::DeString<'_>>,
        known: Vec<&'static str>,
    ) -> ConfigError {
        ConfigError::UnknownKey {
            file: self.file.clone(),
            line: self.line(&at.span()),
            key: key.to_owned(),
            known,
        }
    }
}

fn read_value(kind: Kind, value: &DeValue<'_>) -> Option<Value> {
    match (kind, value) {
        (Kind::Text | Kind::Word(_) | Kind::Provider | Kind::Zone | Kind::Server, DeValue::String(text)) => {
            kind.read(text)
        }
        (Kind::Count(_), DeValue::Integer(number)) if number.radix() == 10 => kind.read(number.as_str()),
        (Kind::Switch, DeValue::Boolean(switch)) => Some(Value::Switch(*switch)),
        _ => None,
    }
}

/// The tables of the file, each once, in order.
fn tables() -> Vec<&'static str> {
    let mut tables: Vec<&'static str> =
        SETTINGS.iter().filter_map(|setting| setting.key.split('.').next()).collect();
    tables.dedup();
    tables
}

/// The keys of one table.
fn keys_of(table: &str) -> Vec<&'static str> {
    let of_table = SETTINGS.iter().filter_map(|setting| setting.key.split_once('.'));
    of_table.filter(|(name, _)| *name == table).map(|(_, key)| key).collect()
}

/// The commented file that `config init` writes: every setting as a comment, with its default.
pub(crate) fn commented() -> String {
    let mut text = String::from(
        "# Settings of Mast. Every line is optional; `mast config show` tells what holds and why.\n",
    );
    let mut open = "";
    for setting in SETTINGS {
        let Some((table, key)) = setting.key.split_once('.') else { continue };
        if table != open {
            text.push_str(&format!("\n[{table}]\n"));
            open = table;
        }
        text.push_str(&format!("# {}\n# {key} = {}\n", setting.about, setting.example));
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expect: &Expect) {
        let shown = match parse(Path::new("/etc/mast/config.toml"), text) {
            Ok(values) => format!("{values:?}"),
            Err(error) => format!("{error} | {}", error.hint()),
        };
        expect.assert_eq(&shown);
    }

    #[test]
    fn values_with_their_lines() {
        check(
            "# a comment\n[provider]\nname = \"ollama\"\n\n[run]\nsteps = 8 # few\n",
            &expect![[r#"{"provider.name": (Text("ollama"), 3), "run.steps": (Count(8), 6)}"#]],
        );
        check("provider.stream = false", &expect![[r#"{"provider.stream": (Switch(false), 1)}"#]]);
        check("", &expect!["{}"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        check(
            "[run]\nsteps = 8\n\n[polcy]\noverlay = \"on\"\n",
            &expect!["config.toml line 4: unknown key `polcy` | known here: provider, policy, run, store"],
        );
        check(
            "[run]\n\nstep = 8\n",
            &expect![
                "config.toml line 3: unknown key `run.step` | known here: instructions, timezone, steps, model_calls, tool_calls"
            ],
        );
        check(
            "[run]\nsteps = 201\n",
            &expect![
                "config.toml line 2: `run.steps` has a value that it cannot have | it takes a whole number from 1 to 200"
            ],
        );
        check(
            "[run]\nsteps = \"8\"\n",
            &expect![
                "config.toml line 2: `run.steps` has a value that it cannot have | it takes a whole number from 1 to 200"
            ],
        );
        check(
            "run = 3\n",
            &expect![
                "config.toml line 1: `run` is a table, not a value | write [run] on a line of its own, and below it: instructions, timezone, steps, model_calls, tool_calls"
            ],
        );
        check(
            "[run]\nsteps = = 3\n",
            &expect![
                "config.toml line 2: this is not TOML (extra `=`, expected nothing) | correct the line, or begin anew with: mast config init"
            ],
        );
        check(
            "[provider]\nname = \"chatgtp\"\n",
            &expect![
                "config.toml line 2: no model service named `chatgtp` | known: offline, scripted, openai, anthropic, openrouter, ollama, lmstudio, llamacpp, vllm"
            ],
        );
    }

    #[test]
    fn the_commented_file_sets_nothing_and_shows_everything() {
        assert_eq!(parse(Path::new("c.toml"), &commented()).unwrap(), FileValues::new());
        let uncommented = commented().replace("# name", "name").replace("# steps", "steps");
        assert_eq!(parse(Path::new("c.toml"), &uncommented).unwrap().len(), 2);
    }
}
