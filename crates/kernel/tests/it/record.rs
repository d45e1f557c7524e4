//! Receipts as tests write them down: one call a line.

use mast_kernel::effect::Receipt;
use mast_kernel::id::CallId;
use mast_kernel::instant::Instant;
use mast_kernel::message::OutcomeStatus;
use mast_kernel::resource::Resource;
use mast_kernel::shell;
use mast_kernel::spec::SideEffect;
use mast_kernel::trust::Label;
use serde::Deserialize;
use serde_json::{Value, json};

/// A call: what it does, and on what: `+` before a path that is written, `$` before a command, `@` before a
/// record, `%` before a host.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) does: SideEffect,
    pub(crate) on: Vec<String>,
    #[serde(default)]
    pub(crate) facts: Value,
    #[serde(default = "succeeded")]
    pub(crate) ended: OutcomeStatus,
    #[serde(default = "yes")]
    pub(crate) whole: bool,
    #[serde(default = "yes")]
    pub(crate) begun: bool,
    #[serde(default)]
    pub(crate) code: Option<String>,
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
        reason_code: call.code.clone(),
        started_at: moment(second),
        completed_at: moment(second + 1),
        is_whole: call.whole,
        label: Label::platform(),
        statement: format!("{} gave {}", call.tool, call.facts),
        facts: call.facts.clone(),
    }
}

/// The receipts of calls that ran one after the other, each for a second.
pub(crate) fn receipts(calls: &[Call]) -> Vec<Receipt> {
    calls.iter().enumerate().map(receipt).collect()
}

/// A call from its line: the tool, what it is on, and how it went. `=x` is the digest of what it wrote or
/// saw. After `run` stands the command, and after `=>` its exit code and what it printed.
fn call(line: &str) -> Call {
    if let Some(command) = line.trim().strip_prefix("run ") {
        return ran(command);
    }
    let mut words = line.split_whitespace();
    let tool = words.next().unwrap();
    let does = match tool {
        "write" | "edit" | "delete" => SideEffect::WorkspaceWrite,
        "read" | "list" => SideEffect::WorkspaceRead,
        "send" => SideEffect::ExternalMessage,
        "calculate" => SideEffect::None,
        other => panic!("{other}"),
    };
    let mut call = Call {
        tool: format!("workspace.{tool}"),
        does,
        on: Vec::new(),
        facts: json!({}),
        ended: OutcomeStatus::Succeeded,
        whole: true,
        begun: true,
        code: None,
    };
    for word in words {
        match word {
            "part" => call.whole = false,
            "unbegun" => call.begun = false,
            "denied" => (call.ended, call.begun) = (OutcomeStatus::Denied, false),
            "failed" => call.ended = OutcomeStatus::Failed,
            "uncertain" => call.ended = OutcomeStatus::Uncertain,
            "missing" => {
                call.ended = OutcomeStatus::Failed;
                call.code = Some("tool.not_found.path".to_owned());
            }
            word => match word.strip_prefix('=') {
                Some(digest) => call.facts = json!({"sha256": digest}),
                None if does == SideEffect::WorkspaceWrite => call.on.push(format!("+{word}")),
                None if does == SideEffect::ExternalMessage => call.on.push(format!("@mail/{word}")),
                None => call.on.push(word.to_owned()),
            },
        }
    }
    call
}

fn ran(line: &str) -> Call {
    let (command, end) = line.split_once(" => ").unwrap_or((line, "0"));
    let (code, printed) = end.split_once(' ').unwrap_or((end, ""));
    let code: i64 = code.parse().unwrap();
    Call {
        tool: "sandbox.run".to_owned(),
        does: SideEffect::CodeExecution,
        on: vec![format!("$ {command}")],
        facts: json!({"command": command, "exit_code": code, "stdout": printed}),
        ended: OutcomeStatus::Succeeded,
        whole: true,
        begun: true,
        code: None,
    }
}

/// The receipts of the calls of these lines.
pub(crate) fn record(lines: &str) -> Vec<Receipt> {
    let calls: Vec<Call> = lines.trim().lines().map(call).collect();
    receipts(&calls)
}
