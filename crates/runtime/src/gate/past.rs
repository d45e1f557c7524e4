//! What was said of a call before it comes to the gate: nothing, that it was proposed, a verdict, or that
//! somebody began it and is gone.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::canonical::Digest;
use mast_kernel::limits;
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
    /// It was decided, and perhaps claimed, by a process that is gone.
    Begun(Box<Begun>),
}

/// How far a call had come.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    /// How often it was claimed.
    pub(crate) n_attempts: u32,
    /// Whether it is claimed now, and not only decided.
    pub(crate) is_claimed: bool,
    /// Whether it said that it is about to reach out.
    pub(crate) is_marked: bool,
    /// Its idempotency key.
    pub(crate) key: Option<Digest>,
    /// The question that was settled about it.
    pub(crate) answered: Option<Answered>,
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

    /// The question that was settled.
    fn answered(&self) -> Option<&Answered> {
        match self {
            Self::Answered(answered) => Some(answered),
            Self::Begun(begun) => begun.answered.as_ref(),
            Self::New | Self::Proposed => None,
        }
    }

    /// Whether a question about it was settled.
    pub(super) fn is_answered(&self) -> bool {
        self.answered().is_some()
    }

    /// The yes of a person, where they gave one to this call. That it was used for this very call does not
    /// end it: what is run again is the same call.
    pub(super) fn yes(&self) -> Option<Yes<'_>> {
        let answered = self.answered()?;
        let holds = match answered.row.status {
            ApprovalStatus::Approved => true,
            ApprovalStatus::Consumed => matches!(self, Self::Begun(_)),
            _ => false,
        };
        holds.then_some(Yes {
            approval: answered.row.id,
            fields: &answered.fields,
            seal: answered.row.seal,
            agent_version: crate::AGENT_VERSION,
        })
    }

    /// The yes, where it is not used yet.
    pub(super) fn unused_yes(&self) -> Option<Yes<'_>> {
        let is_unused = |answered: &Answered| answered.row.status == ApprovalStatus::Approved;
        self.yes().filter(|_| self.answered().is_some_and(is_unused))
    }

    /// Whether a process that is gone had claimed it.
    pub(super) fn was_claimed(&self) -> bool {
        matches!(self, Self::Begun(begun) if begun.is_claimed)
    }

    /// How often it was claimed.
    pub(super) fn n_attempts(&self) -> u32 {
        if let Self::Begun(begun) = self { begun.n_attempts } else { 0 }
    }

    /// Whether it said that it is about to reach out.
    pub(super) fn is_marked(&self) -> bool {
        matches!(self, Self::Begun(begun) if begun.is_marked)
    }

    /// Stops a call that may not be run again: it was tried too often, or is not the call any more that
    /// was claimed.
    pub(super) fn may_go_on(&self, key: Digest) -> Result<(), Stop> {
        let Self::Begun(begun) = self else { return Ok(()) };
        if begun.n_attempts >= limits::ATTEMPTS_MAX {
            return Err(Ending::failed("tool.recovery.exhausted").into());
        }
        if begun.is_claimed && begun.key.is_some_and(|claimed| claimed != key) {
            return Err(Ending::failed("tool.recovery.changed").into());
        }
        Ok(())
    }

    /// Stops a call that a person, or time, has said no to.
    pub(super) fn held_to(&self) -> Result<(), Stop> {
        let Some(answered) = self.answered().filter(|_| self.yes().is_none()) else { return Ok(()) };
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
