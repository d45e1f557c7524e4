//! How a run that waits for a person goes on: the open calls of its last reply pass the gate once more,
//! with what was said of them, and then the loop goes on. Nothing is proposed a second time.
//!
//! It is the same way for a run whose person is there and for one that another process takes up later,
//! so that there is one order of events for both: question, verdict, use of the verdict, claim.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::budget::Spent;
use mast_kernel::call::CallStatus;
use mast_kernel::event::{Actor, EventBody, ResumeCause, RunResumed, RunWaitingForApproval};
use mast_kernel::id::{RunId, SessionId};
use mast_kernel::policy::Authority;
use mast_kernel::run::{RunStatus, TurnContract};
use mast_kernel::trust::Label;
use mast_provider::{CallProposal, Provider, Usage};
use mast_store::{ApprovalFilter, ApprovalRow, CallFilter, CallRow, Durability, RunRow, StoreError};
use serde_json::Value;

use super::act::Disposed;
use super::{Ended, Person, RunEnd, Surface, Terms, Work};
use crate::bus::{Ask, Progress};
use crate::context::{ItemBody, Prefix};
use crate::error::RuntimeError;
use crate::gate::{Answered, Past, Proposal, Refusals, Seat};
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
#[derive(Debug, Default)]
struct SoFar {
    steps: u32,
    model_calls: u32,
    tool_calls: u32,
    usage: Usage,
}

/// A call that is not settled, as it was asked for.
struct Open {
    row: CallRow,
    call: CallProposal,
    provider_call: Option<String>,
}

impl Runtime {
    /// Goes on with a run that waits for a person. Where a question is still open it goes on waiting.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when there is no such run of this authority's, it does not wait, or the store fails.
    pub async fn resume(
        &self,
        what: Resumption,
        authority: Authority,
        provider: &dyn Provider,
        surface: Surface<'_>,
    ) -> Result<RunEnd, RuntimeError> {
        let row = self.store().run(what.run).await?.ok_or(RuntimeError::NoSuchRun(what.run))?;
        let mut session = self.session(row.session, authority).await.map_err(|error| match error {
            RuntimeError::NoSuchSession(_) => RuntimeError::NoSuchRun(what.run),
            other => other,
        })?;
        if row.status != RunStatus::WaitingForApproval {
            return Err(RuntimeError::NotWaiting { run: row.id, status: row.status });
        }
        let waiting = self.still_open(&row).await?;
        let work = Work::back(self, &mut session, (&row, what), provider, surface).await?;
        if !waiting.is_empty() {
            return work.finish(Ended::Waits(waiting)).await;
        }
        work.carry_out().await
    }

    /// How often a model was asked in a run: where its script goes on, if it has one.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the store fails.
    pub async fn n_model_requests(&self, run: &RunRow) -> Result<u32, RuntimeError> {
        Ok(self.so_far(run.session, run.id).await?.model_calls)
    }

    /// The questions of a run that nobody has answered; those whose time is over are settled.
    async fn still_open(&self, run: &RunRow) -> Result<Vec<Ask>, RuntimeError> {
        let pending = ApprovalFilter {
            run: Some(run.id),
            session: Some(run.session),
            status: Some(ApprovalStatus::Pending),
            ..ApprovalFilter::default()
        };
        let now = self.world().clock.now();
        let mut open = Vec::new();
        for row in self.store().approvals(&pending).await? {
            if now >= row.expires_at {
                self.expire(&row, now).await?;
                continue;
            }
            open.push(self.ask_of(&row).await?);
        }
        open.reverse();
        Ok(open)
    }

