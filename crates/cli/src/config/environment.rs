//! The one place that reads the environment: a copy of the variables that Mast knows, taken once at the
//! start. Everything else is handed this copy, so that a run cannot depend on a variable that nobody
//! looks for here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use super::preset::PRESETS;
use super::setting::SETTINGS;

/// Variables besides those of settings and keys.
const OTHERS: &[&str] = &[
    "MAST_CONFIG",
    "MAST_DATA_DIR",
    "MAST_LOG",
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "APPDATA",
    "LOCALAPPDATA",
    "NO_COLOR",
    "COLUMNS",
    "TERM",
    "TZ",
    "PATH",
    #[cfg(debug_assertions)]
    "MAST_TEST_DIE",
];

/// The variables that Mast knows, as they were at the start.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<&'static str, OsString>,
}

/// Names only: the values may be keys.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

impl Environment {
    /// Copies the known variables of the process.
    pub(crate) fn of_process() -> Self {
        let of_settings = SETTINGS.iter().map(|setting| setting.variable);
        let of_keys = PRESETS.iter().filter_map(|preset| preset.key_variable);
        let names = OTHERS.iter().copied().chain(of_settings).chain(of_keys).chain(["GEMINI_API_KEY"]);
        let variables = names.filter_map(|name| Some((name, std::env::var_os(name)?))).collect();
        Self { variables }
    }

    /// Variables given by hand.
    #[cfg(test)]
    pub(crate) fn of(variables: &[(&'static str, &str)]) -> Self {
        Self { variables: variables.iter().map(|(name, value)| (*name, OsString::from(value))).collect() }
    }

    /// The text of a variable that is set and not empty. One that is not UTF-8 counts as not set.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.variables.get(name)?.to_str().filter(|text| !text.is_empty())
    }

    /// The path in a variable that is set and not empty.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// The absolute path in a variable: the base folder rules ignore a relative one.
    pub(crate) fn absolute(&self, name: &str) -> Option<PathBuf> {
        self.path(name).filter(|path| path.is_absolute())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_print_what_may_be_a_key() {
        let environment = Environment::of(&[("OPENAI_API_KEY", "sk-1234"), ("HOME", "relative")]);
        assert_eq!(format!("{environment:?}"), "{\"HOME\", \"OPENAI_API_KEY\"}");
        assert_eq!(environment.absolute("HOME"), None);
        assert_eq!(environment.text("OPENAI_API_KEY"), Some("sk-1234"));
    }
}
