//! One event, applied. Every move goes by the kernel's tables of states.

use mast_kernel::call::CallStatus;
use mast_kernel::event::{EventBody, ItemRecord, SessionCreated};
use mast_kernel::id::RunId;
use mast_kernel::instant::Instant;

use super::View;
use super::approval::{approval_consumed, approval_invalidated, approval_requested, approval_resolved};
use super::call::{
    call_authorized, call_denied, call_marked, call_proposed, call_reconciled, call_settled, call_started,
};
use super::grant::{grant_created, grant_expired, grant_revoked, grant_used};
use super::run::{run_event, running};
use crate::error::Conflict;
use crate::record::{ItemRow, SessionRow};

/// Where and when an event happened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) run: Option<RunId>,
    pub(crate) at: Instant,
}

/// Whether the event fits.
pub(super) type Applied = Result<(), Conflict>;

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
        EventBody::CallReconciled(told) => call_reconciled(view, moment, told),
        EventBody::ApprovalRequested(told) => approval_requested(view, moment, told),
        EventBody::ApprovalResolved(told) => approval_resolved(view, moment, told),
        EventBody::ApprovalConsumed(told) => approval_consumed(view, moment, told),
        EventBody::ApprovalInvalidated(told) => approval_invalidated(view, moment, told),
        EventBody::GrantCreated(told) => grant_created(view, moment, told),
        EventBody::GrantUsed(told) => grant_used(view, moment, told),
        EventBody::GrantRevoked(told) => grant_revoked(view, moment, told),
        EventBody::GrantExpired(told) => grant_expired(view, moment, told),
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

/// The event says something that is not so.
pub(super) fn untrue(what: String, why: &'static str) -> Conflict {
    Conflict::Untrue { what, why }
}

/// The row is not in a state from which it could move like that.
pub(super) const fn transition(what: String, from: &'static str, to: &'static str) -> Conflict {
    Conflict::Transition { what, from, to }
}
