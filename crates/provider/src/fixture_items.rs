//! Conversations for the tests that take a request apart again.

use proptest::prelude::*;
use serde_json::json;

use crate::reply::{CallProposal, Reasoning, Turn};
use crate::request::{Item, Request, ToolOffer};

/// Texts with everything in them that a protocol or its marks could trip over.
fn text() -> impl Strategy<Value = String> {
    r#"(a|é|🌊| |\n|"|\\|<|mast>|<mast>|</mast>|<mast/>|<untrusted |\[INST\]|<\|im_end\|>|\PC{0,4}){0,8}x"#
}

fn turn(seal: fn(String) -> Reasoning, first_id: usize) -> impl Strategy<Value = Turn> {
    let calls = prop::collection::vec(("[a-z]{1,8}_[a-z]{1,8}", text()), 0..3);
    (text(), prop::option::of(text()), calls).prop_map(move |(text, thought, calls)| {
        let call = |(place, (name, value)): (usize, (String, String))| CallProposal {
            id: format!("call_{}", first_id + place),
            name,
            arguments: json!({"value": value, "n": 12_345_678_901_234_567_890_u64}).to_string(),
        };
        Turn {
            text,
            reasoning: thought.map(seal).into_iter().collect(),
            calls: calls.into_iter().enumerate().map(call).collect(),
            ..Turn::default()
        }
    })
}

/// One run: what was said, then replies with the results of their calls, and the runtime's line last.
pub(crate) fn conversation(seal: fn(String) -> Reasoning) -> impl Strategy<Value = Vec<Item>> {
    let said = prop::collection::vec(text(), 1..3);
    let step = (turn(seal, 0), prop::collection::vec((text(), any::<bool>()), 3));
    (said, prop::collection::vec(step, 0..3), prop::option::of("[a-z ]{0,10}x")).prop_map(
        |(said, steps, told)| {
            let mut items: Vec<Item> = said.into_iter().map(Item::user).collect();
            for (turn, results) in steps {
                let ids: Vec<String> = turn.calls.iter().map(|call| call.id.clone()).collect();
                items.push(Item::Assistant(turn));
                items.extend(
                    ids.into_iter().zip(results).map(|(call_id, (content, is_error))| Item::ToolResult {
                        call_id,
                        content,
                        is_error,
                    }),
                );
            }
            items.extend(told.map(|text| Item::System { text }));
            items
        },
    )
}

/// A request with one tool and these items.
pub(crate) fn request(items: Vec<Item>) -> Request {
    Request {
        model: String::new(),
        system: "You are careful.".to_owned(),
        items,
        tools: vec![ToolOffer {
            name: "math_calculate".to_owned(),
            description: "Computes.".to_owned(),
            input_schema: json!({"type": "object", "properties": {"expression": {"type": "string"}}}),
        }],
        ..Request::default()
    }
}

/// A conversation with every kind of item.
pub(crate) fn every_kind(thought: Reasoning) -> Vec<Item> {
    let call = |id: &str, arguments: &str| CallProposal {
        id: id.to_owned(),
        name: "math_calculate".to_owned(),
        arguments: arguments.to_owned(),
    };
    vec![
        Item::user("What is 17 * 23?"),
        Item::user("And 1 / 0?"),
        Item::Assistant(Turn {
            reasoning: vec![thought],
            calls: vec![
                call("call_0", r#"{"expression": "17 * 23"}"#),
                call("call_1", r#"{"expression":"1/"#),
            ],
            ..Turn::default()
        }),
        Item::result("call_0", "391"),
        Item::failed("call_1", r#"{"status":"failed"}"#),
        Item::System { text: "Local date: 2026-11-30".to_owned() },
    ]
}
