//! The states of a call, and which may follow which. Every store moves a call by this table and by
//! nothing else, so that a call cannot run twice, and a settled one stays settled.
//! See `docs/spec/gate.md`.

use serde::{Deserialize, Serialize};

use crate::spec::wire_enum;

wire_enum! {
    /// Where a call is.
    CallStatus {
        /// The model asked for it; nothing is decided.
        Proposed = "proposed",
        /// Decided, and its intent is committed.
        Authorized = "authorized",
        /// It waits for a person.
        WaitingForApproval = "waiting_for_approval",
        /// Claimed: its body may be running.
        Running = "running",
        /// It ended well.
        Succeeded = "succeeded",
        /// It ended badly.
        Failed = "failed",
        /// It was refused.
        Denied = "denied",
        /// Nobody can say whether it happened.
        Uncertain = "uncertain",
    }
}

impl CallStatus {
    /// Whether nothing follows any more.
    #[must_use]
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Denied | Self::Uncertain)
    }

    /// Whether a call in this state may move to `next`.
    ///
    /// RUNNING to AUTHORIZED is the recovery of a call that may run again. UNCERTAIN is left only by a
    /// person, who says what happened.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        match self {
            Self::Proposed => {
                matches!(next, Self::Authorized | Self::WaitingForApproval | Self::Failed | Self::Denied)
            }
            Self::Authorized => matches!(next, Self::Running | Self::Failed | Self::Denied),
            Self::WaitingForApproval => {
                matches!(next, Self::Authorized | Self::Running | Self::Failed | Self::Denied)
            }
            Self::Running => {
                matches!(next, Self::Succeeded | Self::Failed | Self::Uncertain | Self::Authorized)
            }
            Self::Uncertain => matches!(next, Self::Succeeded | Self::Failed),
            Self::Succeeded | Self::Failed | Self::Denied => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_table() {
        let mut allowed = Vec::new();
        for from in CallStatus::ALL {
            for to in CallStatus::ALL {
                if from.may_become(*to) {
                    allowed.push(format!("{from} > {to}"));
                }
            }
        }
        expect_test::expect![[r#"
            proposed > authorized
            proposed > waiting_for_approval
            proposed > failed
            proposed > denied
            authorized > running
            authorized > failed
            authorized > denied
            waiting_for_approval > authorized
            waiting_for_approval > running
            waiting_for_approval > failed
            waiting_for_approval > denied
            running > authorized
            running > succeeded
            running > failed
            running > uncertain
            uncertain > succeeded
            uncertain > failed"#]]
        .assert_eq(&allowed.join("\n"));
    }

    #[test]
    fn only_a_claim_makes_a_call_run_and_it_cannot_be_claimed_while_it_runs() {
        assert!(!CallStatus::Running.may_become(CallStatus::Running));
        assert!(!CallStatus::Proposed.may_become(CallStatus::Running));
    }
}
