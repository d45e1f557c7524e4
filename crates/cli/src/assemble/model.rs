//! Which model answers: what was asked for, else the first service that there is a key for, else the
//! built-in offline one. A server that happens to listen on this machine is named and never asked: any
//! local account could be behind its port.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mast_kernel::limits::CONFIG_BYTES_MAX;
use mast_provider::{Need, Provider, ProviderConfig, Script, Secret};

use super::Start;
use crate::config::{Config, ConfigError, PRESETS, Preset, Source, key_for, preset};
use crate::error::CliError;

/// How long a local port is tried. A port of this machine answers or refuses at once.
const TRY_FOR: Duration = Duration::from_millis(40);

/// Services whose key alone chooses them, in this order. The third is for a later part.
const BY_KEY: &[&str] = &["openai", "anthropic"];
/// A key that is known and cannot be used yet.
const LATER_KEY: &str = "GEMINI_API_KEY";

/// Why a service was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The setting says so.
    Setting(Source),
    /// A script was named.
    Script,
    /// There is a key for it, here.
    Key(String),
    /// Nothing else is set up.
    Nothing,
}

impl Reason {
    /// What chose the service, in a few words.
    pub(crate) fn said(&self) -> String {
        match self {
            Self::Setting(Source::File(line)) => format!("by config.toml line {line}"),
            Self::Setting(Source::Variable(name) | Source::Flag(name)) => format!("by {name}"),
            Self::Setting(Source::Default) => "by default".to_owned(),
            Self::Script => "by a script".to_owned(),
            Self::Key(place) => format!("key from {place}"),
            Self::Nothing => "nothing else is set up".to_owned(),
        }
    }
}

/// The service that answers.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// Which one.
    pub(crate) preset: &'static Preset,
    /// Why.
    pub(crate) reason: Reason,
    /// A key that would have chosen another one, if it could be used yet.
    pub(crate) passed_over: Option<&'static str>,
    key: Option<Secret>,
}

/// Chooses a service; builds nothing yet.
///
/// # Errors
///
/// [`CliError`] when a key cannot be read.
pub(crate) fn choose(start: &Start, config: &Config, has_script: bool) -> Result<Chosen, CliError> {
    let key_of = |preset| key_for(preset, &start.paths, &start.environment);
    let chosen = |preset, reason, key| Chosen { preset, reason, passed_over: None, key };
    if has_script {
        return Ok(chosen(known("scripted")?, Reason::Script, None));
    }
    if let Some((value, source)) = config.get("provider.name") {
        let preset = known(&value.to_string())?;
        let key = key_of(preset)?.map(|(key, _)| key);
        return Ok(chosen(preset, Reason::Setting(source.clone()), key));
    }
    for name in BY_KEY {
        let preset = known(name)?;
        if let Some((key, place)) = key_of(preset)? {
            return Ok(chosen(preset, Reason::Key(place), Some(key)));
        }
    }
    let passed_over = start.environment.text(LATER_KEY).map(|_| LATER_KEY);
    Ok(Chosen { passed_over, ..chosen(known("offline")?, Reason::Nothing, None) })
}

fn known(name: &str) -> Result<&'static Preset, ConfigError> {
    let unknown = || ConfigError::Provider { message: format!("no model service is named `{name}`") };
    preset(name).ok_or_else(unknown)
}

impl Chosen {
    /// The model that will answer, if it is known before it is asked.
    pub(crate) fn model<'c>(&self, config: &'c Config) -> Option<&'c str> {
        let of_protocol = || {
            let entry = mast_provider::entry(self.preset.protocol)?;
            Some(entry.default_model).filter(|model| !model.is_empty() && *model != entry.name)
        };
        let service = self.preset.name;
        config.text_of_service("provider.model", service).or(self.preset.model).or_else(of_protocol)
    }

    /// Builds it. No connection is made.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] when something that it needs is missing, [`CliError`] when the script cannot be
    /// read.
    pub(crate) fn build(
        &self,
        config: &Config,
        script: Option<&Path>,
    ) -> Result<Arc<dyn Provider>, CliError> {
        self.build_from(config, script, 0)
    }

    /// The same, for a run of whose script so many turns were used before.
    ///
    /// # Errors
    ///
    /// As [`Self::build`].
    pub(crate) fn build_from(
        &self,
        config: &Config,
        script: Option<&Path>,
        script_start: usize,
    ) -> Result<Arc<dyn Provider>, CliError> {
        let preset = self.preset;
        let needs = mast_provider::entry(preset.protocol).map_or(&[][..], |entry| entry.needs);
        if preset.needs_key && self.key.is_none() {
            let variable = preset.key_variable.unwrap_or_default();
            return Err(ConfigError::NoKey { service: preset.name, variable }.into());
        }
        let model = self.model(config).map(str::to_owned);
        if self.reason == Reason::Nothing
            && let Some((named, source)) = config.get("provider.model")
        {
            let place = match source {
                Source::Flag(name) | Source::Variable(name) => name,
                Source::File(_) | Source::Default => "provider.model",
            };
            return Err(ConfigError::ModelWithoutService { place, model: named.to_string() }.into());
        }
        if model.is_none() && needs.contains(&Need::Model) {
            return Err(ConfigError::NoModel { service: preset.name }.into());
        }
        // A script is known by its place, so that its run can be taken up again.
        let place = script.and_then(|path| std::fs::canonicalize(path).ok());
        let model = place.map(|place| place.display().to_string()).or(model);
        let script = match script {
            Some(path) => Some(read_script(path)?),
            None if needs.contains(&Need::Script) => return Err(ConfigError::NoScript.into()),
            None => None,
        };
        let built = ProviderConfig {
            model,
            base_url: config
                .text_of_service("provider.base_url", preset.name)
                .or(preset.base_url)
                .map(str::to_owned),
            key: self.key.clone(),
            streaming: config.is_on("provider.stream"),
            script,
            script_start,
            ..ProviderConfig::default()
        };
        let refused = |error: mast_provider::BuildError| ConfigError::Provider { message: error.to_string() };
        Ok(mast_provider::build(preset.protocol, &built).map_err(refused)?)
    }
}

fn read_script(path: &Path) -> Result<Script, CliError> {
    let refused = |message| ConfigError::Provider { message };
    let unreadable = |error: std::io::Error| {
        refused(format!("cannot read the script {}: {}", path.display(), crate::error::reason(&error)))
    };
    let bytes = match crate::files::read(path, CONFIG_BYTES_MAX) {
        Ok((bytes, _)) => bytes,
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            let message = format!("the script {} is larger than {CONFIG_BYTES_MAX} bytes", path.display());
            return Err(refused(message).into());
        }
        Err(error) => return Err(unreadable(error).into()),
    };
    let not_text = |_| refused(format!("the script {} is not UTF-8 text", path.display()));
    let text = String::from_utf8(bytes).map_err(not_text)?;
    let parsed = Script::parse(&text).map_err(|fault| {
        // A fault begins with what it is about; here that has a name.
        let fault = fault.to_string();
        let said = fault.strip_prefix("the script").unwrap_or(&fault);
        refused(format!("the script {}{said}", path.display()))
    });
    Ok(parsed?)
}

/// Services of this machine whose port takes a connection. Nothing is sent.
pub(crate) fn local_servers() -> Vec<&'static Preset> {
    let answers = |preset: &&'static Preset| {
        preset.local_port.is_some_and(|port| {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            TcpStream::connect_timeout(&address, TRY_FOR).is_ok()
        })
    };
    PRESETS.iter().filter(answers).collect()
}
