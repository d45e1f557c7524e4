//! Changes single values of the settings file and leaves every other line as it is, comments too.
//! Rejected: reading the file into a value and writing it again, which loses what a person wrote
//! there; and a TOML editor as a dependency, for three keys.

use std::path::Path;

use super::file::parse;
use super::{ConfigError, Value};

/// The text with these settings of one table set, or taken out where the value is none. Every other
/// line stays.
///
/// # Errors
///
/// [`ConfigError`] when the text is not a settings file, before or after the change.
pub(crate) fn with_values(
    path: &Path,
    text: &str,
    table: &str,
    values: &[(&'static str, Option<String>)],
) -> Result<String, ConfigError> {
    parse(path, text)?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (key, value) in values {
        set(&mut lines, table, key, value.as_deref());
    }
    let changed = lines.join("\n") + "\n";
    let holds = parse(path, &changed).unwrap_or_default();
    let is_set = |(key, value): &(&'static str, Option<String>)| {
        let found = holds.iter().find(|(full, _)| full.split_once('.') == Some((table, *key)));
        found.map(|(_, (found, _))| found.clone()) == value.clone().map(Value::Text)
    };
    if !values.iter().all(is_set) {
        let message = format!(
            "{} is written in a way that cannot be changed line by line: set [{table}] in it by hand",
            path.display()
        );
        return Err(ConfigError::Provider { message });
    }
    Ok(changed)
}

fn set(lines: &mut Vec<String>, table: &str, key: &str, value: Option<&str>) {
    let header =
        lines.iter().position(|line| line.split('#').next().unwrap_or("").trim() == format!("[{table}]"));
    let header = match (header, value) {
        (Some(header), _) => header,
        (None, None) => return,
        (None, Some(_)) => {
            if lines.last().is_some_and(|line| !line.is_empty()) {
                lines.push(String::new());
            }
            lines.push(format!("[{table}]"));
            lines.len() - 1
        }
    };
    let end = lines.iter().skip(header + 1).position(|line| line.trim_start().starts_with('['));
    let end = end.map_or(lines.len(), |offset| header + 1 + offset);
    let at = lines.iter().enumerate().take(end).skip(header + 1).find(|(_, line)| is_of(line, key));
    let written = value.map(|value| format!("{key} = {}", toml::Value::from(value)));
    match (at.map(|(place, _)| place), written) {
        (Some(place), Some(written)) => {
            if let Some(line) = lines.get_mut(place) {
                *line = written;
            }
        }
        (Some(place), None) => {
            lines.remove(place);
        }
        (None, Some(written)) => lines.insert(header + 1, written),
        (None, None) => {}
    }
}

/// Whether a line sets the key.
fn is_of(line: &str, key: &str) -> bool {
    line.split_once('=').is_some_and(|(name, _)| name.trim() == key)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn edit(text: &str, name: &str, base_url: Option<&str>) -> Result<String, ConfigError> {
        let values = [("name", Some(name.to_owned())), ("base_url", base_url.map(str::to_owned))];
        with_values(Path::new("config.toml"), text, "provider", &values)
    }

    #[test]
    fn comments_and_other_settings_stay() {
        let text = "# mine\n[provider] # who answers\nname = \"openai\" # paid\nbase_url = \"http://x\"\n# model = 3\n\n[run]\nsteps = 3\n";
        expect![[r#"
            # mine
            [provider] # who answers
            name = "ollama"
            # model = 3

            [run]
            steps = 3
        "#]]
        .assert_eq(&edit(text, "ollama", None).unwrap());
    }

    #[test]
    fn a_table_that_is_not_there_is_added() {
        expect![[r#"
            [run]
            steps = 3

            [provider]
            base_url = "http://127.0.0.1:1/v1"
            name = "vllm"
        "#]]
        .assert_eq(&edit("[run]\nsteps = 3\n", "vllm", Some("http://127.0.0.1:1/v1")).unwrap());
        assert_eq!(edit("", "vllm", None).unwrap(), "[provider]\nname = \"vllm\"\n");
    }

    #[test]
    fn what_cannot_be_changed_safely_is_not_changed() {
        for text in ["provider.name = \"openai\"\n", "provider = { name = \"openai\" }\n"] {
            let error = edit(text, "ollama", None).unwrap_err();
            assert!(error.to_string().contains("cannot be changed line by line"), "{error}");
        }
        assert!(edit("[provider\n", "ollama", None).is_err());
    }
}
