//! One event, applied. Every move goes by the kernel's tables of states.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::event::{
    ApprovalConsumed, ApprovalInvalidated, ApprovalRequested, ApprovalResolved, EventBody, ItemRecord,
    ResumeCause, RunSetup, SessionCreated, ToolCallAuthorized, ToolCallDenied, ToolCallProposed,
    ToolCallSettled, ToolCallStarted,
};
use mast_kernel::id::{ApprovalId, CallId, RunId};
use mast_kernel::instant::Instant;
use mast_kernel::message::OutcomeStatus;
use mast_kernel::run::{Completion, RunStatus};

use super::View;
use crate::error::Conflict;
use crate::record::{ApprovalRow, CallRow, ItemRow, RunRow, SessionRow};

/// Where and when an event happened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) run: Option<RunId>,
    pub(crate) at: Instant,
}

type Applied = Result<(), Conflict>;

/// Applies one event to the rows.
pub(crate) fn apply(view: &mut View<'_>, moment: Moment, body: &EventBody) -> Applied {
    if let EventBody::SessionCreated(told) = body {
        return session_created(view, moment, told);
    }
    if view.session().is_none() {
        return Err(Conflict::Missing(format!("session {}", view.id)));
    }
    match body {
        EventBody::SessionCreated(_) => Ok(()),
        EventBody::UserMessageCreated(told)
        | EventBody::ContextItemAppended(told)
        | EventBody::AssistantMessageCompleted(told) => item(view, moment, told),
        EventBody::ToolCallProposed(told) => call_proposed(view, moment, told),
        EventBody::ToolCallAuthorized(told) => call_authorized(view, moment, told),
        EventBody::ToolCallDenied(told) => call_denied(view, moment, told),
        EventBody::ToolCallStarted(told) => call_started(view, moment, told),
        EventBody::ToolCallCompleted(told) => call_settled(view, moment, told, CallStatus::Succeeded),
        EventBody::ToolCallFailed(told) => call_settled(view, moment, told, CallStatus::Failed),
        EventBody::ToolCallUncertain(told) => call_settled(view, moment, told, CallStatus::Uncertain),
        EventBody::CallMarked(told) => call_marked(view, moment, told.call),
        EventBody::ApprovalRequested(told) => approval_requested(view, moment, told),
        EventBody::ApprovalResolved(told) => approval_resolved(view, moment, told),
        EventBody::ApprovalConsumed(told) => approval_consumed(view, moment, told),
        EventBody::ApprovalInvalidated(told) => approval_invalidated(view, moment, told),
        EventBody::ModelRequestStarted(_)
        | EventBody::ModelResponseCompleted(_)
        | EventBody::ModelResponseFailed(_)
        | EventBody::ContextBudgetExceeded(_) => running(view, moment).map(|_| ()),
        EventBody::ArtifactCreated(_) => Ok(()),
        EventBody::RunQueued(_)
        | EventBody::RunStarted(_)
        | EventBody::RunWaitingForApproval(_)
        | EventBody::RunWaitingForUser(_)
        | EventBody::RunResumed(_)
        | EventBody::RunCompleted(_)
        | EventBody::RunFailed(_)
        | EventBody::RunCancelled(_) => run_event(view, moment, body),
    }
}

fn session_created(view: &mut View<'_>, moment: Moment, told: &SessionCreated) -> Applied {
    if view.session().is_some() {
        return Err(Conflict::Exists(format!("session {}", view.id)));
    }
    view.delta.session = Some(SessionRow {
        id: view.id,
        tenant: told.tenant,
        principal: told.principal,
        surface: told.surface.clone(),
        created_at: moment.at,
        catalogue: told.catalogue,
    });
    Ok(())
}

fn item(view: &mut View<'_>, moment: Moment, told: &ItemRecord) -> Applied {
    if told.place <= view.last_place() {
        return Err(untrue(format!("item {}", told.item), "an item's place must be after all others"));
    }
    view.delta.last_place = Some(told.place);
    view.delta.items.push(ItemRow {
        id: told.item,
        session: view.id,
        run: moment.run,
        place: told.place,
        kind: told.kind,
        label: told.label,
        call: told.call,
        content: told.content,
    });
    Ok(())
}

