//! The one task that writes, and the queue before it.

use std::sync::{Arc, Mutex, PoisonError};

use mast_kernel::event::Head;
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::{Database, Keeper};
use crate::audit::Cells;
use crate::batch::{Batch, Committed};
use crate::error::StoreError;
use crate::read::Question;
use crate::upkeep::Upkeep;
use crate::{QUEUE_BATCHES_MAX, QUEUE_POSTED_MAX};

/// Most batches that are committed as one transaction.
const GROUP_BATCHES_MAX: usize = 64;

/// Where an answer goes.
type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// A batch that waits, and who waits for it; nobody where it was posted.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) batch: Batch,
    pub(super) reply: Option<Reply<Committed>>,
}

/// What the writer is asked.
#[derive(Debug)]
enum Job {
    Write(Waiting),
    Flush(Reply<()>),
    SignHead { session: SessionId, at: Instant, reply: Reply<Head> },
    Change { what: Question, reply: Reply<Vec<Cells>> },
    KeepUp { planned: Vec<Upkeep>, reply: Reply<()> },
}

/// Why nothing more is written, once that is so.
#[derive(Debug, Clone, Default)]
pub(super) struct Poison(Arc<Mutex<Option<String>>>);

impl Poison {
    /// From now on nothing is written.
    pub(super) fn set(&self, why: &StoreError) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.get_or_insert_with(|| {
            tracing::error!(error = %why, "the journal could not be written; nothing more is done");
            why.to_string()
        });
    }

    /// Whether something may be written.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(why) => Err(StoreError::Poisoned(why.clone())),
            None => Ok(()),
        }
    }
}

/// The way to the writer. Whoever waits for an answer waits for room first; what is posted cannot wait, and
/// takes its place behind what came before it.
#[derive(Debug)]
pub(crate) struct Queue {
    jobs: mpsc::Sender<Job>,
    room: Semaphore,
    poison: Poison,
}

impl Queue {
    /// Starts the writer. It ends when the queue is dropped and everything in it is written.
    pub(crate) fn start(database: Database<impl Keeper + 'static>) -> Self {
        let (jobs, waiting) = mpsc::channel(QUEUE_BATCHES_MAX + QUEUE_POSTED_MAX);
        let poison = Poison::default();
        tokio::spawn(write_all(database, waiting, poison.clone()));
        Self { jobs, room: Semaphore::new(QUEUE_BATCHES_MAX), poison }
    }

    pub(crate) async fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        self.poison.check()?;
        self.ask(|reply| Job::Write(Waiting { batch, reply: Some(reply) })).await
    }

    pub(crate) fn post(&self, batch: Batch) {
        if self.poison.check().is_err() {
            return;
        }
        // Nobody can wait here, and a batch must not be lost unnoticed.
        match self.jobs.try_send(Job::Write(Waiting { batch, reply: None })) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => self.poison.set(&StoreError::Overrun),
            Err(TrySendError::Closed(_)) => self.poison.set(&StoreError::Closed),
        }
    }

    pub(crate) async fn flush(&self) -> Result<(), StoreError> {
        self.ask(Job::Flush).await
    }

    pub(crate) async fn sign_head(&self, session: SessionId, at: Instant) -> Result<Head, StoreError> {
        self.ask(|reply| Job::SignHead { session, at, reply }).await
    }

    pub(crate) async fn keep_up(&self, planned: Vec<Upkeep>) -> Result<(), StoreError> {
        self.poison.check()?;
        self.ask(|reply| Job::KeepUp { planned, reply }).await
    }

    /// Changes what is no part of the journal, after everything that was handed over before.
    pub(crate) async fn change(&self, what: Question) -> Result<Vec<Cells>, StoreError> {
        self.poison.check()?;
        self.ask(|reply| Job::Change { what, reply }).await
    }

    async fn ask<T>(&self, job: impl FnOnce(Reply<T>) -> Job) -> Result<T, StoreError> {
        let _room = self.room.acquire().await.map_err(|_| StoreError::Closed)?;
        let (reply, answer) = oneshot::channel();
        self.jobs.send(job(reply)).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

/// What was asked since the writer looked last, by kind. Batches come first, all as one group: nothing else
/// may part them, since each group waits for the disk once. Whoever asks for something that must follow a
/// commit has waited for that commit before.
#[derive(Debug, Default)]
struct Round {
    batches: Vec<Waiting>,
    changes: Vec<(Question, Reply<Vec<Cells>>)>,
    heads: Vec<(SessionId, Instant, Reply<Head>)>,
    upkeep: Vec<(Vec<Upkeep>, Reply<()>)>,
    flushes: Vec<Reply<()>>,
}

impl Round {
    fn take(&mut self, job: Job) {
        match job {
            Job::Write(one) => self.batches.push(one),
            Job::Change { what, reply } => self.changes.push((what, reply)),
            Job::SignHead { session, at, reply } => self.heads.push((session, at, reply)),
            Job::KeepUp { planned, reply } => self.upkeep.push((planned, reply)),
            Job::Flush(reply) => self.flushes.push(reply),
        }
    }

    async fn carry_out(self, database: &mut Database<impl Keeper>, poison: &Poison) {
        database.write(self.batches, poison).await;
        for (what, reply) in self.changes {
            answer(reply, database.change(what).await);
        }
        for (session, at, reply) in self.heads {
            let head = match poison.check() {
                Ok(()) => database.sign_head(session, at).await,
                Err(error) => Err(error),
            };
            answer(reply, head);
        }
        for (planned, reply) in self.upkeep {
            answer(reply, database.keep_up(&planned).await);
        }
        self.flushes.into_iter().for_each(|reply| answer(reply, poison.check()));
    }
}

/// The writer: takes what waits, and writes it as few transactions as order allows.
async fn write_all(mut database: Database<impl Keeper>, mut waiting: mpsc::Receiver<Job>, poison: Poison) {
    let mut jobs = Vec::with_capacity(GROUP_BATCHES_MAX);
    while waiting.recv_many(&mut jobs, GROUP_BATCHES_MAX).await > 0 {
        let mut round = Round::default();
        jobs.drain(..).for_each(|job| round.take(job));
        round.carry_out(&mut database, &poison).await;
    }
}

/// Answers. Whoever asked may have stopped waiting; the commit stands all the same.
pub(super) fn answer<T>(reply: Reply<T>, result: Result<T, StoreError>) {
    if reply.send(result).is_err() {
        tracing::debug!("nobody waits for the answer of a commit");
    }
}
