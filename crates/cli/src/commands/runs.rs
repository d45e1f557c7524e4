//! `mast runs`: which runs there were, and what became of one.

mod reconcile;
mod resume;

use std::sync::Arc;

use clap::{Args, Subcommand};
use mast_kernel::id::RunId;
use mast_kernel::run::RunStatus;
use mast_store::{ApprovalFilter, CallFilter, CallRow, RunFilter, RunRow, Store};
use serde_json::{Value, json};

use crate::assemble::{Start, block_on, open_to_look, owner};
use crate::commands::approvals::{card_of, print_whole, twin_of};
use crate::commands::moment;
use crate::error::{CliError, Exit};
use crate::ids::{Found, Wanted, find};
use crate::output::Style;
use crate::output::layout::{cut, millis, table};

/// Columns of the task in the list.
const ASKED_COLUMNS: usize = 60;

/// Arguments of `mast runs`.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// At most so many, newest first
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    limit: u32,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the runs, newest first
    List,
    /// Show one run: its calls, and what it waits for
    Show {
        /// Its id, an ending of it, or `latest`
        run: String,
    },
    /// Go on with a run that waited for a verdict, that was not begun, or whose process is gone
    Resume(resume::ResumeArgs),
    /// List the calls whose outcome nobody knows, or settle one
    Reconcile(reconcile::ReconcileArgs),
}

/// Prints the runs.
///
/// # Errors
///
/// [`CliError`] when there is no such run, or the store cannot be read.
pub(crate) fn run(args: &RunsArgs, start: &Start) -> Result<Exit, CliError> {
    if let Some(Verb::Resume(args)) = &args.verb {
        return resume::run(args, start);
    }
    if let Some(Verb::Reconcile(args)) = &args.verb {
        return block_on(reconcile::run(args, start));
    }
    block_on(async {
        let store = open_to_look(start).await?;
        match (&args.verb, store) {
            (Some(Verb::Show { run }), Some(store)) => show(run, &store, start).await?,
            (Some(Verb::Show { .. }), None) => return Err(nothing_yet()),
            (Some(Verb::List | Verb::Resume(_) | Verb::Reconcile(_)) | None, store) => {
                list(args.limit, store.as_deref(), start).await?;
            }
        }
        Ok(Exit::Done)
    })
}

/// What is said where there is no store.
pub(crate) fn nothing_yet() -> CliError {
    CliError::failed("nothing is on record yet", "begin with: mast run \"…\"")
}

async fn list(limit: u32, store: Option<&dyn Store>, start: &Start) -> Result<(), CliError> {
    let runs = match store {
        Some(store) => {
            store.runs(&RunFilter { limit: limit.saturating_add(1), ..RunFilter::default() }).await?
        }
        None => Vec::new(),
    };
    let is_cut = runs.len() > limit as usize;
    let runs = runs.get(..limit as usize).unwrap_or(&runs);
    let printer = &start.printer;
    if printer.is_json() {
        return printer.result_json(&Value::Array(runs.iter().map(as_json).collect()));
    }
    if runs.is_empty() {
        printer.note(&[(Style::Dim, "no runs yet   begin with: mast run \"…\"")]);
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for run in runs {
        let asked = match store {
            Some(store) => prompt_of(store, run).await?.map(|text| cut(&text, ASKED_COLUMNS)),
            None => None,
        };
        let id = run.id.to_string();
        let state = state_of(store, run, start).await?;
        rows.push(vec![id, moment(run.created_at), state, model(run), asked.unwrap_or_default()]);
    }
    for row in table(&rows, printer.columns()) {
        printer.result_line(&[(Style::Plain, &row)])?;
    }
    let n_doubtful = match store {
        Some(store) => reconcile::in_doubt(store).await?.len(),
        None => 0,
    };
    if n_doubtful > 0 {
        let calls = if n_doubtful == 1 { "call" } else { "calls" };
        let text = format!("nobody knows the outcome of {n_doubtful} {calls}   see: mast runs reconcile");
        printer.note(&[(Style::Bold, &text)]);
    }
    if is_cut {
        printer.note(&[(Style::Dim, &format!("the newest {limit}   more: mast runs --limit N"))]);
    }
    Ok(())
}

async fn show(text: &str, store: &Arc<dyn Store>, start: &Start) -> Result<(), CliError> {
    let opened = store;
    let store = &**opened;
    let Found::Run(run) = find(store, text, Wanted::Run).await? else {
        return Err(CliError::failed(format!("`{text}` is not a run"), "see: mast runs"));
    };
    let calls = calls_of(store, run.id).await?;
    let asks = store.approvals(&ApprovalFilter { run: Some(run.id), ..ApprovalFilter::default() }).await?;
    let printer = &start.printer;
    if printer.is_json() {
        let mut value = as_json(&run);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("calls".to_owned(), Value::Array(calls.iter().map(|call| json!(call)).collect()));
            let mut shown = Vec::new();
            for ask in &asks {
                let mut row = json!(ask);
                if let Some(fields) = row.as_object_mut() {
                    fields.insert("shown".to_owned(), card_of(store, ask).await?.unwrap_or_default());
                }
                shown.push(row);
            }
            fields.insert("approvals".to_owned(), Value::Array(shown));
        }
        return printer.result_json(&value);
    }
    let state = state_of(Some(store), &run, start).await?;
    for row in table(&facts(&run, state), printer.columns()) {
        printer.result_line(&[(Style::Plain, &row)])?;
    }
    let rows: Vec<Vec<String>> = calls.iter().map(call_row).collect();
    for row in table(&rows, printer.columns()) {
        printer.result_line(&[(Style::Plain, &row)])?;
    }
    for ask in &asks {
        let twin = twin_of(Arc::clone(opened), ask, start).await?;
        print_whole(ask, (card_of(store, ask).await?.as_ref(), twin), false, start)?;
    }
    if let Some(prompt) = prompt_of(store, &run).await? {
        printer.result_line(&[(Style::Dim, "asked  "), (Style::Plain, &prompt)])?;
    }
    printer.note(&[(Style::Dim, &format!("every step: mast journal show {}", run.id))]);
    Ok(())
}

