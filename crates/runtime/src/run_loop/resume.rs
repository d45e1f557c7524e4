//! How a run that waits for a person goes on: the open calls of its last reply pass the gate once more,
//! with what was said of them, and then the loop goes on. Nothing is proposed a second time.
//!
//! It is the same way for a run whose person is there and for one that another process takes up later,
//! so that there is one order of events for both: question, verdict, use of the verdict, claim.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::budget::{Budget, Spent};
use mast_kernel::canonical::Digest;
use mast_kernel::event::{
    Actor, Event, EventBody, ItemKind, ResumeCause, RunResumed, RunSetup, RunStopped, RunWaitingForApproval,
};
use mast_kernel::id::{RunId, SessionId};
use mast_kernel::limits;
use mast_kernel::policy::{Authority, Overlay};
use mast_kernel::run::{Completion, RunStatus, TurnContract};
use mast_provider::{CallProposal, Provider, Usage};
use mast_store::{ApprovalFilter, ApprovalRow, Durability, READ_ROWS_MAX, RunRow, StoreError};
use serde_json::Value;

use super::act::Disposed;
use super::{At, Ended, Person, RunEnd, RunFailure, Standing, Surface, Terms, Work};
use crate::bus::{Ask, Progress};
use crate::context::Prefix;
use crate::error::RuntimeError;
use crate::gate::Refusals;
use crate::runtime::Runtime;
use crate::session::Session;
use crate::verdict::{Answer, NotTaken};

/// The provider of runs whose calls a person typed.
pub(crate) const NO_MODEL: &str = "none";

/// Which run is to go on, and what of its surroundings is not on record.
#[derive(Debug, Clone)]
pub struct Resumption {
    /// The run.
    pub run: RunId,
    /// The operator's instructions, as at its beginning.
    pub instructions: Option<String>,
    /// The person's local date and zone, in one line.
    pub date_line: Option<String>,
}

/// What the journal says of a run so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SoFar {
    /// The step of the last reply that is an item of the conversation.
    pub(super) replied_step: Option<u32>,
    /// Which of the session's items is the first of the run, where they were read too.
    pub(crate) begins_at: Option<usize>,
    /// Answers of the model, those of a failure too.
    pub(crate) n_replies: u32,
    /// The last answer, while it is no item: its step and its content.
    replied: Option<(u32, Digest)>,
    /// How often it was taken up from a process that was gone, since something last came to its end.
    n_interrupted: u32,
    steps: u32,
    model_calls: u32,
    tool_calls: u32,
    usage: Usage,
}

impl Runtime {
    /// Goes on with a run that waits for a person, that was not begun, or whose process is gone. Where a
    /// question is still open it goes on waiting.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when there is no such run of this authority's, it has ended, somebody else works on
    /// it, or the store fails.
    pub async fn resume(
        &self,
        what: Resumption,
        authority: Authority,
        provider: &dyn Provider,
        surface: Surface<'_>,
    ) -> Result<RunEnd, RuntimeError> {
        let row = self.store().run(what.run).await?.ok_or(RuntimeError::NoSuchRun(what.run))?;
        let session = self.known_session(row.session, authority).await.map_err(|error| match error {
            RuntimeError::NoSuchSession(_) => RuntimeError::NoSuchRun(what.run),
            other => other,
        })?;
        if row.status.is_ended() || row.status == RunStatus::WaitingForUser {
            return Err(RuntimeError::NotWaiting { run: row.id, status: row.status });
        }
        self.hold(row.id).await?;
        let held = self.held_run(what, session, provider, surface).await;
        self.let_go(row.id).await;
        held
    }

