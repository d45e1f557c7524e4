//! `mast run`: a task for a model. The answer stands on stdout, everything else on stderr.

mod carry;
mod closing;
mod demands;
mod events;
mod judge;
pub(crate) mod proof;

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::tz::TimeZone;
use mast_kernel::limits::PROMPT_BYTES_MAX;
use mast_kernel::policy::narrowed_mode;
use mast_kernel::run::{ApprovalMode, Mode, Priority, RunStatus};
use mast_kernel::trust::Label;
use mast_provider::Provider;
use mast_runtime::{Answerer, NewSession, RunRequest, Runtime, Said, Session, Surface};
use mast_store::{RunFilter, SessionFilter, Store};
use serde_json::json;

use crate::assemble::folders::Folders;
use crate::assemble::{
    Chosen, Reason, Start, block_on, choose, local_authority, local_servers, open_store, runtime,
};
use crate::commands::journal::last_event;
use crate::config::{Config, Flags, local_zone};
use crate::error::{CliError, Exit};
use crate::ids::{Wanted, find};
use crate::names::unknown;
use crate::output::Style;

use carry::judge_of;
pub(crate) use carry::{Carried, carry_out};
pub(crate) use closing::waiting_lines;
use demands::Demands;
pub(crate) use judge::AtTerminal;

/// The surface of the sessions that `run` opens.
const SURFACE: &str = "cli";

/// How many of the newest runs are looked at to tell whether this is the first one with a model.
const RUNS_LOOKED_AT: u32 = 20;

/// Arguments of `mast run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The task; without one it is read from stdin, as text that nobody vouches for
    prompt: Option<String>,
    /// Read stdin too, and give it to the model beside the task
    #[arg(long)]
    stdin: bool,
    /// Take what is read from stdin as your own words
    #[arg(long)]
    trust_stdin: bool,
    #[command(flatten)]
    answers: Answers,
    #[command(flatten)]
    offer: Offer,
    #[command(flatten)]
    demands: Demands,
    /// Go on in the newest conversation
    #[arg(long = "continue", conflicts_with = "session")]
    resume: bool,
    /// Only put it in the queue; a worker takes it up
    #[arg(long, conflicts_with_all = ["require_file", "remove_unsupported"])]
    detach: bool,
    /// Which runs go before it in the queue
    #[arg(long, value_name = "PRIORITY", value_enum, requires = "detach")]
    priority: Option<Queue>,
    /// Go on in this conversation
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// Who answers.
#[derive(Debug, Args)]
struct Answers {
    /// The model service that answers, such as `ollama`
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Let this script answer instead of a model
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

/// What the run may use.
#[derive(Debug, Args)]
struct Offer {
    /// Offer these tools only
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Vec<String>,
    /// Let its tools read and write in this folder, and nowhere else
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Let it look, and change nothing
    #[arg(long)]
    plan: bool,
    /// What happens when a call must ask: a person at the terminal answers, the run waits, or it is denied
    #[arg(long, value_name = "MODE", value_enum)]
    approval: Option<Asking>,
    /// Offer no tool at all
    #[arg(long, conflicts_with_all = ["plan", "tools"])]
    no_tools: bool,
}

/// Which runs go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Queue {
    /// A person sits before it
    Interactive,
    /// The usual
    Normal,
    /// It may wait
    Background,
}

/// What happens when a call must ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Asking {
    /// Whoever sits at the terminal answers; where there is none, the run waits
    Interactive,
    /// The run waits for `mast approvals`
    Park,
    /// The call is denied
    Deny,
}

/// Carries out the task.
///
/// # Errors
///
/// [`CliError`] when it cannot be begun, or Mast itself cannot go on.
pub(crate) fn run(args: &RunArgs, start: &Start) -> Result<Exit, CliError> {
    let config = start.config(&flags(args))?;
    let chosen = choose(start, &config, args.answers.script.is_some())?;
    if args.answers.script.is_some()
        && args.answers.provider.as_deref().is_some_and(|name| name != "scripted")
    {
        return Err(CliError::usage("a script and another provider cannot both answer", "leave one out"));
    }
    let provider = chosen.build(&config, args.answers.script.as_deref())?;
    let prompt = prompt(args)?;
    block_on(async {
        let store = open_store(start).await?;
        let runtime = runtime(start, &config, store)?;
        let mut session = session(args, &runtime).await?;
        let seen = if args.is_new() { 0 } else { last_event(&**runtime.store(), session.id()).await? };
        let request = RunRequest {
            date_line: date_line(&runtime, &local_zone(&config, &start.environment)),
            workspace: args.workspace(start)?,
            ..request(args, &config, &runtime, prompt)?
        };
        let is_first = is_first(&**runtime.store()).await?;
        for line in first_lines(&chosen, &config, is_first) {
            start.printer.note(&[(Style::Dim, &line)]);
        }
        let asks_for_none =
            |said: &Said| said.label == Label::typed() && narrowed_mode(&said.text) == Some(Mode::NoTools);
        if request.mode != Mode::NoTools && request.prompt.iter().any(asks_for_none) {
            start.printer.note(&[(Style::Dim, "mast · your words ask for no tools, so none is offered")]);
        }
        for line in args.demands.lines(&runtime) {
            start.printer.note(&[(Style::Warn, &line)]);
        }
        if args.detach {
            return enqueue(&runtime, &mut session, request, (&*provider, start)).await;
        }
        let is_foreign = request.prompt.iter().any(|said| said.label != Label::typed());
        let id = session.id();
        let removes = args.demands.remove_unsupported;
        let carried = Carried { start, runtime: &runtime, session: id, seen, is_foreign, removes };
        let judge = judge_of(args, start)?;
        let work = async |surface: Surface<'_>| runtime.run(&mut session, request, &*provider, surface).await;
        Box::pin(carry_out(&carried, provider.name(), judge.as_ref(), work)).await
    })
}

