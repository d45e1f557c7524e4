//! What is said when a run ends or comes to wait: the answer on stdout, the last lines on stderr.

use mast_kernel::assertion;
use mast_kernel::id::{RunId, SessionId};
use mast_kernel::instant::Instant;
use mast_kernel::run::{Completion, RunStatus};
use mast_provider::Usage;
use mast_runtime::{Ask, Report, RunEnd, RunFailure};
use serde_json::json;

use super::proof;
use crate::commands::moment;
use crate::error::{CliError, Exit};
use crate::output::layout::{count, cut};
use crate::output::{Printer, Style, Tally, card, line};

/// What was seen of a run besides its end.
#[derive(Debug)]
pub(super) struct Told {
    /// How its calls ended.
    pub(super) tally: Tally,
    /// Whether a part of the task came from stdin, and nobody vouched for it.
    pub(super) is_foreign: bool,
    /// Whether what nothing supports is taken out of the answer.
    pub(super) removes: bool,
    /// When it ended.
    pub(super) now: Instant,
}

/// Prints the end of a run.
///
/// # Errors
///
/// [`CliError`] when the answer cannot be written.
pub(super) fn print(
    printer: &Printer,
    end: &RunEnd,
    session: SessionId,
    told: &Told,
) -> Result<Exit, CliError> {
    if printer.is_json() {
        printer.result_json(&as_json(end, session))?;
    } else if let Some(answer) = &end.answer {
        printer.result(&shown(answer, end.report.as_ref(), told.removes))?;
        printer.note(&[]);
        for (style, said) in end.report.iter().flat_map(proof::lines) {
            printer.note(&[(style, &said)]);
        }
    }
    let exit = exit_of(end);
    match exit {
        Exit::Suspended => {
            for said in waiting_lines(&end.asks, end.run, told.now) {
                printer.note(&[(Style::Warn, &said)]);
            }
        }
        _ if end.status == RunStatus::Completed => {
            let (style, word) = proof::word(end);
            printer.note(&[(style, &word), (Style::Plain, &done_line(end, told))]);
        }
        _ => {
            let (word, why) = failed_line(end);
            printer.note(&[(Style::Bad, &word), (Style::Plain, &why)]);
        }
    }
    Ok(exit)
}

/// The answer as it is shown: with a mark behind what nothing on record supports, or without those words.
fn shown(answer: &str, report: Option<&Report>, removes: bool) -> String {
    let Some(report) = report else { return answer.to_owned() };
    if removes {
        return assertion::removed(answer, &report.assertions);
    }
    report.marked.clone().unwrap_or_else(|| answer.to_owned())
}

/// How a run's end counts as an exit code.
fn exit_of(end: &RunEnd) -> Exit {
    let unreachable = |failure: &RunFailure| {
        failure.provider.as_ref().is_some_and(mast_provider::ProviderError::is_unreachable)
    };
    match end.status {
        RunStatus::WaitingForApproval
        | RunStatus::WaitingForUser
        | RunStatus::Queued
        | RunStatus::Running => Exit::Suspended,
        RunStatus::Failed if end.failure.as_ref().is_some_and(unreachable) => Exit::Unreachable,
        RunStatus::Failed | RunStatus::Cancelled => Exit::Failed,
        RunStatus::Completed => match end.completion {
            Some(Completion::Verified | Completion::Satisfied) => Exit::Done,
            // Where nothing was required, nothing is missing.
            Some(Completion::Unverified) if !end.report.as_ref().is_some_and(|report| report.is_required) => {
                Exit::Done
            }
            _ => Exit::Failed,
        },
    }
}

/// ` · 3 tool calls, 1 failed, 1 denied, nothing asked · 812 tokens in, 40 out · mast journal show run_… for every step`.
fn done_line(end: &RunEnd, told: &Told) -> String {
    let Tally { n_ended, n_failed, n_denied, n_asked } = told.tally;
    let asked = if n_asked == 0 { "nothing asked".to_owned() } else { format!("{n_asked} asked") };
    let some = |n: u64, word: &str| if n == 0 { String::new() } else { format!(", {n} {word}") };
    let calls =
        format!("{}{}{}", count(n_ended, "tool call"), some(n_failed, "failed"), some(n_denied, "denied"));
    let stdin = if told.is_foreign { " · stdin was taken as untrusted" } else { "" };
    let usage = usage(&end.usage);
    format!(" · {calls}, {asked}{stdin}{usage} · mast journal show {} for every step", end.run)
}

