//! `mast runs reconcile`: what became of a call whose outcome nobody knew.

use clap::Args;
use mast_kernel::call::CallStatus;
use mast_kernel::event::Reconciled;
use mast_runtime::NotReconciled;
use mast_store::{CallFilter, CallRow, Store};
use serde_json::{Value, json};

use super::nothing_yet;
use crate::assemble::{Start, local_authority, open_store, open_to_look, runtime};
use crate::commands::approvals::refuse_fixed_clock;
use crate::commands::moment;
use crate::config::Flags;
use crate::error::{CliError, Exit};
use crate::ids::find_call;
use crate::output::Style;
use crate::output::layout::table;

/// Arguments of `mast runs reconcile`.
#[derive(Debug, Args)]
pub(super) struct ReconcileArgs {
    /// The call: its id, an ending of it, or `latest`; without one, those in doubt are listed
    call: Option<String>,
    /// It did happen
    #[arg(long, requires = "call", conflicts_with_all = ["did_not", "probe"])]
    happened: bool,
    /// It did not happen
    #[arg(long, requires = "call", conflicts_with = "probe")]
    did_not: bool,
    /// Let its tool look
    #[arg(long, requires = "call")]
    probe: bool,
}

/// Lists what is in doubt, or settles one call.
///
/// # Errors
///
/// [`CliError`] when there is no such call, its outcome is known, or its tool cannot tell.
pub(super) async fn run(args: &ReconcileArgs, start: &Start) -> Result<Exit, CliError> {
    let Some(store) = open_to_look(start).await? else { return Err(nothing_yet()) };
    let Some(text) = &args.call else {
        list(&*store, start).await?;
        return Ok(Exit::Done);
    };
    let call = find_call(&*store, text).await?.id;
    let verdict = match (args.happened, args.did_not, args.probe) {
        (true, ..) => Some(Reconciled::Happened),
        (_, true, _) => Some(Reconciled::DidNot),
        (.., true) => None,
        _ => {
            let hint = format!("look, and say: mast runs reconcile {call} --happened, or --did-not");
            return Err(CliError::usage("what became of it?", hint));
        }
    };
    refuse_fixed_clock(start)?;
    let runtime = runtime(start, &start.config(&Flags::new())?, open_store(start).await?)?;
    let authority = local_authority();
    let settled = match verdict {
        Some(verdict) => runtime.reconcile(call, verdict, &authority).await,
        None => runtime.probe(call, &authority).await,
    };
    let row = settled.map_err(refused)?;
    let printer = &start.printer;
    if printer.is_json() {
        printer.result_json(&json!(row))?;
        return Ok(Exit::Done);
    }
    let became = match row.reconciled {
        Some(Reconciled::Happened) => "it did happen",
        _ => "it did not happen",
    };
    printer.result_line(&[(Style::Plain, &format!("{} · {} · {became}", row.id, tool_of(&row)))])?;
    printer.note(&[(Style::Dim, "the model is told with the next message of this conversation")]);
    Ok(Exit::Done)
}

fn refused(error: NotReconciled) -> CliError {
    let hint = match &error {
        NotReconciled::NoProbe(_) | NotReconciled::CannotTell { .. } => {
            "look yourself, and say --happened or --did-not"
        }
        NotReconciled::NotInDoubt { .. } | NotReconciled::NoSuchCall(_) => "see: mast runs reconcile",
        NotReconciled::Runtime(_) => "",
    };
    CliError::failed(error.to_string(), hint)
}

/// The calls whose outcome nobody knows.
pub(super) async fn in_doubt(store: &dyn Store) -> Result<Vec<CallRow>, CliError> {
    let filter = CallFilter { status: Some(CallStatus::Uncertain), ..CallFilter::default() };
    Ok(store.calls(&filter).await?)
}

async fn list(store: &dyn Store, start: &Start) -> Result<(), CliError> {
    let calls = in_doubt(store).await?;
    let printer = &start.printer;
    if printer.is_json() {
        return printer.result_json(&Value::Array(calls.iter().map(|call| json!(call)).collect()));
    }
    if calls.is_empty() {
        printer.note(&[(Style::Dim, "no call is in doubt")]);
    }
    let row = |call: &CallRow| {
        let reached_out = call.effect_sent_at.map(moment).unwrap_or_default();
        vec![call.id.to_string(), tool_of(call), format!("reached out {reached_out}"), call.run.to_string()]
    };
    let rows: Vec<Vec<String>> = calls.iter().map(row).collect();
    for row in table(&rows, printer.columns()) {
        printer.result_line(&[(Style::Plain, &row)])?;
    }
    if let Some(call) = calls.first() {
        let hint = format!("settle one: mast runs reconcile {} --happened | --did-not | --probe", call.id);
        printer.note(&[(Style::Dim, &hint)]);
    }
    Ok(())
}

fn tool_of(call: &CallRow) -> String {
    call.declared.as_ref().map_or_else(|| "(no such tool)".to_owned(), |declared| declared.tool.clone())
}
