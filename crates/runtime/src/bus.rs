//! What a surface hears while a run is at work. It is told, and cannot answer: nothing that a surface
//! does with it reaches a decision.

use async_trait::async_trait;
use mast_kernel::id::{ApprovalId, CallId, RunId};
use mast_kernel::instant::Instant;
use mast_kernel::message::OutcomeStatus;
use mast_kernel::policy::Ruling;
use mast_kernel::spec::Risk;
use mast_provider::Usage;
use serde_json::Value;

use crate::verdict::Verdict;

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// The run began.
    RunStarted {
        /// Which run.
        run: RunId,
        /// Who answers.
        provider: String,
        /// With which model.
        model: String,
    },
    /// The model was asked.
    ModelStarted {
        /// Step, counted from 1.
        step: u32,
    },
    /// The model answered.
    ModelEnded {
        /// Step, counted from 1.
        step: u32,
        /// What it cost.
        usage: Usage,
        /// How many calls it proposed.
        n_calls: usize,
    },
    /// A call was decided.
    CallDecided {
        /// Which call.
        call: CallId,
        /// Registry name of the tool, or what the model called it.
        tool: String,
        /// The arguments in short: text of the model's making.
        summary: String,
        /// What was decided.
        ruling: Ruling,
        /// Why, in a few plain words.
        why: &'static str,
        /// Whether a person was asked about this very call, and has answered.
        is_answered: bool,
    },
    /// A call ended.
    CallEnded {
        /// Which call.
        call: CallId,
        /// Registry name of the tool, or what the model called it.
        tool: String,
        /// How it ended.
        status: OutcomeStatus,
        /// The reason code, unless it succeeded.
        reason_code: Option<String>,
        /// How long it ran, in milliseconds.
        millis: u64,
    },
    /// A person is asked.
    Asked(Ask),
    /// The run ended or waits; nothing follows.
    RunEnded {
        /// Which run.
        run: RunId,
    },
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Under which id it is answered.
    pub approval: ApprovalId,
    /// The call that waits.
    pub call: CallId,
    /// Registry name of the tool.
    pub tool: String,
    /// How bad a mistake would be.
    pub risk: Risk,
    /// What a person is shown: the whole action, as structured data.
    pub card: Value,
    /// When the question closes.
    pub expires_at: Instant,
    /// An earlier call of the session with the same tool and arguments of which nobody knows whether it happened.
    pub twin: Option<CallId>,
}

/// A surface that listens. It is called between two steps of a run and must not block.
pub trait Observer: Send + Sync {
    /// Takes one event.
    fn observe(&self, progress: &Progress);
}

/// A person at a surface who judges what is asked. A surface without one lets the run wait.
#[async_trait]
pub trait Judge: Send + Sync {
    /// The verdict, and words for the model with a no; none where they leave it open.
    async fn judge(&self, ask: &Ask) -> Option<(Verdict, Option<String>)>;
}

/// A surface that does not listen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe(&self, _: &Progress) {}
}
