//! What a run's breaker sees of its calls: as they end, and again from its conversation when somebody else takes
//! the run up. What the model was told is what counts, so that both ways give the same.

use mast_kernel::breaker::{Breaker, Seen, Trip};
use mast_kernel::canonical::{Digest, match_digest};
use mast_kernel::message::{Outcome, OutcomeStatus};
use mast_provider::CallProposal;

use crate::context::{ContextItem, ItemBody};
use crate::gate;
use crate::runtime::Runtime;

/// By what a repetition of a call is told: the tool that it reaches, and its arguments in any spelling.
pub(crate) fn matching(runtime: &Runtime, name: &str, arguments: &str) -> (String, Digest) {
    let (tool, read) = gate::reached(runtime, name, arguments);
    (tool, match_digest(&read).unwrap_or_else(|_| Digest::of(arguments.as_bytes())))
}

/// Counts a call with what it ended in: an outcome that is no success, or the digest of what it brought. The
/// reason code where the run must end.
pub(super) fn note(
    runtime: &Runtime,
    breaker: &mut Breaker,
    call: &CallProposal,
    (outcome, result): (Option<&Outcome>, Option<Digest>),
) -> Option<&'static str> {
    let (tool, matching) = matching(runtime, &call.name, &call.arguments);
    let status = outcome.map_or(OutcomeStatus::Succeeded, Outcome::status);
    let code = outcome.map_or("", Outcome::reason_code);
    let seen = Seen { tool: &tool, matching, status, code, result };
    breaker.note(&seen).filter(|trip| trip.ends_run()).map(Trip::code)
}

/// The breaker of a run whose conversation this is.
pub(super) fn as_it_was(runtime: &Runtime, items: &[ContextItem]) -> Breaker {
    let mut breaker = Breaker::default();
    let mut open: Vec<&CallProposal> = Vec::new();
    for item in items {
        match &item.body {
            ItemBody::Replied { turn } => open = turn.calls.iter().collect(),
            ItemBody::Outcome { provider_call, content, is_error, .. } => {
                let Some(found) = open.iter().position(|call| call.id == *provider_call) else { continue };
                let outcome = is_error.then(|| told(content));
                let result = (!is_error).then(|| Digest::of(content.as_bytes()));
                let _trip = note(runtime, &mut breaker, open.remove(found), (outcome.as_ref(), result));
            }
            ItemBody::Said { .. } => {}
        }
    }
    breaker
}

/// The outcome that a model was told, on the first line; whatever else stands there is of unknown outcome.
fn told(content: &str) -> Outcome {
    let first = content.lines().next().unwrap_or_default();
    let unknown = || Outcome::failure(OutcomeStatus::Uncertain, "unknown", "tool.outcome_unknown");
    serde_json::from_str(first).unwrap_or_else(|_| unknown())
}
