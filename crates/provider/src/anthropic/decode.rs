//! A reply in the Messages protocol, whole or in pieces.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::NAME;
use crate::assembly::Assembly;
use crate::contract::Sink;
use crate::error::ProviderError;
use crate::http::{self, Endpoint};
use crate::reply::{Stop, Turn, Usage};
use crate::request::Request;
use crate::stream::SseEvent;
use crate::wire::{Decoder, Progress};

/// Reads one reply.
#[derive(Debug)]
pub(super) struct MessageDecoder<'a> {
    assembly: Assembly,
    endpoint: &'a Endpoint,
    /// The open blocks by their index.
    blocks: BTreeMap<u64, Block>,
    is_stopped: bool,
}

/// What a block costs beside its text, so that very many empty ones are bounded too.
const BLOCK_BYTES: usize = 32;

/// A block that is not whole yet.
#[derive(Debug)]
enum Block {
    Text,
    Thinking {
        text: String,
        signature: String,
    },
    Call {
        place: usize,
        input: Value,
    },
    /// A kind that is not used here.
    Other,
}

impl<'a> MessageDecoder<'a> {
    pub(super) fn new(request: &Request, endpoint: &'a Endpoint) -> Self {
        Self { assembly: Assembly::new(NAME, request), endpoint, blocks: BTreeMap::new(), is_stopped: false }
    }

    fn start(&mut self, index: u64, block: &Value, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        self.assembly.count(BLOCK_BYTES)?;
        let text = |field: &str| block.get(field).and_then(Value::as_str).unwrap_or_default();
        let open = match text("type") {
            "text" => {
                self.assembly.text(text("text"), sink)?;
                Block::Text
            }
            "thinking" => {
                self.assembly.open_reasoning();
                self.assembly.reasoning(text("thinking"), sink)?;
                Block::Thinking { text: text("thinking").to_owned(), signature: text("signature").to_owned() }
            }
            "redacted_thinking" => {
                self.assembly.open_reasoning();
                self.assembly.seal(block)?;
                Block::Other
            }
            "tool_use" => {
                let place = self.assembly.open_call(Some(text("id")), text("name"))?;
                Block::Call { place, input: block.get("input").cloned().unwrap_or(Value::Null) }
            }
            _ => Block::Other,
        };
        self.blocks.insert(index, open);
        Ok(())
    }

    fn delta(&mut self, index: u64, delta: &Value, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        let piece = |field: &str| delta.get(field).and_then(Value::as_str).unwrap_or_default();
        let kind = piece("type");
        match (self.blocks.get_mut(&index), kind) {
            (Some(Block::Text), "text_delta") => self.assembly.text(piece("text"), sink),
            (Some(Block::Thinking { text, .. }), "thinking_delta") => {
                text.push_str(piece("thinking"));
                self.assembly.reasoning(piece("thinking"), sink)
            }
            (Some(Block::Thinking { signature, .. }), "signature_delta") => {
                signature.push_str(piece("signature"));
                self.assembly.count(piece("signature").len())
            }
            (Some(Block::Call { place, .. }), "input_json_delta") => {
                self.assembly.arguments(*place, piece("partial_json"), sink)
            }
            (Some(_), _) => Ok(()),
            (None, _) => Err(protocol("a piece of a block that was not begun")),
        }
    }

    fn stop(&mut self, index: u64, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        match self.blocks.remove(&index) {
            Some(Block::Thinking { text, signature }) => {
                self.assembly.seal(&json!({"type": "thinking", "thinking": text, "signature": signature}))
            }
            Some(Block::Call { place, input }) => {
                // Without pieces, what stood at the beginning is all: usually the empty object.
                let has_pieces =
                    self.assembly.calls().get(place).is_some_and(|call| !call.arguments.is_empty());
                let whole = if input.is_object() { input.to_string() } else { "{}".to_owned() };
                if has_pieces { Ok(()) } else { self.assembly.arguments(place, &whole, sink) }
            }
            Some(Block::Text | Block::Other) | None => Ok(()),
        }
    }

