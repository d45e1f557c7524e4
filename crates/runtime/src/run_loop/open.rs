//! What is still to be done with the calls of a run's last reply, as the journal has it: whoever takes the
//! run up goes on in the middle of a batch, and proposes and does nothing twice.
//!
//! | a call is | then |
//! |---|---|
//! | not on record | it is passed to the gate as a new one |
//! | proposed, or asked about | it passes the gate with what was said of it |
//! | decided or claimed | it is decided again, and may run again |
//! | claimed and marked, and must not be done twice | its outcome is unknown: it is settled as that |
//! | settled | the model is told, if it was not |

use std::collections::BTreeMap;

use mast_kernel::call::CallStatus;
use mast_kernel::event::{Actor, EventBody, ToolCallSettled};
use mast_kernel::id::CallId;
use mast_kernel::message::{Outcome, OutcomeStatus};
use mast_kernel::spec::Idempotency;
use mast_kernel::trust::{Label, Sensitivity, SourceKind, Trust};
use mast_provider::CallProposal;
use mast_store::{ApprovalRow, CallFilter, CallRow, Durability};
use serde_json::{Value, json};

use super::Work;
use super::act::Disposed;
use super::resume::SoFar;
use crate::context::{self, ItemBody};
use crate::error::RuntimeError;
use crate::gate::{Answered, Begun, Passed, Past, Proposal, Seat, Settled};
use crate::scribe::Scribe;

/// What becomes of an outcome that nobody knows.
const UNKNOWN: &str = "tool.outcome_unknown";

/// A call that the model, or the person, has not been told the outcome of.
pub(super) struct Open {
    pub(super) call: CallProposal,
    pub(super) origin: Label,
    pub(super) step: u32,
    seat: Seat,
    /// Its row, if it is on record.
    row: Option<CallRow>,
}

impl Open {
    fn has_status(&self, status: CallStatus) -> bool {
        self.row.as_ref().is_some_and(|row| row.status == status)
    }

    /// Whether it may have left a mark that cannot be left twice.
    fn is_doubtful(&self) -> bool {
        let Some(row) = self.row.as_ref().filter(|row| row.status == CallStatus::Running) else {
            return false;
        };
        let class = row.declared.as_ref().map(|declared| declared.idempotency);
        row.effect_sent_at.is_some() && class.is_none_or(|class| class == Idempotency::NonIdempotent)
    }

    fn is_settled(&self) -> bool {
        self.row.as_ref().is_some_and(|row| row.status.is_settled())
    }
}

