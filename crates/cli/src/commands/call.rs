//! `mast call`: one tool, called by the person, through the same gate as a model's call and outside
//! any run's budget. With `--stdin` each line is a call and each answer a line.
//!
//! Rejected: a way round the gate for tools that compute only. What is cheap there is the gate itself.

use std::io::{BufRead, BufReader, Read as _};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use mast_kernel::canonical::parse_strict;
use mast_kernel::instant::Instant;
use mast_kernel::limits::LINE_BYTES_MAX;
use mast_kernel::message::{Outcome, OutcomeStatus};
use mast_kernel::name;
use mast_kernel::trust::{Label, Sensitivity, SourceKind, Trust};
use mast_runtime::{Desk, DirectCall, Disposition, FixedClock, NewSession, Runtime, Silent};
use serde_json::{Value, json};

use crate::args::parse_instant;
use crate::assemble::{Start, executor, leave, local_authority, open_store, runtime};
use crate::commands::run::waiting_lines;
use crate::config::Flags;
use crate::error::{CliError, Exit};
use crate::output::Style;

/// Arguments of `mast call`.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool's name
    tool: String,
    /// Its arguments: one JSON object
    #[arg(value_name = "ARGS", conflicts_with = "stdin")]
    arguments: Option<String>,
    /// Take one JSON object of arguments a line from stdin, and answer one JSON object a line
    #[arg(long)]
    stdin: bool,
    /// Judge the calls as if text of this trust had shaped them
    #[arg(long, value_name = "TRUST", default_value = "user")]
    origin: Origin,
}

/// What may be said of a call's origin: nothing better than a person's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Origin {
    /// A person's own words.
    User,
    /// The result of one of Mast's own tools.
    InternalTool,
    /// What was remembered.
    Memory,
    /// A collection of documents.
    Knowledge,
    /// Anything else.
    ExternalUntrusted,
}

impl Origin {
    fn label(self) -> Label {
        let below = |trust| Label::new(trust, Sensitivity::Private, SourceKind::Caller);
        match self {
            Self::User => Label::typed(),
            Self::InternalTool => below(Trust::InternalTool),
            Self::Memory => below(Trust::Memory),
            Self::Knowledge => below(Trust::Knowledge),
            Self::ExternalUntrusted => below(Trust::ExternalUntrusted),
        }
    }
}

/// Calls the tool.
///
/// # Errors
///
/// [`CliError`] when Mast itself cannot go on; that a call is denied or fails is its answer.
pub(crate) fn run(args: &CallArgs, start: &Start) -> Result<Exit, CliError> {
    let config = start.config(&Flags::new())?;
    let executor = executor()?;
    let (runtime, session) = executor.block_on(async {
        let store = open_store(start).await?;
        let runtime = runtime(start, &config, store)?;
        let new = NewSession { authority: local_authority(), surface: "cli.call" };
        let session = runtime.open_session(new).await?;
        Ok::<_, CliError>((runtime, session))
    })?;
    let desk = runtime.desk(session, &Silent)?;
    let caller = Caller { args, runtime: &runtime, desk, n_calls: 0, n_asks: 0 };
    let exit = if args.stdin {
        caller.answer_lines(start, &executor)
    } else {
        executor.block_on(caller.answer_one(start))
    };
    leave(executor);
    exit
}

/// One session in which a tool is called.
struct Caller<'a> {
    args: &'a CallArgs,
    runtime: &'a Runtime,
    desk: Desk<'a>,
    n_calls: u32,
    n_asks: u32,
}

