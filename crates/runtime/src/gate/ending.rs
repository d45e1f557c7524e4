//! How a call ends, and what the model reads of it.

use mast_kernel::canonical::{Digest, NotCanonical};
use mast_kernel::id::CallId;
use mast_kernel::message::{Outcome, OutcomeStatus};
use mast_kernel::trust::Label;
use mast_store::StoreError;
use mast_tools::Failure;
use serde_json::Value;

use crate::bus::Ask;
use crate::error::RuntimeError;

/// Why a step does not go on.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The call ends without success.
    Ended(Ending),
    /// A person is asked.
    Asked(Box<Ask>),
    /// It waits for a sibling that asks.
    Waits,
    /// Mast itself cannot go on.
    Fault(RuntimeError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Fault(error.into())
    }
}

impl From<NotCanonical> for Stop {
    fn from(error: NotCanonical) -> Self {
        Self::Fault(error.into())
    }
}

/// An end without success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    /// How it ended.
    pub(crate) status: OutcomeStatus,
    /// Why.
    pub(crate) code: String,
    /// What Mast generates to help: offered names, the offered schema. Never input.
    pub(crate) hint: Option<String>,
    /// Text from outside, shown only in an envelope.
    pub(crate) external: Option<String>,
    /// For the operator.
    pub(crate) detail: String,
}

impl Ending {
    /// An end with this status and reason.
    pub(crate) fn new(status: OutcomeStatus, code: impl Into<String>) -> Self {
        Self { status, code: code.into(), hint: None, external: None, detail: String::new() }
    }

    /// Refused.
    pub(crate) fn denied(code: &str) -> Self {
        Self::new(OutcomeStatus::Denied, code)
    }

    /// Tried, or not to be tried as asked.
    pub(crate) fn failed(code: &str) -> Self {
        Self::new(OutcomeStatus::Failed, code)
    }

    /// With something that helps.
    pub(crate) fn hint(self, hint: String) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// With something for the operator.
    pub(crate) fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }
}

impl From<Failure> for Ending {
    fn from(failure: Failure) -> Self {
        let Failure { kind: _, code, detail, retryable: _, external_text } = failure;
        Self { external: external_text, ..Self::failed(code).detail(detail) }
    }
}

impl From<Ending> for Stop {
    fn from(ending: Ending) -> Self {
        Self::Ended(ending)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Ended(failure.into())
    }
}

/// A call that ended, as the model and the caller read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// Which call.
    pub call: CallId,
    /// Registry name of the tool, or the name that was asked for.
    pub tool: String,
    /// What the model reads: the content of a success, or the six fields and the hints beside them.
    pub content: String,
    /// Text of others beside it; it is shown only in an envelope.
    pub external: Option<String>,
    /// The structured result of a success.
    pub structured: Option<Value>,
    /// The six fields, of anything but a success.
    pub outcome: Option<Outcome>,
    /// The label of it all.
    pub label: Label,
    /// Commitment to what is kept of it.
    pub kept: Option<Digest>,
}

impl Settled {
    /// How the call ended.
    #[must_use]
    pub fn status(&self) -> OutcomeStatus {
        self.outcome.as_ref().map_or(OutcomeStatus::Succeeded, Outcome::status)
    }
}
