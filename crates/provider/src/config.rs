//! What a provider is built from. One value serves them all, so that the list of providers can be a
//! plain table; each provider takes what it needs and says clearly what is missing.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mast_kernel::trust::Sensitivity;
use thiserror::Error;

use crate::contract::Provider;
use crate::pacing::{Pacing, TimerPacing};
use crate::script::Script;
use crate::secret::Secret;

/// What a provider is built from.
#[derive(Clone)]
pub struct ProviderConfig {
    /// The model; the provider's default where none is given.
    pub model: Option<String>,
    /// Address up to and with the version, such as `http://127.0.0.1:11434/v1`.
    pub base_url: Option<String>,
    /// The key.
    pub key: Option<Secret>,
    /// Whether replies are asked for piece by piece. Off is for servers that cannot.
    pub streaming: bool,
    /// How long it may take.
    pub time: TimeLimits,
    /// The most sensitive text that it may be sent.
    pub max_sensitivity: Sensitivity,
    /// The script of `scripted`.
    pub script: Option<Script>,
    /// How many turns of the script were used before, when a run goes on in another process.
    pub script_start: usize,
    /// Waiting and chance.
    pub pacing: Arc<dyn Pacing>,
}

/// The address is shown without its query, which some services use for keys.
impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base_url = self.base_url.as_deref().map(without_secrets);
        f.debug_struct("ProviderConfig")
            .field("model", &self.model)
            .field("base_url", &base_url)
            .field("key", &self.key)
            .field("streaming", &self.streaming)
            .field("time", &self.time)
            .field("max_sensitivity", &self.max_sensitivity)
            .field("script_start", &self.script_start)
            .finish_non_exhaustive()
    }
}

fn without_secrets(address: &str) -> String {
    let plain = address.split(['?', '#']).next().unwrap_or_default();
    match (plain.split_once("://"), plain.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        (_, None) => plain.to_owned(),
    }
}

impl Default for ProviderConfig {
    fn default() -> Self {
        Self {
            model: None,
            base_url: None,
            key: None,
            streaming: true,
            time: TimeLimits::default(),
            max_sensitivity: Sensitivity::Private,
            script: None,
            script_start: 0,
            pacing: Arc::new(TimerPacing::new(0)),
        }
    }
}

/// How long a provider may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// Until a connection stands.
    pub connect: Duration,
    /// Between two pieces of a reply, and until the first. A model on a small machine reads a long
    /// prompt for minutes before its first word.
    pub idle: Duration,
    /// For a whole reply, with all attempts and the waits between them.
    pub total: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(300),
            total: Duration::from_secs(1_800),
        }
    }
}

/// One line of the list of providers.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name in configuration and on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What its configuration must or may hold.
    pub needs: &'static [Need],
    /// The environment variable that usually holds its key; the command line looks there.
    pub key_variable: Option<&'static str>,
    /// The address that is used where none is configured.
    pub default_base_url: Option<&'static str>,
    /// The model that is used where none is configured; empty where one must be.
    pub default_model: &'static str,
    /// Builds it. No connection is made.
    pub build: fn(&ProviderConfig) -> Result<Arc<dyn Provider>, BuildError>,
}

/// What a provider's configuration must or may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A key must be there.
    Key,
    /// A key may be there.
    OptionalKey,
    /// An address may be there.
    BaseUrl,
    /// A model must be there.
    Model,
    /// A script must be there.
    Script,
}

/// Why a provider cannot be built from its configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BuildError {
    /// No provider has this name.
    #[error("no provider named `{name}`; known are {}", crate::names().join(", "))]
    Unknown {
        /// The name.
        name: String,
    },
    /// Something is missing.
    #[error("provider `{provider}` needs {what}")]
    Missing {
        /// The provider's name.
        provider: &'static str,
        /// What, and how it is given.
        what: &'static str,
    },
    /// The address cannot be used.
    #[error("provider `{provider}`: `base_url` {why}")]
    BaseUrl {
        /// The provider's name.
        provider: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// The key cannot be sent.
    #[error("provider `{provider}`: the key {why}")]
    Key {
        /// The provider's name.
        provider: &'static str,
        /// Why not.
        why: &'static str,
    },
}
