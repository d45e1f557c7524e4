//! What is sent, and replies that come in one piece.

use std::sync::Arc;

use mast_provider::{Item, Provider, ProviderConfig, Stop, build};
use serde_json::json;

use crate::server::{Answer, Server};
use crate::world::{KEY, ask, config, request};

fn chat(config: &ProviderConfig) -> Arc<dyn Provider> {
    build("openai_chat", config).unwrap()
}

fn whole(text: &str) -> Answer {
    let choice = json!({"message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
    Answer::json(200, &json!({"choices": [choice]}))
}

#[tokio::test]
async fn chat_completions_are_asked_for_as_the_protocol_says() {
    let server = Server::start(vec![whole("391")]).await;
    let (came, _) = ask(chat(&config(&server.url).0).as_ref(), &request("Go.")).await;
    assert_eq!(came.unwrap().text, "391", "a server that does not stream is understood too");
    let asked = &server.asked()[0];
    assert!(asked.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", asked.head);
    assert!(asked.head.contains(&format!("authorization: Bearer {KEY}\r\n")));
    assert_eq!(asked.body["model"], "m-1");
    assert_eq!(asked.body["stream"], true);
}

#[tokio::test]
async fn messages_are_asked_for_as_the_protocol_says() {
    let reply =
        json!({"type": "message", "content": [{"type": "text", "text": "391"}], "stop_reason": "end_turn"});
    for base in ["", "/v1"] {
        let server = Server::start(vec![Answer::json(200, &reply)]).await;
        let url = format!("{}{base}", server.url.trim_end_matches("/v1"));
        let config = ProviderConfig { streaming: false, ..config(&url).0 };
        let (came, _) = ask(build("anthropic", &config).unwrap().as_ref(), &request("Go.")).await;
        assert_eq!(came.unwrap().text, "391");
        let asked = &server.asked()[0];
        assert!(asked.head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{}", asked.head);
        assert!(asked.head.contains(&format!("x-api-key: {KEY}\r\n")));
        assert!(asked.head.contains("anthropic-version: 2023-06-01\r\n"));
        assert_eq!(asked.body["stream"], false);
    }
}

#[tokio::test]
async fn without_a_key_no_header_is_sent() {
    let server = Server::start(vec![whole("hello")]).await;
    let config = ProviderConfig { key: None, streaming: false, ..config(&server.url).0 };
    let (came, _) = ask(chat(&config).as_ref(), &request("Go.")).await;
    assert_eq!(came.unwrap().text, "hello");
    assert!(!server.asked()[0].head.contains("authorization"));
}

#[tokio::test]
async fn a_parameter_that_a_server_refuses_is_left_out_from_then_on() {
    let refuse =
        |name: &str| Answer::json(400, &json!({"error": {"message": format!("Unknown parameter: {name}")}}));
    let answers = vec![
        refuse("'stream_options'"),
        refuse("'max_tokens'; use 'max_completion_tokens'"),
        whole("one"),
        whole("two"),
    ];
    let server = Server::start(answers).await;
    let (config, noted) = config(&server.url);
    let provider = chat(&config);
    let mut asking = request("Go.");
    asking.max_output_tokens = Some(50);
    let (first, _) = ask(provider.as_ref(), &asking).await;
    let (second, _) = ask(provider.as_ref(), &asking).await;
    assert_eq!((first.unwrap().text, second.unwrap().text), ("one".to_owned(), "two".to_owned()));
    let bodies: Vec<_> = server.asked().into_iter().map(|asked| asked.body).collect();
    assert_eq!(bodies.len(), 4);
    let has = |name: &str| bodies.iter().map(|body| body.get(name).is_some()).collect::<Vec<_>>();
    assert_eq!(has("stream_options"), [true, false, false, false]);
    assert_eq!(has("max_tokens"), [true, true, false, false]);
    assert_eq!(has("max_completion_tokens"), [false, false, true, true]);
    assert!(noted.waits().is_empty(), "that is no failure to wait after");
}

#[tokio::test]
async fn ids_that_a_server_leaves_out_are_new_in_the_conversation() {
    let call = json!({"function": {"name": "math_calculate", "arguments": {"expression": "1"}}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let reply = Answer::json(200, &json!({"choices": [{"message": message, "finish_reason": "stop"}]}));
    let server = Server::start(vec![reply]).await;
    let provider = chat(&config(&server.url).0);
    let mut asking = request("Go.");
    for expected in ["call_0", "call_1"] {
        let (came, _) = ask(provider.as_ref(), &asking).await;
        let turn = came.unwrap();
        assert_eq!((turn.calls[0].id.as_str(), &turn.stop), (expected, &Stop::ToolCalls));
        let result = Item::result(expected, "1");
        asking.items.extend([Item::Assistant(turn), result]);
    }
    let sent = &server.asked()[1].body["messages"];
    assert_eq!(sent[2]["tool_calls"][0]["id"], sent[3]["tool_call_id"]);
}
