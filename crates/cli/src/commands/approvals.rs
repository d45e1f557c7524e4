//! `mast approvals`: what waits for a verdict, and giving one. To name an approval by its id, with access
//! to the data folder, is the deliberate act that a verdict needs; nothing that is piped in counts.

use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use mast_kernel::approval::ApprovalStatus;
use mast_kernel::event::Reach;
use mast_kernel::id::CallId;
use mast_kernel::instant::Instant;
use mast_runtime::{Answer, NotTaken, Runtime, Verdict};
use mast_store::{ApprovalFilter, ApprovalRow, Store};
use serde_json::{Value, json};

use crate::assemble::{Start, block_on, local_authority, open_store, open_to_look, runtime, sight};
use crate::commands::runs::nothing_yet;
use crate::config::Flags;
use crate::error::{CliError, Exit};
use crate::ids::find_approval;
use crate::output::layout::{self, WIDTH_MIN, table};
use crate::output::{Printer, Style, card, line};

/// Columns of a name beside its value.
const NAME_COLUMNS: usize = 14;
/// What stands before each row.
const INDENT: &str = "  ";

/// Arguments of `mast approvals`.
#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List what waits for a verdict, the gravest first
    List {
        /// List those that are settled too
        #[arg(long)]
        all: bool,
    },
    /// Show one whole: what would be done, and why it is asked
    Show {
        /// Its id, an ending of it, or `latest`
        approval: String,
        /// Show what looks secret too
        #[arg(long)]
        reveal: bool,
    },
    /// Allow it
    Approve {
        /// Its id, or an ending of it
        approval: String,
        /// How far the yes reaches
        #[arg(long, value_enum, default_value_t = Reaches::Once)]
        reach: Reaches,
    },
    /// Refuse it
    Deny {
        /// Its id, or an ending of it
        approval: String,
        /// Words for the model
        #[arg(long, value_name = "WORDS")]
        because: Option<String>,
    },
}

/// How far a yes may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Reaches {
    /// This one call
    Once,
    /// Calls like it in this run
    Task,
    /// Calls like it in this session
    Session,
}

impl From<Reaches> for Reach {
    fn from(reaches: Reaches) -> Self {
        match reaches {
            Reaches::Once => Self::Once,
            Reaches::Task => Self::Task,
            Reaches::Session => Self::Session,
        }
    }
}

/// Does what was asked of approvals.
///
/// # Errors
///
/// [`CliError`] when there is no such approval, or the verdict is not taken.
pub(crate) fn run(args: &ApprovalsArgs, start: &Start) -> Result<Exit, CliError> {
    block_on(async {
        match &args.verb {
            None => list(false, start).await,
            Some(Verb::List { all }) => list(*all, start).await,
            Some(Verb::Show { approval, reveal }) => show(approval, *reveal, start).await,
            Some(Verb::Approve { approval, reach }) => {
                answer(approval, Verdict::Yes((*reach).into()), None, start).await
            }
            Some(Verb::Deny { approval, because }) => {
                answer(approval, Verdict::No, because.as_deref(), start).await
            }
        }
    })
}

async fn list(all: bool, start: &Start) -> Result<Exit, CliError> {
    let store = open_to_look(start).await?;
    let status = (!all).then_some(ApprovalStatus::Pending);
    let mut rows = match &store {
        Some(store) => store.approvals(&ApprovalFilter { status, ..ApprovalFilter::default() }).await?,
        None => Vec::new(),
    };
    rows.sort_by_key(|row| (std::cmp::Reverse(row.risk), row.expires_at));
    let printer = &start.printer;
    if printer.is_json() {
        printer.result_json(&Value::Array(rows.iter().map(|row| json!(row)).collect()))?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        let said = if all { "nothing was ever asked" } else { "nothing waits for a verdict" };
        printer.note(&[(Style::Dim, said)]);
    }
    let mut lines = Vec::new();
    for row in &rows {
        let shown = match &store {
            Some(store) => card_of(&**store, row).await?,
            None => None,
        };
        lines.push(list_row(row, shown.as_ref(), start.world().clock.now()));
    }
    for line in table(&lines, printer.columns()) {
        printer.result_line(&[(Style::Plain, &line)])?;
    }
    Ok(Exit::Done)
}