impl Work<'_> {
    /// What was interrupted is settled where it must not run again, the rest passes the gate; the outcomes
    /// stand in the calls' order.
    pub(super) async fn dispose(&mut self, open: &[Open]) -> Result<Vec<Disposed>, RuntimeError> {
        let mut settled = BTreeMap::new();
        for (index, open) in open.iter().enumerate() {
            if let Some(row) = open.row.as_ref().filter(|_| open.is_doubtful()) {
                settled.insert(index, self.settle_unknown(row, &open.seat).await?);
            } else if let Some(row) = open.row.as_ref().filter(|_| open.is_settled()) {
                settled.insert(index, self.settled_before(row).await?);
            }
        }
        let mut passed = Vec::new();
        let left: Vec<&Open> = open.iter().filter(|open| !open.is_doubtful() && !open.is_settled()).collect();
        // What one reply asked for has one origin; what a person typed may have several.
        let mut rest = left.as_slice();
        while let Some(first) = rest.first() {
            let same = |open: &&&Open| open.origin == first.origin && open.step == first.step;
            let (batch, later) = rest.split_at(rest.iter().take_while(same).count());
            let (step, origin) = (first.step, first.origin);
            let mut proposals = Vec::with_capacity(batch.len());
            for open in batch {
                proposals.push(self.proposed_before(open).await?);
            }
            passed.extend(self.pass(step, origin, &proposals).await?);
            rest = later;
        }
        let mut passed = passed.into_iter();
        let disposed = (0..open.len()).map(|index| match settled.remove(&index) {
            Some(settled) => Disposed::Passed(Passed::Settled(settled)),
            None => passed.next().unwrap_or(Disposed::Passed(Passed::Waits)),
        });
        Ok(disposed.collect())
    }

    /// Settles what nobody knows the outcome of; the model is told when the run goes on.
    pub(super) async fn settle_doubtful(&self, open: &[Open]) -> Result<(), RuntimeError> {
        for open in open.iter().filter(|open| open.is_doubtful()) {
            if let Some(row) = &open.row {
                self.settle_unknown(row, &open.seat).await?;
            }
        }
        Ok(())
    }

    async fn proposed_before(&self, open: &Open) -> Result<Proposal, RuntimeError> {
        let new = || CallId::from_u128(self.runtime.world().ids.next_bits());
        Ok(Proposal {
            call: open.row.as_ref().map_or_else(new, |row| row.id),
            name: open.call.name.clone(),
            arguments: open.call.arguments.clone(),
            seat: open.seat.clone(),
            past: match &open.row {
                Some(row) => self.past(row, open.has_status(CallStatus::Running)).await?,
                None => Past::New,
            },
        })
    }

    async fn past(&self, row: &CallRow, is_claimed: bool) -> Result<Past, RuntimeError> {
        let answered = match row.approval {
            Some(approval) => self.runtime.store().approval(approval).await?,
            None => None,
        };
        let answered = match answered {
            Some(row) => Some(self.answered(row).await?),
            None => None,
        };
        if is_claimed || row.status == CallStatus::Authorized {
            return Ok(Past::Begun(Box::new(Begun {
                n_attempts: row.attempt,
                is_claimed,
                is_marked: row.effect_sent_at.is_some(),
                key: row.idempotency_key,
                answered,
            })));
        }
        Ok(answered.map_or(Past::Proposed, |answered| Past::Answered(Box::new(answered))))
    }

    async fn answered(&self, row: ApprovalRow) -> Result<Answered, RuntimeError> {
        let fields = self.runtime.committed(&row.sealed).await?.unwrap_or_default();
        let words = match &row.words {
            Some(words) => self.runtime.committed(words).await?,
            None => None,
        };
        let words = words.and_then(|words| words.as_str().map(str::to_owned));
        Ok(Answered { row, fields, words })
    }

    /// A call that must not run again, since nobody can say whether it happened.
    async fn settle_unknown(&self, row: &CallRow, seat: &Seat) -> Result<Settled, RuntimeError> {
        let mut scribe = self.scribe();
        let settled = settle_lost(&mut scribe, row, seat.provider_call.clone())?;
        self.runtime.store().commit(scribe.take(Durability::Full)).await?;
        Ok(settled)
    }

    /// A call whose outcome is on record and was not told.
    async fn settled_before(&self, row: &CallRow) -> Result<Settled, RuntimeError> {
        let unreadable = || RuntimeError::Conversation {
            session: row.session,
            what: "the outcome of a call is missing or changed".to_owned(),
        };
        let commitment = row.outcome.as_ref().ok_or_else(unreadable)?;
        let kept = self.runtime.committed(commitment).await?.ok_or_else(unreadable)?;
        let text = |name: &str| kept.get(name).and_then(Value::as_str).map(str::to_owned);
        let tool = tool_of(row).to_owned();
        let outcome = row.outcome_status.filter(|status| *status != OutcomeStatus::Succeeded);
        let code = row.reason_code.as_deref().unwrap_or_default();
        Ok(Settled {
            call: row.id,
            content: text("content").ok_or_else(unreadable)?,
            external: text("external"),
            structured: kept.get("structured").filter(|value| !value.is_null()).cloned(),
            outcome: outcome.map(|status| Outcome::failure(status, &tool, code)),
            label: row.label.unwrap_or_else(own),
            kept: Some(*commitment),
            tool,
        })
    }

    /// What is still to be done, in the order in which it was asked for.
    pub(super) async fn open_calls(&self, so_far: &SoFar) -> Result<Vec<Open>, RuntimeError> {
        let filter = CallFilter { run: Some(self.at.run), ..CallFilter::default() };
        let rows = self.runtime.store().calls(&filter).await?;
        if self.person.has_typed {
            return self.typed_calls(rows).await;
        }
        let replied =
            self.session.items.iter().enumerate().rev().find_map(|(place, item)| match &item.body {
                ItemBody::Replied { turn } if !turn.calls.is_empty() => Some((place, turn)),
                _ => None,
            });
        let (Some((place, turn)), Some(step)) = (replied, so_far.replied_step) else { return Ok(Vec::new()) };
        let (before, after) = self.session.items.split_at(place);
        let origin = context::origin(before, self.terms.has_instructions);
        let mut told: Vec<&str> = after.iter().filter_map(told_call).collect();
        let mut open = Vec::new();
        for (index, call) in turn.calls.iter().enumerate() {
            if let Some(found) = told.iter().position(|id| *id == call.id) {
                told.swap_remove(found);
                continue;
            }
            let place = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let row = rows.iter().find(|row| row.step == step && row.place == place).cloned();
            let seat = Seat { place, provider_call: Some(call.id.clone()) };
            let origin = row.as_ref().map_or(origin, |row| row.origin);
            open.push(Open { call: call.clone(), origin, step, seat, row });
        }
        Ok(open)
    }

    /// Calls that a person typed have no reply to stand in: their rows say everything.
    async fn typed_calls(&self, rows: Vec<CallRow>) -> Result<Vec<Open>, RuntimeError> {
        let mut open = Vec::new();
        for row in rows.into_iter().filter(|row| !row.status.is_settled()) {
            let unreadable = || RuntimeError::Conversation {
                session: row.session,
                what: "the arguments of an open call are missing or changed".to_owned(),
            };
            let asked = self.runtime.committed(&row.arguments).await?.ok_or_else(unreadable)?;
            let text = |name: &str| asked.get(name).and_then(Value::as_str).map(str::to_owned);
            let (name, arguments) = text("name").zip(text("arguments")).ok_or_else(unreadable)?;
            let call = CallProposal { id: String::new(), name, arguments };
            let seat = Seat { place: row.place, provider_call: None };
            open.push(Open { call, origin: row.origin, step: row.step, seat, row: Some(row) });
        }
        open.sort_by_key(|open| open.row.as_ref().map(|row| (row.step, row.place, row.id)));
        Ok(open)
    }
}

