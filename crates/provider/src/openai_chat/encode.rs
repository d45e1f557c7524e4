//! A request as the chat completions protocol has it.

use serde_json::{Map, Value, json};

use super::NAME;
use crate::markup::{self, Piece};
use crate::reply::Turn;
use crate::request::{Item, Request, ToolChoice};
use crate::wire::{arguments_object, is_json};

/// What depends on the server.
pub(super) struct Shape<'a> {
    /// The model for a request that names none.
    pub(super) default_model: &'a str,
    /// Whether the reply is to come in pieces.
    pub(super) streaming: bool,
    /// Whether the last piece shall hold the usage.
    pub(super) with_usage: bool,
    /// Whether the token limit has its newer name.
    pub(super) new_token_limit: bool,
}

/// The body of the request.
pub(super) fn body(request: &Request, shape: &Shape<'_>) -> Value {
    let model = if request.model.is_empty() { shape.default_model } else { &request.model };
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("messages".to_owned(), Value::Array(messages(request)));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.input_schema,
            }})
        });
        body.insert("tools".to_owned(), tools.collect());
        if request.tool_choice == ToolChoice::None {
            body.insert("tool_choice".to_owned(), json!("none"));
        }
    }
    if let Some(limit) = request.max_output_tokens {
        let name = if shape.new_token_limit { "max_completion_tokens" } else { "max_tokens" };
        body.insert(name.to_owned(), json!(limit));
    }
    body.insert("stream".to_owned(), json!(shape.streaming));
    if shape.streaming && shape.with_usage {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    Value::Object(body)
}

fn messages(request: &Request) -> Vec<Value> {
    let mut out = Vec::new();
    if !request.system.is_empty() {
        out.push(json!({"role": "system", "content": request.system}));
    }
    let this_run = request.items.iter().rposition(|item| matches!(item, Item::User { .. })).unwrap_or(0);
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    for (place, item) in request.items.iter().enumerate() {
        match item {
            Item::User { text } => pieces.push(Piece::Said(text)),
            Item::System { text } => {
                if !(pieces.is_empty() && append_to_result(&mut out, text)) {
                    pieces.push(Piece::Told(text));
                }
            }
            Item::Assistant(turn) => {
                end_user(&mut pieces, &mut out);
                out.push(assistant(turn, place > this_run));
            }
            Item::ToolResult { call_id, content, .. } => {
                end_user(&mut pieces, &mut out);
                let content = markup::escape(content);
                out.push(json!({"role": "tool", "tool_call_id": call_id, "content": content}));
            }
        }
    }
    end_user(&mut pieces, &mut out);
    out
}

/// A line of the runtime after results goes to the end of the last one: several servers refuse a user
/// message between results and the reply to them.
fn append_to_result(out: &mut [Value], text: &str) -> bool {
    let last = out.last_mut().filter(|last| last.get("role").and_then(Value::as_str) == Some("tool"));
    match last.and_then(|last| last.get_mut("content")) {
        Some(Value::String(content)) => {
            markup::append(content, text);
            true
        }
        _ => false,
    }
}

/// Neighbouring pieces are one message: templates of several models refuse two user messages in a row.
fn end_user(pieces: &mut Vec<Piece<'_>>, out: &mut Vec<Value>) {
    if !pieces.is_empty() {
        out.push(json!({"role": "user", "content": markup::join(pieces)}));
        pieces.clear();
    }
}

/// One reply. Its thinking goes back in the field in which it came, and only within the run: servers
/// that want it want it there, and others refuse the field.
fn assistant(turn: &Turn, with_reasoning: bool) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    let content = if turn.text.is_empty() && !turn.calls.is_empty() { Value::Null } else { json!(turn.text) };
    message.insert("content".to_owned(), content);
    if with_reasoning {
        for part in &turn.reasoning {
            let Some(block) = part.sealed_by(NAME) else { continue };
            if let Some(details) = block.get("details") {
                message.insert("reasoning_details".to_owned(), details.clone());
            } else if let Some(field) = block.get("field").and_then(Value::as_str) {
                message.insert(field.to_owned(), json!(part.text));
            }
        }
    }
    if !turn.calls.is_empty() {
        let calls = turn.calls.iter().map(|call| {
            // Templates read the arguments, so they must be JSON; what is JSON goes as it came.
            let is_object = call.arguments.trim_start().starts_with('{') && is_json(&call.arguments);
            let arguments = if is_object {
                call.arguments.clone()
            } else {
                arguments_object(&call.arguments).to_string()
            };
            json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
        });
        message.insert("tool_calls".to_owned(), calls.collect());
    }
    Value::Object(message)
}

#[cfg(test)]
mod tests;
