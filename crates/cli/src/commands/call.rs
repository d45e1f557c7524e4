//! `mast call`: one tool, called by the person, through the same gate as a model's call and outside
//! any run's budget. With `--stdin` each line is a call and each answer a line.
//!
//! Rejected: a way round the gate for tools that compute only. What is cheap there is the gate itself.

mod lines;
mod mistake;

use std::sync::Arc;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use futures_util::future::join_all;
use mast_kernel::instant::Instant;
use mast_kernel::limits::PARALLEL_MAX;
use mast_kernel::message::{Outcome, OutcomeStatus};
use mast_kernel::registry::Registered;
use mast_kernel::trust::{Label, Sensitivity, SourceKind, Trust};
use mast_runtime::{Desk, DirectCall, Disposition, FixedClock, NewSession, Runtime, Silent};
use serde_json::{Value, json};

use crate::assemble::folders::Folders;
use crate::assemble::{Start, executor, leave, local_authority, open_store, runtime};
use crate::commands::run::waiting_lines;
use crate::config::Flags;
use crate::error::{CliError, Exit};
use crate::names::unknown;
use crate::output::Style;
use lines::{Lines, arguments_of};

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
    /// Let the tool read and write in this folder, and nowhere else
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Judge the calls as if text of this trust had shaped them; `user` where it is left out, and
    /// `external_untrusted` for the lines of --stdin
    #[arg(long, value_name = "TRUST")]
    origin: Option<Origin>,
}

/// What may be said of a call's origin: nothing better than a person's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum Origin {
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
    /// The label of a call of this origin.
    pub(super) fn label(self) -> Label {
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
    let folder = args.workspace.as_deref().map(|folder| Folders::new(start).named(folder)).transpose()?;
    let (runtime, session) = executor.block_on(async {
        let store = open_store(start).await?;
        let runtime = runtime(start, &config, store)?;
        let new = NewSession { authority: local_authority(), surface: "cli.call" };
        let session = runtime.open_session(new).await?;
        Ok::<_, CliError>((runtime, session))
    })?;
    let desk = executor.block_on(runtime.desk_in(session, folder, &Silent))?;
    let caller = Caller { args, runtime: &runtime, desk, n_calls: 0 };
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
}

impl Caller<'_> {
    /// The call of the command line. It is on record before its answer is printed.
    async fn answer_one(mut self, start: &Start) -> Result<Exit, CliError> {
        let arguments = self.args.arguments.clone().unwrap_or_else(|| "{}".to_owned());
        let disposition = self.desk.call(request(self.args, arguments.clone(), None)).await?;
        self.count();
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
                    let error = refusal((&args.tool, &arguments), runtime, outcome);
                    printer.error(&error);
                    return Ok(error.exit());
                }
            },
            Disposition::Asked(ask) => {
                for line in
                    waiting_lines(std::slice::from_ref(ask.as_ref()), run, runtime.world().clock.now())
                {
                    printer.note(&[(Style::Warn, &line)]);
                }
            }
        }
        Ok(exit_of(&disposition))
    }

    /// Ends the run of the calls; one that waits for a person stays open. Everything is then on record.
    async fn close(self) -> Result<(), CliError> {
        Ok(self.desk.close(self.n_calls).await?)
    }

    /// One call for each line of stdin. What was answered is on record before more input is waited for.
    fn answer_lines(mut self, start: &Start, executor: &tokio::runtime::Runtime) -> Result<Exit, CliError> {
        let mut lines = Lines::of(std::io::stdin().lock());
        let mut answers = start.printer.answers();
        let n_at_once = self.n_at_once();
        loop {
            let taken = lines.take(n_at_once)?;
            if taken.is_empty() {
                break;
            }
            for answered in executor.block_on(self.answer_beside(taken))? {
                answers.add(&answered)?;
            }
            if !lines.has_more() {
                executor.block_on(self.runtime.store().flush())?;
                answers.send()?;
            }
        }
        executor.block_on(self.close())?;
        answers.send()?;
        Ok(Exit::Done)
    }

    /// How many lines are answered beside each other: as many as a model's calls of this tool would be.
    fn n_at_once(&self) -> usize {
        let resolved = self.runtime.toolbox().registry().resolve(&self.args.tool);
        if resolved.is_some_and(|resolved| resolved.tool.spec.runs_beside_others()) {
            PARALLEL_MAX
        } else {
            1
        }
    }

    /// Answers these lines, in their order.
    async fn answer_beside(&mut self, lines: Vec<Option<String>>) -> Result<Vec<Value>, CliError> {
        let desk = &self.desk;
        let calls = lines.into_iter().map(|line| async {
            let Some(text) = line.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
            let (arguments, clock) = arguments_of(text);
            desk.call(request(self.args, arguments, clock)).await.map(Some)
        });
        let mut answered = Vec::new();
        for disposition in join_all(calls).await {
            answered.push(match disposition? {
                None => failure(&self.args.tool, "tool.invalid_arguments.json"),
                Some(disposition) => {
                    let value = answer(&disposition);
                    self.count();
                    value
                }
            });
        }
        Ok(answered)
    }

    fn count(&mut self) {
        self.n_calls = self.n_calls.saturating_add(1);
    }
}

/// Whose words a call is. What is piped in is nobody's in particular, until the person says that it is theirs.
fn label(args: &CallArgs) -> Label {
    match args.origin {
        Some(origin) => origin.label(),
        None if args.stdin => Label::piped(),
        None => Label::typed(),
    }
}

fn request(args: &CallArgs, arguments: String, clock: Option<Instant>) -> DirectCall {
    DirectCall {
        tool: args.tool.clone(),
        arguments,
        origin: label(args),
        tool_clock: clock.map(|now| Arc::new(FixedClock(now)) as _),
    }
}

/// What a person is told of a call that did not succeed.
fn refusal((tool, arguments): (&str, &str), runtime: &Runtime, outcome: &Outcome) -> CliError {
    let (code, registry) = (outcome.reason_code(), runtime.toolbox().registry());
    if code == "policy.matrix.unknown_tool" {
        let known = registry.latest().map(|tool| tool.spec.name.as_str());
        return CliError::usage(unknown("tool", tool, known), "see: mast tools");
    }
    let failed =
        |why: &str, hint| CliError::failed(format!("{tool} {} ({code}): {why}", outcome.status()), hint);
    let is_of_form = matches!(code, "tool.invalid_arguments.json" | "tool.invalid_arguments.schema");
    if let Some(resolved) = registry.resolve(tool).filter(|_| is_of_form)
        && let Some(mistake) = mistake::of(resolved.tool, arguments)
    {
        return failed(&mistake, format!("for example: {}", mistake::example(resolved.tool)));
    }
    if matches!(code, "policy.matrix.workspace_read" | "policy.matrix.workspace_write") {
        return failed(outcome.message(), "name the folder: --workspace DIR".to_owned());
    }
    let see = format!("see: mast tools show {tool}");
    failed(outcome.message(), if code.starts_with("tool.invalid_arguments.") { see } else { String::new() })
}

/// What a person is told of arguments that a tool does not take.
pub(super) fn misfit(tool: &Registered, arguments: &str) -> CliError {
    let name = &tool.spec.name;
    let mistake = mistake::of(tool, arguments).unwrap_or_else(|| "the arguments do not fit".to_owned());
    CliError::usage(format!("{name}: {mistake}"), format!("see: mast tools show {name}"))
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