/// The run that an event must name.
fn run_of(moment: Moment) -> Result<RunId, Conflict> {
    moment.run.ok_or_else(|| untrue("event".to_owned(), "it must name its run"))
}

/// The run of an event that can only happen while it is at work.
fn running<'v>(view: &'v View<'_>, moment: Moment) -> Result<&'v RunRow, Conflict> {
    let run = view.run(run_of(moment)?)?;
    if run.status == RunStatus::Running {
        Ok(run)
    } else {
        Err(untrue(format!("run {}", run.id), "it is not at work"))
    }
}

fn run_event(view: &mut View<'_>, moment: Moment, body: &EventBody) -> Applied {
    match body {
        EventBody::RunQueued(setup) => view.make_run(queued(view, moment, setup)?),
        EventBody::RunStarted(setup) => move_run(view, moment, RunStatus::Running, |row| {
            set_up(row, setup);
            row.started_at = Some(moment.at);
        }),
        EventBody::RunWaitingForApproval(_) => move_run(view, moment, RunStatus::WaitingForApproval, |_| ()),
        EventBody::RunWaitingForUser(_) => move_run(view, moment, RunStatus::WaitingForUser, |_| ()),
        EventBody::RunResumed(told) => {
            // A run whose process ended is at work as far as the rows know; it goes on as it is.
            if told.cause == ResumeCause::Recovery && running(view, moment).is_ok() {
                let mut row = running(view, moment)?.clone();
                row.policy_version.clone_from(&told.policy_version);
                view.change_run(row);
                return Ok(());
            }
            move_run(view, moment, RunStatus::Running, |row| {
                row.policy_version.clone_from(&told.policy_version);
            })
        }
        EventBody::RunCompleted(told) => move_run(view, moment, RunStatus::Completed, |row| {
            row.completion = Some(told.completion);
        }),
        EventBody::RunFailed(told) => move_run(view, moment, RunStatus::Failed, |row| {
            row.completion = Some(Completion::Failed);
            row.reason_code = Some(told.reason_code.clone());
        }),
        EventBody::RunCancelled(told) => move_run(view, moment, RunStatus::Cancelled, |row| {
            row.completion = Some(Completion::Cancelled);
            row.reason_code = Some(told.reason_code.clone());
        }),
        _ => Ok(()),
    }
}

fn queued(view: &View<'_>, moment: Moment, setup: &RunSetup) -> Result<RunRow, Conflict> {
    Ok(RunRow {
        id: run_of(moment)?,
        session: view.id,
        status: RunStatus::Queued,
        provider: setup.provider.clone(),
        model: setup.model.clone(),
        mode: setup.mode,
        policy_version: setup.policy_version.clone(),
        overlay: setup.overlay,
        contract: setup.contract,
        created_at: moment.at,
        started_at: None,
        ended_at: None,
        completion: None,
        reason_code: None,
    })
}

fn set_up(row: &mut RunRow, setup: &RunSetup) {
    row.provider.clone_from(&setup.provider);
    row.model.clone_from(&setup.model);
    row.mode = setup.mode;
    row.policy_version.clone_from(&setup.policy_version);
    row.overlay = setup.overlay;
    row.contract = setup.contract;
}

fn move_run(view: &mut View<'_>, moment: Moment, to: RunStatus, change: impl FnOnce(&mut RunRow)) -> Applied {
    let mut row = view.run(run_of(moment)?)?.clone();
    if !row.status.may_become(to) {
        return Err(transition(format!("run {}", row.id), row.status.as_str(), to.as_str()));
    }
    row.status = to;
    if to.is_ended() {
        row.ended_at = Some(moment.at);
    }
    change(&mut row);
    view.change_run(row);
    Ok(())
}