    /// Goes on with a run whose lease is held.
    async fn held_run(
        &self,
        what: Resumption,
        mut session: Session,
        provider: &dyn Provider,
        surface: Surface<'_>,
    ) -> Result<RunEnd, RuntimeError> {
        // As it is now that nobody else works on it.
        let row = self.store().run(what.run).await?.ok_or(RuntimeError::NoSuchRun(what.run))?;
        let not_waiting = || RuntimeError::NotWaiting { run: row.id, status: row.status };
        let waiting = match row.status {
            RunStatus::WaitingForApproval => self.still_open(row.session, row.id).await?,
            RunStatus::Queued | RunStatus::Running => Vec::new(),
            _ => return Err(not_waiting()),
        };
        let so_far = self.read_items(&mut session, Some(row.id)).await?;
        if row.status == RunStatus::Running && so_far.n_interrupted >= limits::RECOVERIES_MAX {
            return self.give_up(&row, so_far).await;
        }
        let mut work = Work::back(self, &mut session, (&row, what, so_far), provider, surface).await?;
        if !waiting.is_empty() {
            return work.finish(Ended::Waits(waiting)).await;
        }
        if row.status == RunStatus::Queued {
            work.start(&row);
        }
        work.carry_out().await
    }

    /// Ends a run that every process which worked on it left behind.
    async fn give_up(&self, row: &RunRow, so_far: SoFar) -> Result<RunEnd, RuntimeError> {
        const CODE: &str = "run.recovery_exhausted";
        self.retire(row, EventBody::RunFailed(RunStopped { reason_code: CODE.to_owned() })).await?;
        let head = self.store().sign_head(row.session, self.world().clock.now()).await?;
        let SoFar { steps, model_calls, tool_calls, .. } = so_far;
        Ok(RunEnd {
            run: row.id,
            status: RunStatus::Failed,
            completion: Some(Completion::Failed),
            report: None,
            answer: None,
            usage: so_far.usage,
            spent: Spent::resumed(Budget::default(), steps, model_calls, tool_calls),
            asks: Vec::new(),
            failure: Some(RunFailure { code: CODE, provider: None }),
            head: head.digest(),
        })
    }

    /// How many answers of its model a run has had: where its script goes on, if it has one. An answer that
    /// was lost with the process that heard it does not count.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the store fails.
    pub async fn n_replies(&self, run: &RunRow) -> Result<u32, RuntimeError> {
        Ok(self.so_far(run.session, run.id).await?.n_replies)
    }

    /// The questions of a run that nobody has answered; those whose time is over are settled.
    async fn still_open(&self, session: SessionId, run: RunId) -> Result<Vec<Ask>, RuntimeError> {
        let pending = ApprovalFilter {
            run: Some(run),
            session: Some(session),
            status: Some(ApprovalStatus::Pending),
            ..ApprovalFilter::default()
        };
        let mut open = Vec::new();
        for row in self.store().approvals(&pending).await? {
            let now = self.judging_time(session).await?;
            if self.is_open_still(&row, now).await? {
                open.push(self.ask_of(&row).await?);
            }
        }
        open.reverse();
        Ok(open)
    }

    async fn ask_of(&self, row: &ApprovalRow) -> Result<Ask, RuntimeError> {
        let card = self.committed(&row.card).await?.unwrap_or_default();
        let tool = card.get("tool").and_then(Value::as_str).unwrap_or("unknown").to_owned();
        let twin = self.uncertain_twin(row.session, row.call).await?;
        let (risk, expires_at) = (row.risk, row.expires_at);
        Ok(Ask { approval: row.id, call: row.call, tool, risk, card, expires_at, twin })
    }

