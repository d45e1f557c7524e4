//! What holds in this start, and why: each setting from the first source that has it: a flag, a
//! variable, the settings file, the default. See `docs/spec/configuration.md`.

mod address;
mod edit;
mod environment;
mod file;
mod keys;
mod paths;
mod preset;
mod setting;
mod zone;

use std::collections::BTreeMap;
use std::path::PathBuf;

use mast_kernel::budget::{Asked, Budget};
use mast_kernel::policy::ProfileRefused;

pub(crate) use address::masked;
pub(crate) use edit::with_values;
pub(crate) use environment::Environment;
pub(crate) use file::{commented, parse, read};
pub(crate) use keys::{KEY_BYTES_MAX, closed_folder, key_for, private_folder, read_private, store_key};
pub(crate) use paths::Paths;
pub(crate) use preset::{PRESETS, Preset, preset};
pub(crate) use setting::{SETTINGS, Setting, Value};
pub(crate) use zone::local_zone;

use crate::error::Exit;
use crate::names::unknown;
use setting::Kind;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nobody set it.
    Default,
    /// The settings file, at this line.
    File(usize),
    /// A variable of the environment.
    Variable(&'static str),
    /// A flag of the command.
    Flag(&'static str),
}

impl Source {
    /// How strong it is: the stronger source holds.
    const fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File(_) => 1,
            Self::Variable(_) => 2,
            Self::Flag(_) => 3,
        }
    }
}

/// Why the configuration was refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// Neither a folder was named nor a home is known.
    #[error("no home folder is known, so the settings and the data have no place")]
    NoHome,
    /// The file that was named is not there.
    #[error("there is no settings file {}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read the settings file {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is larger than any settings file.
    #[error("the settings file {} is larger than {} bytes", path.display(), mast_kernel::limits::CONFIG_BYTES_MAX)]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It is not TOML.
    #[error("{file} line {line}: this is not TOML ({what})")]
    Syntax {
        /// The file's name.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// It has a key that is none.
    #[error("{file} line {line}: unknown key `{key}`")]
    UnknownKey {
        /// The file's name.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The key.
        key: String,
        /// The keys that stand in its place.
        known: Vec<&'static str>,
    },
    /// A table is written as a value.
    #[error("{file} line {line}: `{key}` is a table, not a value")]
    NotATable {
        /// The file's name.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The table.
        key: String,
        /// Its keys.
        known: Vec<&'static str>,
    },
    /// A value is not what its setting takes.
    #[error("{place}: `{key}` has a value that it cannot have")]
    BadValue {
        /// Where it stands.
        place: String,
        /// The setting.
        key: &'static str,
        /// What it takes.
        expected: String,
    },
    /// No service has this name.
    #[error("{place}: {}", unknown("model service", name, preset::names()))]
    UnknownService {
        /// Where it stands.
        place: String,
        /// The name.
        name: String,
    },
    /// A model was named, and nothing that could serve it.
    #[error("{place} {model} needs a service, and none is set up")]
    ModelWithoutService {
        /// Where it stands: a flag, a variable, or the setting.
        place: &'static str,
        /// The model.
        model: String,
    },
    /// The data folder cannot be used.
    #[error("the data folder {} cannot be used: {}", path.display(), crate::error::reason(source))]
    DataFolder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A key is not its owner's alone.
    #[error("others can {what} {}, so no key there is used", path.display())]
    Exposed {
        /// What others can do.
        what: &'static str,
        /// The mode that it must have, its octal digits as they are written.
        mode: u16,
        /// The file or the folder.
        path: PathBuf,
    },
    /// The chosen service wants a key, and there is none.
    #[error("{service} needs a key, and there is none")]
    NoKey {
        /// The service.
        service: &'static str,
        /// The variable that would hold it.
        variable: &'static str,
    },
    /// The chosen service has no usual model, and none was named.
    #[error("{service} is set up without a model")]
    NoModel {
        /// The service.
        service: &'static str,
    },
    /// The chosen service replays a script, and none was named.
    #[error("the scripted provider has no script")]
    NoScript,
    /// A policy profile is not one, or its own tests fail.
    #[error("{0}")]
    Profile(Box<ProfileRefused>),
    /// A policy profile cannot be read.
    #[error("cannot read the policy profile {}: {}", path.display(), crate::error::reason(source))]
    NoProfile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A script or a service cannot be set up as asked.
    #[error("{message}")]
    Provider {
        /// What is wrong.
        message: String,
    },
}

