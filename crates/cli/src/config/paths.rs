//! Where Mast's files are: the settings in the platform's folder for configuration, everything else
//! in its folder for data. See `docs/spec/configuration.md`.

use std::path::{Path, PathBuf};

use super::{ConfigError, Environment};

/// The folders of this start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    /// The settings file.
    pub(crate) config: PathBuf,
    /// Whether the person named that file, so that it must be there.
    pub(crate) config_named: bool,
    /// The data folder.
    pub(crate) data: PathBuf,
}

impl Paths {
    /// The folders: a flag first, then a variable, then the platform's own.
    ///
    /// # Errors
    ///
    /// [`ConfigError::NoHome`] where the platform's own is needed and not known.
    pub(crate) fn find(
        config_flag: Option<&Path>,
        data_flag: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let named = config_flag.map(Path::to_path_buf).or_else(|| environment.path("MAST_CONFIG"));
        let config_named = named.is_some();
        let config = match named {
            Some(path) => path,
            None => config_home(environment).ok_or(ConfigError::NoHome)?.join("mast").join("config.toml"),
        };
        let data = match data_flag.map(Path::to_path_buf).or_else(|| environment.path("MAST_DATA_DIR")) {
            Some(path) => path,
            None => data_home(environment).ok_or(ConfigError::NoHome)?.join("mast"),
        };
        Ok(Self { config, config_named, data })
    }

    /// The database.
    pub(crate) fn database(&self) -> PathBuf {
        self.data.join("mast.db")
    }

    /// The machine's own policy, which its administrator writes and nobody switches off; none where the
    /// platform has no such place.
    pub(crate) fn admin_profile() -> Option<&'static Path> {
        cfg!(unix).then(|| Path::new("/etc/mast/policy.toml"))
    }

    /// The folder of keys.
    pub(crate) fn keys(&self) -> PathBuf {
        self.data.join("keys")
    }
}

fn config_home(environment: &Environment) -> Option<PathBuf> {
    let home = || environment.absolute("HOME");
    if cfg!(target_os = "windows") {
        environment.absolute("APPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else {
        environment.absolute("XDG_CONFIG_HOME").or_else(|| home().map(|home| home.join(".config")))
    }
}

fn data_home(environment: &Environment) -> Option<PathBuf> {
    let home = || environment.absolute("HOME");
    if cfg!(target_os = "windows") {
        environment.absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else {
        environment.absolute("XDG_DATA_HOME").or_else(|| home().map(|home| home.join(".local/share")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    fn check(
        variables: &[(&'static str, &str)],
        flags: (Option<&str>, Option<&str>),
        config: &str,
        data: &str,
    ) {
        let (config_flag, data_flag) = (flags.0.map(Path::new), flags.1.map(Path::new));
        let paths = Paths::find(config_flag, data_flag, &Environment::of(variables)).unwrap();
        assert_eq!((paths.config.to_str().unwrap(), paths.data.to_str().unwrap()), (config, data));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_flag_wins_over_a_variable_and_that_over_the_platform() {
        let home = ("HOME", "/h");
        let xdg = [home, ("XDG_CONFIG_HOME", "/c"), ("XDG_DATA_HOME", "/d")];
        check(&[home], (None, None), "/h/.config/mast/config.toml", "/h/.local/share/mast");
        check(&xdg, (None, None), "/c/mast/config.toml", "/d/mast");
        check(
            &[home, ("XDG_DATA_HOME", "relative")],
            (None, None),
            "/h/.config/mast/config.toml",
            "/h/.local/share/mast",
        );
        check(&[("MAST_CONFIG", "m.toml"), ("MAST_DATA_DIR", "m")], (None, None), "m.toml", "m");
        check(&[("MAST_CONFIG", "m.toml")], (Some("f.toml"), Some("f")), "f.toml", "f");
    }

    #[test]
    fn without_a_home_something_must_be_named() {
        let error = Paths::find(None, None, &Environment::default()).unwrap_err();
        assert_eq!(error.to_string(), "no home folder is known, so the settings and the data have no place");
    }
}