    /// Takes what is said of the usage; later words add to and replace earlier ones.
    fn usage(&mut self, usage: &Value) {
        let number = |field: &str| usage.get(field).and_then(Value::as_u64);
        let cached = number("cache_read_input_tokens");
        let written = number("cache_creation_input_tokens");
        let known = self.assembly.usage;
        // The protocol counts what came from and went to the cache apart.
        let input = number("input_tokens")
            .map(|fresh| fresh.saturating_add(cached.unwrap_or(0)).saturating_add(written.unwrap_or(0)));
        self.assembly.usage = Usage {
            input_tokens: input.or(known.input_tokens),
            output_tokens: number("output_tokens").or(known.output_tokens),
            cached_input_tokens: cached.or(known.cached_input_tokens),
            cost_micro_usd: None,
        };
    }

    fn error(&self, event: &Value) -> ProviderError {
        let provider = NAME.to_owned();
        let kind = event.get("error").and_then(|error| error.get("type")).and_then(Value::as_str);
        let detail = self.endpoint.detail(&http::message(event).unwrap_or_default());
        match kind.unwrap_or_default() {
            "overloaded_error" => {
                ProviderError::ServerFailed { provider, status: 529, detail, retry_after: None }
            }
            "api_error" => ProviderError::ServerFailed { provider, status: 500, detail, retry_after: None },
            "rate_limit_error" => ProviderError::RateLimited { provider, retry_after: None, detail },
            "authentication_error" | "permission_error" => {
                ProviderError::Authentication { provider, status: 401 }
            }
            other => ProviderError::Stream { provider, kind: self.endpoint.detail(other), detail },
        }
    }
}

impl Decoder for MessageDecoder<'_> {
    fn provider(&self) -> &'static str {
        NAME
    }

    fn event(&mut self, event: &SseEvent, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        let event: Value =
            serde_json::from_str(&event.data).map_err(|_| protocol("a piece of the stream is not JSON"))?;
        let field = |name: &str| event.get(name).unwrap_or(&Value::Null);
        let index = field("index").as_u64().unwrap_or(0);
        match field("type").as_str().unwrap_or_default() {
            "message_start" => {
                self.usage(field("message").get("usage").unwrap_or(&Value::Null));
                Ok(())
            }
            "content_block_start" => self.start(index, field("content_block"), sink),
            "content_block_delta" => self.delta(index, field("delta"), sink),
            "content_block_stop" => self.stop(index, sink),
            "message_delta" => {
                self.usage(field("usage"));
                if let Some(reason) = field("delta").get("stop_reason").and_then(Value::as_str) {
                    self.assembly.stop = Some(read_stop(reason));
                }
                Ok(())
            }
            "message_stop" => {
                self.is_stopped = true;
                Ok(())
            }
            "error" => Err(self.error(&event)),
            // `ping`, and what the protocol may add: it says that unknown events are to be passed over.
            _ => Ok(()),
        }
    }

    fn body(&mut self, body: &Value, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        if body.get("type").and_then(Value::as_str) == Some("error") {
            return Err(self.error(body));
        }
        let content = body.get("content").and_then(Value::as_array);
        let content = content.ok_or_else(|| protocol("a reply without `content`"))?;
        for (index, block) in (0_u64..).zip(content) {
            self.start(index, block, sink)?;
            self.stop(index, sink)?;
        }
        self.usage(body.get("usage").unwrap_or(&Value::Null));
        let reason = body.get("stop_reason").and_then(Value::as_str);
        self.assembly.stop = reason.map(read_stop);
        Ok(())
    }

    fn progress(&self) -> Progress {
        match (self.is_stopped, &self.assembly.stop) {
            (true, _) => Progress::Ended,
            (false, Some(_)) if self.blocks.is_empty() => Progress::Whole,
            (false, _) => Progress::Open,
        }
    }

    fn finish(self, sink: &mut dyn Sink) -> Turn {
        self.assembly.finish(sink)
    }
}

fn protocol(what: &str) -> ProviderError {
    ProviderError::Protocol { provider: NAME.to_owned(), what: what.to_owned() }
}

fn read_stop(reason: &str) -> Stop {
    match reason {
        "end_turn" | "stop_sequence" => Stop::End,
        "tool_use" => Stop::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Filtered,
        other => Stop::Other(other.chars().take(64).collect()),
    }
}

#[cfg(test)]
mod tests;
