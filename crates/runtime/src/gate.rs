//! The gate: the only place that runs a tool. Every surface passes every call through [`Gate::pass`],
//! which takes it through the steps of `docs/spec/gate.md` in their order, each named below.
//!
//! Steps 1 to 6 touch nothing outside; 7, 8, 9, the mark and 13 are short commits of their own; none is
//! open while a tool runs. Whatever goes wrong in a step stops the call there, and the record says so.

mod ending;
mod execute;
mod judge;
mod mark;
mod named;
mod past;
mod record;

use std::collections::BTreeMap;

use mast_kernel::canonical::Digest;
use mast_kernel::id::CallId;
use mast_kernel::instant::Instant;
use mast_kernel::policy::{self, Authority, Place, Surroundings};
use mast_kernel::run::TurnContract;
use mast_kernel::trust::Label;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use crate::bus::{Ask, Observer, Progress};
use crate::error::RuntimeError;
use crate::hands::Hands;
use crate::runtime::Runtime;
use crate::turnstile::{Ticket, Turnstile};

pub use ending::Settled;
use ending::{Ending, Stop};
pub(crate) use judge::target;
pub(crate) use named::reached;
pub(crate) use past::{Answered, Begun, Past};
use record::Record;
pub(crate) use record::Seat;

/// What is the same for every call of one step of a run.
#[derive(Debug, Clone)]
pub(crate) struct Frame<'a> {
    /// Where the step belongs; the call is filled in.
    pub(crate) place: Place,
    /// Who acts.
    pub(crate) authority: &'a Authority,
    /// What was offered.
    pub(crate) contract: &'a TurnContract,
    /// The origin: the join of everything that was in the request.
    pub(crate) origin: Label,
    /// What stands around the calls.
    pub(crate) surroundings: Surroundings,
    /// The step, and how often the run was taken up again.
    pub(crate) round: Round,
    /// The time that tools see, the word to stop, the folder of the run.
    pub(crate) hands: Hands,
    /// How many questions of the run are open.
    pub(crate) n_asks: Arc<AtomicUsize>,
    /// What a person said no to in this run, and how often.
    pub(crate) refusals: &'a Refusals,
}

/// Where a run is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    /// The step, counted from 1.
    pub(crate) step: u32,
    /// How often the run was taken up again.
    pub(crate) epoch: u32,
}

/// How often a person said no to a tool and what it would touch.
pub(crate) type Refusals = BTreeMap<(String, Digest), u32>;

/// One call as a model, or a person, asked for it.
#[derive(Debug, Clone)]
pub(crate) struct Proposal {
    /// Mast's own id of the call.
    pub(crate) call: CallId,
    /// The name that was asked for.
    pub(crate) name: String,
    /// The arguments as raw text.
    pub(crate) arguments: String,
    /// Where its outcome goes in the conversation, for a call of a model.
    pub(crate) seat: Seat,
    /// What was said of it before.
    pub(crate) past: Past,
}

/// What became of a call.
#[derive(Debug)]
pub(crate) enum Passed {
    /// It ended, and this is what the model reads.
    Settled(Settled),
    /// A person is asked.
    Asked(Ask),
    /// It waits for a sibling that asks.
    Waits,
}

/// The gate of one step.
#[derive(Clone, Copy)]
pub(crate) struct Gate<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) frame: &'a Frame<'a>,
    pub(crate) observer: &'a dyn Observer,
}

impl Gate<'_> {
    /// Passes a batch of calls: all are decided before any runs. The answers stand in the calls' order.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`], when the store fails: what runs is settled, nothing further runs.
    pub(crate) async fn pass_all(&self, proposals: &[Proposal]) -> Result<Vec<Passed>, RuntimeError> {
        let turnstile = Turnstile::new(proposals.len());
        let frames: Vec<Option<Frame<'_>>> = self.frames(proposals).collect();
        let calls = proposals.iter().zip(&frames).enumerate().map(async |(index, (call, frame))| {
            let gate = Gate { frame: frame.as_ref().unwrap_or(self.frame), ..*self };
            gate.pass(call, turnstile.ticket(index)).await
        });
        futures_util::future::join_all(calls).await.into_iter().collect()
    }

    /// The frame of each call, where it is not the step's.
    fn frames(&self, proposals: &[Proposal]) -> impl Iterator<Item = Option<Frame<'_>>> {
        let around = &self.frame.surroundings;
        let histories = self.runtime.histories(&around.history, proposals).into_iter();
        histories.map(|history| {
            let surroundings = Surroundings { history: history?, ..around.clone() };
            Some(Frame { surroundings, ..self.frame.clone() })
        })
    }

    /// Passes one call through all steps.
    async fn pass(&self, proposal: &Proposal, ticket: Ticket<'_>) -> Result<Passed, RuntimeError> {
        let mut record = Record::open(self, proposal);
        let ended = self.steps(proposal, &mut record, &ticket).await;
        let ending = match ended {
            Ok(output) => Ok(output),
            Err(Stop::Ended(ending)) => Err(ending),
            Err(Stop::Asked(ask)) => return Ok(Passed::Asked(*ask)),
            Err(Stop::Waits) => return Ok(Passed::Waits),
            Err(Stop::Fault(fault)) => return Err(fault),
        };
        let shown = record.settle(ending).await?; // step 13: commit the outcome, and 14: what the model reads
        self.tell_end(&shown, record.millis());
        Ok(Passed::Settled(shown))
    }

    /// Steps 0 to 12. Each either goes on or says how the call ends.
    async fn steps<'t>(
        &self,
        proposal: &Proposal,
        record: &mut Record<'t>,
        ticket: &Ticket<'t>,
    ) -> Result<execute::Bounded, Stop> {
        let named = named::unwrap(proposal)?; // step 0: what `tool.call` names
        let tool = self.find(&named)?; // step 1: the registry
        record.propose(Some(&tool))?;
        judge::held_to(policy::offered(self.frame.contract, &tool.registered.spec), &[])?; // step 2: the turn
        self.hold_scopes(&tool)?; // step 3: scopes
        let arguments = named::validate(named, &tool)?; // step 4: the schema
        let subject = self.identify(proposal, &tool, arguments)?; // step 5: one spelling, and what it touches
        let judged = self.decide(&tool, &subject, record).await?; // step 6: the decision
        let permit = self.ask_or_permit(judged, &tool, record, ticket).await?; // step 7: a person
        record.intend(&permit, &tool).await?; // step 8: the intent
        let claimed = record.claim(permit, &tool).await?; // step 9: the claim
        let ran = self.execute(&tool, claimed, record).await; // step 10: the body
        let checked = execute::check(ran, &tool, record.is_marked(), self.frame.origin)?; // step 11: schema and label
        execute::bound(checked, &tool) // step 12: size
    }

    /// Tells the surface how the call ended.
    fn tell_end(&self, shown: &Settled, millis: u64) {
        let reason_code = shown.outcome.as_ref().map(|outcome| outcome.reason_code().to_owned());
        let status = shown.status();
        let (call, tool) = (shown.call, shown.tool.clone());
        self.observer.observe(&Progress::CallEnded { call, tool, status, reason_code, millis });
    }

    fn now(&self) -> Instant {
        self.runtime.world().clock.now()
    }
}
