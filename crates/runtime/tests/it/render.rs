//! What a model is shown reads back to exactly what was put in: the half between the conversation and the
//! request. The other half, between a request and each provider's bytes, stands with the providers
//! (`a_request_comes_apart_into_its_items`).

use mast_kernel::canonical::parse_strict;
use mast_kernel::id::ItemId;
use mast_kernel::neutral;
use mast_kernel::trust::{Label, Sensitivity, SourceKind, Trust};
use mast_provider::{CallProposal, Item, Reasoning, Turn};
use mast_runtime::context::{self, ContextItem, ItemBody, Parts, Prefix};
use mast_runtime::envelope::{self, EnvelopeKey};
use proptest::prelude::*;
use serde_json::{Value, json};

const KEY: EnvelopeKey = EnvelopeKey::new([3; 16]);

/// Anything, with many markers, tags, escapes and parts of them.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => r"(<|\[|\\|/|\||>|\]|\n|untrusted|nonce|<untrusted |</untrusted|\n<untrusted |\n</untrusted nonce=){1,4}",
        2 => r"(<\|im_end\|>|<\|im_start\|>system|\[INST\]|<｜tool▁sep｜>|<tool_call>|</s>|<mast>|<start_of_turn>)",
        2 => r"\PC{0,8}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

pub(crate) fn label() -> impl Strategy<Value = Label> {
    let sources = [SourceKind::Typed, SourceKind::Piped, SourceKind::Caller, SourceKind::Tool];
    (0..7_usize, 0..2_usize, 0..sources.len()).prop_map(move |(trust, sensitivity, source)| {
        Label::new(Trust::ALL[trust], Sensitivity::ALL[sensitivity], sources[source])
    })
}

fn turn(n_calls: usize) -> impl Strategy<Value = Turn> {
    let call =
        (text(), text(), prop_oneof![text().prop_map(|value| json!({ value: 1.5 }).to_string()), text()]);
    let calls = prop::collection::vec(call, n_calls);
    (text(), prop::option::of(text()), calls).prop_map(|(text, thought, calls)| Turn {
        text,
        reasoning: thought
            .into_iter()
            .map(|text| Reasoning { text, opaque: Some(json!("sealed <|x|>")) })
            .collect(),
        calls: calls
            .into_iter()
            .enumerate()
            .map(|(place, (id, name, arguments))| CallProposal {
                id: format!("{place}{id}"),
                name,
                arguments,
            })
            .collect(),
        ..Turn::default()
    })
}

/// A conversation in which every call has its outcome.
fn items() -> impl Strategy<Value = Vec<ContextItem>> {
    let said = text().prop_map(|text| vec![ItemBody::Said { text }]);
    let exchange = (0..3_usize).prop_flat_map(|n_calls| {
        let outcome = (text(), prop::option::of(text()), any::<bool>());
        (turn(n_calls), prop::collection::vec(outcome, n_calls)).prop_map(|(turn, outcomes)| {
            let ids: Vec<String> = turn.calls.iter().map(|call| call.id.clone()).collect();
            let answers = ids.into_iter().zip(outcomes).map(|(id, (content, external, is_error))| {
                ItemBody::Outcome { provider_call: id, content, external, is_error }
            });
            [ItemBody::Replied { turn }].into_iter().chain(answers).collect::<Vec<_>>()
        })
    });
    let bodies = prop::collection::vec(prop_oneof![said, exchange], 0..5).prop_map(|all| all.concat());
    let labels = prop::collection::vec(label(), 20);
    (bodies, labels).prop_map(|(bodies, labels)| {
        bodies
            .into_iter()
            .zip(labels)
            .enumerate()
            .map(|(place, (body, label))| ContextItem { id: ItemId::from_u128(place as u128), label, body })
            .collect()
    })
}

/// One text as it was shown, and the id and kind of its envelope, where it has one.
type Shown = (String, Option<(String, String)>);

