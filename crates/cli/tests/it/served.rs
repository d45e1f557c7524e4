//! Whole runs against model servers on loopback that stream a tool call in pieces and then an answer.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::world::World;

/// The moment that tools and the model are told.
const NOW: [&str; 2] = ["--fixed-clock", "2026-11-30T14:05:00Z"];

/// A proxy that nobody runs: a request that went through it would fail, and show it the key.
const NO_PROXY: &str = "http://127.0.0.1:1";

const QUESTION: &str = "What is 17 multiplied by 23?";

/// A server that answers so many requests with these streams, one each; the requests' paths and bodies.
fn serve(streams: Vec<String>) -> (String, JoinHandle<Vec<(String, Value)>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        streams.into_iter().map(|stream| answer(listener.accept().unwrap().0, &stream)).collect()
    });
    (address, server)
}

/// Reads one request and streams the reply in small pieces.
fn answer(mut connection: TcpStream, stream: &str) -> (String, Value) {
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    let mut n_bytes = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            n_bytes = length.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; n_bytes];
    reader.read_exact(&mut body).unwrap();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    connection.write_all(head.as_bytes()).unwrap();
    for piece in stream.as_bytes().chunks(7) {
        connection.write_all(piece).unwrap();
        connection.flush().unwrap();
    }
    let path = first.split(' ').nth(1).unwrap().to_owned();
    (path, serde_json::from_slice(&body).unwrap())
}

fn chat(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect::<String>() + "data: [DONE]\n\n"
}

fn messages(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

#[test]
fn a_chat_completions_server_streams_a_call_and_an_answer() {
    let piece = |text: &str| json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}}]});
    let (address, server) = serve(vec![
        chat(&[
            json!({"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [{"index": 0, "id": "call_x", "type": "function", "function": {"name": "math_calculate", "arguments": ""}}]}}]}),
            piece("{\"expres"),
            piece("sion\": \"17 * 23\"}"),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20}}),
        ]),
        chat(&[
            json!({"choices": [{"index": 0, "delta": {"content": "It is "}}]}),
            json!({"choices": [{"index": 0, "delta": {"content": "391."}, "finish_reason": "stop"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 130, "completion_tokens": 5}}),
        ]),
    ]);
    let world = World::new()
        .with("OPENAI_API_KEY", "sk-never-shown")
        .with("HTTP_PROXY", NO_PROXY)
        .with("TZ", "Asia/Tokyo");
    let config =
        world.file("c.toml", &format!("[provider]\nbase_url = \"{address}/v1\"\nmodel = \"tiny\"\n"));
    let ran = world
        .mast(&[&NOW[..], &["--config", &config, "run", "--provider", "openai_chat", QUESTION]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (0, "It is 391.\n"), "{}", ran.err);
    assert!(ran.err.contains("math.calculate") && ran.err.contains("17 * 23"), "{}", ran.err);
    assert!(ran.err.contains("230") && ran.err.contains("25"), "tokens of both requests: {}", ran.err);
    assert!(!ran.err.contains("sk-never-shown"), "{}", ran.err);
    let requests = server.join().unwrap();
    assert_eq!(requests[0].0, "/v1/chat/completions");
    let sent = requests[1].1["messages"].as_array().unwrap();
    let result = sent.iter().find(|message| message["role"] == "tool").unwrap();
    assert!(result.to_string().contains("Today is Monday, 2026-11-30, 23:05 (Asia/Tokyo)."), "{result}");
    // The runtime's own line about the date stands behind the last message, in Mast's own markup.
    let content = result["content"].as_str().unwrap().split("\n\n<mast>").next();
    assert_eq!((&result["tool_call_id"], content), (&json!("call_x"), Some("391")));
}

#[test]
fn a_messages_server_streams_a_call_and_an_answer() {
    let start = |n: u32| json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "tiny", "usage": {"input_tokens": n, "output_tokens": 1}}});
    let piece = |text: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}});
    let (address, server) = serve(vec![
        messages(&[
            start(100),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "toolu_x", "name": "math_calculate", "input": {}}}),
            piece("{\"expression\":"),
            piece(" \"17 * 23\"}"),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}}),
            json!({"type": "message_stop"}),
        ]),
        messages(&[
            start(130),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It is 391."}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}),
            json!({"type": "message_stop"}),
        ]),
    ]);
    let world = World::new()
        .with("ANTHROPIC_API_KEY", "sk-never-shown")
        .with("HTTP_PROXY", NO_PROXY)
        .with("TZ", "Asia/Tokyo");
    let config = world.file(
        "c.toml",
        &format!(
            "[provider]\nbase_url = \"{address}\"\nmodel = \"tiny\"\n[run]\ntimezone = \"Europe/London\"\n"
        ),
    );
    let ran =
        world.mast(&[&NOW[..], &["--config", &config, "run", "--provider", "anthropic", QUESTION]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (0, "It is 391.\n"), "{}", ran.err);
    let requests = server.join().unwrap();
    assert_eq!(requests[0].0, "/v1/messages");
    let sent = requests[1].1["messages"].to_string();
    assert!(sent.contains("Today is Monday, 2026-11-30, 14:05 (Europe/London)."), "{sent}");
    assert!(!requests[1].1["system"].to_string().contains("Today"), "the date stays out of the prefix");
    assert!(sent.contains("tool_result") && sent.contains("toolu_x") && sent.contains("391"), "{sent}");
}
