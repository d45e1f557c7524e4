//! The receipts of a run: what its calls did, read back from the journal's rows and the values that they
//! are committed to, never from what a model said.

use mast_kernel::effect::{Receipt, first_words};
use mast_kernel::event::{EventBody, Reconciled};
use mast_kernel::id::RunId;
use mast_kernel::message::OutcomeStatus;
use mast_kernel::resource::Resource;
use mast_kernel::spec::SideEffect;
use mast_store::{CallFilter, CallRow, READ_ROWS_MAX, RunRow};
use serde_json::Value;

use super::Report;
use crate::error::RuntimeError;
use crate::runtime::Runtime;

impl Runtime {
    /// The receipts of the calls of a run that are settled, oldest first.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the store fails.
    pub async fn receipts(&self, run: RunId) -> Result<Vec<Receipt>, RuntimeError> {
        let filter = CallFilter { run: Some(run), ..CallFilter::default() };
        let mut receipts = Vec::new();
        for row in self.store().calls(&filter).await? {
            receipts.extend(self.receipt(&row).await?);
        }
        Ok(receipts)
    }

    /// What was put on record beside the answer of a run; none where nothing was, or it has no answer yet.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the store fails.
    pub async fn report(&self, run: &RunRow) -> Result<Option<Report>, RuntimeError> {
        let mut after = 0;
        loop {
            let events = self.store().events(run.session, after, READ_ROWS_MAX).await?;
            let of_run = events.iter().filter(|event| event.run == Some(run.id));
            for event in of_run {
                if let Ok(EventBody::RunCompleted(told)) = event.body() {
                    let Some(kept) = told.report else { return Ok(None) };
                    let kept = self.committed(&kept).await?;
                    return Ok(kept.and_then(|kept| serde_json::from_value(kept).ok()));
                }
            }
            match events.last() {
                Some(last) => after = last.sequence,
                None => return Ok(None),
            }
        }
    }

    /// The receipt of one call; none where it is not settled, or its outcome cannot be read any more.
    async fn receipt(&self, row: &CallRow) -> Result<Option<Receipt>, RuntimeError> {
        let Some(stated) = row.outcome_status else { return Ok(None) };
        let kept = match &row.outcome {
            Some(commitment) => self.committed(commitment).await?,
            None => None,
        };
        let Some(kept) = kept else { return Ok(None) };
        let (tool, resources) = self.touched(row).await?;
        let status = match row.reconciled {
            Some(Reconciled::Happened) => OutcomeStatus::Succeeded,
            Some(Reconciled::DidNot) => OutcomeStatus::Failed,
            None => stated,
        };
        let words = kept.get("content").and_then(Value::as_str).unwrap_or_default();
        Ok(Some(Receipt {
            call: row.id,
            side_effect: row.declared.as_ref().map_or(SideEffect::None, |declared| declared.side_effect),
            resources,
            status,
            reason_code: row.reason_code.clone(),
            started_at: row.started_at,
            completed_at: row.completed_at,
            is_whole: !row.truncated,
            label: row.label.unwrap_or(row.origin),
            statement: statement(&tool, row, status, words),
            facts: kept.get("structured").cloned().unwrap_or_default(),
            tool,
        }))
    }

    /// The tool of a call, and what it touched.
    async fn touched(&self, row: &CallRow) -> Result<(String, Vec<Resource>), RuntimeError> {
        let Some(declared) = &row.declared else { return Ok(("unknown".to_owned(), Vec::new())) };
        let asked = self.committed(&row.arguments).await?.unwrap_or_default();
        let text = |name: &str| asked.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (tool, arguments) = crate::gate::reached(self, &text("name"), &text("arguments"));
        let body = self.toolbox().body(&declared.tool, &declared.version);
        let touched = body.filter(|_| tool == declared.tool).and_then(|body| body.resources(&arguments).ok());
        Ok((declared.tool.clone(), touched.unwrap_or_default()))
    }
}

/// What a receipt literally says.
fn statement(tool: &str, row: &CallRow, status: OutcomeStatus, words: &str) -> String {
    let why = row.reason_code.as_deref().unwrap_or_default();
    match (row.reconciled, status) {
        (Some(_), OutcomeStatus::Succeeded) => format!("{tool} was found to have happened"),
        (Some(_), _) => format!("{tool} was found not to have happened"),
        (None, OutcomeStatus::Succeeded) => format!("{tool} gave {}", first_words(words)),
        (None, OutcomeStatus::Uncertain) => format!("nobody knows the outcome of {tool}"),
        (None, _) => format!("{tool} was {status}: {why}"),
    }
}
