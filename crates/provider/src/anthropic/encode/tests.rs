use super::*;
use crate::fixture_items::{conversation, every_kind, request};
use crate::reply::{CallProposal, Reasoning};
use expect_test::expect_file;
use proptest::prelude::*;

fn sealed(text: String) -> Reasoning {
    let block = json!({"type": "thinking", "thinking": text, "signature": "c2ln"});
    Reasoning::sealed(NAME, text, &block)
}

fn text_of(block: &Value, field: &str) -> String {
    block.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The items of a body.
fn items(body: &Value) -> Vec<Item> {
    let mut out = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        let mut turn = Turn::default();
        for block in message["content"].as_array().unwrap() {
            match (message["role"].as_str().unwrap(), block["type"].as_str().unwrap()) {
                ("user", "text") => {
                    let mut pieces = markup::tests::split(&text_of(block, "text"));
                    assert_eq!(pieces.len(), 1, "one block a piece");
                    let (said, text) = pieces.remove(0);
                    out.push(if said { Item::User { text } } else { Item::System { text } });
                }
                ("user", "tool_result") => out.push(Item::ToolResult {
                    call_id: text_of(block, "tool_use_id"),
                    content: text_of(block, "content"),
                    is_error: block["is_error"] == true,
                }),
                ("assistant", "text") => turn.text = text_of(block, "text"),
                ("assistant", "thinking") => turn.reasoning.push(sealed(text_of(block, "thinking"))),
                ("assistant", "tool_use") => turn.calls.push(CallProposal {
                    id: text_of(block, "id"),
                    name: text_of(block, "name"),
                    arguments: block["input"].to_string(),
                }),
                other => panic!("a block {other:?}"),
            }
        }
        if message["role"] == "assistant" {
            out.push(Item::Assistant(turn));
        }
    }
    out
}

proptest! {
    #[test]
    fn a_request_comes_apart_into_its_items(asked in conversation(sealed)) {
        prop_assert_eq!(items(&body(&request(asked.clone()), "m", true)), asked);
    }

    #[test]
    fn no_blank_text_is_sent(texts in prop::collection::vec("[ \n\ta]{0,3}", 0..5)) {
        let mut asked: Vec<Item> = Vec::new();
        for text in &texts {
            asked.extend([
                Item::user(text.as_str()),
                Item::System { text: text.clone() },
                Item::Assistant(Turn::of_text(text.as_str())),
                Item::result("call_0", text.as_str()),
            ]);
        }
        let made = body(&Request { system: texts.concat(), ..request(asked) }, "m", true);
        let blocks = made["messages"].as_array().unwrap().iter().flat_map(|message| {
            let blocks = message["content"].as_array().unwrap();
            assert!(!blocks.is_empty());
            blocks.iter()
        });
        for block in blocks.chain(made.get("system").and_then(Value::as_array).into_iter().flatten()) {
            for field in ["text", "content"] {
                prop_assert!(block.get(field).is_none_or(|text| !text.as_str().unwrap().trim().is_empty()));
            }
        }
    }
}

#[test]
fn the_whole_body() {
    let body = body(&request(every_kind(sealed("A product.".to_owned()))), "m", true);
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/anthropic/request.json")]
        .assert_eq(&(serde_json::to_string_pretty(&body).unwrap() + "\n"));
}

#[test]
fn results_stand_before_texts() {
    let asked = vec![Item::user("stop"), Item::result("call_0", "done")];
    let made = body(&request(asked), "m", false);
    let kinds: Vec<&Value> =
        made["messages"][0]["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["tool_result", "text"]);
    assert_eq!(made["stream"], false);
}

#[test]
fn what_depends_on_the_request() {
    let asked = Request {
        system: String::new(),
        max_output_tokens: Some(7),
        tool_choice: ToolChoice::None,
        ..request(vec![Item::user("hello")])
    };
    let made = body(&asked, "m", true);
    assert_eq!(made.get("system"), None);
    assert_eq!(made["max_tokens"], 7);
    assert_eq!(made["tool_choice"], json!({"type": "none"}));
    assert_eq!(made["tools"][0]["cache_control"], json!({"type": "ephemeral"}), "the prefix ends here");
    let foreign = Reasoning::sealed("openai_chat", "t", &json!({"field": "reasoning"}));
    let turn = Turn { text: "a".to_owned(), reasoning: vec![foreign], ..Turn::default() };
    let mixed = body(&request(vec![Item::user("q"), Item::Assistant(turn)]), "m", true);
    assert!(!mixed.to_string().contains("reasoning"), "another provider's thinking is not sent");
    assert_eq!(safe_id("functions.tide:0"), "functions_tide_0");
}
