//! Single calls that a person or a script types, without a model. Each passes the same gate as a
//! model's; they share one session and one run, and have no budget and no breaker.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mast_kernel::event::{Actor, EventBody, RunCompleted, RunSetup, RunWaitingForApproval};
use mast_kernel::id::{ApprovalId, CallId, RunId};
use mast_kernel::instant::Instant;
use mast_kernel::limits;
use mast_kernel::policy::{Overlay, Place, Surroundings};
use mast_kernel::run::{ApprovalMode, Completion, Mode, Priority, TurnContract};
use mast_kernel::trust::Label;
use mast_store::Durability;
use mast_tools::{Cancellation, Clock, Workspace};

use crate::bus::{Ask, Observer};
use crate::error::RuntimeError;
use crate::gate::{Frame, Gate, Passed, Past, Proposal, Refusals, Round, Seat, Settled};
use crate::hands::Hands;
use crate::run_loop::NO_MODEL;
use crate::runtime::Runtime;
use crate::scribe::Scribe;
use crate::session::Session;

/// One call as it was typed.
#[derive(Debug, Clone)]
pub struct DirectCall {
    /// The name of the tool, or another name that reaches it.
    pub tool: String,
    /// The arguments as JSON text.
    pub arguments: String,
    /// Who typed it: USER for a person, and worse for anything else.
    pub origin: Label,
    /// The time that the tool sees, where it is not the world's.
    pub tool_clock: Option<Arc<dyn Clock>>,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Disposition {
    /// It ended.
    Settled(Box<Settled>),
    /// A person is asked.
    Asked(Box<Ask>),
}

/// Where single calls are handed in.
pub struct Desk<'a> {
    runtime: &'a Runtime,
    session: Session,
    run: RunId,
    contract: TurnContract,
    workspace: Option<Arc<Workspace>>,
    observer: &'a dyn Observer,
    n_asks: Arc<AtomicUsize>,
    asked: Mutex<Vec<ApprovalId>>,
    refusals: Refusals,
    /// When the lease was renewed last, in microseconds.
    held_at: AtomicI64,
}

impl std::fmt::Debug for Desk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("session", &self.session.id()).field("run", &self.run).finish()
    }
}

impl Runtime {
    /// Opens a desk in this session: one run that takes calls until it is closed.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the contract cannot be written, or the store fails.
    pub async fn desk<'a>(
        &'a self,
        session: Session,
        observer: &'a dyn Observer,
    ) -> Result<Desk<'a>, RuntimeError> {
        self.desk_in(session, None, observer).await
    }

    /// The same, whose calls may work in this folder.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`], also where the folder cannot be worked in.
    pub async fn desk_in<'a>(
        &'a self,
        session: Session,
        folder: Option<String>,
        observer: &'a dyn Observer,
    ) -> Result<Desk<'a>, RuntimeError> {
        let workspace = self.workspace(folder.as_deref())?;
        let run = RunId::from_u128(self.world().ids.next_bits());
        let held_at = AtomicI64::new(self.world().clock.now().micros());
        self.hold(run).await?;
        let contract = TurnContract {
            // Without a folder the rules deny calls on files, and say so better than that none was offered.
            tools: self.offers(&session, true).into_iter().map(|(name, _)| name).collect(),
            mode: Mode::Act,
            approval_mode: ApprovalMode::Park,
            budget: mast_kernel::budget::Budget::default(),
            required: mast_kernel::completion::Required::default(),
            workspace: folder,
        };
        let mut scribe = Scribe::new(self.world(), session.id(), Some(run));
        let setup = RunSetup {
            provider: NO_MODEL.to_owned(),
            model: NO_MODEL.to_owned(),
            mode: contract.mode,
            policy_version: self.policy().version().to_owned(),
            overlay: self.policy().overlay() == Overlay::On,
            contract: scribe.content(&contract)?,
            priority: Priority::default(),
        };
        scribe.event(Actor::Principal, EventBody::RunQueued(setup.clone()));
        scribe.event(Actor::Platform, EventBody::RunStarted(setup));
        self.store().post(scribe.take(Durability::Normal));
        let (n_asks, asked, refusals) = Default::default();
        Ok(Desk {
            runtime: self,
            session,
            run,
            contract,
            workspace,
            observer,
            n_asks,
            asked,
            refusals,
            held_at,
        })
    }
}

