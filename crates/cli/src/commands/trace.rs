//! `mast trace`: what of a run is on record, for a person, and what of another agent's transcript is.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use mast_kernel::assertion::{Checked, Support};
use mast_kernel::effect::{Receipt, states};
use mast_kernel::event::ItemKind;
use mast_kernel::transcript::{self, Transcript};
use mast_store::{CallFilter, CallRow, RunRow, Store};
use serde_json::{Value, json};

use crate::assemble::{Start, block_on, open_to_look, runtime};
use crate::commands::run::proof;
use crate::commands::runs::nothing_yet;
use crate::config::Flags;
use crate::error::{CliError, Exit};
use crate::ids::{Found, Wanted, find};
use crate::output::layout::{count, cut};
use crate::output::{Printer, Style, line};

/// The largest transcript that is read.
const TRANSCRIPT_BYTES_MAX: u64 = 16 << 20;
/// Columns of what a receipt says.
const STATEMENT_COLUMNS: usize = 120;

/// Arguments of `mast trace`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct TraceArgs {
    /// The run: its id, an ending of it, or `latest`
    #[arg(required = true)]
    run: Option<String>,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Hold the words of another agent's transcript against its own tool results
    Import {
        /// The transcript: chat messages, or messages with tool blocks, as JSON or JSON Lines; `-` is stdin
        file: PathBuf,
    },
}

/// Prints what is on record.
///
/// # Errors
///
/// [`CliError`] when there is no such run, or the transcript cannot be read.
pub(crate) fn run(args: &TraceArgs, start: &Start) -> Result<Exit, CliError> {
    match (&args.verb, &args.run) {
        (Some(Verb::Import { file }), _) => import(file, &start.printer),
        (None, run) => block_on(of_run(run.as_deref().unwrap_or("latest"), start)),
    }
}

/// A run: what was asked, each call with what is known of its effect, the answer, and what it is worth.
async fn of_run(text: &str, start: &Start) -> Result<Exit, CliError> {
    let Some(store) = open_to_look(start).await? else { return Err(nothing_yet()) };
    let Found::Run(run) = find(&*store, text, Wanted::Run).await? else {
        return Err(CliError::failed(format!("`{text}` is not a run"), "see: mast runs"));
    };
    let runtime = runtime(start, &start.config(&Flags::new())?, store)?;
    let calls = CallFilter { run: Some(run.id), ..CallFilter::default() };
    let calls = runtime.store().calls(&calls).await?;
    let receipts = runtime.receipts(run.id).await?;
    let report = runtime.report(&run).await?;
    let said = said(&**runtime.store(), &run).await?;
    let printer = &start.printer;
    if printer.is_json() {
        let states: Vec<Value> = states(&receipts)
            .into_iter()
            .zip(&receipts)
            .map(|((_, state, why), receipt)| json!({ "receipt": receipt, "state": state, "why": why }))
            .collect();
        printer.result_json(&json!({ "run": run, "said": said, "effects": states, "report": report }))?;
        return Ok(Exit::Done);
    }
    let state =
        run.completion.map_or_else(|| run.status.to_string(), |end| format!("{} · {end}", run.status));
    printer.result_line(&[(Style::Bold, &run.id.to_string()), (Style::Plain, &format!("  {state}"))])?;
    for (who, text) in &said {
        printer.result_line(&[(Style::Dim, &format!("{who:<8}"))])?;
        printer.result(text)?;
    }
    print_calls(&calls, &receipts, printer)?;
    for (style, text) in report.iter().flat_map(proof::lines) {
        printer.result_line(&[(style, &text)])?;
    }
    printer.note(&[(Style::Dim, &format!("every step: mast journal show {}", run.id))]);
    Ok(Exit::Done)
}

/// What was said in the run: by whom, and the words; of the model only its last ones.
async fn said(store: &dyn Store, run: &RunRow) -> Result<Vec<(&'static str, String)>, CliError> {
    let (mut asked, mut answer, mut after) = (Vec::new(), None, 0);
    loop {
        let items = store.items(run.session, after, 0).await?;
        let Some(last) = items.last() else { break };
        after = last.place;
        for item in items.iter().filter(|item| item.run == Some(run.id)) {
            let Some(content) = store.content(&item.content).await? else { continue };
            let text =
                |at: &str| content.value.value().pointer(at).and_then(Value::as_str).map(str::to_owned);
            match item.kind {
                ItemKind::User => asked.extend(text("/text").map(|text| ("asked", text))),
                ItemKind::Assistant => answer = text("/turn/text").or(answer),
                _ => {}
            }
        }
    }
    asked.extend(answer.filter(|text| !text.is_empty()).map(|text| ("answer", text)));
    Ok(asked)
}

