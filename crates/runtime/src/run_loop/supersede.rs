//! What becomes of a run that waits, or that its process left behind, when its person goes on with something
//! else in the same conversation: its questions are void, its open calls are settled, and it ends. A yes
//! that comes later would be about a conversation that is no longer the one it was asked in.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::event::{
    Actor, ApprovalInvalidated, EventBody, ResumeCause, RunResumed, RunStopped, ToolCallDenied,
};
use mast_kernel::id::SessionId;
use mast_kernel::message::{Outcome, OutcomeStatus};
use mast_kernel::run::RunStatus;
use mast_store::{ApprovalFilter, CallFilter, CallRow, Durability, RunFilter, RunRow};
use serde_json::json;

use super::open::settle_lost;
use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::scribe::Scribe;

/// Why they end.
const CODE: &str = "approval.void.superseded";
/// Why a run ends that its process left behind.
const INTERRUPTED: &str = "run.interrupted";

impl Runtime {
    /// Ends the runs of a session that wait for a person, or that nobody works on any more.
    pub(super) async fn retire_waiting(&self, session: SessionId) -> Result<(), RuntimeError> {
        let filter = RunFilter { session: Some(session), ..RunFilter::default() };
        for run in self.store().runs(&filter).await? {
            if !matches!(run.status, RunStatus::WaitingForApproval | RunStatus::Running) {
                continue;
            }
            match self.hold(run.id).await {
                Ok(()) => {}
                // Somebody is at it, and will end it.
                Err(RuntimeError::AtWork { .. }) => continue,
                Err(error) => return Err(error),
            }
            let code = if run.status == RunStatus::Running { INTERRUPTED } else { CODE };
            let end = EventBody::RunCancelled(RunStopped { reason_code: code.to_owned() });
            let retired = self.retire(&run, end).await;
            self.let_go(run.id).await;
            retired?;
        }
        Ok(())
    }

    /// Ends a run with this event. What is open of it is settled: nothing of it is done any more.
    pub(super) async fn retire(&self, run: &RunRow, end: EventBody) -> Result<(), RuntimeError> {
        let mut scribe = Scribe::new(self.world(), run.session, Some(run.id)).fenced(run.epoch);
        if run.status == RunStatus::Running {
            // Whoever worked on it may still be there, and must not write on.
            let (cause, policy_version) = (ResumeCause::Recovery, self.policy().version().to_owned());
            scribe.event(Actor::Platform, EventBody::RunResumed(RunResumed { cause, policy_version }));
        }
        let approvals =
            ApprovalFilter { run: Some(run.id), session: Some(run.session), ..ApprovalFilter::default() };
        for row in self.store().approvals(&approvals).await? {
            if matches!(row.status, ApprovalStatus::Pending | ApprovalStatus::Approved) {
                let (approval, call, reason_code) = (row.id, row.call, CODE.to_owned());
                let body = ApprovalInvalidated { approval, call, reason_code };
                scribe.event(Actor::Platform, EventBody::ApprovalInvalidated(body));
            }
        }
        for row in self.store().calls(&CallFilter { run: Some(run.id), ..CallFilter::default() }).await? {
            self.retire_call(&mut scribe, &row)?;
        }
        let actor =
            if matches!(end, EventBody::RunCancelled(_)) { Actor::Principal } else { Actor::Platform };
        scribe.event(actor, end);
        self.store().commit(scribe.take(Durability::Full)).await?;
        Ok(())
    }

    /// Settles a call that will not run: it is denied, or, where it was claimed, nobody knows.
    fn retire_call(&self, scribe: &mut Scribe<'_>, row: &CallRow) -> Result<(), RuntimeError> {
        match row.status {
            CallStatus::Proposed | CallStatus::Authorized | CallStatus::WaitingForApproval => {}
            CallStatus::Running => return settle_lost(scribe, row, None).map(|_| ()),
            _ => return Ok(()),
        }
        let tool = row.declared.as_ref().map_or("unknown", |declared| declared.tool.as_str());
        let outcome = Outcome::failure(OutcomeStatus::Denied, tool, CODE);
        let body = ToolCallDenied {
            call: row.id,
            reason_code: CODE.to_owned(),
            findings: Vec::new(),
            policy_version: self.policy().version().to_owned(),
            outcome: scribe.content(&json!({ "outcome": outcome }))?,
        };
        scribe.event(Actor::Platform, EventBody::ToolCallDenied(body));
        Ok(())
    }
}
