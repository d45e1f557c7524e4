use super::*;
use crate::fixture_items::{conversation, every_kind, request};
use crate::reply::{CallProposal, Reasoning};
use expect_test::expect_file;
use proptest::prelude::*;

const SHAPE: Shape<'static> =
    Shape { default_model: "m", streaming: true, with_usage: true, new_token_limit: false };

fn sealed(text: String) -> Reasoning {
    Reasoning::sealed(NAME, text, &json!({"field": "reasoning_content"}))
}

fn text_of(message: &Value, field: &str) -> String {
    message.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The items of a body. Whether a result reports an error is not in the protocol; its text says so.
fn items(body: &Value) -> Vec<Item> {
    let mut out = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        match message["role"].as_str().unwrap() {
            "system" => {}
            "user" => out.extend(
                markup::tests::split(&text_of(message, "content"))
                    .into_iter()
                    .map(|(said, text)| if said { Item::User { text } } else { Item::System { text } }),
            ),
            "tool" => {
                let mut pieces = markup::tests::split(&text_of(message, "content")).into_iter();
                let (_, content) = pieces.next().unwrap();
                out.push(Item::result(text_of(message, "tool_call_id"), content));
                out.extend(pieces.map(|(_, text)| Item::System { text }));
            }
            "assistant" => out.push(Item::Assistant(Turn {
                text: text_of(message, "content"),
                reasoning: message
                    .get("reasoning_content")
                    .map(|text| sealed(text.as_str().unwrap().into()))
                    .into_iter()
                    .collect(),
                calls: message["tool_calls"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|call| CallProposal {
                        id: text_of(call, "id"),
                        name: text_of(&call["function"], "name"),
                        arguments: text_of(&call["function"], "arguments"),
                    })
                    .collect(),
                ..Turn::default()
            })),
            other => panic!("a role {other}"),
        }
    }
    out
}

proptest! {
    #[test]
    fn a_request_comes_apart_into_its_items(asked in conversation(sealed)) {
        let expected: Vec<Item> = asked.iter().cloned().map(|item| match item {
            Item::ToolResult { call_id, content, .. } => Item::result(call_id, content),
            other => other,
        }).collect();
        prop_assert_eq!(items(&body(&request(asked), &SHAPE)), expected);
    }
}

#[test]
fn the_whole_body() {
    let body = body(&request(every_kind(sealed("A product.".to_owned()))), &SHAPE);
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/openai_chat/request.json")]
        .assert_eq(&(serde_json::to_string_pretty(&body).unwrap() + "\n"));
}

#[test]
fn what_depends_on_server_and_request() {
    let mut asked = request(vec![Item::user("hello")]);
    asked.max_output_tokens = Some(9);
    asked.tool_choice = ToolChoice::None;
    asked.model = "other".to_owned();
    let shape = Shape { streaming: false, new_token_limit: true, ..SHAPE };
    let made = body(&asked, &shape);
    assert_eq!(made["model"], "other");
    assert_eq!(made["max_completion_tokens"], 9);
    assert_eq!(made["tool_choice"], "none");
    assert_eq!(made["stream"], false);
    assert_eq!(made.get("stream_options"), None);
    let quiet = body(&Request { tools: Vec::new(), ..asked }, &Shape { with_usage: false, ..SHAPE });
    assert_eq!(
        (quiet.get("tools"), quiet.get("tool_choice"), quiet.get("stream_options")),
        (None, None, None)
    );
    assert_eq!(quiet["max_tokens"], 9);
}

#[test]
fn thinking_goes_back_within_its_run_and_to_its_maker_only() {
    let turn = |reasoning| {
        Item::Assistant(Turn { text: "a".to_owned(), reasoning: vec![reasoning], ..Turn::default() })
    };
    let has = |items| {
        let made = body(&request(items), &SHAPE).to_string();
        made.contains("reasoning")
    };
    assert!(has(vec![Item::user("q"), turn(sealed("t".to_owned()))]));
    assert!(!has(vec![Item::user("q"), turn(sealed("t".to_owned())), Item::user("q2")]), "an earlier run");
    let foreign = Reasoning::sealed("anthropic", "t", &json!({"field": "reasoning_content"}));
    assert!(!has(vec![Item::user("q"), turn(foreign)]));
}
