//! Events of calls.

use mast_kernel::call::CallStatus;
use mast_kernel::event::{
    CallReconciled, Reconciled, ToolCallAuthorized, ToolCallDenied, ToolCallProposed, ToolCallSettled,
    ToolCallStarted,
};
use mast_kernel::id::CallId;
use mast_kernel::message::OutcomeStatus;
use mast_kernel::spec::Idempotency;

use super::View;
use super::apply::{Applied, Moment, transition, untrue};
use super::run::running;
use crate::error::Conflict;
use crate::record::CallRow;

pub(super) fn call_proposed(view: &mut View<'_>, moment: Moment, told: &ToolCallProposed) -> Applied {
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
        reconciled: None,
    })
}

/// A call as it is now, in the run that the event names.
pub(super) fn call_of(view: &View<'_>, moment: Moment, id: CallId) -> Result<CallRow, Conflict> {
    let row = view.call(id)?;
    if moment.run == Some(row.run) {
        Ok(row.clone())
    } else {
        Err(untrue(format!("call {id}"), "it is of another run"))
    }
}

pub(super) fn move_call(row: &mut CallRow, to: CallStatus) -> Applied {
    if !row.status.may_become(to) {
        return Err(transition(format!("call {}", row.id), row.status.as_str(), to.as_str()));
    }
    row.status = to;
    Ok(())
}

pub(super) fn call_authorized(view: &mut View<'_>, moment: Moment, told: &ToolCallAuthorized) -> Applied {
    let mut row = call_of(view, moment, told.call)?;
    if row.status == CallStatus::Running {
        may_run_again(&row, told)?;
    } else if row.status != CallStatus::Authorized {
        move_call(&mut row, CallStatus::Authorized)?;
    }
    row.status = CallStatus::Authorized;
    row.decision = Some(told.decision);
    row.policy_version = Some(told.policy_version.clone());
    row.idempotency_key = Some(told.idempotency_key);
    view.change_call(row);
    Ok(())
}

/// Whether a call that was claimed before may be decided again: never where it may have left a mark that
/// cannot be left twice, and only as the very same call.
fn may_run_again(row: &CallRow, told: &ToolCallAuthorized) -> Applied {
    let what = || format!("call {}", row.id);
    let class = row.declared.as_ref().map(|declared| declared.idempotency);
    if row.effect_sent_at.is_some() && class.is_none_or(|class| class == Idempotency::NonIdempotent) {
        return Err(untrue(what(), "it reached out, and must not run again"));
    }
    if row.idempotency_key == Some(told.idempotency_key) {
        Ok(())
    } else {
        Err(untrue(what(), "it is not the call that was claimed"))
    }
}

pub(super) fn call_denied(view: &mut View<'_>, moment: Moment, told: &ToolCallDenied) -> Applied {
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

pub(super) fn call_started(view: &mut View<'_>, moment: Moment, told: &ToolCallStarted) -> Applied {
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

pub(super) fn call_settled(
    view: &mut View<'_>,
    moment: Moment,
    told: &ToolCallSettled,
    to: CallStatus,
) -> Applied {
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

pub(super) fn call_marked(view: &mut View<'_>, moment: Moment, call: CallId) -> Applied {
    let mut row = call_of(view, moment, call)?;
    if row.status != CallStatus::Running {
        return Err(untrue(format!("call {call}"), "only a claimed call can reach out"));
    }
    row.effect_sent_at = row.effect_sent_at.or(Some(moment.at));
    view.change_call(row);
    Ok(())
}

/// What was found out later. A settled call is not settled again.
pub(super) fn call_reconciled(view: &mut View<'_>, moment: Moment, told: &CallReconciled) -> Applied {
    let mut row = call_of(view, moment, told.call)?;
    if row.status != CallStatus::Uncertain {
        return Err(untrue(format!("call {}", told.call), "its outcome is known"));
    }
    row.status = match told.verdict {
        Reconciled::Happened => CallStatus::Succeeded,
        Reconciled::DidNot => CallStatus::Failed,
    };
    row.reconciled = Some(told.verdict);
    view.change_call(row);
    Ok(())
}