    /// How often a person said no in a run, by what they said it to.
    pub(super) async fn refusals_of(&self, session: SessionId, run: RunId) -> Result<Refusals, RuntimeError> {
        let denied = ApprovalFilter {
            run: Some(run),
            session: Some(session),
            status: Some(ApprovalStatus::Denied),
            ..ApprovalFilter::default()
        };
        let mut refusals = Refusals::new();
        for row in self.store().approvals(&denied).await? {
            let Some(fields) = self.committed(&row.sealed).await? else { continue };
            let tool = fields.pointer("/tool/name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let resources = fields.get("resources").cloned().unwrap_or_default();
            let resources = serde_json::from_value::<Vec<_>>(resources).unwrap_or_default();
            *refusals.entry(crate::gate::target(&tool, &resources)).or_default() += 1;
        }
        Ok(refusals)
    }

    /// What the journal says of a run.
    pub(crate) async fn so_far(&self, session: SessionId, run: RunId) -> Result<SoFar, RuntimeError> {
        let (mut so_far, mut after) = (SoFar::default(), 0);
        loop {
            let events = self.store().events(session, after, READ_ROWS_MAX).await?;
            events.iter().filter(|event| event.run == Some(run)).for_each(|event| so_far.take(event));
            match events.last() {
                Some(last) if events.len() >= READ_ROWS_MAX as usize => after = last.sequence,
                _ => return Ok(so_far),
            }
        }
    }
}

impl SoFar {
    /// Takes in what the next event of the run says.
    pub(crate) fn take(&mut self, event: &Event) {
        let body = event.body();
        match &body {
            Ok(EventBody::RunResumed(told)) if told.cause == ResumeCause::Recovery => self.n_interrupted += 1,
            Ok(EventBody::ContextItemAppended(_) | EventBody::RunResumed(_)) => self.n_interrupted = 0,
            _ => {}
        }
        match body {
            Ok(EventBody::ModelRequestStarted(told)) => {
                self.n_replies += u32::from(self.replied.take().is_some());
                self.model_calls += 1;
                self.steps = self.steps.max(told.step);
            }
            Ok(EventBody::ModelResponseCompleted(told)) => {
                self.replied = Some((told.step, told.content));
                let usage = Usage {
                    input_tokens: told.input_tokens,
                    output_tokens: told.output_tokens,
                    cached_input_tokens: None,
                    cost_micro_usd: told.cost_micro_usd,
                };
                self.usage = super::ask::sum(self.usage, usage);
            }
            Ok(EventBody::ContextItemAppended(told)) if told.kind == ItemKind::Assistant => {
                let replied = self.replied.take();
                self.n_replies += u32::from(replied.is_some());
                let of_reply = replied.filter(|(_, content)| *content == told.content);
                self.replied_step = of_reply.map(|(step, _)| step).or(self.replied_step);
            }
            Ok(EventBody::ModelResponseFailed(_)) => self.n_replies += 1,
            // What was heard and is no item yet is lost.
            Ok(EventBody::RunResumed(_)) => self.replied = None,
            Ok(EventBody::ToolCallProposed(_)) => self.tool_calls += 1,
            _ => {}
        }
    }
}

impl<'a> Work<'a> {
    /// A run as the journal has it.
    async fn back(
        runtime: &'a Runtime,
        session: &'a mut Session,
        (row, what, so_far): (&RunRow, Resumption, SoFar),
        provider: &'a dyn Provider,
        surface: Surface<'a>,
    ) -> Result<Self, RuntimeError> {
        let unreadable = || RuntimeError::Conversation {
            session: row.session,
            what: "what its run was offered is missing or changed".to_owned(),
        };
        let contract = runtime.committed(&row.contract).await?.ok_or_else(unreadable)?;
        let contract: TurnContract = serde_json::from_value(contract).map_err(|_| unreadable())?;
        let workspace = runtime.workspace(contract.workspace.as_deref())?;
        let surroundings = runtime.surroundings_with(workspace.as_ref());
        let mut offers = runtime.offers(session, surroundings.workspace);
        offers.retain(|(name, _)| contract.tools.contains(name));
        let offers = offers.into_iter().map(|(_, offer)| offer).collect();
        let spent = Spent::resumed(contract.budget, so_far.steps, so_far.model_calls, so_far.tool_calls);
        let terms = Terms {
            contract,
            prefix: Prefix::new(what.instructions.as_deref(), offers),
            has_instructions: what.instructions.is_some(),
            date_line: what.date_line,
            surroundings,
            workspace,
        };
        let begins_at = so_far.begins_at.unwrap_or(session.items.len());
        let breaker = super::breaker::as_it_was(runtime, session.items.get(begins_at..).unwrap_or_default());
        let (provider_name, model) = (row.provider.clone(), row.model.clone());
        surface.observer.observe(&Progress::RunStarted { run: row.id, provider: provider_name, model });
        Ok(Self {
            runtime,
            provider,
            surface,
            session,
            at: At {
                run: row.id,
                standing: match row.status {
                    RunStatus::WaitingForApproval => Standing::Waits,
                    RunStatus::Queued => Standing::AtWork,
                    _ => Standing::Stranded,
                },
                epoch: row.epoch,
                so_far: Some(so_far),
            },
            terms,
            spent,
            usage: so_far.usage,
            breaker,
            person: Person { has_typed: row.provider == NO_MODEL, ..Person::default() },
        })
    }

