//! The journal's side of a call: gate steps 7, 8, 9, the mark, and 13. Events are collected and
//! committed together where no effect lies between them, so that a pure call needs two commits and no
//! disk flush, and one with an effect has its claim on disk before anything happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mast_kernel::approval::Approval;
use mast_kernel::canonical::NotCanonical;
use mast_kernel::event::{
    Actor, ApprovalConsumed, ApprovalInvalidated, ApprovalRequested, Declared, EventBody, GrantUsed,
    ToolCallAuthorized, ToolCallDenied, ToolCallProposed, ToolCallSettled, ToolCallStarted,
};
use mast_kernel::id::{ApprovalId, CallId, GrantId};
use mast_kernel::instant::Instant;
use mast_kernel::message::{Outcome, OutcomeStatus};
use mast_kernel::permit::{ClaimRefused, Claimed, Permit, claim};
use mast_kernel::policy::{Finding, Judged, Ruling};
use mast_kernel::spec::SideEffect;
use mast_kernel::trust::{Label, Sensitivity, SourceKind, Trust};
use mast_store::{Durability, Fence, PendingClaim};
use mast_tools::MarkLog;
use serde_json::json;

use super::execute::Bounded;
use super::mark::Mark;
use super::named::Found;
use super::{Ending, Gate, Past, Proposal, Settled, Stop};
use crate::bus::Ask;
use crate::context::ItemBody;
use crate::error::RuntimeError;
use crate::scribe::Scribe;
use crate::turnstile::{Ticket, Turn};

/// Where a call stands in its reply.
#[derive(Debug, Clone)]
pub(crate) struct Seat {
    /// Place among the calls of its reply, from 1.
    pub(crate) place: u32,
    /// The provider's id of the call; none for a call that no model made.
    pub(crate) provider_call: Option<String>,
}

/// What was decided of a call.
#[derive(Debug, Default)]
struct Judgement {
    /// What every layer found.
    findings: Vec<Finding>,
    /// The grant that answers what is asked.
    grant: Option<GrantId>,
    /// Whether the claim was committed, and with it any yes was used.
    is_claimed: bool,
}

/// What is known of one call, and what of it is still to be written.
pub(super) struct Record<'a> {
    gate: Gate<'a>,
    proposal: &'a Proposal,
    scribe: Scribe<'a>,
    is_proposed: bool,
    declared: Option<Declared>,
    judgement: Judgement,
    started_at: Option<Instant>,
    ended_at: Option<Instant>,
    marked: Arc<AtomicBool>,
    turn: Option<Turn<'a>>,
}

impl<'a> Record<'a> {
    /// The record of a call of which nothing is written yet.
    pub(super) fn open(gate: &Gate<'a>, proposal: &'a Proposal) -> Self {
        let place = gate.frame.place;
        Self {
            gate: *gate,
            proposal,
            scribe: Scribe::new(gate.runtime.world(), place.session, Some(place.run))
                .fenced(gate.frame.round.epoch),
            is_proposed: false,
            declared: None,
            judgement: Judgement::default(),
            started_at: None,
            ended_at: None,
            marked: Arc::new(AtomicBool::new(proposal.past.is_marked())),
            turn: None,
        }
    }

    fn call(&self) -> CallId {
        self.proposal.call
    }

    /// What was asked for, of which tool.
    pub(super) fn propose(&mut self, tool: Option<&Found<'_>>) -> Result<(), NotCanonical> {
        self.is_proposed = true;
        self.declared = tool.map(|tool| {
            let spec = &tool.registered.spec;
            Declared {
                tool: spec.name.clone(),
                version: spec.version.clone(),
                pin: tool.registered.pin,
                source: spec.source,
                side_effect: spec.side_effect,
                risk: spec.risk,
                idempotency: spec.idempotency,
            }
        });
        if self.past().is_proposed() {
            return Ok(());
        }
        let asked = json!({"name": self.proposal.name, "arguments": self.proposal.arguments});
        let arguments = self.scribe.value(&asked)?;
        let body = ToolCallProposed {
            call: self.call(),
            step: self.gate.frame.round.step,
            place: self.proposal.seat.place,
            declared: self.declared.clone(),
            origin: self.gate.frame.origin,
            parallel_group: None,
            arguments,
        };
        self.scribe.event(Actor::Model, EventBody::ToolCallProposed(body));
        Ok(())
    }

