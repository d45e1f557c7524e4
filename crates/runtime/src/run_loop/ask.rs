//! One question to the model, and what it replied.

use mast_kernel::canonical::Digest;
use mast_kernel::event::{
    Actor, EventBody, ModelRequestStarted, ModelResponseCompleted, ModelResponseFailed, StopKind,
};
use mast_kernel::instant::Instant;
use mast_kernel::trust::{Label, SourceKind};
use mast_provider::{ProviderError, Request, Stop, Turn, Usage};
use mast_store::Durability;

use super::{Ended, RunFailure, Work};
use crate::bus::Progress;
use crate::context::{self, ItemBody, Parts};
use crate::error::RuntimeError;
use crate::scribe::Scribe;

/// How often a model that said nothing is asked for the same step.
const N_ASKS_MAX: u32 = 2;

/// A reply, on record.
pub(super) struct Reply {
    pub(super) turn: Turn,
    /// Commitment to the whole reply.
    pub(super) content: Digest,
    /// What everything in the request could have made of it.
    pub(super) label: Label,
    /// The same, with the source of its least trusted part: the origin of the calls.
    pub(super) origin: Label,
}

impl Work<'_> {
    /// Asks the model; once more where it said nothing at all.
    pub(super) async fn ask(
        &mut self,
        step: u32,
        answer_only: bool,
    ) -> Result<Result<Reply, Ended>, RuntimeError> {
        let mut code = "run.empty_model_turn";
        for _ in 0..N_ASKS_MAX {
            if !self.spent.take_model_call() {
                return Ok(Err(Ended::failed("run.budget_exceeded")));
            }
            let reply = match self.ask_once(step, answer_only).await? {
                Ok(reply) => reply,
                Err(ended) => return Ok(Err(ended)),
            };
            if !reply.turn.is_empty() {
                return Ok(Ok(reply));
            }
            let thought = !reply.turn.reasoning.is_empty();
            code = if thought { "run.reasoning_only" } else { "run.empty_model_turn" };
        }
        Ok(Err(Ended::failed(code)))
    }

    async fn ask_once(&mut self, step: u32, answer_only: bool) -> Result<Result<Reply, Ended>, RuntimeError> {
        let label = context::origin(&self.session.items, self.terms.has_instructions);
        if label.sensitivity > self.provider.max_sensitivity() {
            return Ok(Err(Ended::failed("run.too_sensitive_for_provider")));
        }
        let request = context::build(&Parts {
            prefix: &self.terms.prefix,
            items: &self.session.items,
            key: &self.session.key,
            date_line: self.terms.date_line.as_deref(),
            answer_only,
        });
        self.tell(&Progress::ModelStarted { step });
        self.post(EventBody::ModelRequestStarted(ModelRequestStarted {
            step,
            prefix: self.terms.prefix.digest(),
            items: u32::try_from(request.items.len()).unwrap_or(u32::MAX),
            tools: u32::try_from(self.terms.prefix.n_tools()).unwrap_or(u32::MAX),
            answer_only,
        }));
        let began = self.runtime.world().clock.now();
        match self.complete(&request).await {
            None => Ok(Err(Ended::Cancelled)),
            Some(Ok(turn)) => Ok(Ok(self.replied(step, context::heard(turn), label, began)?)),
            Some(Err(error)) => Ok(Err(self.not_replied(step, error, began))),
        }
    }

    /// The turn, or none where the run was told to stop meanwhile.
    async fn complete(&self, request: &Request) -> Option<Result<Turn, ProviderError>> {
        let mut held = mast_provider::Discard;
        tokio::select! {
            biased;
            () = self.surface.cancellation.cancelled() => None,
            turn = self.provider.complete(request, &mut held) => Some(turn),
        }
    }

    fn replied(
        &mut self,
        step: u32,
        turn: Turn,
        origin: Label,
        began: Instant,
    ) -> Result<Reply, RuntimeError> {
        let duration_ms = self.runtime.world().clock.now().millis_since(began);
        self.usage = sum(self.usage, turn.usage);
        let n_calls = turn.calls.len();
        self.tell(&Progress::ModelEnded { step, usage: turn.usage, n_calls });
        let mut scribe = self.scribe();
        let content = scribe.content(&ItemBody::Replied { turn: turn.clone() })?;
        let body = ModelResponseCompleted {
            step,
            stop: stop_kind(&turn.stop),
            calls: u32::try_from(n_calls).unwrap_or(u32::MAX),
            input_tokens: turn.usage.input_tokens,
            output_tokens: turn.usage.output_tokens,
            cost_micro_usd: turn.usage.cost_micro_usd,
            duration_ms,
            content,
        };
        scribe.event(Actor::Model, EventBody::ModelResponseCompleted(body));
        self.runtime.store().post(scribe.take(Durability::Normal));
        let label = Label { source: SourceKind::Model, ..origin };
        Ok(Reply { turn, content, label, origin })
    }

    fn not_replied(&self, step: u32, error: ProviderError, began: Instant) -> Ended {
        let duration_ms = self.runtime.world().clock.now().millis_since(began);
        let code = "run.model_error";
        let reason_code = format!("{code}.{}", error.code());
        self.post(EventBody::ModelResponseFailed(ModelResponseFailed { step, reason_code, duration_ms }));
        Ended::Failed(RunFailure { code, provider: Some(error) })
    }

    fn post(&self, body: EventBody) {
        let mut scribe = self.scribe();
        scribe.event(Actor::Platform, body);
        self.runtime.store().post(scribe.take(Durability::Normal));
    }
}

impl<'a> Work<'a> {
    /// A scribe for this run.
    pub(crate) fn scribe(&self) -> Scribe<'a> {
        Scribe::new(self.runtime.world(), self.session.id(), Some(self.at.run)).fenced(self.at.epoch)
    }
}

const fn stop_kind(stop: &Stop) -> StopKind {
    match stop {
        Stop::End => StopKind::End,
        Stop::ToolCalls => StopKind::ToolCalls,
        Stop::Length => StopKind::Length,
        Stop::Filtered => StopKind::Filtered,
        Stop::Other(_) => StopKind::Other,
    }
}

/// What two replies cost together; a figure that nobody gave stays none.
pub(super) fn sum(a: Usage, b: Usage) -> Usage {
    let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    };
    Usage {
        input_tokens: add(a.input_tokens, b.input_tokens),
        output_tokens: add(a.output_tokens, b.output_tokens),
        cached_input_tokens: add(a.cached_input_tokens, b.cached_input_tokens),
        cost_micro_usd: add(a.cost_micro_usd, b.cost_micro_usd),
    }
}