/// Whether a reply was told the outcome of this many of its calls. (What it asked for in a later reply is
/// another reply's.)
fn told_call(item: &context::ContextItem) -> Option<&str> {
    match &item.body {
        ItemBody::Outcome { provider_call, .. } => Some(provider_call),
        ItemBody::Said { .. } | ItemBody::Replied { .. } => None,
    }
}

/// Mast's own words about a call.
fn own() -> Label {
    Label::new(Trust::InternalTool, Sensitivity::Public, SourceKind::Tool)
}

fn tool_of(row: &CallRow) -> &str {
    row.declared.as_ref().map_or("unknown", |declared| declared.tool.as_str())
}

/// Settles a call whose worker is gone and that will not run again: nobody knows the outcome of one that
/// may have acted, and one that cannot have has failed.
pub(crate) fn settle_lost(
    scribe: &mut Scribe<'_>,
    row: &CallRow,
    provider_call: Option<String>,
) -> Result<Settled, RuntimeError> {
    let tool = tool_of(row).to_owned();
    let is_marked = row.effect_sent_at.is_some();
    let is_harmless = row.declared.as_ref().is_some_and(|tool| !tool.idempotency.may_have_acted(is_marked));
    let (status, code) = match is_harmless {
        true => (OutcomeStatus::Failed, "run.interrupted"),
        false => (OutcomeStatus::Uncertain, UNKNOWN),
    };
    let outcome = Outcome::failure(status, &tool, code);
    let mut settled = Settled {
        call: row.id,
        tool,
        content: serde_json::to_string(&outcome).unwrap_or_default(),
        external: None,
        structured: None,
        outcome: Some(outcome),
        label: own(),
        kept: None,
    };
    let mut kept = serde_json::to_value(ItemBody::of(provider_call, &settled)).unwrap_or_default();
    if let Some(fields) = kept.as_object_mut() {
        fields.insert("structured".to_owned(), Value::Null);
        fields.insert("outcome".to_owned(), json!(settled.outcome));
    }
    let outcome = scribe.value(&kept)?;
    settled.kept = Some(outcome);
    let body = ToolCallSettled {
        call: row.id,
        outcome_status: status,
        reason_code: Some(code.to_owned()),
        effect_sent: row.effect_sent_at.is_some(),
        duration_ms: 0,
        output_bytes: 0,
        truncated: false,
        artifact: None,
        label: own(),
        outcome,
    };
    scribe.event(
        Actor::Platform,
        match status {
            OutcomeStatus::Uncertain => EventBody::ToolCallUncertain(body),
            _ => EventBody::ToolCallFailed(body),
        },
    );
    Ok(settled)
}
