//! What the tests share: a configuration without real waits, requests, and one way to ask.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mast_provider::{
    Item, Pacing, Provider, ProviderConfig, ProviderError, Request, Secret, StreamEvent, TimeLimits,
    ToolOffer, Turn,
};
use serde_json::json;

/// A key that must show up nowhere.
pub(crate) const KEY: &str = "sk-live-0123456789abcdef";

/// Waits are noted, not waited.
#[derive(Debug, Default)]
pub(crate) struct Noted(Mutex<Vec<Duration>>);

impl Noted {
    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl Pacing for Noted {
    async fn pause(&self, wait: Duration) {
        self.0.lock().unwrap().push(wait);
    }

    fn chance(&self) -> u64 {
        0
    }
}

/// A configuration for a server at this address.
pub(crate) fn config(url: &str) -> (ProviderConfig, Arc<Noted>) {
    let noted = Arc::new(Noted::default());
    let config = ProviderConfig {
        model: Some("m-1".to_owned()),
        base_url: Some(url.to_owned()),
        key: Some(Secret::new(KEY)),
        time: TimeLimits {
            connect: Duration::from_secs(5),
            idle: Duration::from_secs(20),
            total: Duration::from_secs(60),
        },
        pacing: Arc::<Noted>::clone(&noted),
        ..ProviderConfig::default()
    };
    (config, noted)
}

/// A request with two tools.
pub(crate) fn request(text: &str) -> Request {
    let offer = |name: &str| ToolOffer {
        name: name.to_owned(),
        description: "A tool.".to_owned(),
        input_schema: json!({"type": "object", "properties": {}, "additionalProperties": false}),
    };
    Request {
        system: "You are careful.".to_owned(),
        items: vec![Item::user(text)],
        tools: vec![offer("math_calculate"), offer("system_current_time")],
        ..Request::default()
    }
}

/// Asks, and returns what came and what was heard meanwhile.
pub(crate) async fn ask(
    provider: &dyn Provider,
    request: &Request,
) -> (Result<Turn, ProviderError>, Vec<StreamEvent>) {
    let mut heard = Vec::new();
    let mut sink = |event: &StreamEvent| heard.push(event.clone());
    let came = provider.complete(request, &mut sink).await;
    (came, heard)
}

/// No text of an error, of its causes or of their debug form holds the key.
pub(crate) fn assert_no_key(error: &ProviderError) {
    let mut texts = format!("{error} {error:?} {error:#?}");
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        texts.push_str(&format!("{inner} {inner:?}"));
        cause = inner.source();
    }
    assert!(!texts.contains(KEY) && !texts.contains("Bearer"), "{texts}");
    assert!(!texts.contains("secret-query"), "{texts}");
    assert_eq!(error.to_string().lines().count(), 1, "one line: {error}");
}