impl Caller<'_> {
    /// The call of the command line. It is on record before its answer is printed.
    async fn answer_one(mut self, start: &Start) -> Result<Exit, CliError> {
        let arguments = self.args.arguments.clone().unwrap_or_else(|| "{}".to_owned());
        let disposition = self.call(arguments, None).await?;
        let (args, runtime, run) = (self.args, self.runtime, self.desk.run());
        self.close().await?;
        let printer = &start.printer;
        if printer.is_json() {
            printer.result_json(&answer(&disposition))?;
            return Ok(exit_of(&disposition));
        }
        match &disposition {
            Disposition::Settled(settled) => match &settled.outcome {
                None => printer.result(&settled.content)?,
                Some(outcome) => {
                    printer.error(&refusal(args, runtime, outcome));
                }
            },
            Disposition::Asked(ask) => {
                for line in waiting_lines(std::slice::from_ref(ask.as_ref()), run) {
                    printer.note(&[(Style::Warn, &line)]);
                }
            }
        }
        Ok(exit_of(&disposition))
    }

    /// Ends the run of the calls; one that waits for a person stays open. Everything is then on record.
    async fn close(self) -> Result<(), CliError> {
        if self.n_asks == 0 {
            self.desk.close(self.n_calls).await?;
        } else {
            self.runtime.store().flush().await?;
        }
        Ok(())
    }

    /// One call for each line of stdin. What was answered is on record before more input is waited for.
    fn answer_lines(mut self, start: &Start, executor: &tokio::runtime::Runtime) -> Result<Exit, CliError> {
        let mut input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
        let mut answers = start.printer.answers();
        loop {
            let line = match read_line(&mut input)? {
                Line::End => break,
                Line::Unreadable => None,
                Line::Text(text) => Some(text),
            };
            let answered = match line.filter(|text| !text.trim().is_empty()) {
                None => failure(&self.args.tool, "tool.invalid_arguments.json"),
                Some(text) => {
                    let (arguments, clock) = arguments_of(text);
                    answer(&executor.block_on(self.call(arguments, clock))?)
                }
            };
            answers.add(&answered)?;
            if !input.buffer().contains(&b'\n') {
                executor.block_on(self.runtime.store().flush())?;
                answers.send()?;
            }
        }
        executor.block_on(self.close())?;
        answers.send()?;
        Ok(Exit::Done)
    }

    async fn call(&mut self, arguments: String, clock: Option<Instant>) -> Result<Disposition, CliError> {
        let disposition = self.desk.call(DirectCall {
            tool: self.args.tool.clone(),
            arguments,
            origin: self.args.origin.label(),
            tool_clock: clock.map(|now| Arc::new(FixedClock(now)) as _),
        });
        let disposition = disposition.await?;
        self.n_calls = self.n_calls.saturating_add(1);
        self.n_asks = self.n_asks.saturating_add(u32::from(matches!(disposition, Disposition::Asked(_))));
        Ok(disposition)
    }
}

/// What a person is told of a call that did not succeed.
fn refusal(args: &CallArgs, runtime: &Runtime, outcome: &Outcome) -> CliError {
    let (tool, code) = (&args.tool, outcome.reason_code());
    if code == "policy.matrix.unknown_tool" {
        let known = runtime.toolbox().registry().latest().map(|tool| tool.spec.name.as_str());
        return CliError::failed(unknown_tool(tool, known), "see: mast tools");
    }
    let see = format!("see: mast tools show {tool}");
    let hint = if code.starts_with("tool.invalid_arguments.") { see } else { String::new() };
    CliError::failed(format!("{tool} {} ({code}): {}", outcome.status(), outcome.message()), hint)
}

/// `no tool named …`, with the names that are near.
pub(crate) fn unknown_tool<'n>(wanted: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let nearest = name::nearest(wanted, known);
    match nearest.split_last() {
        None => format!("no tool named `{wanted}`"),
        Some((only, [])) => format!("no tool named `{wanted}` (did you mean {only}?)"),
        Some((last, others)) => {
            format!("no tool named `{wanted}` (did you mean {} or {last}?)", others.join(", "))
        }
    }
}

/// The arguments and the clock of a line. A line that has exactly the keys `args` and `clock` carries
/// both; what else it is, the gate says.
fn arguments_of(line: String) -> (String, Option<Instant>) {
    if !line.contains("\"clock\"") {
        return (line, None);
    }
    let both = parse_strict(&line).ok().and_then(|value| {
        let fields = value.as_object().filter(|fields| fields.len() == 2)?;
        let clock = parse_instant(fields.get("clock")?.as_str()?).ok()?;
        Some((fields.get("args")?.to_string(), Some(clock)))
    });
    both.unwrap_or((line, None))
}

/// A line of the input.
enum Line {
    /// Its text, without the line break.
    Text(String),
    /// Too long, or not UTF-8. It was passed over.
    Unreadable,
    /// There is none.
    End,
}