impl ConfigError {
    /// The exit code: the configuration is refused, or the command was not asked rightly.
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::NoScript => Exit::Usage,
            _ => Exit::Refused,
        }
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NoHome => "set HOME, or name both with --config FILE --data-dir DIR".to_owned(),
            Self::Profile(refused) => refused.hint(),
            Self::NoProfile { .. } => "nothing is judged without it; see: mast policy --help".to_owned(),
            Self::Missing { .. } => "write one with: mast config init".to_owned(),
            Self::Unreadable { source, .. } => format!("the system says: {source}"),
            Self::TooLarge { .. } | Self::Provider { .. } => String::new(),
            Self::Syntax { .. } => "correct the line, or begin anew with: mast config init".to_owned(),
            Self::UnknownKey { key, .. } if is_secret(key) => {
                "keys do not go here: mast config key openai".to_owned()
            }
            Self::UnknownService { .. } => format!("known: {}", preset::names().join(", ")),
            Self::ModelWithoutService { model, .. } => {
                format!("add --provider ollama, or: mast config use ollama --model {model}")
            }
            Self::Exposed { mode, path, .. } => format!("chmod {mode} {}", path.display()),
            Self::DataFolder { .. } => "name another one with --data-dir DIR".to_owned(),
            Self::UnknownKey { known, .. } => format!("known here: {}", known.join(", ")),
            Self::NotATable { key, known, .. } => {
                format!("write [{key}] on a line of its own, and below it: {}", known.join(", "))
            }
            Self::BadValue { expected, .. } => format!("it takes {expected}"),
            Self::NoKey { service, variable } => {
                format!("set {variable}, or: mast config key {service}")
            }
            Self::NoModel { service } => {
                format!("name one: mast config use {service} --model NAME, or for one run: --model NAME")
            }
            Self::NoScript => "name one: mast run --script FILE".to_owned(),
        }
    }
}

/// Whether somebody took the settings for the place of a secret.
fn is_secret(key: &str) -> bool {
    ["key", "token", "secret", "password"].iter().any(|word| key.to_ascii_lowercase().contains(word))
}

/// Values given by flags: the setting, the flag's name and the text.
pub(crate) type Flags = Vec<(&'static str, &'static str, String)>;

/// The settings in force.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Every value that some source has for a setting, the one that holds first.
    values: BTreeMap<&'static str, Vec<(Value, Source)>>,
}

impl Config {
    /// Reads the file and joins it with the variables and the flags.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] with the first thing that is wrong.
    pub(crate) fn load(paths: &Paths, environment: &Environment, flags: &Flags) -> Result<Self, ConfigError> {
        let text = read(&paths.config)?;
        if text.is_none() && paths.config_named {
            return Err(ConfigError::Missing { path: paths.config.clone() });
        }
        let of_file = parse(&paths.config, text.as_deref().unwrap_or_default())?;
        let mut values = BTreeMap::new();
        for setting in SETTINGS {
            let mut found = Vec::new();
            if let Some((_, name, text)) = flags.iter().find(|(key, _, _)| *key == setting.key) {
                found.push((read_text(setting, text, name)?, Source::Flag(name)));
            }
            if let Some(text) = environment.text(setting.variable) {
                found.push((read_text(setting, text, setting.variable)?, Source::Variable(setting.variable)));
            }
            if let Some((value, line)) = of_file.get(setting.key) {
                found.push((value.clone(), Source::File(*line)));
            }
            if let Some(value) = setting.default.and_then(|text| setting.kind.read(text)) {
                found.push((value, Source::Default));
            }
            values.insert(setting.key, found);
        }
        Ok(Self { values })
    }

    /// The value of a setting that holds, and its source.
    pub(crate) fn get(&self, key: &str) -> Option<&(Value, Source)> {
        self.values.get(key)?.first()
    }

    /// The text of a setting that belongs to the chosen service. An address or a model that stands beside
    /// the name of one service is not used with another that a stronger source names: otherwise
    /// `--provider anthropic` would send a key to the address of somebody else.
    pub(crate) fn text_of_service(&self, key: &str, service: &str) -> Option<&str> {
        let names = self.values.get("provider.name").map(Vec::as_slice).unwrap_or_default();
        let belongs = |source: &Source| {
            let beside = names.iter().find(|(_, of_name)| of_name.rank() <= source.rank());
            match beside {
                Some((name, _)) => preset(&name.to_string()).is_some_and(|preset| preset.name == service),
                None => true,
            }
        };
        self.values.get(key)?.iter().find_map(|(value, source)| match value {
            Value::Text(text) if belongs(source) => Some(text.as_str()),
            _ => None,
        })
    }

