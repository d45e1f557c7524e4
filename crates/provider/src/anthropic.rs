//! `anthropic`: the Messages protocol. It differs from chat completions where it matters here: thinking
//! comes in sealed blocks that must go back as they were, results of calls stand in a user message, and
//! a limit of tokens is required.

mod decode;
mod encode;

use std::sync::Arc;

use async_trait::async_trait;
use mast_kernel::trust::Sensitivity;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::config::{BuildError, Entry, Need, ProviderConfig};
use crate::contract::{Provider, Sink};
use crate::error::ProviderError;
use crate::http::Endpoint;
use crate::pacing::Pacing;
use crate::reply::Turn;
use crate::request::Request;
use crate::retry::{self, Attempt, Patience};
use crate::wire;

/// Its name.
pub(crate) const NAME: &str = "anthropic";

const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";
/// The version of the protocol that is spoken here.
const PROTOCOL_VERSION: &str = "2023-06-01";

/// Its line in the list.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    about: "Anthropic's Messages protocol",
    needs: &[Need::Key, Need::Model, Need::BaseUrl],
    key_variable: Some("ANTHROPIC_API_KEY"),
    default_base_url: Some(DEFAULT_BASE_URL),
    default_model: "",
    build: |config| Ok(Arc::new(Anthropic::new(config)?)),
};

/// A server of the Messages protocol.
#[derive(Debug)]
pub struct Anthropic {
    endpoint: Endpoint,
    model: String,
    streaming: bool,
    max_sensitivity: Sensitivity,
    pacing: Arc<dyn Pacing>,
    time_total: std::time::Duration,
}

impl Anthropic {
    /// Takes model, address, key and limits of a configuration.
    ///
    /// # Errors
    /// There is no key or no model, or an address that cannot be used.
    pub fn new(config: &ProviderConfig) -> Result<Self, BuildError> {
        let missing = |what| BuildError::Missing { provider: NAME, what };
        let model = config.model.clone().filter(|model| !model.is_empty());
        let model =
            model.ok_or_else(|| missing("a model: `--model NAME`, or `model` in the configuration"))?;
        let key = config.key.clone().filter(|key| !key.is_empty());
        let key = key.ok_or_else(|| missing("a key: ANTHROPIC_API_KEY, or `mast config key`"))?;
        let fault = BuildError::Key { provider: NAME, why: "holds characters that no header can carry" };
        let mut value = HeaderValue::from_str(key.expose()).map_err(|_| fault)?;
        value.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static("x-api-key"), value);
        headers
            .insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static(PROTOCOL_VERSION));
        let base = config.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL);
        // The version is part of the path here; an address that has it already is understood.
        let base = base.trim_end_matches('/').trim_end_matches("/v1");
        Ok(Self {
            endpoint: Endpoint::new(NAME, config, base, "/v1/messages", headers)?,
            model,
            streaming: config.streaming,
            max_sensitivity: config.max_sensitivity,
            pacing: Arc::clone(&config.pacing),
            time_total: config.time.total,
        })
    }
}

#[async_trait]
impl Provider for Anthropic {
    fn name(&self) -> &str {
        NAME
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn max_sensitivity(&self) -> Sensitivity {
        self.max_sensitivity
    }

    async fn complete(&self, request: &Request, sink: &mut dyn Sink) -> Result<Turn, ProviderError> {
        let endpoint = self.endpoint.shown();
        let patience = Patience { pacing: self.pacing.as_ref(), endpoint, total: self.time_total };
        retry::complete(self, patience, request, sink).await
    }
}

#[async_trait]
impl Attempt for Anthropic {
    async fn attempt(&self, request: &Request, sink: &mut dyn Sink) -> Result<Turn, ProviderError> {
        let answer = self.endpoint.post(&encode::body(request, &self.model, self.streaming)).await?;
        let decoder = decode::MessageDecoder::new(request, &self.endpoint);
        wire::receive(answer, decoder, sink).await
    }
}
