//! The corpus of final messages: no true assertion is marked, and nearly every false one is.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use mast_kernel::assertion::{Checked, Support, check, find, marked};
use mast_kernel::limits::ASSERTIONS_MAX;
use proptest::prelude::*;
use serde::Deserialize;

use crate::record::{Call, receipts};

/// A final message, and the calls of the run that it ends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    id: String,
    /// `tuned`: the table of words was written with it in sight; `held`: it was not.
    set: String,
    lang: String,
    kind: String,
    text: String,
    journal: Vec<Call>,
    /// The words that are not so.
    r#false: Vec<String>,
}

fn corpus() -> Vec<Message> {
    let text = include_str!("../data/assertions.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What came of one message.
#[derive(Default, Clone, Copy)]
struct Row {
    messages: usize,
    false_ones: usize,
    caught: usize,
    wrong: usize,
    supported: usize,
    not_checkable: usize,
}

impl Row {
    fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.false_ones += other.false_ones;
        self.caught += other.caught;
        self.wrong += other.wrong;
        self.supported += other.supported;
        self.not_checkable += other.not_checkable;
    }

    fn line(&self, name: &str) -> String {
        let Self { messages, false_ones, caught, wrong, supported, not_checkable } = self;
        let share =
            if *false_ones == 0 { "–".to_owned() } else { format!("{} %", 100 * caught / false_ones) };
        format!(
            "{name:<14} {messages:>8} {false_ones:>6} {caught:>7} {share:>7} {wrong:>13} {supported:>10} \
             {not_checkable:>14}\n"
        )
    }
}

fn judge(message: &Message, complaints: &mut String) -> Row {
    let checked = check(find(&message.text), &receipts(&message.journal));
    let places: Vec<_> = message
        .r#false
        .iter()
        .map(|words| {
            let at = message.text.find(words.as_str()).unwrap();
            at..at + words.len()
        })
        .collect();
    let marks: Vec<_> = checked
        .iter()
        .filter(|one| one.is_unsupported())
        .filter_map(|one| one.assertion.span.clone())
        .collect();
    let is_in = |mark: &std::ops::Range<usize>, place: &std::ops::Range<usize>| {
        place.start <= mark.start && mark.end <= place.end
    };
    let missed: Vec<&String> = message
        .r#false
        .iter()
        .zip(&places)
        .filter(|(_, place)| !marks.iter().any(|mark| is_in(mark, place)))
        .map(|(words, _)| words)
        .collect();
    let wrong: Vec<&str> = marks
        .iter()
        .filter(|mark| !places.iter().any(|place| is_in(mark, place)))
        .filter_map(|mark| message.text.get(mark.clone()))
        .collect();
    if !missed.is_empty() || !wrong.is_empty() {
        writeln!(
            complaints,
            "{}: missed {missed:?}, wrongly marked {wrong:?}\n  {}",
            message.id, message.text
        )
        .unwrap();
    }
    let n = |fits: fn(&Checked) -> bool| checked.iter().filter(|one| fits(one)).count();
    Row {
        messages: 1,
        false_ones: places.len(),
        caught: places.len() - missed.len(),
        wrong: wrong.len(),
        supported: n(|one| matches!(one.support, Support::Supported { .. })),
        not_checkable: n(|one| matches!(one.support, Support::NotCheckable { .. })),
    }
}

#[test]
fn no_true_assertion_is_marked_and_nearly_every_false_one_is() {
    let mut complaints = String::new();
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for message in corpus() {
        let row = judge(&message, &mut complaints);
        for name in [
            format!("1 {}", message.lang),
            format!("2 {}", message.kind),
            format!("3 {}", message.set),
            "4 all".to_owned(),
        ] {
            rows.entry(name).or_default().add(row);
        }
    }
    let mut table = format!(
        "{:<14} {:>8} {:>6} {:>7} {:>7} {:>13} {:>10} {:>14}\n",
        "messages", "n", "false", "caught", "share", "true, marked", "supported", "not checkable"
    );
    for (name, row) in &rows {
        table.push_str(&row.line(name.split_once(' ').unwrap().1));
    }
    // Written past the capture of the test runner: the table is part of what a test run tells.
    std::io::stderr().write_all(table.as_bytes()).unwrap();
    println!("{complaints}");
    let (all, held) = (rows["4 all"], rows["3 held"]);
    assert!(all.messages >= 80, "{}", all.messages);
    assert_eq!(all.wrong, 0, "\n{complaints}");
    assert!(all.caught * 100 >= all.false_ones * 95, "\n{complaints}");
    assert!(held.caught * 100 >= held.false_ones * 90, "\n{complaints}");
}

/// Texts that would take long to read if anything looked back, or ahead, for more than a little.
const HOSTILE: [&str; 16] = [
    "a ",
    "and ",
    "I created ",
    "tests pass ",
    "I created a.txt, ",
    "“ ",
    "„\"«‘' ",
    "` ",
    "`` ``` ",
    "= ",
    "1 + 1 = ",
    "if not ",
    "- x\n",
    "```\n",
    "a.b/c:1:1:1:1",
    "é’ü ",
];

#[test]
fn a_long_hostile_text_is_no_burden_and_every_span_is_on_a_boundary() {
    let mut slowest = Duration::ZERO;
    for piece in HOSTILE {
        let text = piece.repeat(1_048_576 / piece.len());
        let began = Instant::now();
        let found = find(&text);
        slowest = slowest.max(began.elapsed());
        assert!(found.len() <= ASSERTIONS_MAX, "{piece:?}");
        assert!(
            found.iter().filter_map(|one| one.span.clone()).all(|span| text.get(span).is_some()),
            "{piece:?}"
        );
    }
    println!("the slowest hostile MiB took {slowest:?}");
    // Quadratic behaviour takes hours; the bound is wide, since tests are built without optimisation.
    assert!(slowest < Duration::from_secs(30), "{slowest:?}");
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_fault(text in "\\PC*") {
        for one in find(&text) {
            prop_assert!(text.get(one.span.unwrap()).is_some());
        }
    }

    #[test]
    fn any_words_are_read_without_a_fault(words in proptest::collection::vec(word(), 0..40)) {
        let text = words.join(" ");
        let checked = check(find(&text), &[]);
        prop_assert!(marked(&text, &checked).len() >= text.len());
    }
}

/// Words of the table and signs, in any order.
fn word() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "I", "have", "created", "a.txt", "`b.py`", "and", ",", "tests", "pass", "not", "if", "wurde", "Ich",
        "habe", "erstellt", "j’ai", "créé", "se", "creó", "las", "pruebas", "\"", "„", "“", "```\n", "> ",
        "- ", ":", "42", "=", "1 + 1 =", "all", "to", "in", "der", "exists", "compiles", "\n\n", "é", "ran",
        "sent", "message", "(", ".",
    ])
}
