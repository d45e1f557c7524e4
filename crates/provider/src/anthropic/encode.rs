//! A request as the Messages protocol has it.

use serde_json::{Map, Value, json};

use super::NAME;
use crate::markup::{self, Piece};
use crate::reply::Turn;
use crate::request::{Item, Request, ToolChoice};
use crate::wire::arguments_object;

/// Tokens of a reply where the request sets no limit; the protocol requires one, and every current
/// model takes this one.
const OUTPUT_TOKENS_DEFAULT: u32 = 8_192;

/// The body of the request.
pub(super) fn body(request: &Request, default_model: &str, streaming: bool) -> Value {
    let model = if request.model.is_empty() { default_model } else { &request.model };
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("max_tokens".to_owned(), json!(request.max_output_tokens.unwrap_or(OUTPUT_TOKENS_DEFAULT)));
    let has_system = !request.system.trim().is_empty();
    if !request.tools.is_empty() {
        let mut tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| {
                json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema})
            })
            .collect();
        if !has_system && let Some(last) = tools.last_mut() {
            cache_up_to(last);
        }
        body.insert("tools".to_owned(), Value::Array(tools));
        if request.tool_choice == ToolChoice::None {
            body.insert("tool_choice".to_owned(), json!({"type": "none"}));
        }
    }
    if has_system {
        let mut system = json!({"type": "text", "text": request.system});
        cache_up_to(&mut system);
        body.insert("system".to_owned(), json!([system]));
    }
    body.insert("messages".to_owned(), Value::Array(messages(request)));
    body.insert("stream".to_owned(), json!(streaming));
    Value::Object(body)
}

/// Marks the end of a part that later requests begin with. Tools stand before the system text in the
/// server's order, so one mark on the latter covers both; another on the newest block makes each step
/// of a run read what the step before wrote. The runtime's own line moves with the end and is no such
/// place.
fn cache_up_to(block: &mut Value) {
    if let Value::Object(fields) = block {
        fields.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

fn messages(request: &Request) -> Vec<Value> {
    let mut out = Vec::new();
    let mut user = UserBlocks::default();
    for item in &request.items {
        match item {
            Item::User { text } => user.text(text, &Piece::Said(text)),
            Item::System { text } => user.text(text, &Piece::Told(text)),
            Item::ToolResult { call_id, content, is_error } => user.result(call_id, content, *is_error),
            Item::Assistant(turn) => {
                user.end(&mut out);
                let blocks = assistant(turn);
                if !blocks.is_empty() {
                    out.push(json!({"role": "assistant", "content": blocks}));
                }
            }
        }
    }
    user.end(&mut out);
    let last = out.last_mut().filter(|message| message.get("role").and_then(Value::as_str) == Some("user"));
    let blocks = last.and_then(|message| message.get_mut("content")).and_then(Value::as_array_mut);
    let is_told = |block: &Value| {
        block.get("text").and_then(Value::as_str).is_some_and(|text| text.starts_with(markup::OPEN))
    };
    if let Some(newest) = blocks.and_then(|blocks| blocks.iter_mut().rfind(|block| !is_told(block))) {
        cache_up_to(newest);
    }
    out
}

/// One user message: results of calls first, as the protocol demands, then texts.
#[derive(Default)]
struct UserBlocks {
    results: Vec<Value>,
    texts: Vec<Value>,
}

impl UserBlocks {
    /// Adds a text. A blank one is refused by the protocol and left out.
    fn text(&mut self, text: &str, piece: &Piece<'_>) {
        if !text.trim().is_empty() {
            self.texts.push(json!({"type": "text", "text": markup::one(piece)}));
        }
    }

    fn result(&mut self, call_id: &str, content: &str, is_error: bool) {
        let mut block = json!({"type": "tool_result", "tool_use_id": safe_id(call_id)});
        if let Value::Object(fields) = &mut block {
            if !content.trim().is_empty() {
                fields.insert("content".to_owned(), json!(content));
            }
            if is_error {
                fields.insert("is_error".to_owned(), json!(true));
            }
        }
        self.results.push(block);
    }

    fn end(&mut self, out: &mut Vec<Value>) {
        let mut blocks = std::mem::take(&mut self.results);
        blocks.append(&mut self.texts);
        if !blocks.is_empty() {
            out.push(json!({"role": "user", "content": blocks}));
        }
    }
}

/// One reply: thinking as it was, then text, then calls.
fn assistant(turn: &Turn) -> Vec<Value> {
    let mut blocks: Vec<Value> =
        turn.reasoning.iter().filter_map(|part| part.sealed_by(NAME)).cloned().collect();
    if !turn.text.trim().is_empty() {
        blocks.push(json!({"type": "text", "text": turn.text}));
    }
    blocks.extend(turn.calls.iter().map(|call| {
        json!({
            "type": "tool_use",
            "id": safe_id(&call.id),
            "name": call.name,
            "input": arguments_object(&call.arguments),
        })
    }));
    blocks
}

/// The id with the letters that the protocol allows; ids of other providers may hold more.
fn safe_id(id: &str) -> String {
    id.chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "_-".contains(letter) { letter } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests;
