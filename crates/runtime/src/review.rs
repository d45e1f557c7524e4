//! The port of a reviewer: somebody beside the rules, such as another model, who looks at calls that the
//! rules allow, and may only tighten. Off unless a program gives the runtime one. It sees what a call is
//! and would touch, never its arguments, the rules or the conversation; one that fails or is late says
//! nothing. See `docs/spec/policy.md`.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use mast_kernel::limits;
use mast_kernel::policy::Advice;
use mast_kernel::resource::Resource;
use mast_kernel::spec::{Risk, SideEffect};
use mast_kernel::trust::Label;

/// What a reviewer sees of a call.
#[derive(Debug, Clone, Copy)]
pub struct Reviewed<'a> {
    /// Registry name of the tool.
    pub tool: &'a str,
    /// What it may do.
    pub side_effect: SideEffect,
    /// How bad a mistake would be.
    pub risk: Risk,
    /// What it would touch.
    pub resources: &'a [Resource],
    /// The origin of the call.
    pub origin: Label,
}

/// A reviewer who could not look.
#[derive(Debug, thiserror::Error)]
#[error("the reviewer could not look: {0}")]
pub struct ReviewFailed(
    /// Why, for the log.
    pub String,
);

/// Somebody who looks at calls that are allowed.
#[async_trait]
pub trait Reviewer: Debug + Send + Sync {
    /// What it says of a call.
    ///
    /// # Errors
    ///
    /// [`ReviewFailed`]; that counts as nothing said.
    async fn review(&self, call: &Reviewed<'_>) -> Result<Advice, ReviewFailed>;
}

/// What a reviewer says in time.
pub(crate) async fn advice(reviewer: &dyn Reviewer, call: &Reviewed<'_>) -> Advice {
    let in_time = Duration::from_secs(limits::REVIEW_SECONDS);
    match tokio::time::timeout(in_time, reviewer.review(call)).await {
        Ok(said) => {
            if let Err(failed) = &said {
                tracing::warn!(tool = call.tool, "{failed}");
            }
            Advice::of(said)
        }
        Err(_) => {
            tracing::warn!(tool = call.tool, "the reviewer was late");
            Advice::Abstain
        }
    }
}
