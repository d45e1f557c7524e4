//! The required commands, run when the model has answered. Each is a call of its own that passes the gate:
//! the rules judge it, it is on record, and where a person would have to be asked it is denied, since the
//! run is over for its model and there is nothing left to wait with.

use mast_kernel::canonical::Digest;
use mast_kernel::completion::{CheckedCommand, Checking, RequiredCheck, changed};
use mast_kernel::id::CallId;
use mast_kernel::message::OutcomeStatus;
use mast_kernel::run::{ApprovalMode, Mode, TurnContract};
use mast_kernel::trust::Label;
use serde_json::Value;

use super::{CheckCall, Frozen, Verifier};
use crate::error::RuntimeError;
use crate::gate::{Frame, Gate, Passed, Past, Proposal, Seat, Settled};
use crate::run_loop::Work;

/// The reason code where nobody can run it.
const UNAVAILABLE: &str = "run.verifier_unavailable";

impl Work<'_> {
    /// Runs the required commands, all on one copy, in their order.
    pub(super) async fn checks(&self) -> Result<Vec<CheckedCommand>, RuntimeError> {
        let checks = &self.terms.contract.required.checks;
        if checks.is_empty() {
            return Ok(Vec::new());
        }
        let all = |code: &str| {
            let not_run = |check: &RequiredCheck| CheckedCommand {
                command: check.command.clone(),
                checking: Checking::NotRun { code: code.to_owned() },
            };
            checks.iter().map(not_run).collect()
        };
        let Some(verifier) = self.runtime.verifier() else { return Ok(all(UNAVAILABLE)) };
        let copy = match verifier.freeze(self.at.run).await {
            Ok(copy) => copy,
            Err(error) => {
                tracing::warn!("{error}");
                return Ok(all(UNAVAILABLE));
            }
        };
        let mut came = Vec::with_capacity(checks.len());
        for (index, check) in checks.iter().enumerate() {
            let place = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let checking = self.check(verifier, check, &copy, place).await?;
            came.push(CheckedCommand { command: check.command.clone(), checking });
        }
        verifier.discard(copy).await;
        Ok(came)
    }

    async fn check(
        &self,
        verifier: &dyn Verifier,
        check: &RequiredCheck,
        copy: &Frozen,
        place: u32,
    ) -> Result<Checking, RuntimeError> {
        let guard = match verifier.guard(&check.command, Some(copy)).await {
            Ok(guard) => guard,
            Err(error) => {
                tracing::warn!("{error}");
                return Ok(Checking::NotRun { code: UNAVAILABLE.to_owned() });
            }
        };
        let paths = changed(&check.guard, &guard);
        if !paths.is_empty() {
            return Ok(Checking::Changed { paths });
        }
        let settled = self.pass_check(verifier.call(&check.command, copy), place).await?;
        Ok(settled.map_or_else(
            || Checking::NotRun { code: "run.verifier_denied".to_owned() },
            |settled| judge(&settled, copy.digest),
        ))
    }

    /// Passes one call through the gate, as the person's own: they wrote the command, and the copy that it
    /// runs on is all that it can reach. None where a person would have to be asked.
    async fn pass_check(&self, call: CheckCall, place: u32) -> Result<Option<Settled>, RuntimeError> {
        let contract = TurnContract {
            tools: [call.tool.clone()].into(),
            mode: Mode::Act,
            approval_mode: ApprovalMode::Deny,
            ..self.terms.contract.clone()
        };
        let mut frame = Frame { contract: &contract, ..self.frame(self.spent.steps(), Label::typed()) };
        frame.surroundings.history = self.runtime.history_of(self.session.id()).await?;
        let gate = Gate { runtime: self.runtime, frame: &frame, observer: self.surface.observer };
        let proposal = Proposal {
            call: CallId::from_u128(self.runtime.world().ids.next_bits()),
            name: call.tool,
            arguments: call.arguments.to_string(),
            seat: Seat { place, provider_call: None },
            past: Past::New,
        };
        let passed = gate.pass_all(std::slice::from_ref(&proposal)).await?.pop();
        Ok(match passed {
            Some(Passed::Settled(settled)) => Some(settled),
            Some(Passed::Asked(_) | Passed::Waits) | None => None,
        })
    }
}

/// What a settled call says of the copy. A result that does not name this copy says nothing of it.
fn judge(settled: &Settled, copy: Digest) -> Checking {
    let facts = settled.structured.as_ref();
    let ran_on = facts.and_then(|facts| facts.get("copy")).and_then(Value::as_str);
    let exit_code = facts.and_then(|facts| facts.get("exit_code")).and_then(Value::as_i64);
    match (settled.status(), exit_code) {
        (OutcomeStatus::Denied, _) => Checking::NotRun { code: "run.verifier_denied".to_owned() },
        (OutcomeStatus::Succeeded, Some(code)) if ran_on == Some(copy.to_string().as_str()) => match code {
            0 => Checking::Passed { copy },
            _ => Checking::Failed { copy },
        },
        _ => Checking::NotRun { code: UNAVAILABLE.to_owned() },
    }
}