/// The first words of the message that the run answers.
async fn prompt_of(store: &dyn Store, run: &RunRow) -> Result<Option<String>, CliError> {
    let items = store.items(run.session, 0, 0).await?;
    let Some(item) = items.iter().find(|item| item.run == Some(run.id)) else { return Ok(None) };
    let content = store.content(&item.content).await?;
    let text = content.and_then(|row| row.value.value().get("text")?.as_str().map(str::to_owned));
    Ok(text.map(|text| cut(&crate::output::line(&text), 200)))
}

async fn calls_of(store: &dyn Store, run: RunId) -> Result<Vec<CallRow>, CliError> {
    Ok(store.calls(&CallFilter { run: Some(run), ..CallFilter::default() }).await?)
}

fn facts(run: &RunRow, state: String) -> Vec<Vec<String>> {
    let took =
        run.started_at.zip(run.ended_at).map(|(from, to)| format!(" · {}", millis(to.millis_since(from))));
    let overlay = if run.overlay { "" } else { " · overlay off" };
    let why = run.reason_code.as_deref().and_then(mast_kernel::message::lookup);
    let mut facts = vec![
        ("run", run.id.to_string()),
        ("session", run.session.to_string()),
        ("state", state + &took.unwrap_or_default()),
        ("model", model(run)),
        ("policy", format!("{} · {}{overlay}", run.policy_version, run.mode)),
        ("began", moment(run.created_at)),
    ];
    if let Some(why) = why {
        facts.insert(3, ("why", why.message.to_owned()));
    }
    facts.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect()
}

/// Where a run is; one whose process is gone is said to be interrupted.
async fn state_of(store: Option<&dyn Store>, run: &RunRow, start: &Start) -> Result<String, CliError> {
    if let Some(store) = store.filter(|_| run.status == RunStatus::Running) {
        let now = start.world().clock.now();
        let lease = store.lease(run.id).await?;
        if lease.is_none_or(|lease| lease.until <= now || owner::is_gone(&lease.owner)) {
            return Ok("interrupted".to_owned());
        }
    }
    Ok(state(run))
}

fn state(run: &RunRow) -> String {
    let why = run.completion.map(|completion| completion.to_string()).or_else(|| run.reason_code.clone());
    why.map_or_else(|| run.status.to_string(), |why| format!("{} · {why}", run.status))
}

fn model(run: &RunRow) -> String {
    if run.provider == "none" {
        return "typed calls".to_owned();
    }
    if run.model.is_empty() || run.model == run.provider {
        run.provider.clone()
    } else {
        format!("{} {}", run.provider, run.model)
    }
}

fn call_row(call: &CallRow) -> Vec<String> {
    let tool =
        call.declared.as_ref().map_or_else(|| "(no such tool)".to_owned(), |declared| declared.tool.clone());
    let took = call.duration_ms.map(millis).unwrap_or_default();
    let why = call.reason_code.clone().unwrap_or_default();
    vec!["call".to_owned(), tool, format!("{} {took} {why}", call.status).trim_end().to_owned()]
}

fn as_json(run: &RunRow) -> Value {
    serde_json::to_value(run).unwrap_or_default()
}
