//! The settings, one line each. The reader of the file, the variables of the environment, `config
//! show`, the file that `config init` writes and the table in `docs/spec/configuration.md` all follow
//! this list. Rejected: a struct with serde, which knows neither the line of a value nor its source.

use mast_kernel::limits;

use super::preset::{names, preset};
use super::zone::zone;

/// What a setting may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text that is not empty.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The name of one of the known model services.
    Provider,
    /// The name of a time zone.
    Zone,
    /// The address of a Postgres server.
    Server,
    /// A whole number from 1 to this.
    Count(u32),
    /// Yes or no.
    Switch,
}

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Table and key in the file, joined by a dot.
    pub(crate) key: &'static str,
    /// The variable of the environment that sets it.
    pub(crate) variable: &'static str,
    /// What it may hold.
    pub(crate) kind: Kind,
    /// What holds when nobody sets it, as it would stand in the file; none means that it is not set.
    pub(crate) default: Option<&'static str>,
    /// What it is for, in one line.
    pub(crate) about: &'static str,
    /// A value for the commented file.
    pub(crate) example: &'static str,
}

/// Every setting, in the order of the file.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        key: "provider.name",
        variable: "MAST_PROVIDER",
        kind: Kind::Provider,
        default: None,
        about: "which model service answers; without it openai where there is a key for it, else anthropic, else the offline one",
        example: "\"ollama\"",
    },
    Setting {
        key: "provider.model",
        variable: "MAST_MODEL",
        kind: Kind::Text,
        default: None,
        about: "the model, as the service calls it",
        example: "\"qwen3:8b\"",
    },
    Setting {
        key: "provider.base_url",
        variable: "MAST_BASE_URL",
        kind: Kind::Text,
        default: None,
        about: "where the service is, if not at its usual address",
        example: "\"http://127.0.0.1:11434/v1\"",
    },
    Setting {
        key: "provider.stream",
        variable: "MAST_STREAM",
        kind: Kind::Switch,
        default: Some("true"),
        about: "whether replies are asked for piece by piece",
        example: "true",
    },
    Setting {
        key: "policy.profile",
        variable: "MAST_PROFILE",
        kind: Kind::Text,
        default: Some("default"),
        about: "the file of the policy profile; `default` is the built-in one",
        example: "\"default\"",
    },
    Setting {
        key: "policy.overlay",
        variable: "MAST_OVERLAY",
        kind: Kind::Word(&["on", "off"]),
        default: Some("on"),
        about: "whether calls that foreign text may have shaped are asked about; `off` is recorded in every run",
        example: "\"on\"",
    },
    Setting {
        key: "run.instructions",
        variable: "MAST_INSTRUCTIONS",
        kind: Kind::Text,
        default: None,
        about: "what the model is told in every run, after Mast's own words",
        example: "\"Answer in short sentences.\"",
    },
    Setting {
        key: "run.timezone",
        variable: "MAST_TIMEZONE",
        kind: Kind::Zone,
        default: None,
        about: "the zone of the date that the model is told; without it the zone of TZ, else of the machine",
        example: "\"Europe/London\"",
    },
    Setting {
        key: "run.steps",
        variable: "MAST_STEPS",
        kind: Kind::Count(limits::STEPS_MAX),
        default: Some("32"),
        about: "rounds of a run",
        example: "32",
    },
    Setting {
        key: "run.model_calls",
        variable: "MAST_MODEL_CALLS",
        kind: Kind::Count(limits::MODEL_CALLS_MAX),
        default: Some("24"),
        about: "questions to the model in a run",
        example: "24",
    },
    Setting {
        key: "run.tool_calls",
        variable: "MAST_TOOL_CALLS",
        kind: Kind::Count(limits::TOOL_CALLS_MAX),
        default: Some("64"),
        about: "calls of tools in a run",
        example: "64",
    },
    Setting {
        key: "store.url",
        variable: "MAST_STORE",
        kind: Kind::Server,
        default: None,
        about: "the Postgres server that holds the journal; without it the file mast.db in the data folder does",
        example: "\"postgres://mast@localhost/mast\"",
    },
];

/// The setting with this key.
pub(crate) fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// A value that was checked against its setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// A text or a word.
    Text(String),
    /// A number.
    Count(u32),
    /// Yes or no.
    Switch(bool),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Count(count) => write!(f, "{count}"),
            Self::Switch(switch) => write!(f, "{switch}"),
        }
    }
}

impl Kind {
    /// Reads a value from plain text: a variable, a flag, or a default.
    pub(crate) fn read(self, text: &str) -> Option<Value> {
        match self {
            Self::Text => (!text.trim().is_empty()).then(|| Value::Text(text.to_owned())),
            Self::Word(words) => words.contains(&text).then(|| Value::Text(text.to_owned())),
            Self::Provider => preset(text).map(|_| Value::Text(text.to_owned())),
            Self::Zone => zone(text).map(|_| Value::Text(text.to_owned())),
            Self::Server => is_server(text).then(|| Value::Text(text.to_owned())),
            Self::Count(max) => text.parse().ok().filter(|count| (1..=max).contains(count)).map(Value::Count),
            Self::Switch => text.parse().ok().map(Value::Switch),
        }
    }

    /// What it may hold, in words.
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Text => "a text that is not empty".to_owned(),
            Self::Word(words) => format!("one of: {}", words.join(", ")),
            Self::Provider => format!("one of: {}", names().join(", ")),
            Self::Zone => "the name of a time zone, such as Europe/London".to_owned(),
            Self::Server => "an address such as postgres://user@host/database".to_owned(),
            Self::Count(max) => format!("a whole number from 1 to {max}"),
            Self::Switch => "true or false".to_owned(),
        }
    }
}

/// Whether it begins as the address of a Postgres server does; the store reads the rest.
fn is_server(text: &str) -> bool {
    ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_and_example_can_be_read() {
        for setting in SETTINGS {
            if let Some(default) = setting.default {
                assert!(setting.kind.read(default).is_some(), "{}", setting.key);
            }
            let example = setting.example.trim_matches('"');
            assert!(setting.kind.read(example).is_some(), "{}", setting.key);
            assert_eq!(setting.key.split('.').count(), 2, "{}", setting.key);
        }
    }

    #[test]
    fn the_page_tells_every_setting_and_every_service() {
        let page = include_str!("../../../../docs/spec/configuration.md");
        for setting in SETTINGS {
            let row = format!("| `{}` | `{}` |", setting.key, setting.variable);
            assert!(page.contains(&row), "{row}");
        }
        for preset in crate::config::PRESETS {
            assert!(page.contains(&format!("| `{}` | ", preset.name)), "{}", preset.name);
        }
    }

    #[test]
    fn a_count_has_bounds() {
        let kind = Kind::Count(200);
        assert_eq!(kind.read("200"), Some(Value::Count(200)));
        for bad in ["0", "201", "-1", "1.5", "", "many"] {
            assert_eq!(kind.read(bad), None, "{bad}");
        }
    }
}