    /// Puts on record that the run waits, once.
    pub(super) async fn wait(&mut self, asks: &[Ask]) -> Result<(), RuntimeError> {
        if std::mem::replace(&mut self.at.standing, Standing::Waits) == Standing::Waits {
            return Ok(());
        }
        let approvals = asks.iter().map(|ask| ask.approval).collect();
        let mut scribe = self.scribe();
        let body = RunWaitingForApproval { approvals };
        scribe.event(Actor::Platform, EventBody::RunWaitingForApproval(body));
        self.runtime.store().commit(scribe.take(Durability::Full)).await?;
        Ok(())
    }

    /// Puts the questions to the person, where one is there. Whether all of them are settled.
    pub(super) async fn judged(&mut self, asks: &[Ask]) -> Result<bool, RuntimeError> {
        let Some(judge) = self.surface.judge else { return Ok(false) };
        for ask in asks {
            let verdict = tokio::select! {
                biased;
                () = self.surface.cancellation.cancelled() => None,
                verdict = judge.judge(ask) => verdict,
            };
            let Some((verdict, words)) = verdict else { return Ok(false) };
            let by = &self.session.authority;
            let answer = Answer { approval: ask.approval, verdict, words: words.as_deref(), by };
            match self.runtime.answer(&answer).await {
                // Whatever was not taken stands in the journal; the gate denies the call by it.
                Ok(_) | Err(NotTaken::Expired(_) | NotTaken::Void { .. } | NotTaken::Settled { .. }) => {}
                Err(NotTaken::Runtime(error)) => return Err(error),
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Goes on with the open calls, now that their questions are settled or their worker is gone.
    pub(super) async fn take_up(&mut self, cause: ResumeCause) -> Result<Option<Ended>, RuntimeError> {
        let policy_version = self.runtime.policy().version().to_owned();
        let mut scribe = self.scribe();
        scribe.event(Actor::Platform, EventBody::RunResumed(RunResumed { cause, policy_version }));
        match self.runtime.store().commit(scribe.take(Durability::Normal)).await {
            Ok(_) => {
                self.at.standing = Standing::AtWork;
                self.at.epoch += 1;
            }
            // Somebody else was faster: it is theirs now.
            Err(StoreError::Conflict(_)) => {
                return Err(RuntimeError::NotWaiting { run: self.at.run, status: RunStatus::Running });
            }
            Err(error) => return Err(error.into()),
        }
        self.person.refusals = self.runtime.refusals_of(self.session.id(), self.at.run).await?;
        // Until the run is taken up nothing is added that counts; afterwards it must be read again.
        let so_far = match self.at.so_far.take() {
            Some(so_far) => so_far,
            None => self.runtime.so_far(self.session.id(), self.at.run).await?,
        };
        let asks = self.runtime.still_open(self.session.id(), self.at.run).await?;
        let open = self.open_calls(&so_far).await?;
        if !asks.is_empty() {
            self.settle_doubtful(&open).await?;
            return Ok(Some(Ended::Waits(asks)));
        }
        let disposed = self.dispose(&open).await?;
        let calls: Vec<CallProposal> = open.into_iter().map(|open| open.call).collect();
        let gave: Vec<String> = disposed.iter().filter_map(Disposed::content).map(str::to_owned).collect();
        let ended = self.conclude(&calls, disposed)?;
        Ok(match ended {
            None if self.person.has_typed => Some(Ended::Typed(gave.join("\n"))),
            ended => ended,
        })
    }

    /// Begins a run that was accepted and not begun.
    pub(super) fn start(&mut self, row: &RunRow) {
        let setup = RunSetup {
            provider: self.provider.name().to_owned(),
            model: self.provider.model().to_owned(),
            mode: self.terms.contract.mode,
            policy_version: self.runtime.policy().version().to_owned(),
            overlay: self.runtime.policy().overlay() == Overlay::On,
            contract: row.contract,
            priority: row.priority,
        };
        let mut scribe = self.scribe();
        scribe.event(Actor::Platform, EventBody::RunStarted(setup));
        self.runtime.store().post(scribe.take(Durability::Normal));
        self.at.standing = Standing::AtWork;
    }
}