fn list_row(row: &ApprovalRow, shown: Option<&Value>, now: Instant) -> Vec<String> {
    let tool = shown.and_then(|card| card.get("tool")?.as_str()).unwrap_or("(not on record)").to_owned();
    let is_over = row.status == ApprovalStatus::Pending && now >= row.expires_at;
    let state = match (row.status, is_over) {
        (_, true) => "expired".to_owned(),
        (ApprovalStatus::Pending, false) => format!("until {}", card::until(row.expires_at, now)),
        (status, false) => status.to_string(),
    };
    let why = shown.map(card::why_line).unwrap_or_default();
    vec![row.id.to_string(), tool, row.risk.to_string(), state, why]
}

/// What a question shows; none if its value was forgotten.
pub(crate) async fn card_of(store: &dyn Store, row: &ApprovalRow) -> Result<Option<Value>, CliError> {
    Ok(store.content(&row.card).await?.map(|row| row.value.value()))
}

async fn show(text: &str, reveal: bool, start: &Start) -> Result<Exit, CliError> {
    let store = open_to_look(start).await?.ok_or_else(nothing_yet)?;
    let row = find_approval(&*store, text).await?;
    let shown = card_of(&*store, &row).await?;
    let twin = twin_of(store, &row, start).await?;
    let printer = &start.printer;
    if printer.is_json() {
        let mut value = json!(row);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("shown".to_owned(), shown.unwrap_or_default());
            fields.insert("twin".to_owned(), json!(twin));
        }
        printer.result_json(&value)?;
        return Ok(Exit::Done);
    }
    print_whole(&row, (shown.as_ref(), twin), reveal, start)?;
    if row.status == ApprovalStatus::Pending {
        let id = row.id;
        let hint = format!("allow: mast approvals approve {id}     refuse: mast approvals deny {id}");
        printer.note(&[(Style::Dim, &hint)]);
    }
    Ok(Exit::Done)
}

/// An earlier call like the one that is asked about whose outcome nobody knows, while the question is open.
pub(crate) async fn twin_of(
    store: Arc<dyn Store>,
    row: &ApprovalRow,
    start: &Start,
) -> Result<Option<CallId>, CliError> {
    if row.status != ApprovalStatus::Pending {
        return Ok(None);
    }
    let runtime = runtime(start, &start.config(&Flags::new())?, store)?;
    Ok(runtime.uncertain_twin(row.session, row.call).await?)
}

/// One question whole: what would be done, with what, why it is asked, and what was read before.
pub(crate) fn print_whole(
    row: &ApprovalRow,
    (shown, twin): (Option<&Value>, Option<CallId>),
    reveal: bool,
    start: &Start,
) -> Result<(), CliError> {
    let printer = &start.printer;
    let head = format!("{} · {} · {} · {}", row.id, row.status, row.reach, row.run);
    printer.result_line(&[(Style::Warn, "ask  "), (Style::Plain, &head)])?;
    let Some(shown) = shown else {
        return printer.result_line(&[(Style::Bad, "  what was asked is not on record any more")]);
    };
    let sight = sight(start, reveal)?;
    for card::Shown { name, value, .. } in card::rows(shown, twin, start.world().clock.now(), sight) {
        let value = value.replace("press r to see it", "add --reveal to see it");
        print_row(printer, &name, &value)?;
    }
    if let Some(code) = &row.reason_code {
        let why = mast_kernel::message::lookup(code).map_or("", |entry| entry.message);
        print_row(printer, "void", &format!("{why} ({code})"))?;
    }
    Ok(())
}

