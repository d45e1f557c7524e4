//! The loop of a run: build the context, ask the model, pass its calls through the gate, append the
//! results; again, until a reply has no calls. See `docs/spec/runs.md`.
//!
//! Rejected: a loop that streams its answer out. What the model says is held until the run has ended,
//! because until then nobody can say what it is worth.

mod act;
mod ask;
mod begin;
mod breaker;
mod finish;
mod open;
mod resume;
mod supersede;

use std::collections::BTreeSet;
use std::sync::Arc;

use mast_kernel::breaker::Breaker;
use mast_kernel::budget::{Budget, Spent};
use mast_kernel::canonical::Digest;
use mast_kernel::completion::Required;
use mast_kernel::event::ResumeCause;
use mast_kernel::id::RunId;
use mast_kernel::policy::Surroundings;
use mast_kernel::run::{ApprovalMode, Completion, Mode, Priority, RunStatus, TurnContract};
use mast_kernel::trust::Label;
use mast_provider::{Provider, ProviderError, Stop, Usage};
use mast_tools::{Cancellation, Workspace};

use crate::bus::{Ask, Judge, Observer, Progress};
use crate::completion::Report;
use crate::context::Prefix;
use crate::error::RuntimeError;
use crate::gate::Refusals;
use crate::runtime::Runtime;
use crate::session::Session;

pub use begin::Answerer;
pub(crate) use breaker::matching;
pub(crate) use open::settle_lost;
pub use resume::Resumption;
pub(crate) use resume::{NO_MODEL, SoFar};

/// One part of a prompt, and who said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The text.
    pub text: String,
    /// Who said it.
    pub label: Label,
}

/// What a run is asked to do.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The message, in parts.
    pub prompt: Vec<Said>,
    /// How much it may do.
    pub mode: Mode,
    /// Registry names of the tools to offer; all that the session pins, where none are named.
    pub tools: Option<BTreeSet<String>>,
    /// What happens when a call must ask.
    pub approval_mode: ApprovalMode,
    /// When it must stop.
    pub budget: Budget,
    /// Which runs are taken up before it, where it waits for a worker.
    pub priority: Priority,
    /// What it must do besides answering; what was there before is looked at when it is accepted.
    pub required: Required,
    /// The operator's instructions.
    pub instructions: Option<String>,
    /// The folder that it may work in, by its one name on the machine.
    pub workspace: Option<String>,
    /// The person's local date and zone, in one line; it stands at the end of the prompt.
    pub date_line: Option<String>,
}

impl RunRequest {
    /// A message that a person typed, with everything else as usual.
    #[must_use]
    pub fn typed(text: impl Into<String>) -> Self {
        Self {
            prompt: vec![Said { text: text.into(), label: Label::typed() }],
            mode: Mode::Act,
            tools: None,
            approval_mode: ApprovalMode::Park,
            budget: Budget::default(),
            priority: Priority::default(),
            required: Required::default(),
            instructions: None,
            workspace: None,
            date_line: None,
        }
    }
}

/// Who listens to a run, and how it is told to stop.
#[derive(Clone, Copy)]
pub struct Surface<'a> {
    /// Who listens.
    pub observer: &'a dyn Observer,
    /// How the run is told to stop.
    pub cancellation: &'a Cancellation,
    /// The person who judges, where one is there.
    pub judge: Option<&'a dyn Judge>,
}

impl std::fmt::Debug for Surface<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surface").field("cancellation", self.cancellation).finish_non_exhaustive()
    }
}

/// How a run ended, or what it waits for.
#[derive(Debug)]
pub struct RunEnd {
    /// Which run.
    pub run: RunId,
    /// Where it is now.
    pub status: RunStatus,
    /// What its end is worth; while it waits, that somebody must act first.
    pub completion: Option<Completion>,
    /// What stands beside the answer; none without an answer of the model's.
    pub report: Option<Report>,
    /// The answer.
    pub answer: Option<String>,
    /// What the model calls cost together.
    pub usage: Usage,
    /// What was spent.
    pub spent: Spent,
    /// What waits for a person.
    pub asks: Vec<Ask>,
    /// Why it ended without an answer.
    pub failure: Option<RunFailure>,
    /// Digest of the signed head of the journal after it.
    pub head: Digest,
}

/// Why a run ended without an answer.
#[derive(Debug)]
pub struct RunFailure {
    /// The reason code; its sentence is in [`mast_kernel::message`].
    pub code: &'static str,
    /// What the provider said, where it was the provider.
    pub provider: Option<ProviderError>,
}

/// A run at work.
pub(crate) struct Work<'a> {
    pub(crate) runtime: &'a Runtime,
    provider: &'a dyn Provider,
    pub(crate) surface: Surface<'a>,
    pub(crate) session: &'a mut Session,
    pub(crate) at: At,
    pub(crate) terms: Terms,
    pub(crate) spent: Spent,
    usage: Usage,
    breaker: Breaker,
    person: Person,
}

/// Which run is worked on, and where the journal has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    pub(crate) run: RunId,
    standing: Standing,
    /// How often it was taken up again.
    pub(crate) epoch: u32,
    /// What the journal says of it, until it is taken up.
    so_far: Option<SoFar>,
}

