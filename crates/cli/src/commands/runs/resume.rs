//! `mast runs resume`: a run that waited for a verdict, or whose process is gone, goes on in this one.

use std::path::PathBuf;

use clap::Args;
use mast_kernel::run::RunStatus;
use mast_runtime::{Resumption, Runtime, Surface};
use mast_store::RunRow;

use super::nothing_yet;
use crate::assemble::{
    Start, block_on, choose, local_authority, open_store, open_to_look, owner, runtime, sight,
};
use crate::commands::approvals::refuse_fixed_clock;
use crate::commands::journal::last_event;
use crate::commands::run::{AtTerminal, Carried, carry_out, date_line};
use crate::commands::time_of_day;
use crate::config::{Config, Flags, local_zone};
use crate::error::{CliError, Exit};
use crate::ids::{Found, Wanted, find};
use crate::output::Style;

/// Arguments of `mast runs resume`.
#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// Its id, an ending of it, or `latest`
    run: String,
    /// The model service that answers; the run's own settings where none is named
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The script that answers, where it is not where it was
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
}

/// Goes on with the run.
///
/// # Errors
///
/// [`CliError`] when there is no such run, it does not wait, or Mast itself cannot go on.
pub(super) fn run(args: &ResumeArgs, start: &Start) -> Result<Exit, CliError> {
    refuse_fixed_clock(start)?;
    block_on(async {
        if open_to_look(start).await?.is_none() {
            return Err(nothing_yet());
        }
        let flags = flags(args);
        let config = start.config(&flags)?;
        let runtime = runtime(start, &config, open_store(start).await?)?;
        let Found::Run(row) = find(&**runtime.store(), &args.run, Wanted::Run).await? else {
            return Err(CliError::failed(format!("`{}` is not a run", args.run), "see: mast runs"));
        };
        if row.status.is_ended() {
            let hint = format!("see: mast runs show {}", row.id);
            return Err(CliError::failed(format!("{} is {}: it has ended", row.id, row.status), hint));
        }
        free(&runtime, &row, start).await?;
        Box::pin(go_on(args, (start, &config, &runtime), &row)).await
    })
}

/// Gives back the lease of a process that is gone, so that nobody need wait for it to be over.
async fn free(runtime: &Runtime, row: &RunRow, start: &Start) -> Result<(), CliError> {
    let Some(lease) = runtime.store().lease(row.id).await? else { return Ok(()) };
    let now = runtime.world().clock.now();
    if lease.until > now && owner::is_gone(&lease.owner) {
        runtime.store().release(row.id, &lease.owner).await?;
    } else if lease.until > now {
        let at = time_of_day(lease.until);
        let hint = format!("if that process is gone, ask again after {}", at.get(..8).unwrap_or(&at));
        return Err(CliError::failed(format!("{} is at work in another process", row.id), hint));
    }
    if row.status == RunStatus::Running {
        let text = "mast · the process that worked on this run is gone; going on where it stopped";
        start.printer.note(&[(Style::Dim, text)]);
    }
    Ok(())
}

async fn go_on(
    args: &ResumeArgs,
    (start, config, runtime): (&Start, &Config, &Runtime),
    row: &RunRow,
) -> Result<Exit, CliError> {
    let script = script_of(args, row);
    // What a person typed needs no model: the built-in one stands in and is never asked.
    let provider = if row.provider == "none" {
        mast_provider::build("offline", &mast_provider::ProviderConfig::default())
            .map_err(|error| CliError::failed(error.to_string(), ""))?
    } else {
        let used = runtime.n_replies(row).await?;
        let chosen = choose(start, config, script.is_some())?;
        chosen.build_from(config, script.as_deref(), usize::try_from(used).unwrap_or(usize::MAX))?
    };
    let what = Resumption {
        run: row.id,
        instructions: config.text("run.instructions").map(str::to_owned),
        date_line: date_line(runtime, &local_zone(config, &start.environment)),
    };
    let seen = last_event(&**runtime.store(), row.session).await?;
    let carried = Carried { start, runtime, session: row.session, seen, is_foreign: false, removes: false };
    let judge = AtTerminal::there(&start.printer, sight(start, false)?);
    let work =
        async |surface: Surface<'_>| runtime.resume(what, local_authority(), &*provider, surface).await;
    Box::pin(carry_out(&carried, provider.name(), judge.as_ref(), work)).await
}

/// The script that a scripted run was begun with stands in its row as the model's name.
fn script_of(args: &ResumeArgs, row: &RunRow) -> Option<PathBuf> {
    let its_own = || (row.provider == "scripted").then(|| PathBuf::from(&row.model));
    args.script.clone().or_else(its_own)
}

fn flags(args: &ResumeArgs) -> Flags {
    let provider = args.provider.clone().map(|text| ("provider.name", "--provider", text));
    let model = args.model.clone().map(|text| ("provider.model", "--model", text));
    provider.into_iter().chain(model).collect()
}
