//! `openai_chat`: the chat completions protocol, which OpenAI, Ollama, llama.cpp, vLLM, LM Studio,
//! OpenRouter and many more serve. Where they differ, this module is lenient in what it reads and
//! plain in what it sends; the differences that were seen are told in `docs/spec/providers.md`.
//!
//! Two parameters are not known everywhere (`stream_options`, and which name the token limit has). The
//! usual form is sent first; a server that names the parameter in its refusal is asked again without.

mod decode;
mod encode;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use mast_kernel::trust::Sensitivity;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

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
pub(crate) const NAME: &str = "openai_chat";

const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Its line in the list.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    about: "any server of the chat completions protocol: OpenAI, Ollama, llama.cpp, vLLM, LM Studio, OpenRouter",
    needs: &[Need::Model, Need::BaseUrl, Need::OptionalKey],
    key_variable: Some("OPENAI_API_KEY"),
    default_base_url: Some(DEFAULT_BASE_URL),
    default_model: "",
    build: |config| Ok(Arc::new(OpenAiChat::new(config)?)),
};

/// A server of the chat completions protocol.
#[derive(Debug)]
pub struct OpenAiChat {
    endpoint: Endpoint,
    model: String,
    streaming: bool,
    max_sensitivity: Sensitivity,
    pacing: Arc<dyn Pacing>,
    time_total: std::time::Duration,
    refuses: Refusals,
}

/// Parameters that the server was seen to refuse.
#[derive(Debug, Default)]
struct Refusals {
    stream_options: AtomicBool,
    max_tokens: AtomicBool,
}

impl OpenAiChat {
    /// Takes model, address, key and limits of a configuration.
    ///
    /// # Errors
    /// There is no model, OpenAI's own address without a key, or an address that cannot be used.
    pub fn new(config: &ProviderConfig) -> Result<Self, BuildError> {
        let missing = |what| BuildError::Missing { provider: NAME, what };
        let model = config.model.clone().filter(|model| !model.is_empty());
        let model =
            model.ok_or_else(|| missing("a model: `--model NAME`, or `model` in the configuration"))?;
        let key = config.key.clone().filter(|key| !key.is_empty());
        if config.base_url.is_none() && key.is_none() {
            return Err(missing("a key (`mast config key`), or the `base_url` of a server without one"));
        }
        let mut headers = HeaderMap::new();
        if let Some(key) = &key {
            let fault = BuildError::Key { provider: NAME, why: "holds characters that no header can carry" };
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| fault)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let base = config.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL);
        Ok(Self {
            endpoint: Endpoint::new(NAME, config, base, "/chat/completions", headers)?,
            model,
            streaming: config.streaming,
            max_sensitivity: config.max_sensitivity,
            pacing: Arc::clone(&config.pacing),
            time_total: config.time.total,
            refuses: Refusals::default(),
        })
    }

    fn shape(&self) -> encode::Shape<'_> {
        encode::Shape {
            default_model: &self.model,
            streaming: self.streaming,
            with_usage: !self.refuses.stream_options.load(Ordering::Relaxed),
            new_token_limit: self.refuses.max_tokens.load(Ordering::Relaxed),
        }
    }
}

impl Refusals {
    /// Notes what a refusal names; whether there is something to leave out now that was sent before.
    fn note(&self, failure: &ProviderError) -> bool {
        let ProviderError::InvalidRequest { detail, .. } = failure else { return false };
        if detail.contains("stream_options") || detail.contains("include_usage") {
            return !self.stream_options.swap(true, Ordering::Relaxed);
        }
        detail.contains("max_completion_tokens") && !self.max_tokens.swap(true, Ordering::Relaxed)
    }
}

#[async_trait]
impl Provider for OpenAiChat {
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
impl Attempt for OpenAiChat {
    async fn attempt(&self, request: &Request, sink: &mut dyn Sink) -> Result<Turn, ProviderError> {
        loop {
            let answer = match self.endpoint.post(&encode::body(request, &self.shape())).await {
                Ok(answer) => answer,
                // Each parameter is noted once, so this ends.
                Err(failure) if self.refuses.note(&failure) => continue,
                Err(failure) => return Err(failure),
            };
            let decoder = decode::ChatDecoder::new(request, &self.endpoint);
            return wire::receive(answer, decoder, sink).await;
        }
    }
}