    async fn ask_of(&self, row: &ApprovalRow) -> Result<Ask, RuntimeError> {
        let card = self.committed(&row.card).await?.unwrap_or_default();
        let tool = card.get("tool").and_then(Value::as_str).unwrap_or("unknown").to_owned();
        Ok(Ask { approval: row.id, call: row.call, tool, risk: row.risk, card, expires_at: row.expires_at })
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

    async fn so_far(&self, session: SessionId, run: RunId) -> Result<SoFar, RuntimeError> {
        let (mut so_far, mut after) = (SoFar::default(), 0);
        loop {
            let events = self.store().events(session, after, 0).await?;
            let Some(last) = events.last() else { return Ok(so_far) };
            after = last.sequence;
            for event in events.iter().filter(|event| event.run == Some(run)) {
                match event.body() {
                    Ok(EventBody::ModelRequestStarted(told)) => {
                        so_far.model_calls += 1;
                        so_far.steps = so_far.steps.max(told.step);
                    }
                    Ok(EventBody::ModelResponseCompleted(told)) => {
                        so_far.usage = super::ask::sum(
                            so_far.usage,
                            Usage {
                                input_tokens: told.input_tokens,
                                output_tokens: told.output_tokens,
                                cached_input_tokens: None,
                                cost_micro_usd: told.cost_micro_usd,
                            },
                        );
                    }
                    Ok(EventBody::ToolCallProposed(_)) => so_far.tool_calls += 1,
                    _ => {}
                }
            }
        }
    }
}

impl<'a> Work<'a> {
    /// A run as the journal has it.
    async fn back(
        runtime: &'a Runtime,
        session: &'a mut Session,
        (row, what): (&RunRow, Resumption),
        provider: &'a dyn Provider,
        surface: Surface<'a>,
    ) -> Result<Self, RuntimeError> {
        let unreadable = || RuntimeError::Conversation {
            session: row.session,
            what: "what its run was offered is missing or changed".to_owned(),
        };
        let contract = runtime.committed(&row.contract).await?.ok_or_else(unreadable)?;
        let contract: TurnContract = serde_json::from_value(contract).map_err(|_| unreadable())?;
        let mut offers = runtime.offers(session);
        offers.retain(|(name, _)| contract.tools.contains(name));
        let offers = offers.into_iter().map(|(_, offer)| offer).collect();
        let so_far = runtime.so_far(row.session, row.id).await?;
        let spent = Spent::resumed(contract.budget, so_far.steps, so_far.model_calls, so_far.tool_calls);
        let terms = Terms {
            contract,
            prefix: Prefix::new(what.instructions.as_deref(), offers),
            has_instructions: what.instructions.is_some(),
            date_line: what.date_line,
            surroundings: runtime.surroundings().clone(),
        };
        let (provider_name, model) = (row.provider.clone(), row.model.clone());
        surface.observer.observe(&Progress::RunStarted { run: row.id, provider: provider_name, model });
        Ok(Self {
            runtime,
            provider,
            surface,
            session,
            run: row.id,
            terms,
            spent,
            usage: so_far.usage,
            breaker: mast_kernel::breaker::Breaker::default(),
            person: Person { is_awaited: true, has_typed: row.provider == NO_MODEL, ..Person::default() },
        })
    }

