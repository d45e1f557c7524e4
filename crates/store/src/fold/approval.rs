//! Events of questions to a person.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::event::{ApprovalConsumed, ApprovalInvalidated, ApprovalRequested, ApprovalResolved};
use mast_kernel::id::ApprovalId;

use super::View;
use super::apply::{Applied, Moment, transition, untrue};
use super::call::{call_of, move_call};
use crate::error::Conflict;
use crate::record::ApprovalRow;

pub(super) fn approval_requested(view: &mut View<'_>, moment: Moment, told: &ApprovalRequested) -> Applied {
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

pub(super) fn approval_resolved(view: &mut View<'_>, moment: Moment, told: &ApprovalResolved) -> Applied {
    if told.status == ApprovalStatus::Consumed {
        return Err(untrue(format!("approval {}", told.approval), "a yes is used by its own event"));
    }
    let mut row = moved_approval(view, told.approval, told.status)?;
    let is_over = moment.at >= row.expires_at;
    if (told.status == ApprovalStatus::Approved && is_over)
        || (told.status == ApprovalStatus::Expired && !is_over)
    {
        return Err(untrue(format!("approval {}", told.approval), "it closes at its own time, not another"));
    }
    row.resolved_at = Some(moment.at);
    row.resolved_by = told.resolved_by;
    row.granted = told.reach;
    row.words = told.words;
    view.change_approval(row);
    Ok(())
}

pub(super) fn approval_consumed(view: &mut View<'_>, moment: Moment, told: &ApprovalConsumed) -> Applied {
    let mut row = moved_approval(view, told.approval, ApprovalStatus::Consumed)?;
    let mut call = call_of(view, moment, told.call)?;
    if row.call != call.id || call.approval != Some(row.id) {
        return Err(untrue(format!("approval {}", told.approval), "it is about another call"));
    }
    if moment.at >= row.expires_at {
        return Err(untrue(format!("approval {}", told.approval), "its time is over"));
    }
    row.consumed_at = Some(moment.at);
    call.approval_consumed = true;
    view.change_approval(row);
    view.change_call(call);
    Ok(())
}

pub(super) fn approval_invalidated(
    view: &mut View<'_>,
    moment: Moment,
    told: &ApprovalInvalidated,
) -> Applied {
    let mut row = moved_approval(view, told.approval, ApprovalStatus::Void)?;
    if row.call != told.call {
        return Err(untrue(format!("approval {}", told.approval), "it is about another call"));
    }
    row.resolved_at = row.resolved_at.or(Some(moment.at));
    row.reason_code = Some(told.reason_code.clone());
    view.change_approval(row);
    Ok(())
}