fn call_proposed(view: &mut View<'_>, moment: Moment, told: &ToolCallProposed) -> Applied {
    let run = running(view, moment)?.id;
    view.make_call(CallRow {
        id: told.call,
        session: view.id,
        run,
        step: told.step,
        place: told.place,
        status: CallStatus::Proposed,
        declared: told.declared.clone(),
        origin: told.origin,
        parallel_group: told.parallel_group,
        arguments: told.arguments,
        decision: None,
        policy_version: None,
        idempotency_key: None,
        approval: None,
        approval_consumed: false,
        attempt: 0,
        proposed_at: moment.at,
        started_at: None,
        effect_sent_at: None,
        completed_at: None,
        outcome_status: None,
        reason_code: None,
        duration_ms: None,
        output_bytes: None,
        truncated: false,
        artifact: None,
        label: None,
        outcome: None,
    })
}

/// A call as it is now, in the run that the event names.
fn call_of(view: &View<'_>, moment: Moment, id: CallId) -> Result<CallRow, Conflict> {
    let row = view.call(id)?;
    if moment.run == Some(row.run) {
        Ok(row.clone())
    } else {
        Err(untrue(format!("call {id}"), "it is of another run"))
    }
}

fn move_call(row: &mut CallRow, to: CallStatus) -> Applied {
    if !row.status.may_become(to) {
        return Err(transition(format!("call {}", row.id), row.status.as_str(), to.as_str()));
    }
    row.status = to;
    Ok(())
}

fn call_authorized(view: &mut View<'_>, moment: Moment, told: &ToolCallAuthorized) -> Applied {
    let mut row = call_of(view, moment, told.call)?;
    move_call(&mut row, CallStatus::Authorized)?;
    row.decision = Some(told.decision);
    row.policy_version = Some(told.policy_version.clone());
    row.idempotency_key = Some(told.idempotency_key);
    view.change_call(row);
    Ok(())
}

fn call_denied(view: &mut View<'_>, moment: Moment, told: &ToolCallDenied) -> Applied {
    let mut row = call_of(view, moment, told.call)?;
    move_call(&mut row, CallStatus::Denied)?;
    row.policy_version = Some(told.policy_version.clone());
    row.outcome_status = Some(OutcomeStatus::Denied);
    row.reason_code = Some(told.reason_code.clone());
    row.outcome = Some(told.outcome);
    row.completed_at = Some(moment.at);
    view.change_call(row);
    Ok(())
}

fn call_started(view: &mut View<'_>, moment: Moment, told: &ToolCallStarted) -> Applied {
    let mut row = call_of(view, moment, told.call)?;
    let what = || format!("call {}", told.call);
    move_call(&mut row, CallStatus::Running)?;
    if row.idempotency_key.is_none() {
        return Err(untrue(what(), "it has no idempotency key: it was never authorized"));
    }
    if row.approval.is_some() && !row.approval_consumed {
        return Err(untrue(what(), "it was asked about, and no yes was used"));
    }
    if told.attempt != row.attempt.saturating_add(1) {
        return Err(untrue(what(), "attempts are counted one by one"));
    }
    row.attempt = told.attempt;
    row.started_at = Some(moment.at);
    view.change_call(row);
    Ok(())
}

fn call_settled(view: &mut View<'_>, moment: Moment, told: &ToolCallSettled, to: CallStatus) -> Applied {
    let mut row = call_of(view, moment, told.call)?;
    move_call(&mut row, to)?;
    let what = || format!("call {}", told.call);
    let fits = match to {
        CallStatus::Succeeded => told.outcome_status == OutcomeStatus::Succeeded,
        CallStatus::Uncertain => told.outcome_status == OutcomeStatus::Uncertain,
        _ => matches!(told.outcome_status, OutcomeStatus::Failed | OutcomeStatus::Unavailable),
    };
    if !fits {
        return Err(untrue(what(), "the outcome's status is not that of the event"));
    }
    if told.effect_sent != row.effect_sent_at.is_some() {
        return Err(untrue(what(), "whether it reached out is not what its mark says"));
    }
    row.outcome_status = Some(told.outcome_status);
    row.reason_code.clone_from(&told.reason_code);
    row.duration_ms = Some(told.duration_ms);
    row.output_bytes = Some(told.output_bytes);
    row.truncated = told.truncated;
    row.artifact = told.artifact;
    row.label = Some(told.label);
    row.outcome = Some(told.outcome);
    row.completed_at = Some(moment.at);
    view.change_call(row);
    Ok(())
}

