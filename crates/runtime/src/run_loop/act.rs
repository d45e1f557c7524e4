//! What is done with the calls of one reply.

use std::sync::Arc;

use mast_kernel::canonical::Digest;
use mast_kernel::event::{Actor, BudgetKind, ContextBudgetExceeded, EventBody, ItemKind};
use mast_kernel::id::{CallId, ItemId};
use mast_kernel::limits;
use mast_kernel::message::{Outcome, OutcomeStatus};
use mast_kernel::policy::Place;
use mast_kernel::trust::{Label, Sensitivity, SourceKind, Trust};
use mast_provider::CallProposal;
use mast_store::Durability;

use super::ask::Reply;
use super::{Ended, Work, breaker, observer};
use crate::context::ItemBody;
use crate::error::RuntimeError;
use crate::gate::{Frame, Gate, Passed, Past, Proposal, Round, Seat, Settled};
use crate::hands::Hands;
use crate::scribe::Scribe;
use crate::session::{NewItem, context_item};

/// One call of a reply: passed on to the gate, or answered without it.
enum Sorted {
    Gate(Proposal),
    Answered { proposal: Proposal, code: &'static str },
}

/// What became of one call of a reply.
pub(super) enum Disposed {
    /// It passed the gate, or waits there.
    Passed(Passed),
    /// It did not reach the gate.
    Refused { proposal: Proposal, code: &'static str },
}

impl Disposed {
    /// What a settled call gave.
    pub(super) fn content(&self) -> Option<&str> {
        match self {
            Self::Passed(Passed::Settled(settled)) => Some(&settled.content),
            Self::Passed(_) | Self::Refused { .. } => None,
        }
    }
}

impl Sorted {
    fn to_gate(&self) -> Option<Proposal> {
        match self {
            Self::Gate(proposal) => Some(proposal.clone()),
            Self::Answered { .. } => None,
        }
    }
}

impl Work<'_> {
    /// Passes the calls of a reply, and appends their outcomes in the calls' order.
    pub(super) async fn act(
        &mut self,
        step: u32,
        reply: Reply,
        answer_only: bool,
    ) -> Result<Option<Ended>, RuntimeError> {
        let origin = reply.origin;
        let calls = reply.turn.calls.clone();
        self.append_reply(reply)?;
        let sorted = self.sort(step, &calls, answer_only);
        let to_gate: Vec<Proposal> = sorted.iter().filter_map(Sorted::to_gate).collect();
        let mut passed = self.pass(step, origin, &to_gate).await?.into_iter();
        let disposed = sorted.into_iter().map(|sorted| match sorted {
            Sorted::Answered { proposal, code } => Disposed::Refused { proposal, code },
            Sorted::Gate(_) => passed.next().unwrap_or(Disposed::Passed(Passed::Waits)),
        });
        let disposed = disposed.collect();
        self.conclude(&calls, disposed)
    }

    /// Passes calls through the gate.
    pub(super) async fn pass(
        &self,
        step: u32,
        origin: Label,
        proposals: &[Proposal],
    ) -> Result<Vec<Disposed>, RuntimeError> {
        let mut frame = self.frame(step, origin);
        frame.surroundings.history = self.runtime.history_of(self.session.id()).await?;
        let gate = Gate { runtime: self.runtime, frame: &frame, observer: observer(&self.surface) };
        Ok(gate.pass_all(proposals).await?.into_iter().map(Disposed::Passed).collect())
    }

    /// Appends the outcomes in the calls' order; how the run ends or waits, if it does.
    pub(super) fn conclude(
        &mut self,
        calls: &[CallProposal],
        disposed: Vec<Disposed>,
    ) -> Result<Option<Ended>, RuntimeError> {
        let mut scribe = self.scribe();
        let mut asks = Vec::new();
        let mut tripped = None;
        for (call, disposed) in calls.iter().zip(disposed) {
            let (settled, on_record) = match disposed {
                Disposed::Refused { proposal, code } => (self.answer(&mut scribe, &proposal, code)?, false),
                Disposed::Passed(Passed::Settled(settled)) => (settled, true),
                Disposed::Passed(Passed::Asked(ask)) => {
                    asks.push(ask);
                    continue;
                }
                Disposed::Passed(Passed::Waits) => continue,
            };
            tripped = tripped.or(self.note(call, &settled));
            self.append_outcome(&mut scribe, call, (&settled, on_record));
        }
        if !scribe.is_empty() {
            self.runtime.store().post(scribe.take(Durability::Normal));
        }
        Ok(match tripped {
            _ if !asks.is_empty() => Some(Ended::Waits(asks)),
            Some(code) => Some(Ended::failed(code)),
            None => None,
        })
    }

    /// What is the same for every call of a step.
    pub(crate) fn frame(&self, step: u32, origin: Label) -> Frame<'_> {
        let world = self.runtime.world();
        Frame {
            place: Place {
                store: self.session.store,
                session: self.session.id(),
                run: self.at.run,
                call: CallId::from_u128(0),
            },
            authority: &self.session.authority,
            contract: &self.terms.contract,
            origin,
            surroundings: self.terms.surroundings.clone(),
            round: Round { step, epoch: self.at.epoch },
            hands: Hands {
                tool_clock: Arc::clone(&world.tool_clock),
                cancellation: self.surface.cancellation.clone(),
                workspace: self.terms.workspace.clone(),
            },
            // A run with an open question takes no further step, so only this batch can add to them.
            n_asks: Arc::default(),
            refusals: &self.person.refusals,
        }
    }

