//! The advisory layer: a reviewer outside the kernel (another model, say) may look at a call that every
//! other layer allows, and tighten. It cannot loosen, because there is no word for that; and it is not
//! consulted about anything that is not plainly allowed. One that fails, or is late, abstains: the
//! layers that can be relied on have spoken already. Off unless somebody turns it on.

use super::{Case, Decision, Denial, Finding, Judged, Layer, Policy, Ruling, standing};
use crate::approval::{Approval, Asked};
use crate::event::Reach;

/// What a reviewer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Nothing.
    Abstain,
    /// A person should look at it.
    Ask,
    /// It should not run.
    Deny,
}

impl Advice {
    /// What a reviewer said, or nothing where it failed.
    #[must_use]
    pub fn of<E>(said: Result<Self, E>) -> Self {
        said.unwrap_or(Self::Abstain)
    }

    /// The advice as a layer's finding.
    #[must_use]
    pub const fn finding(self) -> Finding {
        match self {
            Self::Abstain => Finding::pass(Layer::Advisory, "the reviewer has nothing to say"),
            Self::Ask => {
                Finding::ask(Layer::Advisory, "policy.advisory.ask", "the reviewer wants a person to look")
            }
            Self::Deny => {
                Finding::deny(Layer::Advisory, "policy.advisory.deny", "the reviewer is against it")
            }
        }
    }
}

impl Policy {
    /// Adds what a reviewer says to a decision that plainly allows; any other stays as it is, one that a
    /// grant allows too, since a person has spoken there.
    #[must_use]
    pub fn advised(&self, case: &Case<'_>, judged: Judged, advice: Advice) -> Judged {
        let is_plain = matches!(judged.decision, Decision::Allow(_)) && judged.grant.is_none();
        if !is_plain {
            return judged;
        }
        let Judged { mut findings, decision, grant } = judged;
        let finding = advice.finding();
        findings.push(finding);
        let decision = match (finding.ruling, finding.code) {
            (Ruling::Ask, Some(code)) => {
                let asks = standing::asks(&findings);
                let asked = Asked { policy_version: self.version(), code, asks, reach: Reach::Once };
                Decision::Ask(Box::new(Approval::of(case, asked)))
            }
            (Ruling::Deny, Some(code)) => Decision::Deny(Denial { code }),
            _ => decision,
        };
        Judged { findings, decision, grant }
    }
}
