//! `mast run --json`: the journal's events, each as soon as it is written. They are read back from the
//! journal rather than told by the run, so that what is printed is what is on record.

use std::sync::Arc;

use mast_kernel::id::SessionId;
use mast_runtime::{Observer, Progress, RunEnd};
use mast_store::Store;
use tokio::sync::Notify;

use crate::commands::journal::events_behind;
use crate::error::CliError;
use crate::output::Printer;

/// Prints the events of a session while a run is at work in it.
#[derive(Debug)]
pub(super) struct Events<'a> {
    printer: &'a Printer,
    store: &'a Arc<dyn Store>,
    session: SessionId,
    told: Notify,
    seen: u64,
}

impl Observer for Events<'_> {
    fn observe(&self, _: &Progress) {
        self.told.notify_one();
    }
}

impl<'a> Events<'a> {
    /// Prints the events of this session behind the one with the sequence `seen`.
    pub(super) const fn behind(
        seen: u64,
        printer: &'a Printer,
        store: &'a Arc<dyn Store>,
        session: SessionId,
    ) -> Self {
        Self { seen, printer, store, session, told: Notify::const_new() }
    }

    /// Carries out the run, and prints each event as soon as it is on record.
    ///
    /// # Errors
    ///
    /// [`CliError`] of the run, or when the events cannot be read or written.
    pub(super) async fn print_while(
        &self,
        run: impl Future<Output = Result<RunEnd, CliError>>,
    ) -> Result<RunEnd, CliError> {
        let mut last = self.seen;
        let mut run = std::pin::pin!(run);
        loop {
            tokio::select! {
                end = &mut run => {
                    let end = end?;
                    self.print(last).await?;
                    return Ok(end);
                }
                () = self.told.notified() => last = self.print(last).await?,
            }
        }
    }

    async fn print(&self, last: u64) -> Result<u64, CliError> {
        let (events, last) = events_behind(&**self.store, self.session, last).await?;
        for event in events {
            self.printer.result_json(&event)?;
        }
        Ok(last)
    }
}