fn call_marked(view: &mut View<'_>, moment: Moment, call: CallId) -> Applied {
    let mut row = call_of(view, moment, call)?;
    if row.status != CallStatus::Running {
        return Err(untrue(format!("call {call}"), "only a claimed call can reach out"));
    }
    row.effect_sent_at = row.effect_sent_at.or(Some(moment.at));
    view.change_call(row);
    Ok(())
}

fn approval_requested(view: &mut View<'_>, moment: Moment, told: &ApprovalRequested) -> Applied {
    let mut call = call_of(view, moment, told.call)?;
    move_call(&mut call, CallStatus::WaitingForApproval)?;
    call.approval = Some(told.approval);
    call.approval_consumed = false;
    let run = call.run;
    view.change_call(call);
    view.make_approval(ApprovalRow {
        id: told.approval,
        session: view.id,
        run,
        call: told.call,
        status: ApprovalStatus::Pending,
        risk: told.risk,
        reach: told.reach,
        seal: told.seal,
        sealed: told.sealed,
        card: told.card,
        policy_version: told.policy_version.clone(),
        requested_at: moment.at,
        expires_at: told.expires_at,
        resolved_at: None,
        resolved_by: None,
        granted: None,
        words: None,
        consumed_at: None,
        reason_code: None,
    })
}

fn moved_approval(view: &View<'_>, id: ApprovalId, to: ApprovalStatus) -> Result<ApprovalRow, Conflict> {
    let mut row = view.approval(id)?.clone();
    if !row.status.may_become(to) {
        return Err(transition(format!("approval {id}"), row.status.as_str(), to.as_str()));
    }
    row.status = to;
    Ok(row)
}

fn approval_resolved(view: &mut View<'_>, moment: Moment, told: &ApprovalResolved) -> Applied {
    if told.status == ApprovalStatus::Consumed {
        return Err(untrue(format!("approval {}", told.approval), "a yes is used by its own event"));
    }
    let mut row = moved_approval(view, told.approval, told.status)?;
    row.resolved_at = Some(moment.at);
    row.resolved_by = told.resolved_by;
    row.granted = told.reach;
    row.words = told.words;
    view.change_approval(row);
    Ok(())
}

fn approval_consumed(view: &mut View<'_>, moment: Moment, told: &ApprovalConsumed) -> Applied {
    let mut row = moved_approval(view, told.approval, ApprovalStatus::Consumed)?;
    let mut call = call_of(view, moment, told.call)?;
    if row.call != call.id || call.approval != Some(row.id) {
        return Err(untrue(format!("approval {}", told.approval), "it is about another call"));
    }
    row.consumed_at = Some(moment.at);
    call.approval_consumed = true;
    view.change_approval(row);
    view.change_call(call);
    Ok(())
}

fn approval_invalidated(view: &mut View<'_>, moment: Moment, told: &ApprovalInvalidated) -> Applied {
    let mut row = moved_approval(view, told.approval, ApprovalStatus::Void)?;
    if row.call != told.call {
        return Err(untrue(format!("approval {}", told.approval), "it is about another call"));
    }
    row.resolved_at = row.resolved_at.or(Some(moment.at));
    row.reason_code = Some(told.reason_code.clone());
    view.change_approval(row);
    Ok(())
}

fn untrue(what: String, why: &'static str) -> Conflict {
    Conflict::Untrue { what, why }
}

const fn transition(what: String, from: &'static str, to: &'static str) -> Conflict {
    Conflict::Transition { what, from, to }
}
