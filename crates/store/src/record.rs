//! The rows of the state: where each session, run, call and question stands now. Every row is a fold of
//! the journal's events (`crate::fold`), so nothing can be in a row that no event says. What people,
//! models and tools said stands in content rows, to which the others hold commitments.
//! See `docs/spec/journal.md`.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::canonical::{Canonical, Digest};
use mast_kernel::event::{Declared, ItemKind, Reach, Reconciled, Salt};
use mast_kernel::grant::GrantStatus;
use mast_kernel::id::{
    ApprovalId, ArtifactId, CallId, GrantId, ItemId, PrincipalId, RunId, SessionId, StoreId, TenantId,
};
use mast_kernel::instant::Instant;
use mast_kernel::message::OutcomeStatus;
use mast_kernel::policy::Ruling;
use mast_kernel::run::{Completion, Mode, Priority, RunStatus};
use mast_kernel::spec::Risk;
use mast_kernel::trust::Label;
use serde::{Deserialize, Serialize};

/// Which store this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreIdentity {
    /// Made once, with the store.
    pub id: StoreId,
    /// When it was made.
    pub created_at: Instant,
}

/// Whether a run was never taken up again, which is not written down.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_first(epoch: &u32) -> bool {
    *epoch == 0
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionRow {
    /// The session.
    pub id: SessionId,
    /// Who owns it.
    pub tenant: TenantId,
    /// Who talks in it.
    pub principal: PrincipalId,
    /// Where it was begun.
    pub surface: String,
    /// When it was begun.
    pub created_at: Instant,
    /// Commitment to the catalogue of tools that it pins.
    pub catalogue: Digest,
}

/// The work on one message. (A record.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRow {
    /// The run.
    pub id: RunId,
    /// Its session.
    pub session: SessionId,
    /// Where it is.
    pub status: RunStatus,
    /// Which provider.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// How much it may do.
    pub mode: Mode,
    /// The policy in force.
    pub policy_version: String,
    /// Whether the trust overlay is in force.
    pub overlay: bool,
    /// Commitment to the turn contract.
    pub contract: Digest,
    /// Which runs are taken up before it.
    #[serde(default, skip_serializing_if = "Priority::is_usual")]
    pub priority: Priority,
    /// How often it was taken up again. Whoever works on it names this number in what they write, so
    /// that nothing more is taken from somebody who has lost it.
    #[serde(default, skip_serializing_if = "is_first")]
    pub epoch: u32,
    /// When it was accepted.
    pub created_at: Instant,
    /// When it began.
    pub started_at: Option<Instant>,
    /// When it ended.
    pub ended_at: Option<Instant>,
    /// What its end is worth.
    pub completion: Option<Completion>,
    /// Why it ended without an answer.
    pub reason_code: Option<String>,
}

/// One proposed use of one tool. (A record.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRow {
    /// The call.
    pub id: CallId,
    /// Its session.
    pub session: SessionId,
    /// Its run.
    pub run: RunId,
    /// The round of the loop, counted from 1.
    pub step: u32,
    /// Its place among the calls of one reply, counted from 1.
    pub place: u32,
    /// Where it is.
    pub status: CallStatus,
    /// The tool as it was declared then; none where there is no such tool.
    pub declared: Option<Declared>,
    /// The label of everything that could have shaped it.
    pub origin: Label,
    /// Which calls it runs beside.
    pub parallel_group: Option<u32>,
    /// Commitment to the arguments.
    pub arguments: Digest,
    /// What was decided.
    pub decision: Option<Ruling>,
    /// The policy that decided.
    pub policy_version: Option<String>,
    /// The key under which a repetition can be told; no two calls have the same.
    pub idempotency_key: Option<Digest>,
    /// The question that was asked about it.
    pub approval: Option<ApprovalId>,
    /// Whether the yes to that question was used; without it such a call cannot be claimed.
    pub approval_consumed: bool,
    /// How many times it was claimed.
    pub attempt: u32,
    /// When it was proposed.
    pub proposed_at: Instant,
    /// When it was claimed last.
    pub started_at: Option<Instant>,
    /// The *mark*: when it first said that it is about to reach out.
    pub effect_sent_at: Option<Instant>,
    /// When it was settled.
    pub completed_at: Option<Instant>,
    /// How it ended.
    pub outcome_status: Option<OutcomeStatus>,
    /// Why it did not end well.
    pub reason_code: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Bytes of its output, before anything was cut.
    pub output_bytes: Option<u64>,
    /// Whether the model is shown less than all of it.
    pub truncated: bool,
    /// Where the whole output is kept, if it was cut.
    pub artifact: Option<ArtifactId>,
    /// The label of the output.
    pub label: Option<Label>,
    /// Commitment to the outcome.
    pub outcome: Option<Digest>,
    /// What was found out later of a call whose outcome was unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconciled: Option<Reconciled>,
}

