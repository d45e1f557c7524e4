//! The rows of one session, all of them or those that are needed.

use std::collections::BTreeMap;

use mast_kernel::event::EventBody;
use mast_kernel::grant::GrantStatus;
use mast_kernel::id::{ApprovalId, CallId, GrantId, RunId};
use mast_kernel::instant::Instant;

use super::Delta;
use crate::record::{ApprovalRow, CallRow, GrantRow, ItemRow, RunRow, SessionRow};

/// The rows of one session.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) session: Option<SessionRow>,
    pub(crate) runs: BTreeMap<RunId, RunRow>,
    pub(crate) calls: BTreeMap<CallId, CallRow>,
    pub(crate) approvals: BTreeMap<ApprovalId, ApprovalRow>,
    pub(crate) grants: BTreeMap<GrantId, GrantRow>,
    pub(crate) items: Vec<ItemRow>,
    /// The greatest place of an item, also where the items themselves are not held.
    pub(crate) last_place: u64,
    /// The newest moment of the session; none before its first event.
    pub(crate) last_at: Option<Instant>,
}

impl State {
    /// Takes over what was committed.
    pub(crate) fn merge(&mut self, delta: Delta) {
        let Delta { session, runs, calls, approvals, grants, items, last_place, last_at } = delta;
        if session.is_some() {
            self.session = session;
        }
        self.runs.extend(runs.into_iter().map(|(id, changed)| (id, changed.row)));
        self.calls.extend(calls.into_iter().map(|(id, changed)| (id, changed.row)));
        self.approvals.extend(approvals.into_iter().map(|(id, changed)| (id, changed.row)));
        self.grants.extend(grants.into_iter().map(|(id, changed)| (id, changed.row)));
        self.items.extend(items);
        self.last_place = last_place.unwrap_or(self.last_place);
        self.last_at = self.last_at.max(last_at);
    }

    /// Lets go of rows that are not expected to change again, so that a long session stays small in
    /// memory. They are read again when they are needed.
    pub(crate) fn forget_settled(&mut self) {
        self.runs.retain(|_, row| !row.status.is_ended());
        self.calls.retain(|_, row| !row.status.is_settled());
        self.approvals.retain(|_, row| row.resolved_at.is_none() || row.consumed_at.is_none());
        self.grants.retain(|_, row| row.status == GrantStatus::Active);
        self.items.clear();
    }
}

/// The rows that must be at hand before an event can be applied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) call: Option<CallId>,
    pub(crate) approval: Option<ApprovalId>,
    pub(crate) grant: Option<GrantId>,
}

/// Which rows an event of this kind looks at, besides its run.
pub(crate) fn needs(body: &EventBody) -> Needs {
    let call = |call: CallId| Needs { call: Some(call), ..Needs::default() };
    let grant = |grant: GrantId| Needs { grant: Some(grant), ..Needs::default() };
    match body {
        EventBody::ToolCallAuthorized(told) => call(told.call),
        EventBody::ToolCallDenied(told) => call(told.call),
        EventBody::ToolCallStarted(told) => call(told.call),
        EventBody::ToolCallCompleted(told)
        | EventBody::ToolCallFailed(told)
        | EventBody::ToolCallUncertain(told) => call(told.call),
        EventBody::CallMarked(told) => call(told.call),
        EventBody::CallReconciled(told) => call(told.call),
        EventBody::ApprovalRequested(told) => call(told.call),
        EventBody::ApprovalResolved(told) => Needs { approval: Some(told.approval), ..Needs::default() },
        EventBody::ApprovalConsumed(told) => Needs { approval: Some(told.approval), ..call(told.call) },
        EventBody::ApprovalInvalidated(told) => Needs { approval: Some(told.approval), ..call(told.call) },
        EventBody::GrantCreated(told) => Needs { approval: Some(told.approval), ..Needs::default() },
        EventBody::GrantUsed(told) => Needs { grant: Some(told.grant), ..call(told.call) },
        EventBody::GrantRevoked(told) => grant(told.grant),
        EventBody::GrantExpired(told) => grant(told.grant),
        EventBody::SessionCreated(_)
        | EventBody::UserMessageCreated(_)
        | EventBody::ContextItemAppended(_)
        | EventBody::AssistantMessageCompleted(_)
        | EventBody::RunQueued(_)
        | EventBody::RunStarted(_)
        | EventBody::RunWaitingForApproval(_)
        | EventBody::RunWaitingForUser(_)
        | EventBody::RunResumed(_)
        | EventBody::RunCompleted(_)
        | EventBody::RunFailed(_)
        | EventBody::RunCancelled(_)
        | EventBody::ModelRequestStarted(_)
        | EventBody::ModelResponseCompleted(_)
        | EventBody::ModelResponseFailed(_)
        | EventBody::ToolCallProposed(_)
        | EventBody::ContextBudgetExceeded(_)
        | EventBody::ArtifactCreated(_) => Needs::default(),
    }
}
