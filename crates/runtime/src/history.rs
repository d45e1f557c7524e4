//! What a session's calls have done so far, for rules about sequences. It is read from the journal each
//! time, and only where a rule looks back: so it is the same after a restart, and costs nothing else.

use mast_kernel::call::CallStatus;
use mast_kernel::canonical::Digest;
use mast_kernel::id::{CallId, SessionId};
use mast_kernel::policy::{History, Past, Surroundings};
use mast_store::{CallFilter, CallRow};
use serde_json::Value;

use crate::error::RuntimeError;
use crate::gate::Proposal;
use crate::runtime::Runtime;

impl Runtime {
    /// What stands around a call in this session: what every call has, what ran before as far as a rule asks
    /// for it, and the grants in force.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the journal cannot be read.
    pub async fn surroundings_in(&self, session: SessionId) -> Result<Surroundings, RuntimeError> {
        let (history, grants) = (self.history_of(session).await?, self.grants_of(session).await?);
        Ok(Surroundings { history, grants, ..self.surroundings().clone() })
    }

    /// The calls of a session that ran, oldest first; none where no rule asks for them.
    pub(crate) async fn history_of(&self, session: SessionId) -> Result<History, RuntimeError> {
        if !self.policy().looks_back() {
            return Ok(History::default());
        }
        let filter = CallFilter { session: Some(session), ..CallFilter::default() };
        let mut history = Vec::new();
        for row in self.store().calls(&filter).await? {
            if row.attempt > 0 {
                history.extend(self.past_of(&row).await?);
            }
        }
        Ok(history.into())
    }

    async fn past_of(&self, row: &CallRow) -> Result<Option<Past>, RuntimeError> {
        let Some(declared) = &row.declared else { return Ok(None) };
        let (name, arguments) = self.as_asked(row).await?;
        let (tool, arguments) = crate::gate::reached(self, &name, &arguments);
        let body = self.toolbox().body(&declared.tool, &declared.version);
        // A tool that is gone, or arguments that no longer parse, leave what the call was: its tool and class.
        let resources = body
            .filter(|_| tool == declared.tool)
            .and_then(|body| body.resources(&arguments).ok())
            .unwrap_or_default();
        let (tool, side_effect) = (declared.tool.clone(), declared.side_effect);
        Ok(Some(Past { tool, side_effect, resources }))
    }

    /// An earlier call of the session with the same tool and arguments as this one, of which nobody knows whether
    /// it happened: whoever is asked about this one should know of it.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the journal cannot be read.
    pub async fn uncertain_twin(
        &self,
        session: SessionId,
        call: CallId,
    ) -> Result<Option<CallId>, RuntimeError> {
        let status = Some(CallStatus::Uncertain);
        let filter = CallFilter { session: Some(session), status, ..CallFilter::default() };
        let doubtful = self.store().calls(&filter).await?;
        let this = self.store().call(call).await?.filter(|_| !doubtful.is_empty());
        let Some(this) = this else { return Ok(None) };
        let wanted = self.asked_by(&this).await?;
        for row in doubtful.iter().rev().filter(|row| row.id != call) {
            if self.asked_by(row).await? == wanted {
                return Ok(Some(row.id));
            }
        }
        Ok(None)
    }

    /// By what a repetition of a call on record is told.
    async fn asked_by(&self, row: &CallRow) -> Result<(String, Digest), RuntimeError> {
        let (name, arguments) = self.as_asked(row).await?;
        Ok(crate::run_loop::matching(self, &name, &arguments))
    }

    /// The name and the raw arguments of a call on record.
    async fn as_asked(&self, row: &CallRow) -> Result<(String, String), RuntimeError> {
        let asked = self.committed(&row.arguments).await?.unwrap_or_default();
        let text = |name: &str| asked.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok((text("name"), text("arguments")))
    }

    /// What ran before each of these calls of one reply: what did in the session, and then those before it, since
    /// they will have run when its turn comes. None where no rule looks back.
    pub(crate) fn histories(&self, session: &History, calls: &[Proposal]) -> Vec<Option<History>> {
        let mut so_far = session.clone();
        let looks_back = calls.len() > 1 && self.policy().looks_back();
        let after_others = calls.iter().map(|call| {
            let before = looks_back.then(|| so_far.clone());
            if let Some(past) = before.as_ref().and_then(|_| self.will_be(call)) {
                so_far = so_far.and(&past);
            }
            before
        });
        after_others.collect()
    }

    /// What a call will have been once it has run; none for one that reaches no tool, and so will not run.
    fn will_be(&self, call: &Proposal) -> Option<Past> {
        let (tool, arguments) = crate::gate::reached(self, &call.name, &call.arguments);
        let spec = &self.toolbox().registry().get(&tool, None)?.spec;
        let body = self.toolbox().body(&spec.name, &spec.version)?;
        let resources = body.resources(&arguments).unwrap_or_default();
        Some(Past { tool, side_effect: spec.side_effect, resources })
    }
}