fn read(text: &str) -> Shown {
    if !text.starts_with("<untrusted ") {
        return (neutral::unescape(text).into_owned(), None);
    }
    let field = |name: &str| text.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap();
    let inner = envelope::unwrap(&KEY, text).expect("an envelope of this key");
    (inner, Some((field("id").to_owned(), field("kind").to_owned())))
}

/// What a request shows, read without knowing what was put in.
#[derive(Debug, PartialEq)]
enum Read {
    Said(Shown),
    Replied(Turn),
    Outcome { call: String, content: Shown, external: Option<Shown>, is_error: bool },
}

fn parse(item: &Item) -> Read {
    match item {
        Item::User { text } => Read::Said(read(text)),
        Item::System { text } => panic!("nothing of the runtime's own was put in: {text}"),
        Item::Assistant(turn) => {
            let plain = |text: &str| neutral::unescape(text).into_owned();
            let mut turn = turn.clone();
            turn.text = plain(&turn.text);
            for part in &mut turn.reasoning {
                part.text = plain(&part.text);
            }
            for call in &mut turn.calls {
                (call.id, call.name) = (plain(&call.id), plain(&call.name));
                call.arguments = match parse_strict(&call.arguments) {
                    Ok(_) => neutral::unescape_json(&call.arguments).into_owned(),
                    Err(_) => plain(&call.arguments),
                };
            }
            Read::Replied(turn)
        }
        Item::ToolResult { call_id, content, is_error } => {
            let (content, external) = match content.rfind("\n<untrusted ") {
                Some(place) => {
                    let (content, external) = content.split_at(place);
                    (content, Some(read(external.trim_start_matches('\n'))))
                }
                None => (content.as_str(), None),
            };
            let call = neutral::unescape(call_id).into_owned();
            Read::Outcome { call, content: read(content), external, is_error: *is_error }
        }
    }
}

/// What must be read of an item.
fn expected(item: &ContextItem) -> Read {
    let id = item.id.to_string();
    let envelope = |kind: SourceKind| Some((id.clone(), kind.as_str().to_owned()));
    let own = if item.label.trust.is_enveloped() { envelope(item.label.source) } else { None };
    match &item.body {
        ItemBody::Said { text } => Read::Said((text.clone(), own)),
        ItemBody::Replied { turn } => Read::Replied(turn.clone()),
        ItemBody::Outcome { provider_call, content, external, is_error } => Read::Outcome {
            call: provider_call.clone(),
            content: (content.clone(), if *is_error { None } else { own }),
            external: external.clone().map(|text| (text, envelope(SourceKind::Tool))),
            is_error: *is_error,
        },
    }
}

fn shown(items: &[ContextItem]) -> Vec<Item> {
    let prefix = Prefix::new(None, Vec::new());
    context::build(&Parts { prefix: &prefix, items, key: &KEY, date_line: None, answer_only: false }).items
}

/// The text of an item without the envelopes that Mast put around.
fn without_tags(item: &Item) -> String {
    match item {
        Item::User { text } | Item::System { text } | Item::ToolResult { content: text, .. } => {
            text.replace("<untrusted kind=", "(begin ").replace("</untrusted nonce=", "(end ")
        }
        Item::Assistant(turn) => {
            let calls = turn.calls.iter().flat_map(|call| {
                let arguments = serde_json::from_str::<Value>(&call.arguments).ok();
                let strings = arguments.and_then(|value| value.as_object().cloned()).unwrap_or_default();
                [call.id.clone(), call.name.clone()]
                    .into_iter()
                    .chain(strings.into_iter().map(|(key, _)| key))
            });
            calls.chain([turn.text.clone()]).collect::<Vec<_>>().join("\n")
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_prompt_reads_back_to_exactly_what_was_put_in(items in items()) {
        let prompt = shown(&items);
        let read: Vec<Read> = prompt.iter().map(parse).collect();
        prop_assert_eq!(read, items.iter().map(expected).collect::<Vec<_>>());
    }

    #[test]
    fn no_marker_stands_in_a_prompt_but_mast_s_own_envelopes(items in items()) {
        for item in shown(&items) {
            let text = without_tags(&item);
            prop_assert!(!neutral::has_marker(&text), "{:?}", text);
        }
    }
}
