//! `mast worker`: takes up runs that nobody works on, until it is stopped.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use clap::Args;
use mast_kernel::run::RunStatus;
use mast_runtime::{Crew, Crews, Runtime, Slots};
use mast_store::RunRow;
use mast_tools::Cancellation;

use crate::assemble::{Start, block_on, choose, local_authority, open_store, runtime};
use crate::commands::approvals::refuse_fixed_clock;
use crate::commands::run::date_line;
use crate::config::{Config, Flags, local_zone};
use crate::error::{CliError, Exit};
use crate::output::Style;

/// How long runs that are at work may go on when the worker is told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Arguments of `mast worker`.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// So many runs at once of those before which a person sits
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(0..=1_000))]
    interactive: u16,
    /// So many of the usual ones
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(0..=1_000))]
    normal: u16,
    /// So many of those that may wait
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=1_000))]
    background: u16,
    /// End when there is nothing more to take up
    #[arg(long)]
    drain: bool,
}

/// Works.
///
/// # Errors
///
/// [`CliError`] when it cannot begin, or the store fails.
pub(crate) fn run(args: &WorkerArgs, start: &Start) -> Result<Exit, CliError> {
    refuse_fixed_clock(start)?;
    let slots = Slots {
        interactive: args.interactive.into(),
        normal: args.normal.into(),
        background: args.background.into(),
    };
    let config = start.config(&Flags::new())?;
    block_on(async {
        let runtime = runtime(start, &config, open_store(start).await?)?;
        let crews = AtHand { start, config: &config, runtime: &runtime, n_done: AtomicU64::new(0) };
        let total = slots.interactive + slots.normal + slots.background;
        start.printer.note(&[(Style::Dim, &format!("mast · a worker with {total} slots; Ctrl-C ends it"))]);
        let stop = Cancellation::new();
        let work = runtime.work(slots, &crews, &stop, args.drain);
        let told = async {
            stopped().await;
            stop.cancel();
            start
                .printer
                .note(&[(Style::Dim, "mast · taking up nothing more; once more Ctrl-C ends at once")]);
            tokio::select! {
                () = stopped() => {}
                () = tokio::time::sleep(GRACE) => {}
            }
        };
        tokio::select! {
            ended = work => ended?,
            // What is at work is found and taken up by others.
            () = told => {}
        }
        let n_done = crews.n_done.load(Ordering::Relaxed);
        start.printer.note(&[(Style::Dim, &format!("mast · {n_done} runs taken up"))]);
        Ok(Exit::Done)
    })
}

/// Waits until somebody wants the worker to end.
async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// What this process has at hand for a run.
struct AtHand<'a> {
    start: &'a Start,
    config: &'a Config,
    runtime: &'a Runtime,
    n_done: AtomicU64,
}

#[async_trait]
impl Crews for AtHand<'_> {
    async fn crew(&self, run: &RunRow, n_replies: u32) -> Result<Crew, String> {
        let script = (run.provider == "scripted").then(|| PathBuf::from(&run.model));
        // What a person typed needs no model: the built-in one stands in and is never asked.
        let provider = if run.provider == "none" {
            mast_provider::build("offline", &mast_provider::ProviderConfig::default())
                .map_err(|error| error.to_string())?
        } else {
            let used = usize::try_from(n_replies).unwrap_or(usize::MAX);
            let chosen = choose(self.start, self.config, script.is_some());
            let built = chosen.and_then(|chosen| chosen.build_from(self.config, script.as_deref(), used));
            built.map_err(|error| error.to_string())?
        };
        if run.provider != "none" && provider.name() != run.provider {
            return Err(format!("it answers with {}, and the run wants {}", provider.name(), run.provider));
        }
        Ok(Crew {
            provider,
            authority: local_authority(),
            instructions: self.config.text("run.instructions").map(str::to_owned),
            date_line: date_line(self.runtime, &local_zone(self.config, &self.start.environment)),
        })
    }

    fn done(&self, run: &RunRow, status: RunStatus) {
        self.n_done.fetch_add(1, Ordering::Relaxed);
        self.start.printer.note(&[(Style::Dim, &format!("{} · {status}", run.id))]);
    }
}
