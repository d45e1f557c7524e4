//! A reply in the chat completions protocol, whole or in pieces, as the servers really send it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::NAME;
use crate::assembly::Assembly;
use crate::contract::Sink;
use crate::error::ProviderError;
use crate::http::{self, Endpoint};
use crate::reply::{Stop, Turn, Usage};
use crate::request::Request;
use crate::stream::SseEvent;
use crate::wire::{DONE, Decoder, Progress, is_json};

/// The fields in which servers put thinking.
const REASONING_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

/// Reads one reply.
#[derive(Debug)]
pub(super) struct ChatDecoder<'a> {
    assembly: Assembly,
    endpoint: &'a Endpoint,
    /// Where the call with this wire index stands.
    places: BTreeMap<u64, usize>,
    reasoning_field: Option<&'static str>,
    reasoning_details: Vec<Value>,
    is_done: bool,
}

impl<'a> ChatDecoder<'a> {
    pub(super) fn new(request: &Request, endpoint: &'a Endpoint) -> Self {
        Self {
            assembly: Assembly::new(NAME, request),
            endpoint,
            places: BTreeMap::new(),
            reasoning_field: None,
            reasoning_details: Vec::new(),
            is_done: false,
        }
    }

    fn piece(&mut self, piece: &Value, message: &str, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        if let Some(error) = self.error(piece) {
            return Err(error);
        }
        if let Some(usage) = piece.get("usage").filter(|usage| usage.is_object()) {
            self.assembly.usage = read_usage(usage);
        }
        let choice = piece.get("choices").and_then(|choices| choices.get(0));
        let Some(choice) = choice else { return Ok(()) };
        // Some servers call a piece of a stream a message as well.
        let said = choice.get(message).or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        self.thinking(said, sink)?;
        for field in ["content", "refusal"] {
            self.content(said.get(field).unwrap_or(&Value::Null), sink)?;
        }
        for call in said.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(call, sink)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.assembly.stop = Some(read_stop(reason));
        }
        Ok(())
    }

    fn thinking(&mut self, said: &Value, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        for field in REASONING_FIELDS {
            // A server that fills both fields says the same in both.
            if self.reasoning_field.is_none_or(|known| known == field)
                && let Some(text) = said.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
            {
                self.reasoning_field = Some(field);
                self.assembly.reasoning(text, sink)?;
            }
        }
        for detail in said.get("reasoning_details").and_then(Value::as_array).into_iter().flatten() {
            self.assembly.count(detail.to_string().len())?;
            if !self.reasoning_details.last_mut().is_some_and(|last| continues(last, detail)) {
                self.reasoning_details.push(detail.clone());
            }
        }
        Ok(())
    }

    /// A text, or a list of parts.
    fn content(&mut self, content: &Value, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        match content {
            Value::String(text) => self.assembly.text(text, sink),
            Value::Array(parts) => parts.iter().try_for_each(|part| {
                if let Some(thinking) = part.get("thinking") {
                    return self.thinking_part(thinking, sink);
                }
                let text = part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str);
                self.assembly.text(text.unwrap_or_default(), sink)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Ok(()),
        }
    }

    fn thinking_part(&mut self, thinking: &Value, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        if let Some(text) = thinking.as_str() {
            return self.assembly.reasoning(text, sink);
        }
        thinking.as_array().into_iter().flatten().try_for_each(|part| {
            let text = part.get("text").and_then(Value::as_str).unwrap_or_default();
            self.assembly.reasoning(text, sink)
        })
    }

    fn call(&mut self, call: &Value, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let function = call.get("function").unwrap_or(call);
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        let begins = function.get("arguments").is_some_and(begins_an_object);
        let place = self.place(call.get("index").and_then(Value::as_u64), (id, name), begins)?;
        if let Some(id) = id {
            self.assembly.call_id(place, id)?;
        }
        match function.get("arguments") {
            Some(Value::String(text)) => self.assembly.arguments(place, text, sink),
            // Some servers send the object itself.
            Some(object @ Value::Object(_)) => self.assembly.arguments(place, &object.to_string(), sink),
            _ => Ok(()),
        }
    }

    /// To which call a piece belongs; a new one is opened where it belongs to none.
    fn place(
        &mut self,
        index: Option<u64>,
        (id, name): (Option<&str>, &str),
        begins: bool,
    ) -> Result<usize, ProviderError> {
        let calls = self.assembly.calls();
        let by_id = || id.and_then(|id| calls.iter().position(|call| call.id.as_deref() == Some(id)));
        let known = match index {
            Some(index) => self.places.get(&index).copied(),
            None => {
                by_id().or_else(|| (id.is_none() && name.is_empty()).then(|| calls.len().checked_sub(1))?)
            }
        };
        if let Some((place, call)) = known.and_then(|place| Some((place, calls.get(place)?))) {
            let other_id = id.is_some() && call.id.is_some() && call.id.as_deref() != id;
            // Servers that give every call the same index: a further name with further arguments,
            // after whole ones, is a further call, unless its id says that it is this one.
            let same_id = id.is_some() && call.id.as_deref() == id;
            let is_further = begins && !same_id && is_json(&call.arguments);
            let is_new = !name.is_empty() && (other_id || is_further);
            if !is_new {
                let is_repeat = name.is_empty() || call.name == name;
                if !is_repeat {
                    self.assembly.call_name(place, name)?;
                }
                return Ok(place);
            }
        }
        let place = self.assembly.open_call(id, name)?;
        if let Some(index) = index {
            self.places.insert(index, place);
        }
        Ok(place)
    }

    /// An error in the place of a piece, as servers send it once the status is out.
    fn error(&self, piece: &Value) -> Option<ProviderError> {
        let is_error = piece.get("error").is_some_and(|error| !error.is_null())
            || piece.get("object").and_then(Value::as_str) == Some("error");
        if !is_error {
            return None;
        }
        let provider = NAME.to_owned();
        let detail = self.endpoint.detail(&http::message(piece).unwrap_or_default());
        let error = piece.get("error").unwrap_or(piece);
        let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let kind = http::kind(piece);
        let retry_after: Option<Duration> = None;
        Some(match (status, kind) {
            (Some(429), _) | (_, "rate_limit_exceeded" | "rate_limit_error") => {
                ProviderError::RateLimited { provider, retry_after, detail }
            }
            (Some(status @ 500..), _) => {
                ProviderError::ServerFailed { provider, status, detail, retry_after }
            }
            (_, "server_error" | "overloaded_error") => {
                ProviderError::ServerFailed { provider, status: 500, detail, retry_after }
            }
            _ => ProviderError::Stream { provider, kind: self.endpoint.detail(kind), detail },
        })
    }
}

