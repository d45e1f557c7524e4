//! What becomes of a run that waits when its person goes on with something else in the same
//! conversation: its questions are void, its open calls are denied, and it ends. A yes that comes later
//! would be about a conversation that is no longer the one it was asked in.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::event::{Actor, ApprovalInvalidated, EventBody, RunStopped, ToolCallDenied};
use mast_kernel::id::SessionId;
use mast_kernel::message::{Outcome, OutcomeStatus};
use mast_kernel::run::RunStatus;
use mast_store::{ApprovalFilter, CallFilter, Durability, RunFilter, RunRow};
use serde_json::json;

use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::scribe::Scribe;

/// Why they end.
const CODE: &str = "approval.void.superseded";

impl Runtime {
    /// Ends the runs of a session that wait for a person.
    pub(super) async fn retire_waiting(&self, session: SessionId) -> Result<(), RuntimeError> {
        let filter = RunFilter { session: Some(session), ..RunFilter::default() };
        for run in self.store().runs(&filter).await? {
            if run.status == RunStatus::WaitingForApproval {
                self.retire(&run).await?;
            }
        }
        Ok(())
    }

    async fn retire(&self, run: &RunRow) -> Result<(), RuntimeError> {
        let mut scribe = Scribe::new(self.world(), run.session, Some(run.id));
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
            if !matches!(row.status, CallStatus::Proposed | CallStatus::WaitingForApproval) {
                continue;
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
        }
        let body = RunStopped { reason_code: CODE.to_owned() };
        scribe.event(Actor::Principal, EventBody::RunCancelled(body));
        self.store().commit(scribe.take(Durability::Full)).await?;
        Ok(())
    }
}