/// Puts the run in the queue, and prints its id.
async fn enqueue(
    runtime: &Runtime,
    session: &mut Session,
    request: RunRequest,
    (provider, start): (&dyn Provider, &Start),
) -> Result<Exit, CliError> {
    let by = Answerer { provider: provider.name(), model: provider.model() };
    let run = runtime.enqueue(session, request, by).await?;
    let printer = &start.printer;
    if printer.is_json() {
        printer.result_json(&json!({ "run": run, "session": session.id(), "status": RunStatus::Queued }))?;
        return Ok(Exit::Done);
    }
    printer.result_line(&[(Style::Plain, &run.to_string())])?;
    let text = format!("queued   taken up by: mast worker   look: mast runs show {run}");
    printer.note(&[(Style::Dim, &text)]);
    Ok(Exit::Done)
}

impl RunArgs {
    /// The folder that it may work in, by its one name.
    fn workspace(&self, start: &Start) -> Result<Option<String>, CliError> {
        self.offer.workspace.as_deref().map(|folder| Folders::new(start).named(folder)).transpose()
    }

    /// Whether it begins a conversation.
    const fn is_new(&self) -> bool {
        !self.resume && self.session.is_none()
    }
}

/// Whether no model has answered here before. A run of single calls has none.
async fn is_first(store: &dyn Store) -> Result<bool, CliError> {
    let runs = store.runs(&RunFilter { limit: RUNS_LOOKED_AT, ..RunFilter::default() }).await?;
    Ok(runs.iter().all(|run| run.provider == "none"))
}

fn flags(args: &RunArgs) -> Flags {
    let provider = args.answers.provider.clone().map(|text| ("provider.name", "--provider", text));
    let model = args.answers.model.clone().map(|text| ("provider.model", "--model", text));
    provider.into_iter().chain(model).collect()
}

/// The message in parts, each with its author: what stands on the command line was typed, what comes
/// from stdin was written by nobody knows whom.
fn prompt(args: &RunArgs) -> Result<Vec<Said>, CliError> {
    let mut parts = Vec::new();
    if let Some(text) = args.prompt.as_deref().filter(|text| *text != "-") {
        parts.push(Said { text: text.to_owned(), label: Label::typed() });
    }
    if parts.is_empty() || args.stdin {
        if std::io::stdin().is_terminal() {
            if !parts.is_empty() {
                return Err(CliError::usage(
                    "nothing is piped into stdin",
                    "leave out --stdin, or pipe something: COMMAND | mast run --stdin \"…\"",
                ));
            }
            return Err(CliError::usage(
                "there is no task",
                "write it: mast run \"What is 17 multiplied by 23?\"",
            ));
        }
        let label = if args.trust_stdin { Label::typed() } else { Label::piped() };
        parts.push(Said { text: read_stdin()?, label });
    }
    if parts.iter().all(|said| said.text.trim().is_empty()) {
        return Err(CliError::usage(
            "the task is empty",
            "write it: mast run \"What is 17 multiplied by 23?\"",
        ));
    }
    Ok(parts)
}

fn read_stdin() -> Result<String, CliError> {
    let failed = |source| CliError::Stream { what: "cannot read stdin", source };
    let limit = u64::try_from(PROMPT_BYTES_MAX).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > PROMPT_BYTES_MAX {
        return Err(CliError::usage(
            format!("stdin has more than {PROMPT_BYTES_MAX} bytes"),
            "send less at once",
        ));
    }
    String::from_utf8(bytes).map_err(|_| CliError::usage("stdin is not UTF-8 text", "convert it first"))
}

