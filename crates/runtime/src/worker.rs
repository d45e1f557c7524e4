//! A worker: takes up runs that nobody works on, each priority in slots of its own, until it is told to stop.
//! A run that waits for a person holds no slot, no task and no memory: it is rows until its questions are
//! settled. See `docs/spec/recovery.md`.
//!
//! Rejected: a queue beside the runs. What is to be done is what the journal says is not done yet.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use mast_kernel::policy::Authority;
use mast_kernel::run::{Priority, RunStatus};
use mast_provider::Provider;
use mast_store::RunRow;
use mast_store::lease::Wanted;
use mast_tools::Cancellation;

use crate::bus::Silent;
use crate::error::RuntimeError;
use crate::run_loop::{Resumption, Surface};
use crate::runtime::Runtime;

/// How long a slot that found nothing rests, at first and at most: each time that it finds nothing again, twice
/// as long. Whatever hints at work may come sooner; this is the truth.
const REST: Duration = Duration::from_millis(200);
const REST_MAX: Duration = Duration::from_secs(1);

/// What a run is carried out with.
#[derive(Debug, Clone)]
pub struct Crew {
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// On whose behalf.
    pub authority: Authority,
    /// The operator's instructions.
    pub instructions: Option<String>,
    /// The person's local date and zone, in one line.
    pub date_line: Option<String>,
}

/// Knows what each run needs.
#[async_trait]
pub trait Crews: Send + Sync {
    /// What this run is carried out with; `n_replies` is how many answers of its model it has had.
    ///
    /// # Errors
    ///
    /// Why this process cannot carry it out; others may.
    async fn crew(&self, run: &RunRow, n_replies: u32) -> Result<Crew, String>;

    /// Told after each run that was taken up, with where it is then.
    fn done(&self, run: &RunRow, status: RunStatus);
}

/// How many runs of each priority are carried out at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slots {
    /// Of those before which a person sits.
    pub interactive: usize,
    /// Of the usual ones.
    pub normal: usize,
    /// Of those that may wait.
    pub background: usize,
}

impl Default for Slots {
    fn default() -> Self {
        Self { interactive: 4, normal: 4, background: 1 }
    }
}

impl Slots {
    fn priorities(self) -> impl Iterator<Item = Priority> {
        let of = |priority, n| std::iter::repeat_n(priority, n);
        of(Priority::Interactive, self.interactive)
            .chain(of(Priority::Normal, self.normal))
            .chain(of(Priority::Background, self.background))
    }
}

impl Runtime {
    /// Takes up runs until `stop` is cancelled: then nothing more is taken up, and what is at work goes on
    /// to its end. Whoever cannot wait for that drops the future; others find those runs later.
    ///
    /// With `drain`, it ends as soon as there is nothing more to be taken up.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the store fails.
    pub async fn work(
        &self,
        slots: Slots,
        crews: &dyn Crews,
        stop: &Cancellation,
        drain: bool,
    ) -> Result<(), RuntimeError> {
        let mut at_work: FuturesUnordered<_> =
            slots.priorities().map(|priority| self.slot(priority, crews, stop, drain)).collect();
        while let Some(ended) = at_work.next().await {
            ended?;
        }
        Ok(())
    }

    async fn slot(
        &self,
        priority: Priority,
        crews: &dyn Crews,
        stop: &Cancellation,
        drain: bool,
    ) -> Result<(), RuntimeError> {
        let mut rest = REST;
        while !stop.is_cancelled() {
            let now = self.world().clock.now();
            let wanted = Wanted { owner: self.owner(), now, until: self.lease_end(), priority };
            match self.store().next(&wanted).await? {
                Some(run) => {
                    rest = REST;
                    Box::pin(self.carry(&run, crews)).await?;
                }
                None if drain => return Ok(()),
                None => tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(rest) => rest = REST_MAX.min(rest * 2),
                    () = self.store().hint() => rest = REST,
                },
            }
        }
        Ok(())
    }

    /// Carries out one run whose lease is held. That a run cannot go on is that run's matter; that the store
    /// cannot is the worker's.
    async fn carry(&self, run: &RunRow, crews: &dyn Crews) -> Result<(), RuntimeError> {
        let crew = match crews.crew(run, self.n_replies(run).await?).await {
            Ok(crew) => crew,
            Err(why) => {
                // Its lease is kept until it is over, so that it is not looked at again and again.
                tracing::warn!(run = %run.id, why, "this worker cannot carry out the run");
                return Ok(());
            }
        };
        let Crew { provider, authority, instructions, date_line } = crew;
        let what = Resumption { run: run.id, instructions, date_line };
        let cancellation = Cancellation::new();
        let surface = Surface { observer: &Silent, cancellation: &cancellation, judge: None };
        match self.resume(what, authority, &*provider, surface).await {
            Ok(end) => crews.done(run, end.status),
            Err(RuntimeError::Store(error)) if !error.is_refusal() => return Err(error.into()),
            Err(error) => tracing::warn!(run = %run.id, %error, "the run could not go on here"),
        }
        Ok(())
    }
}