    /// Puts on record that the run waits, once.
    pub(super) async fn wait(&mut self, asks: &[Ask]) -> Result<(), RuntimeError> {
        if std::mem::replace(&mut self.person.is_awaited, true) {
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

    /// Goes on with the open calls, now that their questions are settled.
    pub(super) async fn take_up(&mut self) -> Result<Option<Ended>, RuntimeError> {
        let policy_version = self.runtime.policy().version().to_owned();
        let mut scribe = self.scribe();
        let body = RunResumed { cause: ResumeCause::Approval, policy_version };
        scribe.event(Actor::Platform, EventBody::RunResumed(body));
        match self.runtime.store().commit(scribe.take(Durability::Normal)).await {
            Ok(_) => self.person.is_awaited = false,
            // Somebody else was faster: it is theirs now.
            Err(StoreError::Conflict(_)) => {
                return Err(RuntimeError::NotWaiting { run: self.run, status: RunStatus::Running });
            }
            Err(error) => return Err(error.into()),
        }
        self.person.refusals = self.runtime.refusals_of(self.session.id(), self.run).await?;
        let open = self.open_calls().await?;
        let mut disposed = Vec::with_capacity(open.len());
        // What one reply asked for has one origin; what a person typed may have several.
        let mut rest = open.as_slice();
        while let Some(first) = rest.first() {
            let (origin, step) = (first.row.origin, first.row.step);
            let n = rest.iter().take_while(|open| open.row.origin == origin && open.row.step == step).count();
            let (batch, later) = rest.split_at(n);
            disposed.extend(self.pass_again(batch, step, origin).await?);
            rest = later;
        }
        let calls: Vec<CallProposal> = open.into_iter().map(|open| open.call).collect();
        let gave: Vec<String> = disposed.iter().filter_map(Disposed::content).map(str::to_owned).collect();
        let ended = self.conclude(&calls, disposed)?;
        Ok(match ended {
            None if self.person.has_typed => Some(Ended::Typed(gave.join("\n"))),
            ended => ended,
        })
    }

    async fn pass_again(
        &self,
        batch: &[Open],
        step: u32,
        origin: Label,
    ) -> Result<Vec<Disposed>, RuntimeError> {
        let mut proposals = Vec::with_capacity(batch.len());
        for Open { row, call, provider_call } in batch {
            proposals.push(Proposal {
                call: row.id,
                name: call.name.clone(),
                arguments: call.arguments.clone(),
                seat: Seat { place: row.place, provider_call: provider_call.clone() },
                past: self.past(row).await?,
            });
        }
        self.pass(step, origin, &proposals).await
    }

    async fn past(&self, row: &CallRow) -> Result<Past, RuntimeError> {
        let Some(approval) = row.approval else { return Ok(Past::Proposed) };
        let Some(row) = self.runtime.store().approval(approval).await? else { return Ok(Past::Proposed) };
        let fields = self.runtime.committed(&row.sealed).await?.unwrap_or_default();
        let words = match &row.words {
            Some(words) => self.runtime.committed(words).await?,
            None => None,
        };
        let words = words.and_then(|words| words.as_str().map(str::to_owned));
        Ok(Past::Answered(Box::new(Answered { row, fields, words })))
    }

    /// The calls of the run that are not settled, in the order in which they were asked for, with the
    /// text that was asked for.
    async fn open_calls(&self) -> Result<Vec<Open>, RuntimeError> {
        let filter = CallFilter { run: Some(self.run), ..CallFilter::default() };
        let rows = self.runtime.store().calls(&filter).await?;
        let reply = self.session.items.iter().rev().find_map(|item| match &item.body {
            ItemBody::Replied { turn } if !turn.calls.is_empty() => Some(turn),
            _ => None,
        });
        let mut open = Vec::new();
        for row in rows {
            if !matches!(row.status, CallStatus::Proposed | CallStatus::WaitingForApproval) {
                continue;
            }
            let unreadable = || RuntimeError::Conversation {
                session: row.session,
                what: "the arguments of an open call are missing or changed".to_owned(),
            };
            let asked = self.runtime.committed(&row.arguments).await?.ok_or_else(unreadable)?;
            let text = |name: &str| asked.get(name).and_then(Value::as_str).map(str::to_owned);
            let (name, arguments) = text("name").zip(text("arguments")).ok_or_else(unreadable)?;
            let seat = usize::try_from(row.place).ok().and_then(|place| place.checked_sub(1));
            let said = reply
                .filter(|_| !self.person.has_typed)
                .zip(seat)
                .and_then(|(turn, seat)| turn.calls.get(seat));
            let provider_call = said.map(|said| said.id.clone());
            let id = provider_call.clone().unwrap_or_default();
            open.push(Open { row, call: CallProposal { id, name, arguments }, provider_call });
        }
        open.sort_by_key(|open| (open.row.step, open.row.place, open.row.id));
        Ok(open)
    }
}