/// Tokens and cost, as far as the provider says them.
fn usage(usage: &Usage) -> String {
    let mut said = match (usage.input_tokens, usage.output_tokens) {
        (None, None) => String::new(),
        (input, output) => format!(" · {} tokens in, {} out", input.unwrap_or(0), output.unwrap_or(0)),
    };
    if let Some(micros) = usage.cost_micro_usd {
        said.push_str(&format!(" · ${}.{:06}", micros / 1_000_000, micros % 1_000_000));
    }
    said
}

/// What went wrong, and what to do.
fn failed_line(end: &RunEnd) -> (String, String) {
    let see = format!("mast journal show {}", end.run);
    let Some(failure) = &end.failure else {
        return (end.status.to_string(), format!(" · {see}"));
    };
    let said = match &failure.provider {
        Some(error) => error.to_string(),
        None => {
            let sentence = mast_kernel::message::lookup(failure.code).map_or("", |entry| entry.message);
            format!("{} · {sentence}", failure.code)
        }
    };
    (end.status.to_string(), format!(" · {said}{} · {see}", usage(&end.usage)))
}

/// What waits for a person: an ask a line, and what can be done about it in this version.
pub(crate) fn waiting_lines(asks: &[Ask], run: RunId, now: Instant) -> Vec<String> {
    let mut lines = vec![format!("waiting · {}:", count(asks.len() as u64, "ask"))];
    if let [only] = asks {
        lines = vec![
            format!("waiting · 1 ask: {}", one_ask(only, now)),
            format!("  {}", card::why_line(&only.card)),
        ];
    } else {
        lines.extend(asks.iter().flat_map(|ask| {
            [format!("  {}", one_ask(ask, now)), format!("    {}", card::why_line(&ask.card))]
        }));
    }
    let (named, n_asks) = match asks {
        [only] => (only.approval.to_string(), 1),
        _ => ("ID".to_owned(), asks.len()),
    };
    let look = if n_asks == 1 { format!("mast approvals show {named}") } else { "mast approvals".to_owned() };
    lines.push(format!("  look: {look}"));
    lines.push(format!("  allow: mast approvals approve {named}     refuse: mast approvals deny {named}"));
    lines.push(format!("  then go on: mast runs resume {run}"));
    lines
}

/// `apr_… demo.external_write to "ops" (expires 16:00 UTC)`.
fn one_ask(ask: &Ask, now: Instant) -> String {
    let target = ask.card.pointer("/arguments/destination").and_then(serde_json::Value::as_str);
    let target = target.map(|target| format!(" to \"{}\"", cut(&line(target), 40))).unwrap_or_default();
    format!("{} {}{target} (expires {})", ask.approval, ask.tool, card::until(ask.expires_at, now))
}

/// The last line of `--json`.
fn as_json(end: &RunEnd, session: SessionId) -> serde_json::Value {
    let asks: Vec<_> = end
        .asks
        .iter()
        .map(|ask| {
            json!({
                "approval": ask.approval, "call": ask.call, "tool": ask.tool, "risk": ask.risk, "card": ask.card,
                "expires_at": moment(ask.expires_at),
            })
        })
        .collect();
    json!({
        "type": "run.end",
        "run": end.run,
        "session": session,
        "status": end.status,
        "completion": end.completion,
        "answer": end.answer,
        "report": end.report.as_ref().map(proof::as_json),
        "reason_code": end.failure.as_ref().map(|failure| failure.code),
        "message": end.failure.as_ref().and_then(|failure| failure.provider.as_ref()).map(ToString::to_string),
        "usage": end.usage,
        "tool_calls": end.spent.tool_calls(),
        "asks": asks,
        "head": end.head,
    })
}