    /// The text of a setting.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some((Value::Text(text), _)) => Some(text),
            _ => None,
        }
    }

    /// Whether a switch is on.
    pub(crate) fn is_on(&self, key: &str) -> bool {
        matches!(self.get(key), Some((Value::Switch(true), _)))
    }

    /// The budget of a run.
    pub(crate) fn budget(&self) -> Budget {
        let default = Asked::from(Budget::default());
        let count = |key, otherwise| match self.get(key) {
            Some((Value::Count(count), _)) => *count,
            _ => otherwise,
        };
        Budget::from(Asked {
            steps: count("run.steps", default.steps),
            model_calls: count("run.model_calls", default.model_calls),
            tool_calls: count("run.tool_calls", default.tool_calls),
        })
    }
}

fn read_text(setting: &Setting, text: &str, place: &str) -> Result<Value, ConfigError> {
    setting.kind.read(text).ok_or_else(|| bad_value(setting, text, place.to_owned()))
}

/// What is said of a text that is no value of its setting.
fn bad_value(setting: &Setting, text: &str, place: String) -> ConfigError {
    if setting.kind == Kind::Provider && !text.is_empty() {
        return ConfigError::UnknownService { place, name: text.to_owned() };
    }
    ConfigError::BadValue { place, key: setting.key, expected: setting.kind.expected() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(file: &str, variables: &[(&'static str, &str)], flags: &Flags) -> Result<Config, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config.toml");
        std::fs::write(&config, file).unwrap();
        let paths = Paths { config, config_named: true, data: folder.path().to_path_buf() };
        Config::load(&paths, &Environment::of(variables), flags)
    }

    #[test]
    fn a_flag_wins_over_a_variable_over_the_file_over_the_default() {
        let file = "[run]\nsteps = 8\nmodel_calls = 9\n[provider]\nmodel = \"of-file\"\n";
        let variables = [("MAST_STEPS", "10"), ("MAST_MODEL", "of-variable")];
        let flags = vec![("provider.model", "--model", "of-flag".to_owned())];
        let config = load(file, &variables, &flags).unwrap();
        let shown = |key| config.get(key).map(|(value, source)| format!("{value} {source:?}")).unwrap();
        assert_eq!(shown("provider.model"), "of-flag Flag(\"--model\")");
        assert_eq!(shown("run.steps"), "10 Variable(\"MAST_STEPS\")");
        assert_eq!(shown("run.model_calls"), "9 File(3)");
        assert_eq!(shown("run.tool_calls"), "64 Default");
        assert_eq!(config.get("provider.name"), None);
        let budget = Asked::from(config.budget());
        assert_eq!((budget.steps, budget.model_calls, budget.tool_calls), (10, 9, 64));
    }

    #[test]
    fn an_address_stays_with_its_service() {
        let file = "[provider]\nname = \"ollama\"\nbase_url = \"http://10.0.0.9/v1\"\nmodel = \"m\"\n";
        let of = |variables: &[(&'static str, &str)], flag: Option<&str>, service: &str| {
            let flags =
                flag.map(|name| ("provider.name", "--provider", name.to_owned())).into_iter().collect();
            let config = load(file, variables, &flags).unwrap();
            config.text_of_service("provider.base_url", service).map(str::to_owned)
        };
        assert_eq!(of(&[], None, "ollama").as_deref(), Some("http://10.0.0.9/v1"));
        assert_eq!(of(&[], Some("ollama"), "ollama").as_deref(), Some("http://10.0.0.9/v1"));
        assert_eq!(of(&[], Some("anthropic"), "anthropic"), None);
        assert_eq!(of(&[("MAST_PROVIDER", "openai")], None, "openai"), None);
        assert_eq!(of(&[("MAST_BASE_URL", "http://x/v1")], Some("anthropic"), "anthropic"), None);
        let only_address = [("MAST_PROVIDER", "openai"), ("MAST_BASE_URL", "http://x/v1")];
        assert_eq!(of(&only_address, None, "openai").as_deref(), Some("http://x/v1"));
    }

    #[test]
    fn an_address_beside_no_name_serves_whichever_service_is_chosen() {
        let flags = vec![("provider.name", "--provider", "anthropic".to_owned())];
        let config = load("[provider]\nbase_url = \"http://x/v1\"\n", &[], &flags).unwrap();
        assert_eq!(config.text_of_service("provider.base_url", "anthropic"), Some("http://x/v1"));
    }

    #[test]
    fn a_bad_variable_is_refused_under_its_name() {
        let error = load("", &[("MAST_STEPS", "many")], &Flags::new()).unwrap_err();
        assert_eq!(error.to_string(), "MAST_STEPS: `run.steps` has a value that it cannot have");
        assert_eq!(error.exit(), Exit::Refused);
    }
}
