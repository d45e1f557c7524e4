//! What a session's calls have done so far, for rules about sequences. It is read from the journal each
//! time, and only where a rule looks back: so it is the same after a restart, and costs nothing else.

use mast_kernel::id::SessionId;
use mast_kernel::policy::{History, Past};
use mast_store::{CallFilter, CallRow};
use serde_json::Value;

use crate::error::RuntimeError;
use crate::runtime::Runtime;

impl Runtime {
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
        let asked = self.committed(&row.arguments).await?.unwrap_or_default();
        let text = |name: &str| asked.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (tool, arguments) = crate::gate::reached(self, &text("name"), &text("arguments"));
        let body = self.toolbox().body(&declared.tool, &declared.version);
        // A tool that is gone, or arguments that no longer parse, leave what the call was: its tool and class.
        let resources = body
            .filter(|_| tool == declared.tool)
            .and_then(|body| body.resources(&arguments).ok())
            .unwrap_or_default();
        let (tool, side_effect) = (declared.tool.clone(), declared.side_effect);
        Ok(Some(Past { tool, side_effect, resources }))
    }
}