/// A line for each call: how far its effect is known, and what its receipt says.
fn print_calls(calls: &[CallRow], receipts: &[Receipt], printer: &Printer) -> Result<(), CliError> {
    let states = states(receipts);
    for call in calls {
        let found = receipts.iter().zip(&states).find(|(receipt, _)| receipt.call == call.id);
        let tool = call.declared.as_ref().map_or("(no such tool)", |declared| declared.tool.as_str());
        let Some((receipt, (_, state, why))) = found else {
            printer.result_line(&[(Style::Plain, &format!("{tool} · {}", call.status))])?;
            continue;
        };
        let said = cut(&line(&receipt.statement), STATEMENT_COLUMNS);
        printer.result_line(&[(Style::Plain, &format!("{tool} · {state}: {why}"))])?;
        printer.result_line(&[(Style::Dim, &format!("  {said}"))])?;
    }
    Ok(())
}

/// A transcript: what the model says in it was done, and which of its results say so too.
fn import(file: &Path, printer: &Printer) -> Result<Exit, CliError> {
    let text = read(file)?;
    let found = transcript::read(&text).map_err(|why| {
        CliError::failed(format!("{}: {why}", file.display()), "see: docs/spec/completion.md")
    })?;
    let checked = || found.said.iter().flat_map(|said| &said.assertions);
    let is_doubted = checked().any(Checked::is_unsupported);
    if printer.is_json() {
        printer.result_json(&json!(found))?;
    } else {
        print_transcript(&found, printer)?;
    }
    Ok(if is_doubted { Exit::Failed } else { Exit::Done })
}

fn print_transcript(found: &Transcript, printer: &Printer) -> Result<(), CliError> {
    for said in &found.said {
        for checked in &said.assertions {
            let (style, text) = proof::of_assertion(checked);
            let words = checked.assertion.span.clone().and_then(|span| said.text.get(span));
            let words = words.map(|words| format!("\"{}\"", cut(&line(words), STATEMENT_COLUMNS)));
            let words = words.unwrap_or_else(|| "attached".to_owned());
            printer.result_line(&[(Style::Plain, &format!("message {} · {words}", said.message))])?;
            printer.result_line(&[(style, &format!("  {text}"))])?;
        }
    }
    let n = |is: fn(&Support) -> bool| {
        let checked = found.said.iter().flat_map(|said| &said.assertions);
        checked.filter(|checked| is(&checked.support)).count()
    };
    let (n_on, n_not, n_cannot) = (
        n(|support| matches!(support, Support::Supported { .. })),
        n(|support| matches!(support, Support::Unsupported { .. })),
        n(|support| matches!(support, Support::NotCheckable { .. })),
    );
    let sizes = format!(
        "{}, {}: {n_on} assertions on record, {n_not} not on record, {n_cannot} cannot be checked",
        count(found.n_messages as u64, "message"),
        count(found.receipts.len() as u64, "call"),
    );
    printer.note(&[(Style::Dim, &sizes)]);
    let caution = "it is only held against itself: nobody here saw these calls, and what it says they gave may be untrue";
    printer.note(&[(Style::Dim, caution)]);
    Ok(())
}

fn read(file: &Path) -> Result<String, CliError> {
    let failed = |source| CliError::Stream { what: "cannot read the transcript", source };
    let mut bytes = Vec::new();
    let limit = TRANSCRIPT_BYTES_MAX + 1;
    let n_bytes = if file == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes).map_err(failed)?
    } else {
        let opened = std::fs::File::open(file).map_err(|error| {
            CliError::failed(
                format!("cannot read {}: {error}", file.display()),
                "name a transcript, or - for stdin",
            )
        })?;
        opened.take(limit).read_to_end(&mut bytes).map_err(failed)?
    };
    if n_bytes as u64 > TRANSCRIPT_BYTES_MAX {
        return Err(CliError::failed(
            format!("{} has more than {TRANSCRIPT_BYTES_MAX} bytes", file.display()),
            "cut it into parts, each with the calls that it speaks of",
        ));
    }
    String::from_utf8(bytes)
        .map_err(|_| CliError::failed(format!("{} is not UTF-8 text", file.display()), "convert it first"))
}
