//! Runs: the work on one user message. Where a run is ([`RunStatus`]), what its end is worth
//! ([`Completion`]), and what was offered to it ([`TurnContract`]). See `docs/spec/runs.md`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::completion::Required;
use crate::spec::wire_enum;

wire_enum! {
    /// Where a run is.
    RunStatus {
        /// Accepted, not begun.
        Queued = "queued",
        /// At work.
        Running = "running",
        /// A person must judge a call.
        WaitingForApproval = "waiting_for_approval",
        /// The model asked the person something.
        WaitingForUser = "waiting_for_user",
        /// It answered.
        Completed = "completed",
        /// It could not go on.
        Failed = "failed",
        /// It was stopped.
        Cancelled = "cancelled",
    }
}

impl RunStatus {
    /// Whether nothing follows any more.
    #[must_use]
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Whether a run in this state may move to `next`.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        match self {
            Self::Queued => matches!(next, Self::Running | Self::Failed | Self::Cancelled),
            Self::Running => !matches!(next, Self::Running | Self::Queued),
            Self::WaitingForApproval | Self::WaitingForUser => {
                matches!(next, Self::Running | Self::Failed | Self::Cancelled)
            }
            Self::Completed | Self::Failed | Self::Cancelled => false,
        }
    }
}

wire_enum! {
    /// What the end of a run is worth: a function of receipts and the contract, never of the answer's
    /// own words.
    Completion {
        /// A verifier ran and passed on what was made.
        Verified = "verified",
        /// Everything that was required is on record.
        Satisfied = "satisfied",
        /// It answered, and nothing on record speaks for or against the answer.
        Unverified = "unverified",
        /// Something that was required is missing.
        Incomplete = "incomplete",
        /// A person must act first.
        AwaitingUser = "awaiting_user",
        /// It was stopped.
        Cancelled = "cancelled",
        /// It could not go on.
        Failed = "failed",
    }
}

wire_enum! {
    /// How much a run may do at all.
    Mode {
        /// Act within policy.
        Act = "act",
        /// Look, and change nothing.
        Plan = "plan",
        /// Answer without any tool.
        NoTools = "no_tools",
    }
}

wire_enum! {
    /// What happens when a call must ask.
    ApprovalMode {
        /// A person is there.
        Interactive = "interactive",
        /// The run waits, and holds nothing meanwhile.
        Park = "park",
        /// The call is denied.
        Deny = "deny",
    }
}

wire_enum! {
    /// Which runs are taken up first where many wait for a worker. Each has slots of its own, so that none
    /// starves another.
    Priority {
        /// A person sits before it.
        Interactive = "interactive",
        /// The usual.
        Normal = "normal",
        /// It may wait for as long as it takes.
        Background = "background",
    }
}

#[expect(clippy::derivable_impls, reason = "the list of wire names derives none")]
impl Default for Priority {
    fn default() -> Self {
        Self::Normal
    }
}

impl Priority {
    /// Whether it is the usual one, which is not written down.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        *self == Self::Normal
    }
}

/// What one run was offered, fixed before its first model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnContract {
    /// Registry names of the tools offered.
    pub tools: BTreeSet<String>,
    /// How much it may do.
    pub mode: Mode,
    /// What happens when a call must ask.
    pub approval_mode: ApprovalMode,
    /// When it must stop.
    pub budget: Budget,
    /// What it must do besides answering.
    #[serde(default, skip_serializing_if = "Required::is_empty")]
    pub required: Required,
    /// The folder that it may work in, by its one name on the machine; none where it has no files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_run_stays_ended_and_a_waiting_one_can_go_on() {
        for status in RunStatus::ALL {
            let follows = RunStatus::ALL.iter().filter(|next| status.may_become(**next)).count();
            assert_eq!(follows == 0, status.is_ended(), "{status}");
        }
        assert!(RunStatus::WaitingForApproval.may_become(RunStatus::Running));
        assert!(!RunStatus::WaitingForApproval.may_become(RunStatus::Completed));
    }
}
