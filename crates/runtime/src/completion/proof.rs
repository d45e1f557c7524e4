//! What is known when a model has answered: the checks are run, the receipts read, the requirements
//! decided, and the answer held against what is on record.

use mast_kernel::assertion::{self, Checked};
use mast_kernel::canonical::NotCanonical;
use mast_kernel::completion::{Decided, Evidence, decide};
use mast_kernel::event::RunCompleted;
use mast_kernel::run::Completion;
use mast_store::{CallFilter, Durability};

use super::Report;
use crate::error::RuntimeError;
use crate::run_loop::{Work, settle_lost};
use crate::scribe::Scribe;

/// What an answer is worth, and what stands beside it.
#[derive(Debug)]
pub(crate) struct Proof {
    /// What the end is worth.
    pub(crate) completion: Completion,
    /// What stands beside the answer.
    pub(crate) report: Report,
}

impl Work<'_> {
    /// Finds out what an answer is worth.
    pub(crate) async fn prove(&self, answer: &str, is_whole: bool) -> Result<Proof, RuntimeError> {
        self.settle_left().await?;
        let required = &self.terms.contract.required;
        let checks = self.checks().await?;
        let mut files = Vec::with_capacity(required.files.len());
        for file in &required.files {
            files.push(self.runtime.look(&file.path, self.terms.workspace.as_ref()).await);
        }
        let receipts = self.runtime.receipts(self.at.run).await?;
        let evidence = Evidence { is_whole, receipts: &receipts, files: &files, checks: &checks };
        let Decided { completion, reasons } = decide(required, &evidence);
        let assertions = assertion::check(assertion::all(answer, &receipts), &receipts);
        let is_marked = assertions.iter().any(Checked::is_unsupported);
        let marked = is_marked.then(|| assertion::marked(answer, &assertions));
        let is_required = !required.is_empty();
        let report = Report { is_required, reasons, assertions, marked, files, checks };
        Ok(Proof { completion, report })
    }

    /// Settles what a verifier left open whose process is gone: it is run anew.
    async fn settle_left(&self) -> Result<(), RuntimeError> {
        if self.at.epoch == 0 {
            return Ok(());
        }
        let filter = CallFilter { run: Some(self.at.run), ..CallFilter::default() };
        let mut scribe = self.scribe();
        for row in self.runtime.store().calls(&filter).await? {
            if !row.status.is_settled() {
                settle_lost(&mut scribe, &row, None)?;
            }
        }
        if !scribe.is_empty() {
            self.runtime.store().commit(scribe.take(Durability::Full)).await?;
        }
        Ok(())
    }
}

impl Proof {
    /// Puts the report on record, where it says anything, and names it in the run's last event.
    pub(crate) fn written(
        &self,
        scribe: &mut Scribe<'_>,
        event: RunCompleted,
    ) -> Result<RunCompleted, NotCanonical> {
        let report = &self.report;
        if !report.is_required && report.reasons.is_empty() && report.assertions.is_empty() {
            return Ok(event);
        }
        let mut reasons: Vec<String> = report.reasons.iter().map(|reason| reason.code.clone()).collect();
        reasons.dedup();
        Ok(RunCompleted { reasons, report: Some(scribe.content(report)?), ..event })
    }
}