/// A question to a person. (A record.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRow {
    /// The question.
    pub id: ApprovalId,
    /// Its session.
    pub session: SessionId,
    /// Its run.
    pub run: RunId,
    /// The call that it is about.
    pub call: CallId,
    /// Where it is.
    pub status: ApprovalStatus,
    /// How bad a mistake would be.
    pub risk: Risk,
    /// The furthest that a yes may reach.
    pub reach: Reach,
    /// The seal over everything that must not change.
    pub seal: Digest,
    /// Commitment to the sealed fields.
    pub sealed: Digest,
    /// Commitment to what is shown.
    pub card: Digest,
    /// The policy that wanted it asked.
    pub policy_version: String,
    /// When it was asked.
    pub requested_at: Instant,
    /// When it closes.
    pub expires_at: Instant,
    /// When it was settled.
    pub resolved_at: Option<Instant>,
    /// Who answered.
    pub resolved_by: Option<PrincipalId>,
    /// How far the yes reaches.
    pub granted: Option<Reach>,
    /// Commitment to the person's words for the model.
    pub words: Option<Digest>,
    /// When the yes was used.
    pub consumed_at: Option<Instant>,
    /// Why it does not hold any more.
    pub reason_code: Option<String>,
}

/// A yes that reaches further than one call. (A record.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantRow {
    /// The grant.
    pub id: GrantId,
    /// Its session.
    pub session: SessionId,
    /// The run of the question; a grant that reaches no further ends with it.
    pub run: RunId,
    /// The question that the yes answered.
    pub approval: ApprovalId,
    /// Where it is.
    pub status: GrantStatus,
    /// How far it reaches.
    pub reach: Reach,
    /// Registry name of the tool.
    pub tool: String,
    /// Digest of the terms.
    pub seal: Digest,
    /// Commitment to the terms.
    pub sealed: Digest,
    /// When it was given.
    pub created_at: Instant,
    /// When it ends.
    pub expires_at: Instant,
    /// How often it may be used.
    pub uses_max: u32,
    /// How often it was used.
    pub n_uses: u32,
    /// When it ended before its time.
    pub ended_at: Option<Instant>,
    /// Who took it back.
    pub revoked_by: Option<PrincipalId>,
}

/// One item of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemRow {
    /// The item.
    pub id: ItemId,
    /// Its session.
    pub session: SessionId,
    /// The run that brought it.
    pub run: Option<RunId>,
    /// Its place in the conversation; later items have greater ones.
    pub place: u64,
    /// What it is.
    pub kind: ItemKind,
    /// Who wrote it, and how far it may travel.
    pub label: Label,
    /// The call that it is the result of.
    pub call: Option<CallId>,
    /// Commitment to what it says.
    pub content: Digest,
}

/// A value that others hold a commitment to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentRow {
    /// The commitment.
    pub commitment: Digest,
    /// The salt that it was made with.
    pub salt: Salt,
    /// The value, in its canonical form.
    pub value: Canonical,
}
