//! `mast journal`: what is on record, event by event, and the check that nobody has changed it.

mod cut;
mod export;
mod head;
mod rebuild;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use mast_kernel::event::Event;
use mast_kernel::id::SessionId;
use mast_store::Store;
use mast_store::verify::{Report, Wanted as Ask};
use serde_json::{Map, Value, json};

use crate::assemble::{Start, block_on, open_to_look};
use crate::commands::runs::nothing_yet;
use crate::commands::time_of_day;
use crate::error::{CliError, Exit};
use crate::ids::{Found, Wanted, find};
use crate::output::layout::{count, cut, pad};
use crate::output::{Printer, Style};

/// Events that are read at a time.
const PAGE: u32 = 500;

/// Payload fields that only a program compares: commitments and pins. `--json` has them.
const QUIET: &[&str] = &[
    "arguments",
    "authority",
    "card",
    "catalogue",
    "content",
    "contract",
    "idempotency_key",
    "outcome",
    "pin",
    "policy_version",
    "prefix",
    "principal",
    "seal",
    "sealed",
    "source",
    "store",
    "tenant",
];

/// Payload fields that say most of what happened, in this order before the others.
const FIRST: &[&str] = &[
    "declared",
    "tool",
    "decision",
    "status",
    "outcome_status",
    "reason_code",
    "completion",
    "reason",
    "provider",
    "model",
];

/// Columns of a head on a narrow terminal.
const HEAD_COLUMNS: usize = 17;

/// Columns of an event's type.
const KIND_COLUMNS: usize = 28;

/// Arguments of `mast journal`.
#[derive(Debug, Args)]
pub(crate) struct JournalArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show the events of a run or a session, in order
    Show {
        /// The id of a run or session, an ending of it, or `latest`
        id: String,
    },
    /// Check that no event was changed, left out or moved
    Verify {
        /// Only this session; all of them when none is named
        session: Option<String>,
        /// A head that was noted before, or its first eight digits or more: the journal must still lead up to it
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
        /// Check this export instead, with nothing else
        #[arg(long, value_name = "FILE", conflicts_with_all = ["session", "head"])]
        file: Option<PathBuf>,
        /// The public key that the export must be signed with: its digits, or a file with them
        #[arg(long, value_name = "KEY", requires = "file")]
        key: Option<String>,
    },
    /// Write the events for somebody else: no arguments, results or words, signed as a whole
    Export(export::ExportArgs),
    /// Print the public key that heads and exports are signed with
    Key,
    /// Make the rows of the state anew from the events, and put them in the place of those that differ
    Rebuild {
        /// Only compare
        #[arg(long)]
        check: bool,
    },
    /// Take conversations away that are over, for good; a signed line stays that says so
    Cut(cut::CutArgs),
}

/// Shows or checks the journal.
///
/// # Errors
///
/// [`CliError`] when there is no such run or session, or the store cannot be read.
pub(crate) fn run(args: &JournalArgs, start: &Start) -> Result<Exit, CliError> {
    if let Verb::Verify { file: Some(file), key, .. } = &args.verb {
        return export::verify_file(file, key.as_deref(), &start.printer);
    }
    block_on(async {
        match &args.verb {
            Verb::Export(args) => return export::export(args, start).await,
            Verb::Key => return export::key(start).await,
            Verb::Cut(args) => return cut::cut(args, start).await,
            Verb::Rebuild { check } => return rebuild::rebuild(*check, start).await,
            Verb::Show { .. } | Verb::Verify { .. } => {}
        }
        let store = open_to_look(start).await?.ok_or_else(nothing_yet)?;
        match &args.verb {
            Verb::Show { id } => show(id, &*store, &start.printer).await,
            Verb::Verify { session, head, .. } => {
                verify(session.as_deref(), head.as_deref(), &*store, &start.printer).await
            }
            Verb::Export(_) | Verb::Key | Verb::Cut(_) | Verb::Rebuild { .. } => Ok(Exit::Done),
        }
    })
}

async fn show(text: &str, store: &dyn Store, printer: &Printer) -> Result<Exit, CliError> {
    let found = find(store, text, Wanted::Either).await?;
    let run = match &found {
        Found::Run(run) => Some(run.id),
        Found::Session(_) => None,
    };
    let mut after = 0;
    let mut last = None;
    let mut shown = Vec::new();
    loop {
        let page = store.events(found.session(), after, PAGE).await?;
        let Some(newest) = page.last() else { break };
        after = newest.sequence;
        last = Some((newest.sequence, newest.hash));
        for event in page.into_iter().filter(|event| run.is_none() || event.run == run) {
            if printer.is_json() {
                shown.push(as_json(&event));
            } else {
                print(&event, printer)?;
            }
        }
    }
    if printer.is_json() {
        printer.result_json(&Value::Array(shown))?;
    } else if let Some((sequence, hash)) = last {
        let whole = format!("head {hash} · event {sequence} of {}", found.session());
        // On a narrow terminal the first digits stand for the head: `verify --head` takes them too.
        let short = format!("head {} · event {sequence}", cut(&hash.to_hex(), HEAD_COLUMNS));
        let fits = whole.chars().count() <= printer.width() || printer.columns() == usize::MAX;
        printer.note(&[(Style::Dim, if fits { &whole } else { &short })]);
    }
    Ok(Exit::Done)
}