impl Desk<'_> {
    /// The run that the calls belong to.
    #[must_use]
    pub const fn run(&self) -> RunId {
        self.run
    }

    /// Passes one call through the gate.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the store fails; a call that is refused or fails is no error.
    pub async fn call(&self, call: DirectCall) -> Result<Disposition, RuntimeError> {
        let world = self.runtime.world();
        let id = CallId::from_u128(world.ids.next_bits());
        let frame = Frame {
            place: Place { store: self.session.store, session: self.session.id(), run: self.run, call: id },
            authority: &self.session.authority,
            contract: &self.contract,
            origin: call.origin,
            surroundings: Surroundings {
                history: self.runtime.history_of(self.session.id()).await?,
                ..self.runtime.surroundings_with(self.workspace.as_ref())
            },
            round: Round { step: 1, epoch: 0 },
            hands: Hands {
                tool_clock: call.tool_clock.unwrap_or_else(|| Arc::clone(&world.tool_clock)),
                cancellation: Cancellation::new(),
                workspace: self.workspace.clone(),
            },
            n_asks: Arc::clone(&self.n_asks),
            refusals: &self.refusals,
        };
        let gate = Gate { runtime: self.runtime, frame: &frame, observer: self.observer };
        let seat = Seat { place: 1, provider_call: None };
        let proposal =
            Proposal { call: id, name: call.tool, arguments: call.arguments, seat, past: Past::New };
        self.hold().await?;
        let passed = tokio::select! {
            biased;
            passed = gate.pass_all(std::slice::from_ref(&proposal)) => passed?.pop(),
            lost = self.runtime.keep(self.run) => return Err(lost),
        };
        match passed {
            Some(Passed::Settled(settled)) => Ok(Disposition::Settled(Box::new(settled))),
            Some(Passed::Asked(ask)) => {
                self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(ask.approval);
                Ok(Disposition::Asked(Box::new(ask)))
            }
            // A call that is alone has no sibling to wait for, and every call is answered.
            Some(Passed::Waits) | None => Err(RuntimeError::ClaimLost { call: id }),
        }
    }

    /// Renews the lease, where that is due.
    async fn hold(&self) -> Result<(), RuntimeError> {
        let now = self.runtime.world().clock.now();
        let is_due = |held: Instant| now >= held.plus_seconds(limits::LEASE_SECONDS / 3) || now < held;
        if is_due(Instant::from_micros(self.held_at.load(Ordering::Relaxed))) {
            self.runtime.hold(self.run).await?;
            self.held_at.store(now.micros(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Ends the run of these calls, or lets it wait where one of them asked, and signs the journal's head.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the store fails.
    pub async fn close(self, n_calls: u32) -> Result<(), RuntimeError> {
        let mut scribe = Scribe::new(self.runtime.world(), self.session.id(), Some(self.run)).fenced(0);
        let approvals = self.asked.into_inner().unwrap_or_else(PoisonError::into_inner);
        let body = if approvals.is_empty() {
            EventBody::RunCompleted(RunCompleted {
                completion: Completion::Unverified,
                steps: 0,
                model_calls: 0,
                tool_calls: n_calls,
                reasons: Vec::new(),
                report: None,
            })
        } else {
            EventBody::RunWaitingForApproval(RunWaitingForApproval { approvals })
        };
        scribe.event(Actor::Platform, body);
        let store = self.runtime.store();
        store.commit(scribe.take(Durability::Normal)).await?;
        self.runtime.let_go(self.run).await;
        store.sign_head(self.session.id(), self.runtime.world().clock.now()).await?;
        Ok(())
    }
}
