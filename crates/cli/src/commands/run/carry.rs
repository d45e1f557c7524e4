//! Carries out a run, new or taken up again, and prints what comes of it.

use mast_kernel::id::SessionId;
use mast_runtime::{Judge, RunEnd, Runtime, RuntimeError, Surface};
use mast_tools::Cancellation;

use super::judge::AtTerminal;
use super::{Asking, RunArgs, closing, events};
use crate::assemble::{Start, sight};
use crate::error::{CliError, Exit};
use crate::output::Live;

/// What a run is carried out in.
#[derive(Debug)]
pub(crate) struct Carried<'a> {
    pub(crate) start: &'a Start,
    pub(crate) runtime: &'a Runtime,
    pub(crate) session: SessionId,
    /// The last event of the session that was there before.
    pub(crate) seen: u64,
    /// Whether a part of the task came from stdin, and nobody vouched for it.
    pub(crate) is_foreign: bool,
    /// Whether what nothing supports is taken out of the answer.
    pub(crate) removes: bool,
}

/// The person who answers here, unless the run is to wait or deny.
///
/// # Errors
///
/// [`CliError`] when a stored key cannot be read.
pub(super) fn judge_of(args: &RunArgs, start: &Start) -> Result<Option<AtTerminal>, CliError> {
    match args.offer.approval {
        Some(Asking::Park | Asking::Deny) => Ok(None),
        Some(Asking::Interactive) | None => Ok(AtTerminal::there(&start.printer, sight(start, false)?)),
    }
}

/// Carries out the work, and prints what comes of it.
///
/// # Errors
///
/// [`CliError`] when Mast itself cannot go on.
pub(crate) async fn carry_out(
    carried: &Carried<'_>,
    provider: &str,
    judge: Option<&AtTerminal>,
    work: impl AsyncFnOnce(Surface<'_>) -> Result<RunEnd, RuntimeError>,
) -> Result<Exit, CliError> {
    let Carried { start, runtime, session, seen, is_foreign, removes } = *carried;
    let printer = &start.printer;
    let cancellation = Cancellation::new();
    let tools = runtime.toolbox().registry().latest().map(|tool| tool.spec.name.clone()).collect();
    let live = Live::new(printer, waits_for(provider), tools);
    let judge = judge.map(|judge| judge as &dyn Judge);
    let ended = if printer.is_json() {
        let events = events::Events::behind(seen, printer, runtime.store(), session);
        let surface = Surface { observer: &events, cancellation: &cancellation, judge: None };
        events.print_while(stoppable(work(surface), &cancellation)).await
    } else {
        let surface = Surface { observer: &live, cancellation: &cancellation, judge };
        stoppable(work(surface), &cancellation).await
    };
    live.end();
    let told = closing::Told { tally: live.tally(), is_foreign, removes, now: runtime.world().clock.now() };
    closing::print(printer, &ended?, session, &told)
}

/// What is said while this provider is at work.
fn waits_for(provider: &str) -> &'static str {
    match provider {
        "scripted" => "the script goes on",
        "offline" => "looking for a sentence form that fits",
        _ => "the model is thinking",
    }
}

/// A run that ends in good order when the person presses Ctrl-C, and at once when they do it again.
async fn stoppable(
    run: impl Future<Output = Result<RunEnd, RuntimeError>>,
    cancellation: &Cancellation,
) -> Result<RunEnd, CliError> {
    let twice = async {
        // Without a handler Ctrl-C ends the process, which loses nothing that is on record.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        cancellation.cancel();
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let see = "see: mast journal show latest";
    tokio::select! {
        end = run => Ok(end?),
        () = twice => Err(CliError::failed("stopped before the running tool had ended", see)),
    }
}
