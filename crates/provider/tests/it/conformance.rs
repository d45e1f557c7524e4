//! What holds for every provider. It runs on the list by itself: a new provider is tested when its
//! line is there, and a provider that speaks HTTP must bring recorded streams.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mast_kernel::trust::Sensitivity;
use mast_provider::{
    BuildError, CallProposal, Entry, Need, PROVIDERS, ProviderConfig, Script, StreamEvent, Turn, build, entry,
};
use serde_json::Value;

use crate::failures::begun_stream;
use crate::server::{Answer, Server, Then};
use crate::world::{KEY, ask, assert_no_key, config, request};

/// Everything that any provider needs.
fn full(url: &str) -> ProviderConfig {
    let script = "- reasoning: Two things.\n  text: Let me see.\n  calls:\n  \
                  - {tool: math.calculate, args: {expression: 17 * 23}}\n  - {tool: system.current_time}\n";
    ProviderConfig { script: Some(Script::parse(script).unwrap()), ..config(url).0 }
}

fn is_remote(entry: &Entry) -> bool {
    entry.needs.contains(&Need::BaseUrl)
}

fn fixtures(entry: &Entry) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(entry.name)
}

fn recorded(entry: &Entry, case: &str) -> Vec<u8> {
    let path = fixtures(entry).join(case).with_extension("sse");
    fs::read(&path).unwrap_or_else(|_| panic!("provider `{}` needs the recorded stream {path:?}", entry.name))
}

/// What was heard adds up to the turn.
fn assert_adds_up(heard: &[StreamEvent], turn: &Turn) {
    let (mut text, mut reasoning) = (String::new(), String::new());
    let mut calls: Vec<CallProposal> = Vec::new();
    let (last, before) = heard.split_last().unwrap();
    assert_eq!(last, &StreamEvent::Done(turn.clone()));
    for event in before {
        match event {
            StreamEvent::TextDelta(more) => text.push_str(more),
            StreamEvent::ReasoningDelta(more) => reasoning.push_str(more),
            StreamEvent::CallStarted { index, name } => {
                assert_eq!(*index, calls.len());
                calls.push(CallProposal { name: name.clone(), ..CallProposal::default() });
            }
            StreamEvent::ArgumentsDelta { index, text } => calls[*index].arguments.push_str(text),
            StreamEvent::Done(_) => panic!("the whole comes once, at the end"),
        }
    }
    assert_eq!(text, turn.text);
    assert_eq!(reasoning, turn.reasoning.iter().map(|part| part.text.as_str()).collect::<String>());
    let ids: BTreeSet<&str> = turn.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids.len(), turn.calls.len(), "each call has an id of its own");
    assert!(!ids.contains(""));
    for (told, call) in calls.iter().zip(&turn.calls) {
        assert_eq!((&told.name, &told.arguments), (&call.name, &call.arguments));
    }
    assert_eq!(calls.len(), turn.calls.len());
}

#[test]
fn the_list_is_in_order() {
    let names: BTreeSet<&str> = PROVIDERS.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), PROVIDERS.len(), "each name once");
    for listed in PROVIDERS {
        assert_eq!(entry(listed.name).map(|found| found.name), Some(listed.name));
        assert!(!listed.about.is_empty());
        assert_eq!(is_remote(listed), listed.default_base_url.is_some(), "{}", listed.name);
        assert_eq!(is_remote(listed), fixtures(listed).is_dir(), "{}", listed.name);
    }
    let unknown = build("opnai", &ProviderConfig::default()).unwrap_err();
    assert!(unknown.to_string().contains("openai_chat"), "{unknown}");
}

#[test]
fn what_is_missing_is_named() {
    for entry in PROVIDERS {
        let whole = full("http://127.0.0.1:9/v1");
        build(entry.name, &whole).unwrap_or_else(|fault| panic!("{}: {fault}", entry.name));
        for need in entry.needs {
            let lacking = match need {
                Need::Key => ProviderConfig { key: None, ..whole.clone() },
                Need::Model => ProviderConfig { model: None, ..whole.clone() },
                Need::Script => ProviderConfig { script: None, ..whole.clone() },
                Need::OptionalKey => {
                    let without = ProviderConfig { key: None, ..whole.clone() };
                    build(entry.name, &without).unwrap();
                    continue;
                }
                Need::BaseUrl => {
                    let wrong =
                        ProviderConfig { base_url: Some("not an address".to_owned()), ..whole.clone() };
                    let fault = build(entry.name, &wrong).unwrap_err();
                    assert!(matches!(fault, BuildError::BaseUrl { .. }), "{}: {fault}", entry.name);
                    continue;
                }
            };
            let fault = build(entry.name, &lacking).unwrap_err();
            assert!(matches!(fault, BuildError::Missing { .. }), "{} without {need:?}", entry.name);
            assert!(fault.to_string().contains(entry.name) && !fault.to_string().contains(KEY), "{fault}");
        }
    }
}

