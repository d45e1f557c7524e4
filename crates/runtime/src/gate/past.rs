//! What was said of a call before it comes to the gate: nothing, that it was proposed, or a verdict.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::policy::Yes;
use mast_store::ApprovalRow;
use serde_json::Value;

use super::{Ending, Stop};

/// The past of a call.
#[derive(Debug, Clone)]
pub(crate) enum Past {
    /// It is new.
    New,
    /// Its proposal is on record; it waited for a sibling.
    Proposed,
    /// A person was asked, and the question is settled.
    Answered(Box<Answered>),
}

/// A settled question, read back.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    /// Where it stands.
    pub(crate) row: ApprovalRow,
    /// The fields that were sealed.
    pub(crate) fields: Value,
    /// The person's words for the model.
    pub(crate) words: Option<String>,
}

impl Past {
    /// Whether the proposal is on record.
    pub(super) const fn is_proposed(&self) -> bool {
        !matches!(self, Self::New)
    }

    /// The yes of a person, where they gave one.
    pub(super) fn yes(&self) -> Option<Yes<'_>> {
        match self {
            Self::Answered(answered) if answered.row.status == ApprovalStatus::Approved => Some(Yes {
                approval: answered.row.id,
                fields: &answered.fields,
                seal: answered.row.seal,
                agent_version: crate::AGENT_VERSION,
            }),
            Self::New | Self::Proposed | Self::Answered(_) => None,
        }
    }

    /// Stops a call that a person, or time, has said no to.
    pub(super) fn held_to(&self) -> Result<(), Stop> {
        let Self::Answered(answered) = self else { return Ok(()) };
        match answered.row.status {
            ApprovalStatus::Approved => Ok(()),
            ApprovalStatus::Denied => {
                let said = answered.words.as_deref().filter(|words| !words.trim().is_empty());
                let ending = Ending::denied("approval.denied");
                Err(match said {
                    Some(words) => ending.hint(format!("The person said: {words}")).into(),
                    None => ending.into(),
                })
            }
            ApprovalStatus::Expired => Err(Ending::denied("approval.expired").into()),
            ApprovalStatus::Void | ApprovalStatus::Pending | ApprovalStatus::Consumed => {
                let code = answered.row.reason_code.as_deref().unwrap_or("approval.void");
                Err(Ending::denied(code).into())
            }
        }
    }
}