/// The events of a session behind a sequence, as JSON values, and the sequence of the last one.
///
/// # Errors
///
/// [`CliError`] when the store cannot be read.
pub(crate) async fn events_behind(
    store: &dyn Store,
    session: SessionId,
    mut after: u64,
) -> Result<(Vec<Value>, u64), CliError> {
    let mut events = Vec::new();
    loop {
        let page = store.events(session, after, PAGE).await?;
        let Some(newest) = page.last() else { return Ok((events, after)) };
        after = newest.sequence;
        events.extend(page.iter().map(as_json));
    }
}

/// The sequence of the last event of a session; 0 before the first.
///
/// # Errors
///
/// [`CliError`] when the store cannot be read.
pub(crate) async fn last_event(store: &dyn Store, session: SessionId) -> Result<u64, CliError> {
    let mut last = 0;
    while let Some(newest) = store.events(session, last, PAGE).await?.pop() {
        last = newest.sequence;
    }
    Ok(last)
}

/// An event with an id of its own: its session and its place there.
fn as_json(event: &Event) -> Value {
    let mut value = json!({"id": format!("{}:{}", event.session, event.sequence)});
    if let (Some(fields), Ok(Value::Object(rest))) = (value.as_object_mut(), serde_json::to_value(event)) {
        fields.extend(rest);
    }
    value
}

fn print(event: &Event, printer: &Printer) -> Result<(), CliError> {
    let head = format!("{:>4}  {}  ", event.sequence, time_of_day(event.at));
    let kind = pad(&event.kind, KIND_COLUMNS);
    let fields = interesting(&event.payload);
    let room = printer.columns().saturating_sub(head.len() + KIND_COLUMNS + 1);
    let fields = cut(&fields, room);
    printer.result_line(&[(Style::Dim, &head), (Style::Plain, &kind), (Style::Dim, &format!(" {fields}"))])
}

/// The fields of a payload that a person reads, as `name=value`: what matters most first.
fn interesting(payload: &Map<String, Value>) -> String {
    let rank = |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
    let mut fields: Vec<(&String, &Value)> =
        payload.iter().filter(|(name, _)| !QUIET.contains(&name.as_str())).collect();
    fields.sort_by_key(|(name, _)| rank(name));
    let shown = fields.into_iter().filter_map(|(name, value)| {
        let value = match value {
            Value::String(text) => short(text),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Array(items) if !items.is_empty() => items.iter().map(plain).collect::<Vec<_>>().join(","),
            Value::Object(fields) if fields.contains_key("trust") => plain(fields.get("trust")?),
            Value::Object(fields) => return Some(interesting(fields)),
            Value::Null | Value::Array(_) => return None,
        };
        Some(format!("{name}={value}"))
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => short(text),
        Value::Object(fields) => fields.values().map(plain).collect::<Vec<_>>().join(":"),
        other => other.to_string(),
    }
}

/// An id by its last characters, which is enough to find it again; any other text as it is.
fn short(text: &str) -> String {
    let ending = text.split_once('_').filter(|(kind, bits)| bits.len() == 26 && kind.len() <= 4);
    match ending.and_then(|(_, bits)| bits.get(20..)) {
        Some(ending) => format!("…{ending}"),
        None => text.to_owned(),
    }
}

async fn verify(
    session: Option<&str>,
    head: Option<&str>,
    store: &dyn Store,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let session = match session {
        Some(text) => Some(find(store, text, Wanted::Either).await?.session()),
        None => None,
    };
    let head = match head {
        Some(text) => Some(head::find(store, text).await?),
        None => None,
    };
    let report = mast_store::verify::verify(store, Ask { session, head }).await?;
    if printer.is_json() {
        printer.result_json(&as_report(&report))?;
    } else {
        print_report(&report, printer)?;
    }
    Ok(if report.is_sound() { Exit::Done } else { Exit::Failed })
}

fn print_report(report: &Report, printer: &Printer) -> Result<(), CliError> {
    for finding in &report.findings {
        printer.result_line(&[(Style::Plain, &finding.to_string())])?;
    }
    if report.has_more {
        printer.result_line(&[(Style::Dim, "more is wrong than is told here")])?;
    }
    let (style, word) = if report.is_sound() { (Style::Good, "sound") } else { (Style::Bad, "broken") };
    printer.result_line(&[(style, word), (Style::Plain, &format!(" · {}", summary(report)))])
}

/// How much was looked at, and the last head.
pub(crate) fn summary(report: &Report) -> String {
    let head = report.last_head.map(|head| format!(" · head {head}")).unwrap_or_default();
    format!("{} in {}{head}", count(report.n_events, "event"), count(report.n_sessions, "session"))
}

fn as_report(report: &Report) -> Value {
    let findings = report.findings.iter().map(|finding| {
        json!({
            "wrong": finding.wrong.as_str(), "session": finding.session, "sequence": finding.sequence,
            "detail": finding.detail,
        })
    });
    json!({
        "sound": report.is_sound(), "sessions": report.n_sessions, "events": report.n_events,
        "contents": report.n_contents, "heads": report.n_heads, "last_head": report.last_head,
        "findings": findings.collect::<Vec<_>>(), "has_more": report.has_more,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_reads_of_a_payload() {
        let payload = json!({
            "call": "call_01m8q8c6gdfvjaaqy2rz1mppem", "declared": {"tool": "math.calculate", "pin": "ff", "risk": "low"},
            "origin": {"trust": "user", "sensitivity": "public", "source": "typed"}, "decision": "allow",
            "findings": [{"layer": "matrix", "ruling": "allow"}], "arguments": "ff", "none": null, "empty": [],
        });
        let shown = interesting(payload.as_object().unwrap());
        expect_test::expect![
            "tool=math.calculate risk=low decision=allow call=…1mppem origin=user findings=matrix:allow"
        ]
        .assert_eq(&shown);
    }
}