fn read_line(input: &mut impl BufRead) -> Result<Line, CliError> {
    let failed = |source| CliError::Stream { what: "cannot read stdin", source };
    let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let taken = input.by_ref().take(limit.saturating_add(1)).read_until(b'\n', &mut bytes).map_err(failed)?;
    if taken == 0 {
        return Ok(Line::End);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.len() > LINE_BYTES_MAX {
        input.skip_until(b'\n').map_err(failed)?;
        return Ok(Line::Unreadable);
    }
    Ok(String::from_utf8(bytes).map_or(Line::Unreadable, Line::Text))
}

/// The answer to a call as one JSON object.
fn answer(disposition: &Disposition) -> Value {
    match disposition {
        Disposition::Settled(settled) => match &settled.outcome {
            None => json!({"ok": true, "structured": settled.structured, "content": settled.content}),
            Some(outcome) => refused(outcome),
        },
        Disposition::Asked(ask) => json!({
            "ok": false,
            "status": "waiting_for_approval",
            "action": ask.tool,
            "reason_code": "approval.required",
            "approval": ask.approval,
            "card": ask.card,
            "expires_at": crate::commands::moment(ask.expires_at),
        }),
    }
}

fn failure(tool: &str, code: &str) -> Value {
    refused(&Outcome::failure(OutcomeStatus::Failed, tool, code))
}

fn refused(outcome: &Outcome) -> Value {
    json!({
        "ok": false,
        "status": outcome.status(),
        "action": outcome.action(),
        "reason_code": outcome.reason_code(),
        "message": outcome.message(),
        "retryable": outcome.retryable(),
        "remediation": outcome.remediation(),
    })
}

const fn exit_of(disposition: &Disposition) -> Exit {
    match disposition {
        Disposition::Settled(settled) if settled.outcome.is_none() => Exit::Done,
        Disposition::Settled(_) => Exit::Failed,
        Disposition::Asked(_) => Exit::Suspended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_bring_its_own_clock() {
        let check = |line: &str, arguments: &str, clock: Option<i64>| {
            let (found, at) = arguments_of(line.to_owned());
            assert_eq!((found.as_str(), at.map(Instant::micros)), (arguments, clock), "{line}");
        };
        check(r#"{"args":{"a":1.50},"clock":"1970-01-01T00:00:01Z"}"#, r#"{"a":1.50}"#, Some(1_000_000));
        for other in [
            r#"{"args":{},"clock":"yesterday"}"#,
            r#"{"args":{},"clock":"1970-01-01T00:00:01Z","more":1}"#,
            r#"{"clock":"1970-01-01T00:00:01Z"}"#,
            r#"{"expression":"\"clock\""}"#,
            r#"{"args":{},"clock":"#,
        ] {
            check(other, other, None);
        }
    }

    #[test]
    fn a_line_has_a_bound() {
        let lines = |n: usize| format!("{}\nnext\n", "x".repeat(n)).into_bytes();
        let first_and_second = |bytes: Vec<u8>| {
            let mut input = BufReader::new(bytes.as_slice());
            let shown = |line| match line {
                Line::Text(text) => Some(text.len()),
                Line::Unreadable => None,
                Line::End => Some(usize::MAX),
            };
            [shown(read_line(&mut input).unwrap()), shown(read_line(&mut input).unwrap())]
        };
        assert_eq!(first_and_second(lines(LINE_BYTES_MAX)), [Some(LINE_BYTES_MAX), Some(4)]);
        assert_eq!(first_and_second(lines(LINE_BYTES_MAX + 1)), [None, Some(4)]);
        assert_eq!(first_and_second(b"\xff\nnext\n".to_vec()), [None, Some(4)]);
        assert_eq!(first_and_second(b"no break".to_vec()), [Some(8), Some(usize::MAX)]);
    }

    #[test]
    fn a_wrong_name_teaches_the_right_one() {
        let known = ["math.calculate", "system.current_time"];
        assert_eq!(
            unknown_tool("math.calcualte", known),
            "no tool named `math.calcualte` (did you mean math.calculate?)"
        );
        assert_eq!(unknown_tool("zzzzzzzzzzzzzzz", known), "no tool named `zzzzzzzzzzzzzzz`");
    }
}
