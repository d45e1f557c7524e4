//! Transcripts of other agents: what was said in them, and the receipts that their own tool results are.
//!
//! Two shapes are read, as one JSON value or one a line: chat messages with `tool_calls` and `tool` messages,
//! and messages whose content is a list of blocks with `tool_use` and `tool_result`. A transcript is text from
//! outside: nothing in it is believed but that these calls gave these results, and nobody here judged,
//! confined or wrote down any of it. What a tool may do is told by its name and arguments, as far as they do.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::assertion::{Checked, all, check};
use crate::effect::Receipt;

mod call;

use call::Call;

/// Why a text is no transcript.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotATranscript {
    /// It is not JSON, and its lines are not.
    #[error("line {line} is not JSON: {why}")]
    Json {
        /// Which line, from 1.
        line: usize,
        /// Why.
        why: String,
    },
    /// It is JSON, and holds no list of messages.
    #[error("there are no messages in it: each is an object with `role` and `content`")]
    NoMessages,
    /// A message is no object with a role.
    #[error("message {number} has no `role`")]
    NoRole {
        /// Which message, from 1.
        number: usize,
    },
}

/// One text of the model, with what the results before it say of its assertions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Said {
    /// Which message, from 1.
    pub message: usize,
    /// The text.
    pub text: String,
    /// What it asserts.
    pub assertions: Vec<Checked>,
}

/// What was found in a transcript.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transcript {
    /// The calls with their results, in their order.
    pub receipts: Vec<Receipt>,
    /// The model's texts that assert something, in their order.
    pub said: Vec<Said>,
    /// How many messages there are.
    pub n_messages: usize,
}

/// Reads a transcript.
///
/// # Errors
///
/// [`NotATranscript`] says what is missing.
pub fn read(text: &str) -> Result<Transcript, NotATranscript> {
    let messages = messages(text)?;
    let (mut calls, mut said) = (Vec::<Call>::new(), Vec::new());
    for (index, message) in messages.iter().enumerate() {
        let number = index + 1;
        let role = message.get("role").and_then(Value::as_str).ok_or(NotATranscript::NoRole { number })?;
        if role != "assistant" {
            results(message, &mut calls);
            continue;
        }
        let text = words(message.get("content"));
        let receipts: Vec<Receipt> = receipts(&calls);
        let asserted = all(&text, &receipts);
        if !asserted.is_empty() {
            let assertions = check(asserted, &receipts);
            said.push(Said { message: number, text, assertions });
        }
        proposals(message, &mut calls);
    }
    Ok(Transcript { receipts: receipts(&calls), said, n_messages: messages.len() })
}

fn receipts(calls: &[Call]) -> Vec<Receipt> {
    calls.iter().enumerate().map(|(place, call)| call.receipt(place)).collect()
}

/// The messages: of one value, or one a line.
fn messages(text: &str) -> Result<Vec<Map<String, Value>>, NotATranscript> {
    let values = match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(values)) => values,
        Ok(Value::Object(mut whole)) => match whole.remove("messages") {
            Some(Value::Array(values)) => values,
            Some(_) | None => vec![Value::Object(whole)],
        },
        Ok(_) => return Err(NotATranscript::NoMessages),
        Err(whole) => lines(text, &whole)?,
    };
    let is_message = |value: &Value| value.get("role").is_some();
    if !values.iter().any(is_message) {
        return Err(NotATranscript::NoMessages);
    }
    let each = values.into_iter().enumerate().map(|(index, value)| match value {
        Value::Object(message) => Ok(message),
        _ => Err(NotATranscript::NoRole { number: index + 1 }),
    });
    each.collect()
}

fn lines(text: &str, whole: &serde_json::Error) -> Result<Vec<Value>, NotATranscript> {
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(value) => values.push(value),
            // One value on several lines is told of where it breaks.
            Err(_) if values.is_empty() => {
                return Err(NotATranscript::Json { line: whole.line(), why: whole.to_string() });
            }
            Err(error) => return Err(NotATranscript::Json { line: index + 1, why: error.to_string() }),
        }
    }
    Ok(values)
}

/// The words of a content: a text, or the texts among its blocks.
fn words(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let texts = blocks.iter().filter_map(|block| match block {
                Value::String(text) => Some(text.as_str()),
                _ => block.get("text").and_then(Value::as_str),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The calls that a message of the model proposes.
fn proposals(message: &Map<String, Value>, calls: &mut Vec<Call>) {
    let listed = |key: &str| message.get(key).and_then(Value::as_array).into_iter().flatten();
    for call in listed("tool_calls") {
        let function = call.get("function").unwrap_or(call);
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or(Value::Null),
            other => other.cloned().unwrap_or(Value::Null),
        };
        calls.push(Call::new(call.get("id"), function.get("name"), arguments));
    }
    for block in listed("content").filter(|block| is_kind(block, "tool_use")) {
        let input = block.get("input").cloned().unwrap_or(Value::Null);
        calls.push(Call::new(block.get("id"), block.get("name"), input));
    }
}

/// The results that a message of the other side gives.
fn results(message: &Map<String, Value>, calls: &mut [Call]) {
    if let Some(id) = message.get("tool_call_id") {
        give(calls, id, &words(message.get("content")), false);
    }
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    for block in blocks.filter(|block| is_kind(block, "tool_result")) {
        let is_error = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        if let Some(id) = block.get("tool_use_id") {
            give(calls, id, &words(block.get("content")), is_error);
        }
    }
}

/// A result belongs to the newest call of its id that has none yet; a second one changes nothing.
fn give(calls: &mut [Call], id: &Value, text: &str, is_error: bool) {
    if let Some(call) = calls.iter_mut().rev().find(|call| call.waits_for(id)) {
        call.end(text, is_error);
    }
}

fn is_kind(block: &Value, kind: &str) -> bool {
    block.get("type").and_then(Value::as_str) == Some(kind)
}
