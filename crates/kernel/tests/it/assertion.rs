//! The corpus of final messages: no true assertion is marked, and nearly every false one is.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use mast_kernel::assertion::{Checked, check, find};
use mast_kernel::effect::Receipt;
use mast_kernel::id::CallId;
use mast_kernel::instant::Instant;
use mast_kernel::message::OutcomeStatus;
use mast_kernel::resource::Resource;
use mast_kernel::shell;
use mast_kernel::spec::SideEffect;
use mast_kernel::trust::Label;
use serde::Deserialize;
use serde_json::Value;

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

/// A call: what it does, and on what: `+` before a path that is written, `$` before a command, `@` before a
/// record, `%` before a host.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    does: SideEffect,
    on: Vec<String>,
    #[serde(default)]
    facts: Value,
    #[serde(default = "succeeded")]
    ended: OutcomeStatus,
    #[serde(default = "yes")]
    whole: bool,
    #[serde(default = "yes")]
    begun: bool,
}

const fn succeeded() -> OutcomeStatus {
    OutcomeStatus::Succeeded
}

const fn yes() -> bool {
    true
}

fn resources(on: &str) -> Vec<Resource> {
    let path = |path: &str, write| vec![Resource::Path { path: path.to_owned(), write }];
    match on.split_at_checked(1) {
        Some(("+", rest)) => path(rest, true),
        Some(("$", rest)) => shell::of_text(rest.trim()),
        Some(("%", host)) => vec![Resource::Host { host: host.to_owned(), handle: true }],
        Some(("@", rest)) => {
            let (system, record) = rest.split_once('/').unwrap();
            vec![Resource::Record { system: system.to_owned(), record: record.to_owned() }]
        }
        Some(_) | None => path(on, false),
    }
}

fn receipt((place, call): (usize, &Call)) -> Receipt {
    let second = i64::try_from(place).unwrap() * 2;
    let moment = |second: i64| call.begun.then(|| Instant::from_micros(second * 1_000_000));
    Receipt {
        call: CallId::from_u128(u128::try_from(place).unwrap()),
        tool: call.tool.clone(),
        side_effect: call.does,
        resources: call.on.iter().flat_map(|on| resources(on)).collect(),
        status: call.ended,
        reason_code: None,
        started_at: moment(second),
        completed_at: moment(second + 1),
        is_whole: call.whole,
        label: Label::platform(),
        statement: format!("{} gave {}", call.tool, call.facts),
        facts: call.facts.clone(),
    }
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
    let receipts: Vec<Receipt> = message.journal.iter().enumerate().map(receipt).collect();
    let checked = check(find(&message.text), &receipts);
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
        .map(|mark| &message.text[mark.clone()])
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
        supported: n(|one| matches!(one.support, mast_kernel::assertion::Support::Supported { .. })),
        not_checkable: n(|one| matches!(one.support, mast_kernel::assertion::Support::NotCheckable { .. })),
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
        table.push_str(&row.line(&name[2..]));
    }
    // Written past the capture of the test runner: the table is part of what a test run tells.
    std::io::stderr().write_all(table.as_bytes()).unwrap();
    let (all, held) = (rows["4 all"], rows["3 held"]);
    assert!(all.messages >= 80, "{}", all.messages);
    assert_eq!(all.wrong, 0, "\n{complaints}");
    assert!(all.caught * 100 >= all.false_ones * 95, "\n{complaints}");
    assert!(held.caught * 100 >= held.false_ones * 90, "\n{complaints}");
}