    /// The reply becomes an item of the conversation.
    fn append_reply(&mut self, reply: Reply) -> Result<(), RuntimeError> {
        self.session.last_place += 1;
        let id = ItemId::from_u128(self.runtime.world().ids.next_bits());
        let (place, label, content) = (self.session.last_place, reply.label, reply.content);
        let new = NewItem { id, place, kind: ItemKind::Assistant, label, call: None, content };
        let mut scribe = self.scribe();
        scribe.event(Actor::Model, EventBody::ContextItemAppended(new.record()));
        self.runtime.store().post(scribe.take(Durability::Normal));
        self.session.items.push(context_item(&new, ItemBody::Replied { turn: reply.turn }));
        Ok(())
    }

    /// Which calls reach the gate. The others are over a bound, or repeat what nobody knows the outcome of.
    fn sort(&mut self, step: u32, calls: &[CallProposal], answer_only: bool) -> Vec<Sorted> {
        let wanted = u32::try_from(calls.len().min(limits::BATCH_CALLS_MAX)).unwrap_or(u32::MAX);
        let fitted = if answer_only { 0 } else { self.spent.take_tool_calls(wanted) };
        let refused = wanted - fitted;
        if refused > 0 {
            let mut scribe = self.scribe();
            let body = ContextBudgetExceeded { step, budget: BudgetKind::ToolCalls, refused };
            scribe.event(Actor::Platform, EventBody::ContextBudgetExceeded(body));
            self.runtime.store().post(scribe.take(Durability::Normal));
        }
        let mut sorted = Vec::with_capacity(calls.len());
        for (index, call) in calls.iter().enumerate() {
            let proposal = self.proposal(index, call);
            let (tool, matching) = breaker::matching(self.runtime, &call.name, &call.arguments);
            sorted.push(if index >= limits::BATCH_CALLS_MAX {
                Sorted::Answered { proposal, code: "tool.batch.too_many" }
            } else if index >= fitted as usize {
                Sorted::Answered { proposal, code: "tool.budget_exhausted" }
            } else if self.breaker.admit(&tool, matching).is_err() {
                Sorted::Answered { proposal, code: "tool.outcome_unknown" }
            } else {
                Sorted::Gate(proposal)
            });
        }
        sorted
    }

    fn proposal(&self, index: usize, call: &CallProposal) -> Proposal {
        let place = u32::try_from(index + 1).unwrap_or(u32::MAX);
        Proposal {
            call: CallId::from_u128(self.runtime.world().ids.next_bits()),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            seat: Seat { place, provider_call: Some(call.id.clone()) },
            past: Past::New,
        }
    }

    /// Counts a settled call; the reason code where the run must end.
    fn note(&mut self, call: &CallProposal, settled: &Settled) -> Option<&'static str> {
        let result = settled.structured.is_some().then(|| Digest::of(settled.content.as_bytes()));
        let outcome = (settled.outcome.as_ref(), result);
        breaker::note(self.runtime, &mut self.breaker, call, outcome)
    }

    /// The outcome of a call that does not reach the gate.
    fn answer(
        &self,
        scribe: &mut Scribe<'_>,
        proposal: &Proposal,
        code: &'static str,
    ) -> Result<Settled, RuntimeError> {
        let resolved = self.runtime.toolbox().registry().resolve(&proposal.name);
        let tool = resolved.map_or("unknown", |resolved| resolved.tool.spec.name.as_str()).to_owned();
        let repeated = code == "tool.outcome_unknown";
        let status = if repeated { OutcomeStatus::Denied } else { OutcomeStatus::Unavailable };
        let outcome = Outcome::failure(status, &tool, code);
        let mut settled = Settled {
            call: proposal.call,
            tool,
            content: serde_json::to_string(&outcome).unwrap_or_default(),
            external: None,
            structured: None,
            outcome: Some(outcome),
            label: Label::new(Trust::InternalTool, Sensitivity::Public, SourceKind::Tool),
            kept: None,
        };
        let body = ItemBody::of(proposal.seat.provider_call.clone(), &settled);
        settled.kept = Some(scribe.content(&body)?);
        Ok(settled)
    }

    /// The outcome becomes an item of the conversation; `on_record` says whether its call has a row.
    fn append_outcome(
        &mut self,
        scribe: &mut Scribe<'_>,
        call: &CallProposal,
        (settled, on_record): (&Settled, bool),
    ) {
        // What a person typed has no conversation.
        let Some(content) = settled.kept.filter(|_| !self.person.has_typed) else { return };
        self.session.last_place += 1;
        let id = ItemId::from_u128(self.runtime.world().ids.next_bits());
        let (place, label, kind) = (self.session.last_place, settled.label, ItemKind::ToolResult);
        let new = NewItem { id, place, kind, label, call: on_record.then_some(settled.call), content };
        scribe.event(Actor::Platform, EventBody::ContextItemAppended(new.record()));
        self.session.items.push(context_item(&new, ItemBody::of(Some(call.id.clone()), settled)));
    }
}
