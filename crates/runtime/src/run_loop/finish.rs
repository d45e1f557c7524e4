//! How a run ends or comes to wait: what its end is worth, the last events, and the signed head.

use mast_kernel::event::{Actor, EventBody, ItemKind, RunCompleted, RunStopped};
use mast_kernel::id::ItemId;
use mast_kernel::run::{Completion, RunStatus};
use mast_provider::Turn;
use mast_store::Durability;

use super::{Ended, RunEnd, Work};
use crate::bus::Progress;
use crate::context::ItemBody;
use crate::error::RuntimeError;
use crate::session::{NewItem, context_item};

impl Work<'_> {
    /// Puts the end on record and signs the journal's head.
    pub(super) async fn finish(self, ended: Ended) -> Result<RunEnd, RuntimeError> {
        let mut scribe = self.scribe();
        let mut end = RunEnd {
            run: self.at.run,
            status: RunStatus::Failed,
            completion: Some(Completion::Failed),
            report: None,
            answer: None,
            usage: self.usage,
            spent: self.spent,
            asks: Vec::new(),
            failure: None,
            head: self.terms.prefix.digest(),
        };
        match ended {
            Ended::Answered { answer, content, label, is_whole } => {
                let proof = self.prove(&answer, is_whole).await?;
                let id = ItemId::from_u128(self.runtime.world().ids.next_bits());
                self.session.last_place += 1;
                let place = self.session.last_place;
                let new = NewItem { id, place, kind: ItemKind::Assistant, label, call: None, content };
                scribe.event(Actor::Model, EventBody::AssistantMessageCompleted(new.record()));
                let turn = Turn::of_text(answer.clone());
                self.session.items.push(context_item(&new, ItemBody::Replied { turn }));
                let told = proof.written(&mut scribe, self.completed(proof.completion))?;
                scribe.event(Actor::Platform, EventBody::RunCompleted(told));
                end.status = RunStatus::Completed;
                end.completion = Some(proof.completion);
                end.report = Some(proof.report);
                end.answer = Some(answer);
            }
            Ended::Waits(asks) => {
                end.status = RunStatus::WaitingForApproval;
                end.completion = Some(Completion::AwaitingUser);
                end.asks = asks;
            }
            Ended::Typed(gave) => {
                end.answer = Some(gave);
                let completion = Completion::Unverified;
                scribe.event(Actor::Platform, EventBody::RunCompleted(self.completed(completion)));
                end.status = RunStatus::Completed;
                end.completion = Some(completion);
            }
            Ended::Failed(failure) => {
                let body = RunStopped { reason_code: failure.code.to_owned() };
                scribe.event(Actor::Platform, EventBody::RunFailed(body));
                end.failure = Some(failure);
            }
            Ended::Cancelled => {
                let body = RunStopped { reason_code: "run.cancelled".to_owned() };
                scribe.event(Actor::Principal, EventBody::RunCancelled(body));
                end.status = RunStatus::Cancelled;
                end.completion = Some(Completion::Cancelled);
            }
        }
        let store = self.runtime.store();
        if !scribe.is_empty() {
            store.commit(scribe.take(Durability::Full)).await?;
        }
        let head = store.sign_head(self.session.id(), self.runtime.world().clock.now()).await?;
        end.head = head.digest();
        self.tell(&Progress::RunEnded { run: self.at.run });
        Ok(end)
    }

    fn completed(&self, completion: Completion) -> RunCompleted {
        RunCompleted {
            completion,
            reasons: Vec::new(),
            report: None,
            steps: self.spent.steps(),
            model_calls: self.spent.model_calls(),
            tool_calls: self.spent.tool_calls(),
        }
    }
}