#[test]
fn nothing_shows_the_key() {
    for entry in PROVIDERS {
        let built = full("http://127.0.0.1:9/v1?api=secret-query");
        let provider = build(entry.name, &built).unwrap();
        let shown = format!("{provider:?} {provider:#?} {built:?} {entry:?}");
        assert!(!shown.contains(KEY) && !shown.contains("secret-query"), "{shown}");
        let bad = ProviderConfig { key: Some(mast_provider::Secret::new("sk-\u{7}bell")), ..built };
        if let Err(fault) = build(entry.name, &bad) {
            assert!(!format!("{fault} {fault:?}").contains("bell"), "{fault}");
        }
    }
}

#[test]
fn a_provider_says_what_it_is() {
    for entry in PROVIDERS {
        let built = full("http://127.0.0.1:9/v1");
        let provider = build(entry.name, &built).unwrap();
        assert_eq!(provider.name(), entry.name);
        assert!(!provider.model().is_empty());
        assert_eq!(provider.max_sensitivity(), Sensitivity::Private);
        let public = ProviderConfig { max_sensitivity: Sensitivity::Public, ..built };
        assert_eq!(build(entry.name, &public).unwrap().max_sensitivity(), Sensitivity::Public);
    }
}

#[tokio::test]
async fn a_reply_adds_up() {
    for entry in PROVIDERS {
        let answer = if is_remote(entry) { recorded(entry, "parallel_calls") } else { Vec::new() };
        let server = Server::start(vec![Answer::stream(answer)]).await;
        let provider = build(entry.name, &full(&server.url)).unwrap();
        let (came, heard) = ask(provider.as_ref(), &request("What is 17 * 23?")).await;
        let turn = came.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        assert_adds_up(&heard, &turn);
        assert!(!turn.calls.is_empty(), "{} proposes a call", entry.name);
        assert_eq!(turn.calls[0].name, "math_calculate");
        let kept = serde_json::to_string(&turn).unwrap();
        assert_eq!(serde_json::from_str::<Turn>(&kept).unwrap(), turn, "a turn can be stored");
        assert_eq!(server.asked().len(), usize::from(is_remote(entry)), "{}", entry.name);
    }
}

#[tokio::test]
async fn every_recorded_stream_comes_over_the_network_as_it_is() {
    for entry in PROVIDERS.iter().filter(|entry| is_remote(entry)) {
        let mut cases: Vec<PathBuf> =
            fs::read_dir(fixtures(entry)).unwrap().map(|file| file.unwrap().path()).collect();
        cases.retain(|path| path.extension().is_some_and(|kind| kind == "sse"));
        assert!(cases.len() > 5, "{} has recorded streams", entry.name);
        for case in cases {
            let server = Server::start(vec![Answer::stream(fs::read(&case).unwrap())]).await;
            let provider = build(entry.name, &full(&server.url)).unwrap();
            let (came, heard) = ask(provider.as_ref(), &request("Go.")).await;
            let expected: Value =
                serde_json::from_slice(&fs::read(case.with_extension("turn.json")).unwrap()).unwrap();
            match came {
                Ok(turn) => {
                    assert_eq!(serde_json::to_value(&turn).unwrap(), expected["turn"], "{case:?}");
                    assert_adds_up(&heard, &turn);
                }
                Err(error) => {
                    assert_eq!(error.code(), expected["error"], "{case:?}");
                    assert_no_key(&error);
                }
            }
        }
    }
}

#[tokio::test]
async fn a_dropped_request_ends_its_connection() {
    for entry in PROVIDERS.iter().filter(|entry| is_remote(entry)) {
        let half = begun_stream(entry);
        let mut server = Server::start(vec![Answer::stream(half).then(Then::Hang)]).await;
        let provider = build(entry.name, &full(&server.url)).unwrap();
        let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel();
        let asking = tokio::spawn(async move {
            let mut sink = move |event: &StreamEvent| heard.send(event.clone()).unwrap();
            provider.complete(&request("Go."), &mut sink).await
        });
        hears.recv().await.unwrap();
        asking.abort();
        server.client_left().await;
        assert!(asking.await.unwrap_err().is_cancelled(), "{}", entry.name);
    }
}