/// Where the journal has the run that somebody is about to work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It is being worked on.
    AtWork,
    /// It waits for a person.
    Waits,
    /// Somebody worked on it who is gone.
    Stranded,
}

/// What a run has to do with its person.
#[derive(Debug, Default)]
struct Person {
    /// What they said no to, and how often.
    refusals: Refusals,
    /// Whether they typed its calls, and no model is asked.
    has_typed: bool,
}

/// What is fixed for a whole run.
pub(crate) struct Terms {
    pub(crate) contract: TurnContract,
    prefix: Prefix,
    has_instructions: bool,
    date_line: Option<String>,
    surroundings: Surroundings,
    pub(crate) workspace: Option<Arc<Workspace>>,
}

/// How the loop ended.
enum Ended {
    Answered {
        answer: String,
        content: Digest,
        label: Label,
        is_whole: bool,
    },
    Waits(Vec<Ask>),
    /// Every call that a person typed is settled; what they gave.
    Typed(String),
    Failed(RunFailure),
    Cancelled,
}

impl Ended {
    fn failed(code: &'static str) -> Self {
        Self::Failed(RunFailure { code, provider: None })
    }
}

impl Runtime {
    /// Carries out a run, until it answers, waits, or cannot go on.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the store fails or the request cannot be begun. A model that fails is no
    /// error: the run has then failed, and says so.
    pub async fn run(
        &self,
        session: &mut Session,
        request: RunRequest,
        provider: &dyn Provider,
        surface: Surface<'_>,
    ) -> Result<RunEnd, RuntimeError> {
        self.retire_waiting(session.id()).await?;
        let required = self.looked_before(request.required, request.workspace.as_deref()).await?;
        let request = RunRequest { required, ..request };
        let run = RunId::from_u128(self.world().ids.next_bits());
        self.hold(run).await?;
        let ended = match Work::begin(self, session, (run, request), provider, surface) {
            Ok(work) => work.carry_out().await,
            Err(error) => Err(error),
        };
        self.let_go(run).await;
        ended
    }
}

impl Work<'_> {
    /// Works until the run ends, or waits for somebody who is not there.
    async fn carry_out(self) -> Result<RunEnd, RuntimeError> {
        let lost = self.runtime.keep(self.at.run);
        tokio::select! {
            biased;
            ended = self.work() => ended,
            lost = lost => Err(lost),
        }
    }

    async fn work(mut self) -> Result<RunEnd, RuntimeError> {
        match self.until_end().await {
            Ok(ended) => self.finish(ended).await,
            // Nobody has taken it up as far as the journal knows, or somebody else has.
            Err(error) if self.at.standing != Standing::AtWork => Err(error),
            Err(error) => {
                // The run cannot go on, and where the store still works it says so. That it may not is
                // what the error tells.
                let _unsaid = self.finish(Ended::failed("run.internal_error")).await;
                Err(error)
            }
        }
    }

    async fn until_end(&mut self) -> Result<Ended, RuntimeError> {
        let mut ended = match self.at.standing {
            Standing::AtWork => None,
            Standing::Waits => self.take_up(ResumeCause::Approval).await?,
            Standing::Stranded => self.take_up(ResumeCause::Recovery).await?,
        };
        loop {
            let asks = match ended {
                None => match self.go().await? {
                    Ended::Waits(asks) => asks,
                    other => return Ok(other),
                },
                Some(Ended::Waits(asks)) => asks,
                Some(other) => return Ok(other),
            };
            self.wait(&asks).await?;
            if !self.judged(&asks).await? {
                return Ok(Ended::Waits(asks));
            }
            ended = self.take_up(ResumeCause::Approval).await?;
        }
    }

    /// Steps until one ends the run.
    async fn go(&mut self) -> Result<Ended, RuntimeError> {
        loop {
            if self.surface.cancellation.is_cancelled() {
                return Ok(Ended::Cancelled);
            }
            if let Some(ended) = self.step().await? {
                return Ok(ended);
            }
        }
    }

    /// One step: a model call and the full disposition of its calls.
    async fn step(&mut self) -> Result<Option<Ended>, RuntimeError> {
        let answer_only = self.spent.answer_only();
        let Some(step) = self.spent.take_step() else {
            return Ok(Some(Ended::failed(self.spent.why_stopped().unwrap_or("run.budget_exceeded"))));
        };
        let reply = match self.ask(step, answer_only).await? {
            Ok(reply) => reply,
            Err(ended) => return Ok(Some(ended)),
        };
        if reply.turn.calls.is_empty() {
            let is_whole = matches!(reply.turn.stop, Stop::End | Stop::ToolCalls);
            let (answer, content, label) = (reply.turn.text, reply.content, reply.label);
            return Ok(Some(Ended::Answered { answer, content, label, is_whole }));
        }
        self.act(step, reply, answer_only).await
    }

    fn tell(&self, progress: &Progress) {
        self.surface.observer.observe(progress);
    }
}

impl std::fmt::Debug for Work<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("run", &self.at.run).finish_non_exhaustive()
    }
}

/// Whoever listens, as the gate wants it.
fn observer<'a>(surface: &Surface<'a>) -> &'a dyn Observer {
    surface.observer
}
