//! The values that events are committed to.

use mast_kernel::canonical::Digest;
use mast_kernel::event::{EventBody, commitment};
use mast_kernel::id::SessionId;

use super::{Audit, Shelf, Wrong};
use crate::audit::{Row as _, Table};
use crate::error::StoreError;
use crate::record::ContentRow;
use crate::traits::JournalReader;

/// What an event is committed to. Pins, seals and prefixes are digests of other things and have no row.
pub(super) fn commitments(body: &EventBody) -> Vec<Digest> {
    match body {
        EventBody::SessionCreated(told) => vec![told.catalogue],
        EventBody::UserMessageCreated(told)
        | EventBody::ContextItemAppended(told)
        | EventBody::AssistantMessageCompleted(told) => vec![told.content],
        EventBody::RunQueued(told) | EventBody::RunStarted(told) => vec![told.contract],
        EventBody::ModelResponseCompleted(told) => vec![told.content],
        EventBody::ToolCallProposed(told) => vec![told.arguments],
        EventBody::ToolCallDenied(told) => vec![told.outcome],
        EventBody::ToolCallCompleted(told)
        | EventBody::ToolCallFailed(told)
        | EventBody::ToolCallUncertain(told) => vec![told.outcome],
        EventBody::ApprovalRequested(told) => vec![told.sealed, told.card],
        EventBody::ApprovalResolved(told) => told.words.into_iter().collect(),
        EventBody::GrantCreated(told) => vec![told.sealed],
        EventBody::RunCompleted(told) => told.report.into_iter().collect(),
        EventBody::RunWaitingForApproval(_)
        | EventBody::RunWaitingForUser(_)
        | EventBody::RunResumed(_)
        | EventBody::RunFailed(_)
        | EventBody::RunCancelled(_)
        | EventBody::ModelRequestStarted(_)
        | EventBody::ModelResponseFailed(_)
        | EventBody::ToolCallAuthorized(_)
        | EventBody::ToolCallStarted(_)
        | EventBody::CallMarked(_)
        | EventBody::CallReconciled(_)
        | EventBody::ApprovalConsumed(_)
        | EventBody::ApprovalInvalidated(_)
        | EventBody::GrantUsed(_)
        | EventBody::GrantRevoked(_)
        | EventBody::GrantExpired(_)
        | EventBody::ContextBudgetExceeded(_)
        | EventBody::ArtifactCreated(_) => Vec::new(),
    }
}

fn is_committed(row: &ContentRow) -> bool {
    commitment(&row.salt, &row.value) == row.commitment
}

/// Checks every value of the store, and that each that is committed to is there.
pub(super) async fn verify_all(journal: &dyn JournalReader, audit: &mut Audit) -> Result<(), StoreError> {
    let mut missing = std::mem::take(&mut audit.committed);
    let mut contents = Shelf::new(Table::Contents, None);
    while let Some(cells) = contents.next(journal).await? {
        audit.report.n_contents += 1;
        let stated = cells.first().cloned().flatten().and_then(|text| text.parse::<Digest>().ok());
        let committed = stated.and_then(|digest| missing.remove(&digest));
        let place = committed.map_or((None, None), |(session, sequence)| (Some(session), Some(sequence)));
        if !ContentRow::read(&cells).is_some_and(|row| is_committed(&row)) {
            let detail = "a value is not the one that was committed to";
            audit.report.add(Wrong::ChangedContent, place, detail);
        } else if committed.is_none() && !audit.is_broken {
            audit.report.add(Wrong::OrphanContent, place, "no event is committed to a value that is there");
        }
    }
    for (session, sequence) in missing.into_values() {
        add_missing(audit, session, sequence);
    }
    Ok(())
}

/// Checks the values that the events seen so far are committed to.
pub(super) async fn verify_committed(
    journal: &dyn JournalReader,
    audit: &mut Audit,
) -> Result<(), StoreError> {
    for (digest, (session, sequence)) in std::mem::take(&mut audit.committed) {
        audit.report.n_contents += 1;
        match journal.content(&digest).await {
            Ok(Some(row)) if row.commitment == digest && is_committed(&row) => {}
            Ok(None) => add_missing(audit, session, sequence),
            Ok(Some(_)) | Err(StoreError::Unreadable { .. }) => {
                let detail = "a value is not the one that was committed to";
                audit.report.add(Wrong::ChangedContent, (Some(session), Some(sequence)), detail);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn add_missing(audit: &mut Audit, session: SessionId, sequence: u64) {
    let detail = "a value that this event is committed to is not there";
    audit.report.add(Wrong::MissingContent, (Some(session), Some(sequence)), detail);
}