impl Decoder for ChatDecoder<'_> {
    fn provider(&self) -> &'static str {
        NAME
    }

    fn event(&mut self, event: &SseEvent, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        let data = event.data.trim();
        if data == DONE {
            self.is_done = true;
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        let piece: Value = serde_json::from_str(data).map_err(|_| ProviderError::Protocol {
            provider: NAME.to_owned(),
            what: "a piece of the stream is not JSON".to_owned(),
        })?;
        self.piece(&piece, "delta", sink)
    }

    fn body(&mut self, body: &Value, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        self.piece(body, "message", sink)?;
        if body.get("choices").and_then(|choices| choices.get(0)).is_none() {
            let what = "a reply without `choices`".to_owned();
            return Err(ProviderError::Protocol { provider: NAME.to_owned(), what });
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        match (self.is_done, &self.assembly.stop) {
            (true, _) => Progress::Ended,
            (false, Some(_)) => Progress::Whole,
            (false, None) => Progress::Open,
        }
    }

    fn finish(mut self, sink: &mut dyn Sink) -> Turn {
        let mut block = serde_json::Map::new();
        if let Some(field) = self.reasoning_field {
            block.insert("field".to_owned(), json!(field));
        }
        if !self.reasoning_details.is_empty() {
            block.insert("details".to_owned(), Value::Array(self.reasoning_details));
        }
        // Past the bound the seal is left out: the thinking is then not sent back.
        if !block.is_empty() && self.assembly.seal(&Value::Object(block)).is_err() {
            tracing::debug!(provider = NAME, "thinking is too large to be sent back");
        }
        self.assembly.finish(sink)
    }
}

fn read_stop(reason: &str) -> Stop {
    match reason {
        "stop" | "eos" | "end_turn" => Stop::End,
        "tool_calls" | "function_call" | "tool_use" => Stop::ToolCalls,
        "length" | "max_tokens" | "model_length" => Stop::Length,
        "content_filter" => Stop::Filtered,
        other => Stop::Other(other.chars().take(64).collect()),
    }
}

fn read_usage(usage: &Value) -> Usage {
    let number = |field: &str| usage.get(field).and_then(Value::as_u64);
    let details = usage.get("prompt_tokens_details").and_then(|details| details.get("cached_tokens"));
    Usage {
        input_tokens: number("prompt_tokens"),
        output_tokens: number("completion_tokens"),
        cached_input_tokens: details
            .and_then(Value::as_u64)
            .or_else(|| number("prompt_cache_hit_tokens"))
            .or_else(|| number("cached_tokens")),
        cost_micro_usd: usage.get("cost").and_then(Value::as_f64).and_then(micro),
    }
}

/// Whether arguments begin here, rather than go on.
fn begins_an_object(arguments: &Value) -> bool {
    arguments.is_object() || arguments.as_str().is_some_and(|text| text.trim_start().starts_with('{'))
}

/// Adds `piece` to the detail before it, if it is a piece of the same one.
fn continues(last: &mut Value, piece: &Value) -> bool {
    let same = |field: &str, last: &Value| last.get(field) == piece.get(field);
    if !(piece.get("index").is_some() && same("index", last) && same("type", last)) {
        return false;
    }
    let (Value::Object(last), Value::Object(piece)) = (last, piece) else { return false };
    for (name, value) in piece {
        match (last.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(more))
                if ["text", "summary", "data"].contains(&name.as_str()) =>
            {
                text.push_str(more);
            }
            (None | Some(Value::Null), value) => {
                last.insert(name.clone(), value.clone());
            }
            // Type, index, id and format are the same in every piece.
            _ => {}
        }
    }
    true
}

/// Dollars as millionths, rounded.
fn micro(dollars: f64) -> Option<u64> {
    format!("{:.0}", dollars * 1e6).parse().ok()
}

#[cfg(test)]
mod tests;
