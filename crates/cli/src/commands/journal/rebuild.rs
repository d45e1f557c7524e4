//! `mast journal rebuild`: the rows of the state, made anew from the events.

use std::collections::BTreeSet;

use mast_store::Store;
use mast_store::upkeep;
use mast_store::verify::{Report, Wanted as Ask, Wrong, verify};

use super::{as_report, summary};
use crate::assemble::{Start, open_store, open_to_look};
use crate::commands::runs::nothing_yet;
use crate::error::{CliError, Exit};
use crate::output::{Printer, Style};

/// Compares the rows with what the events say, and puts the right ones in the place of the others.
///
/// # Errors
///
/// [`CliError`] when the journal itself does not hold, or the store cannot be written.
pub(super) async fn rebuild(check: bool, start: &Start) -> Result<Exit, CliError> {
    let looked = open_to_look(start).await?.ok_or_else(nothing_yet)?;
    let report = compared(&*looked).await?;
    if check || report.is_sound() {
        return print(&report, &start.printer);
    }
    let store = open_store(start).await?;
    let differing: BTreeSet<_> = report.findings.iter().filter_map(|finding| finding.session).collect();
    for session in differing {
        let planned = upkeep::rebuild(&*store, session).await?;
        store.keep_up(vec![planned.ok_or_else(broken)?]).await?;
    }
    let after = compared(&*store).await?;
    let told = format!("{} rows were not as the events say", report.findings.len());
    start.printer.note(&[(Style::Dim, &told)]);
    print(&after, &start.printer)
}

fn broken() -> CliError {
    let hint = "what cannot be believed is no ground to build on: see mast journal verify";
    CliError::failed("the journal itself does not hold", hint)
}

/// What is wrong with the rows, where nothing is wrong with the journal.
async fn compared(store: &dyn Store) -> Result<Report, CliError> {
    let mut report = verify(store, Ask::default()).await?;
    let is_of_state = |wrong: Wrong| matches!(wrong, Wrong::StateDiffers | Wrong::StrayRow);
    if !report.findings.iter().all(|finding| is_of_state(finding.wrong)) {
        return Err(broken());
    }
    report.findings.retain(|finding| is_of_state(finding.wrong));
    Ok(report)
}

fn print(report: &Report, printer: &Printer) -> Result<Exit, CliError> {
    if printer.is_json() {
        printer.result_json(&as_report(report))?;
        return Ok(if report.is_sound() { Exit::Done } else { Exit::Failed });
    }
    for finding in &report.findings {
        printer.result_line(&[(Style::Plain, &finding.to_string())])?;
    }
    let (style, word) =
        if report.is_sound() { (Style::Good, "the same") } else { (Style::Bad, "not the same") };
    printer.result_line(&[(style, word), (Style::Plain, &format!(" · {}", summary(report)))])?;
    Ok(if report.is_sound() { Exit::Done } else { Exit::Failed })
}