/// The conversation: the one that was named, the newest, or a new one.
async fn session(args: &RunArgs, runtime: &Runtime) -> Result<Session, CliError> {
    let authority = local_authority();
    if let Some(text) = &args.session {
        let id = find(&**runtime.store(), text, Wanted::Session).await?.session();
        return Ok(runtime.session(id, authority).await?);
    }
    if !args.resume {
        return Ok(runtime.open_session(NewSession { authority, surface: SURFACE }).await?);
    }
    let id = newest(&**runtime.store(), &authority).await?;
    Ok(runtime.session(id, authority).await?)
}

/// The newest conversation of the person; the sessions of `mast call` are none.
async fn newest(
    store: &dyn Store,
    authority: &mast_kernel::policy::Authority,
) -> Result<mast_kernel::id::SessionId, CliError> {
    let filter = SessionFilter { principal: Some(authority.principal), ..SessionFilter::default() };
    let sessions = store.sessions(&filter).await?;
    let newest = sessions.iter().find(|session| session.surface == SURFACE);
    newest.map(|session| session.id).ok_or_else(|| {
        CliError::failed("there is no conversation to go on with", "begin one: mast run \"…\"")
    })
}

fn request(
    args: &RunArgs,
    config: &Config,
    runtime: &Runtime,
    prompt: Vec<Said>,
) -> Result<RunRequest, CliError> {
    let mode = match (args.offer.no_tools, args.offer.plan) {
        (true, _) => Mode::NoTools,
        (false, true) => Mode::Plan,
        (false, false) => Mode::Act,
    };
    Ok(RunRequest {
        prompt,
        mode,
        tools: tools(&args.offer.tools, runtime)?,
        approval_mode: match args.offer.approval {
            Some(Asking::Deny) => ApprovalMode::Deny,
            Some(Asking::Interactive | Asking::Park) | None => ApprovalMode::Park,
        },
        budget: config.budget(),
        priority: match args.priority {
            Some(Queue::Interactive) => Priority::Interactive,
            Some(Queue::Background) => Priority::Background,
            Some(Queue::Normal) | None => Priority::Normal,
        },
        required: args.demands.required()?,
        instructions: config.text("run.instructions").map(str::to_owned),
        workspace: None,
        date_line: None,
    })
}

/// The tools that were named, each by the name that it is registered under.
fn tools(names: &[String], runtime: &Runtime) -> Result<Option<BTreeSet<String>>, CliError> {
    if names.is_empty() {
        return Ok(None);
    }
    let registry = runtime.toolbox().registry();
    let named = names.iter().map(|name| {
        let found = registry.resolve(name.trim()).map(|resolved| resolved.tool.spec.name.clone());
        let known = || registry.latest().map(|tool| tool.spec.name.as_str());
        found.ok_or_else(|| CliError::usage(unknown("tool", name.trim(), known()), "see: mast tools"))
    });
    named.collect::<Result<_, _>>().map(Some)
}

/// The date for the end of the prompt, by the clock that tools see and in the zone of the person.
pub(crate) fn date_line(runtime: &Runtime, zone: &TimeZone) -> Option<String> {
    let now = jiff::Timestamp::from_microsecond(runtime.world().tool_clock.now().micros()).ok()?;
    let name = zone.iana_name().unwrap_or("UTC");
    let local = zone.to_datetime(now).strftime("Today is %A, %Y-%m-%d, %H:%M").to_string();
    Some(format!("{local} ({name})."))
}

/// Who answers and why: in full the first time, shortly later.
fn first_lines(chosen: &Chosen, config: &Config, is_first: bool) -> Vec<String> {
    let service = chosen.preset.name;
    let model = chosen.model(config).map(|model| format!(" {model}")).unwrap_or_default();
    let passed_over = chosen.passed_over.map(|variable| {
        format!("mast · {variable} is set, but its provider is not here yet; going on without it")
    });
    let mut lines: Vec<String> = passed_over.into_iter().collect();
    match &chosen.reason {
        Reason::Script => lines.push("mast · a script answers, no model".to_owned()),
        reason @ (Reason::Key(_) | Reason::Setting(_)) => {
            lines.push(format!("mast · {service}{model} · {}", reason.said()));
        }
        Reason::Nothing if is_first => {
            lines.push(
                "mast · no model configured, using the built-in offline one (it understands a few sentence \
                 forms; `mast config use NAME` sets up a real model)"
                    .to_owned(),
            );
            lines.extend(local_servers().iter().map(|server| {
                format!(
                    "mast · {} seems to answer on this machine; to use it: mast config use {}",
                    server.name, server.name
                )
            }));
        }
        Reason::Nothing => lines.push("mast · offline model".to_owned()),
    }
    lines
}