    /// What was said of the call before.
    pub(super) fn past(&self) -> &'a Past {
        &self.proposal.past
    }

    /// What every layer found, and the grant that answers what is asked.
    pub(super) fn judged(&mut self, judged: &Judged) {
        self.judgement.findings.clone_from(&judged.findings);
        self.judgement.grant = judged.grant;
    }

    /// Whether a person's yes is what lets the call run.
    fn is_answered(&self) -> bool {
        self.judgement.grant.is_some() || self.past().yes().is_some()
    }

    fn codes(&self) -> Vec<String> {
        self.judgement.findings.iter().filter_map(|finding| finding.code.map(str::to_owned)).collect()
    }

    fn policy_version(&self) -> String {
        self.gate.runtime.policy().version().to_owned()
    }

    /// In a batch of several, the proposal is written before the call waits for the others, so that the
    /// journal knows of every call that was decided.
    pub(super) fn post_if_shared(&mut self, ticket: &Ticket<'_>) -> Result<(), Stop> {
        if !ticket.is_alone() {
            self.gate.runtime.store().post(self.scribe.take(Durability::Normal));
        }
        Ok(())
    }

    /// Keeps the call's place among those that run side by side until the record is dropped.
    pub(super) fn hold(&mut self, turn: Turn<'a>) {
        self.turn = Some(turn);
    }

    /// Step 7: the question, sealed and committed before anybody is told of it.
    pub(super) async fn ask(&mut self, approval: &Approval) -> Result<Ask, Stop> {
        let id = ApprovalId::from_u128(self.gate.runtime.world().ids.next_bits());
        let sealed = approval.seal(id, crate::AGENT_VERSION)?;
        let card = approval.card();
        let body = ApprovalRequested {
            approval: id,
            call: self.call(),
            risk: approval.tool.risk,
            reach: approval.reach,
            seal: sealed.seal,
            sealed: self.scribe.content(&sealed.fields)?,
            card: self.scribe.content(&card)?,
            policy_version: approval.policy_version.clone(),
            expires_at: approval.expires_at,
        };
        self.scribe.event(Actor::Platform, EventBody::ApprovalRequested(body));
        self.gate.runtime.store().commit(self.scribe.take(Durability::Full)).await?;
        let (tool, risk, expires_at) = (approval.tool.name.clone(), approval.tool.risk, approval.expires_at);
        let twin = self.gate.runtime.uncertain_twin(self.gate.frame.place.session, self.call()).await;
        let twin = twin.map_err(Stop::Fault)?;
        Ok(Ask { approval: id, call: self.call(), tool, risk, card, expires_at, twin })
    }

    /// Step 8: the intent. For a call without effect it is committed together with the claim.
    pub(super) async fn intend(&mut self, permit: &Permit, tool: &Found<'_>) -> Result<(), Stop> {
        let body = ToolCallAuthorized {
            call: permit.call(),
            decision: if self.is_answered() { Ruling::Ask } else { Ruling::Allow },
            findings: self.codes(),
            policy_version: self.policy_version(),
            idempotency_key: permit.idempotency_key(),
        };
        self.scribe.event(Actor::Platform, EventBody::ToolCallAuthorized(body));
        if tool.registered.spec.side_effect != SideEffect::None {
            self.gate.runtime.store().commit(self.scribe.take(Durability::Full)).await?;
        }
        Ok(())
    }

    /// Step 9: the claim. A run that was told to stop claims nothing more.
    pub(super) async fn claim(&mut self, permit: Permit, tool: &Found<'_>) -> Result<Claimed<Permit>, Stop> {
        if self.gate.frame.hands.cancellation.is_cancelled() {
            return Err(Ending::failed("tool.run_cancelled").into());
        }
        // Using a yes is the claim: both are in one transaction.
        if let Some(yes) = self.past().unused_yes() {
            let used = ApprovalConsumed { approval: yes.approval, call: permit.call() };
            self.scribe.event(Actor::Platform, EventBody::ApprovalConsumed(used));
        }
        if let Some(grant) = self.judgement.grant {
            let used = GrantUsed { grant, call: permit.call() };
            self.scribe.event(Actor::Platform, EventBody::GrantUsed(used));
        }
        let started = ToolCallStarted { call: permit.call(), attempt: self.past().n_attempts() + 1 };
        self.scribe.event(Actor::Platform, EventBody::ToolCallStarted(started));
        let durability = if tool.registered.spec.side_effect.is_read() && !self.is_answered() {
            Durability::Normal
        } else {
            Durability::Full
        };
        let pending = PendingClaim::new(self.gate.runtime.store().as_ref(), self.scribe.take(durability));
        match claim(&pending, permit).await {
            Ok(claimed) => {
                self.judgement.is_claimed = true;
                self.started_at = Some(self.gate.now());
                Ok(claimed)
            }
            Err(ClaimRefused::Lost) => Err(Stop::Fault(RuntimeError::ClaimLost { call: self.call() })),
            Err(ClaimRefused::Mismatch) => {
                Err(Stop::Fault(RuntimeError::ClaimMismatch { call: self.call() }))
            }
            Err(ClaimRefused::Store(source)) => Err(Stop::Fault(RuntimeError::Claim { source })),
        }
    }

    /// Where the body commits its mark.
    pub(super) fn mark_log(&self) -> Arc<dyn MarkLog> {
        let fence = Fence { run: self.gate.frame.place.run, epoch: self.gate.frame.round.epoch };
        Arc::new(Mark {
            store: Arc::clone(self.gate.runtime.store()),
            world: self.gate.runtime.world().clone(),
            event: (self.gate.frame.place.session, fence, self.call()),
            marked: Arc::clone(&self.marked),
        })
    }

    /// Whether the mark was committed.
    pub(super) fn is_marked(&self) -> bool {
        self.marked.load(Ordering::Acquire)
    }

    /// How long the body ran, in milliseconds.
    pub(super) fn millis(&self) -> u64 {
        match (self.started_at, self.ended_at) {
            (Some(started), Some(ended)) => ended.millis_since(started),
            _ => 0,
        }
    }

    /// Steps 13 and 14: the outcome, and what the model reads of it.
    pub(super) async fn settle(&mut self, ending: Result<Bounded, Ending>) -> Result<Settled, RuntimeError> {
        self.ended_at = Some(self.gate.now());
        if !self.is_proposed {
            self.propose(None)?;
        }
        self.void_unused(&ending);
        let ending = ending.map_err(|ending| self.truly_ended(ending));
        let output_bytes = ending.as_ref().map_or(0, |bounded| bounded.output_bytes);
        let truncated = ending.as_ref().is_ok_and(|bounded| bounded.truncated);
        let whole = ending.as_ref().ok().and_then(|bounded| bounded.whole.clone());
        let mut shown = self.show(ending);
        let kept = self.kept(&shown, whole.as_deref());
        let outcome = self.scribe.value(&kept)?;
        shown.kept = Some(outcome);
        let status = shown.status();
        let reason_code = shown.outcome.as_ref().map(|outcome| outcome.reason_code().to_owned());
        let call = self.call();
        let body = if status == OutcomeStatus::Denied {
            let (findings, policy_version) = (self.codes(), self.policy_version());
            let reason_code = reason_code.unwrap_or_default();
            EventBody::ToolCallDenied(ToolCallDenied { call, reason_code, findings, policy_version, outcome })
        } else {
            let settled = ToolCallSettled {
                call,
                outcome_status: status,
                reason_code,
                effect_sent: self.is_marked(),
                duration_ms: self.millis(),
                output_bytes,
                truncated,
                artifact: None,
                label: shown.label,
                outcome,
            };
            match status {
                OutcomeStatus::Succeeded => EventBody::ToolCallCompleted(settled),
                OutcomeStatus::Uncertain => EventBody::ToolCallUncertain(settled),
                OutcomeStatus::Failed | OutcomeStatus::Denied | OutcomeStatus::Unavailable => {
                    EventBody::ToolCallFailed(settled)
                }
            }
        };
        self.scribe.event(Actor::Tool, body);
        let acted = self.declared.as_ref().is_some_and(|tool| !tool.side_effect.is_read());
        let durability = if acted { Durability::Full } else { Durability::Normal };
        self.gate.runtime.store().commit(self.scribe.take(durability)).await?;
        Ok(shown)
    }

    /// A call that was claimed before and is not run again was not *refused*: it failed, or nobody knows
    /// whether it did.
    fn truly_ended(&self, ending: Ending) -> Ending {
        if !self.past().was_claimed() || self.judgement.is_claimed {
            return ending;
        }
        let is_marked = self.is_marked();
        if self.declared.as_ref().is_none_or(|tool| tool.idempotency.may_have_acted(is_marked)) {
            let unknown = Ending::new(OutcomeStatus::Uncertain, "tool.outcome_unknown");
            return unknown.detail(format!("not run again: {}", ending.code));
        }
        Ending { status: OutcomeStatus::Failed, ..ending }
    }

    /// A yes that did not come to be used does not stay open for anything else.
    fn void_unused(&mut self, ending: &Result<Bounded, Ending>) {
        if let (Err(ending), Some(yes), false) = (ending, self.past().unused_yes(), self.judgement.is_claimed)
        {
            let (approval, call, reason_code) = (yes.approval, self.call(), ending.code.clone());
            let body = ApprovalInvalidated { approval, call, reason_code };
            self.scribe.event(Actor::Platform, EventBody::ApprovalInvalidated(body));
        }
    }

    /// What is kept of an outcome: it serves as the item of the conversation, and as the receipt.
    fn kept(&self, shown: &Settled, whole: Option<&str>) -> serde_json::Value {
        let body = ItemBody::of(self.proposal.seat.provider_call.clone(), shown);
        let mut kept = serde_json::to_value(body).unwrap_or(serde_json::Value::Null);
        if let Some(fields) = kept.as_object_mut() {
            fields.insert("structured".to_owned(), json!(shown.structured));
            fields.insert("outcome".to_owned(), json!(shown.outcome));
            if let Some(whole) = whole {
                fields.insert("whole".to_owned(), json!(whole));
            }
        }
        kept
    }

    /// What the model reads: the content of a success, or the six fields and what stands beside them.
    fn show(&self, ending: Result<Bounded, Ending>) -> Settled {
        let call = self.call();
        match ending {
            Ok(bounded) => Settled {
                call,
                tool: self.tool_name(),
                content: bounded.content,
                external: None,
                structured: Some(bounded.structured),
                outcome: None,
                kept: None,
                label: bounded.label,
            },
            Err(ending) => {
                tracing::debug!(call = %call, code = %ending.code, detail = %ending.detail, "call not done");
                let tool = self.tool_name();
                let outcome = Outcome::failure(ending.status, &tool, &ending.code);
                let object = serde_json::to_string(&outcome).unwrap_or_default();
                let content =
                    [Some(object), ending.hint].into_iter().flatten().collect::<Vec<_>>().join("\n");
                let own = Label::new(Trust::InternalTool, Sensitivity::Public, SourceKind::Tool);
                let outside = ending
                    .external
                    .as_ref()
                    .map(|_| Label::new(Trust::ExternalUntrusted, Sensitivity::Private, SourceKind::Tool));
                let label = own.clamp(outside);
                let (external, outcome) = (ending.external, Some(outcome));
                Settled { call, tool, content, external, structured: None, outcome, label, kept: None }
            }
        }
    }

    /// The registered name, or what was asked for, where that could be a name at all.
    fn tool_name(&self) -> String {
        let asked = &self.proposal.name;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        match &self.declared {
            Some(declared) => declared.tool.clone(),
            None if !asked.is_empty() && asked.len() <= 96 && asked.bytes().all(plain) => asked.clone(),
            None => "unknown".to_owned(),
        }
    }
}
