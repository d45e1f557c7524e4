//! The list of providers: visible, in one place, and the only way to reach one by its name.

use std::sync::Arc;

use crate::config::{BuildError, Entry, ProviderConfig};
use crate::contract::Provider;
use crate::{anthropic, offline, openai_chat, scripted};

/// Every provider. A new one is a file and a line here; the conformance tests then run on it.
pub const PROVIDERS: &[Entry] = &[openai_chat::ENTRY, anthropic::ENTRY, offline::ENTRY, scripted::ENTRY];

/// The line of the list with this name.
#[must_use]
pub fn entry(name: &str) -> Option<&'static Entry> {
    PROVIDERS.iter().find(|entry| entry.name == name)
}

/// The names of all providers, in the order of the list.
#[must_use]
pub fn names() -> Vec<&'static str> {
    PROVIDERS.iter().map(|entry| entry.name).collect()
}

/// Builds the provider of this name. No connection is made.
///
/// # Errors
/// No provider has this name, or the configuration does not hold what it needs.
pub fn build(name: &str, config: &ProviderConfig) -> Result<Arc<dyn Provider>, BuildError> {
    let entry = entry(name).ok_or_else(|| BuildError::Unknown { name: name.to_owned() })?;
    (entry.build)(config)
}