/// One row; what does not fit hangs below its value, also in a pipe, whose end may be a terminal.
fn print_row(printer: &Printer, name: &str, value: &str) -> Result<(), CliError> {
    let room = printer.card_width().saturating_sub(INDENT.len());
    let columns = if room < WIDTH_MIN { INDENT.len() } else { NAME_COLUMNS };
    for text in layout::row(&line(name), &line(value), (columns, room)) {
        let (head, rest) = text.split_at_checked(columns).unwrap_or((&text, ""));
        printer.result_line(&[(Style::Plain, INDENT), (Style::Dim, head), (Style::Plain, rest)])?;
    }
    Ok(())
}

async fn answer(text: &str, verdict: Verdict, words: Option<&str>, start: &Start) -> Result<Exit, CliError> {
    refuse_fixed_clock(start)?;
    if text == "latest" {
        return Err(CliError::usage("a verdict names its approval", "write its id: mast approvals"));
    }
    if open_to_look(start).await?.is_none() {
        return Err(nothing_yet());
    }
    let config = start.config(&Flags::new())?;
    let runtime = runtime(start, &config, open_store(start).await?)?;
    let found = find_approval(&**runtime.store(), text).await?;
    let by = local_authority();
    let answer = Answer { approval: found.id, verdict, words, by: &by };
    let row = runtime.answer(&answer).await.map_err(not_taken)?;
    tell(&row, verdict, &runtime, start).await?;
    Ok(Exit::Done)
}

/// What was decided, and what comes next.
async fn tell(row: &ApprovalRow, verdict: Verdict, runtime: &Runtime, start: &Start) -> Result<(), CliError> {
    let printer = &start.printer;
    if printer.is_json() {
        return printer.result_json(&json!(row));
    }
    let (style, word) = match verdict {
        Verdict::Yes(_) => (Style::Good, "allowed"),
        Verdict::No => (Style::Bad, "denied"),
    };
    let shown = card_of(&**runtime.store(), row).await?;
    let tool = shown.as_ref().and_then(|card| card.get("tool")?.as_str()).unwrap_or("the call").to_owned();
    let reach = row.granted.map(|reach| format!(" · {reach}")).unwrap_or_default();
    printer.result_line(&[(style, word), (Style::Plain, &format!(" · {tool}{reach} · {}", row.id))])?;
    printer.note(&[(Style::Dim, &format!("go on: mast runs resume {}", row.run))]);
    Ok(())
}

/// Verbs that judge go by the real time only.
///
/// # Errors
///
/// [`CliError`] when a clock was fixed.
pub(crate) fn refuse_fixed_clock(start: &Start) -> Result<(), CliError> {
    if start.global.fixed_clock.is_some() {
        return Err(CliError::usage("a verdict goes by the real time", "leave out --fixed-clock"));
    }
    Ok(())
}

/// What a person is told of a verdict that was not taken.
pub(crate) fn not_taken(error: NotTaken) -> CliError {
    let hint = match &error {
        NotTaken::Runtime(_) => String::new(),
        NotTaken::NoSuchApproval(_) => "see: mast approvals".to_owned(),
        NotTaken::NoSuchGrant(_) | NotTaken::GrantOver { .. } => "see: mast grants".to_owned(),
        NotTaken::Settled { approval, .. } | NotTaken::Void { approval, .. } => {
            format!("see: mast approvals show {approval}")
        }
        NotTaken::Expired(_) => "let the model ask again".to_owned(),
        NotTaken::TooFar { .. } => "use a shorter --reach".to_owned(),
        NotTaken::NotAllowed => "answer as somebody who holds it".to_owned(),
        NotTaken::WordsTooLong => "write less".to_owned(),
    };
    match error {
        NotTaken::Runtime(error) => error.into(),
        other => CliError::failed(other.to_string(), hint),
    }
}
