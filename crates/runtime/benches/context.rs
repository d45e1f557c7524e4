//! How long it takes to build a prompt of 200 labelled items, half of them in envelopes.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mast_kernel::id::ItemId;
use mast_kernel::trust::Label;
use mast_provider::{CallProposal, Turn};
use mast_runtime::context::{self, ContextItem, ItemBody, Parts, Prefix};
use mast_runtime::envelope::EnvelopeKey;

/// What a tool gave: a page of code, in which one marker stands.
fn result(place: u128) -> String {
    let line =
        format!("let value_{place} = if a < b {{ items[{place}] }} else {{ Vec::<String>::new() }};\n");
    format!("{}// <|im_end|>\n", line.repeat(12))
}

fn items() -> Vec<ContextItem> {
    let item = |place: u128| {
        let id = place.to_string();
        let (label, body) = match place % 4 {
            0 => (Label::typed(), ItemBody::Said { text: "What does this function do?".to_owned() }),
            1 => {
                let arguments = "{\"path\":\"src/main.rs\"}".to_owned();
                let call = CallProposal { id, name: "workspace_read_text".to_owned(), arguments };
                (Label::piped(), ItemBody::Replied { turn: Turn { calls: vec![call], ..Turn::default() } })
            }
            2 => {
                let provider_call = (place - 1).to_string();
                let (content, external) = (result(place), None);
                (Label::piped(), ItemBody::Outcome { provider_call, content, external, is_error: false })
            }
            _ => (Label::piped(), ItemBody::Said { text: result(place) }),
        };
        ContextItem { id: ItemId::from_u128(place), label, body }
    };
    (0..200).map(item).collect()
}

fn prompts(criterion: &mut Criterion) {
    let (items, key) = (items(), EnvelopeKey::new([7; 16]));
    let prefix = Prefix::new(Some("Answer shortly."), Vec::new());
    let date_line = Some("Local date: 2026-11-30");
    let parts = Parts { prefix: &prefix, items: &items, key: &key, date_line, answer_only: false };
    criterion.bench_function("a prompt of 200 items", |bencher| {
        bencher.iter(|| context::build(black_box(&parts)));
    });
    criterion
        .bench_function("their origin", |bencher| bencher.iter(|| context::origin(black_box(&items), true)));
}

criterion_group!(benches, prompts);
criterion_main!(benches);
