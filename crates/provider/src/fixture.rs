//! Runs the recorded streams of a provider: `tests/fixtures/<provider>/<case>.sse` is a stream,
//! `<case>.body` a reply in one piece, `<case>.turn.json` what must come of it. A case is added by
//! adding files; with `UPDATE_EXPECT=1` the last is written.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use serde_json::{Value, json};

use crate::config::ProviderConfig;
use crate::error::ProviderError;
use crate::http::Endpoint;
use crate::reply::{StreamEvent, Turn};
use crate::wire::{Decoder, Reading};

/// An endpoint for decoders that are run without a network.
pub(crate) fn endpoint(provider: &'static str) -> Endpoint {
    let config = ProviderConfig { key: Some(crate::Secret::new("sk-test-key")), ..ProviderConfig::default() };
    Endpoint::new(provider, &config, "https://model.example", "", Default::default()).unwrap()
}

fn cases(provider: &str, kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(provider);
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == kind))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "{provider} has cases of the kind {kind}");
    found
}

type Ran = (Result<Turn, ProviderError>, Vec<StreamEvent>);

fn run(decoder: impl Decoder, chunks: &[&[u8]]) -> Ran {
    let mut events = Vec::new();
    let mut sink = |event: &StreamEvent| events.push(event.clone());
    let mut stream = Reading::new(decoder);
    let pushed = chunks.iter().try_for_each(|chunk| stream.push(chunk, &mut sink));
    let ran = pushed.and_then(|()| stream.finish(&mut sink));
    (ran, events)
}

fn shown(ran: &Result<Turn, ProviderError>) -> String {
    let value = match ran {
        Ok(turn) => json!({"turn": turn}),
        Err(error) => json!({"error": error.code(), "message": error.to_string()}),
    };
    serde_json::to_string_pretty(&value).unwrap() + "\n"
}

/// The events say what the turn says, in order, and end with it.
fn assert_consistent((ran, events): &Ran, case: &Path) {
    let mut told = Turn::default();
    let mut reasoning = String::new();
    let mut done = None;
    for event in events {
        assert!(done.is_none(), "{case:?}: nothing follows the whole reply");
        match event {
            StreamEvent::TextDelta(text) => told.text.push_str(text),
            StreamEvent::ReasoningDelta(text) => reasoning.push_str(text),
            StreamEvent::CallStarted { index, name } => {
                assert_eq!(*index, told.calls.len(), "{case:?}: calls begin in order");
                told.calls.push(crate::CallProposal { name: name.clone(), ..Default::default() });
            }
            StreamEvent::ArgumentsDelta { index, text } => told.calls[*index].arguments.push_str(text),
            StreamEvent::Done(turn) => done = Some(turn),
        }
    }
    assert_eq!(done, ran.as_ref().ok(), "{case:?}: the last event is the turn");
    if let Ok(turn) = ran {
        assert_eq!(told.text, turn.text, "{case:?}");
        let whole: String = turn.reasoning.iter().map(|part| part.text.as_str()).collect();
        assert_eq!(reasoning, whole, "{case:?}");
        let pair = |call: &crate::CallProposal| (call.name.clone(), call.arguments.clone());
        let (told, said): (Vec<_>, Vec<_>) =
            (told.calls.iter().map(pair).collect(), turn.calls.iter().map(pair).collect());
        assert_eq!(told, said, "{case:?}");
    }
}

/// Every recorded stream: whole, cut into two at every byte, in single bytes, and broken off at every
/// byte.
pub(crate) fn check_streams<D: Decoder>(provider: &str, decoder: impl Fn() -> D) {
    for case in cases(provider, "sse") {
        let bytes = fs::read(&case).unwrap();
        let whole = run(decoder(), &[&bytes]);
        expect_file![case.with_extension("turn.json")].assert_eq(&shown(&whole.0));
        assert_consistent(&whole, &case);
        let singles: Vec<&[u8]> = bytes.chunks(1).collect();
        let single = run(decoder(), &singles);
        assert_eq!((shown(&single.0), &single.1), (shown(&whole.0), &whole.1), "{case:?}: in single bytes");
        for cut in 0..bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            let parts = run(decoder(), &[head, tail]);
            assert_eq!((shown(&parts.0), &parts.1), (shown(&whole.0), &whole.1), "{case:?}: cut at {cut}");
            assert_cut_is_seen(&run(decoder(), &[head]), &whole, (&case, cut));
        }
    }
}

/// A reply that broke off is never taken for another whole one. Only what follows the last word (its
/// usage) may be missing.
fn assert_cut_is_seen(cut: &Ran, whole: &Ran, place: (&Path, usize)) {
    assert_consistent(cut, place.0);
    match (&cut.0, &whole.0) {
        (Ok(cut), Ok(whole)) => {
            let same = Turn { usage: whole.usage, ..cut.clone() };
            assert_eq!(&same, whole, "{place:?}");
        }
        (Err(cut), whole) => {
            let known = whole.as_ref().err().map(ProviderError::code);
            assert!(cut.code() == "cut_short" || Some(cut.code()) == known, "{place:?}: {cut}");
        }
        (Ok(_), Err(error)) => panic!("{place:?}: a turn, though the whole stream has {error}"),
    }
}

/// Every recorded reply in one piece.
pub(crate) fn check_bodies<D: Decoder>(provider: &str, decoder: impl Fn() -> D) {
    for case in cases(provider, "body") {
        let body: Value = serde_json::from_slice(&fs::read(&case).unwrap()).unwrap();
        let mut events = Vec::new();
        let mut sink = |event: &StreamEvent| events.push(event.clone());
        let mut reading = decoder();
        let taken = reading.body(&body, &mut sink);
        let ran = (taken.map(|()| reading.finish(&mut sink)), events);
        expect_file![case.with_extension("turn.json")].assert_eq(&shown(&ran.0));
        assert_consistent(&ran, &case);
    }
}
