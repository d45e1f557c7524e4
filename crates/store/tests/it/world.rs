//! A small world for tests: counted ids and salts, a clock that goes on by itself, and the batches of a
//! run from its first event to its last.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::canonical::{CallIdentity, Digest, idempotency_key};
use mast_kernel::event::{
    Actor, ApprovalConsumed, ApprovalRequested, ApprovalResolved, CallMarked, Declared, EventBody, ItemKind,
    ItemRecord, NewEvent, Reach, RunCompleted, RunSetup, RunWaitingForApproval, Salt, SessionCreated,
    ToolCallAuthorized, ToolCallProposed, ToolCallSettled, ToolCallStarted,
};
use mast_kernel::id::{ApprovalId, CallId, ItemId, PrincipalId, RunId, SessionId, StoreId, TenantId};
use mast_kernel::instant::Instant;
use mast_kernel::message::OutcomeStatus;
use mast_kernel::policy::Ruling;
use mast_kernel::run::{Completion, Mode, Priority};
use mast_kernel::spec::{Idempotency, Risk, SideEffect, ToolSource};
use mast_kernel::trust::Label;
use mast_store::sign::Signer;
use mast_store::{Batch, Durability, MemoryStore, NewContent, OpenOptions, SqliteStore, StoreIdentity};
use serde_json::{Value, json};

/// The identity of every store here.
pub(crate) const IDENTITY: StoreIdentity =
    StoreIdentity { id: StoreId::from_u128(0x57), created_at: Instant::from_micros(1_785_000_000_000_000) };

pub(crate) fn signer() -> Signer {
    Signer::from_seed(&[7; 32])
}

pub(crate) fn memory() -> MemoryStore {
    MemoryStore::new(IDENTITY, signer())
}

pub(crate) fn options(path: &std::path::Path) -> OpenOptions {
    OpenOptions { path: path.to_path_buf(), identity_if_new: IDENTITY, signer: signer(), create: true }
}

pub(crate) async fn sqlite(folder: &tempfile::TempDir) -> SqliteStore {
    SqliteStore::open(options(&folder.path().join("mast.db"))).await.unwrap()
}

/// One session with one run.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) session: SessionId,
    pub(crate) run: RunId,
    n: u128,
    place: u64,
}

impl World {
    /// A world whose ids begin at a number of their own.
    pub(crate) fn new(number: u32) -> Self {
        let base = u128::from(number) << 64;
        let (session, run) = (SessionId::from_u128(base + 1), RunId::from_u128(base + 2));
        Self { session, run, n: base + 2, place: 0 }
    }

    pub(crate) fn next(&mut self) -> u128 {
        self.n += 1;
        self.n
    }

    fn salt(&mut self) -> Salt {
        Salt::new(self.next().to_be_bytes())
    }

    pub(crate) fn now(&self) -> Instant {
        let ticks = i64::try_from(self.n & 0xffff_ffff).unwrap();
        Instant::from_micros(1_785_157_391_000_000 + ticks * 1_000)
    }

    pub(crate) fn event(&mut self, body: EventBody) -> NewEvent {
        let salt = self.salt();
        NewEvent { run: Some(self.run), actor: Actor::Platform, at: self.now(), body, salt }
    }

    pub(crate) fn batch(&self) -> Batch {
        Batch::new(self.session, Durability::Normal)
    }

    pub(crate) fn put(&mut self, batch: &mut Batch, value: &Value) -> Digest {
        let salt = self.salt();
        batch.put(NewContent::new(salt, value).unwrap())
    }

    pub(crate) fn tell(&mut self, batch: &mut Batch, body: EventBody) {
        let event = self.event(body);
        batch.tell(event);
    }

    /// `session.created`.
    pub(crate) fn begin(&mut self) -> Batch {
        let mut batch = self.batch();
        let catalogue = self.put(&mut batch, &json!({"tools": ["math.calculate"]}));
        let created = SessionCreated {
            tenant: TenantId::from_u128(0x7e),
            store: IDENTITY.id,
            principal: PrincipalId::from_u128(0xa1),
            surface: "cli".to_owned(),
            catalogue,
        };
        let mut event = self.event(EventBody::SessionCreated(created));
        event.run = None;
        batch.tell(event);
        batch
    }

    pub(crate) fn item(&mut self, batch: &mut Batch, kind: ItemKind, value: &Value) -> ItemRecord {
        self.place += 1;
        let content = self.put(batch, value);
        let item = ItemId::from_u128(self.next());
        ItemRecord { item, place: self.place, kind, label: Label::typed(), call: None, content }
    }

    /// A person's message, and the run that works on it.
    pub(crate) fn ask(&mut self) -> Batch {
        let mut batch = self.batch();
        let item = self.item(&mut batch, ItemKind::User, &json!("What is 17 multiplied by 23?"));
        self.tell(&mut batch, EventBody::UserMessageCreated(item));
        let contract = self.put(&mut batch, &json!({"mode": "act"}));
        let setup = RunSetup {
            provider: "scripted".to_owned(),
            model: "none".to_owned(),
            mode: Mode::Act,
            policy_version: "default@000000000000+h00000000".to_owned(),
            overlay: true,
            contract,
            priority: Priority::Normal,
        };
        self.tell(&mut batch, EventBody::RunQueued(setup.clone()));
        self.tell(&mut batch, EventBody::RunStarted(setup));
        batch
    }

    pub(crate) fn proposed(&mut self, batch: &mut Batch, call: CallId) {
        let arguments = self.put(batch, &json!({"expression": "17 * 23"}));
        let declared = Declared {
            tool: "demo.external_write".to_owned(),
            version: "1.0.0".to_owned(),
            pin: Digest::of(b"pin"),
            source: ToolSource::Builtin,
            side_effect: SideEffect::ExternalWrite,
            risk: Risk::High,
            idempotency: Idempotency::NonIdempotent,
        };
        let body = ToolCallProposed {
            call,
            step: 1,
            place: 1,
            declared: Some(declared),
            origin: Label::typed(),
            parallel_group: None,
            arguments,
        };
        self.tell(batch, EventBody::ToolCallProposed(body));
    }

    pub(crate) fn key(&self, call: CallId) -> Digest {
        idempotency_key(&CallIdentity {
            run: self.run,
            step: 1,
            call,
            tool: "demo.external_write",
            version: "1.0.0",
            pin: Digest::of(b"pin"),
            arguments: Digest::of(b"{}"),
        })
    }

    pub(crate) fn authorized(&mut self, batch: &mut Batch, call: CallId, key: Digest) {
        let body = ToolCallAuthorized {
            call,
            decision: Ruling::Allow,
            findings: Vec::new(),
            policy_version: "default@000000000000+h00000000".to_owned(),
            idempotency_key: key,
        };
        self.tell(batch, EventBody::ToolCallAuthorized(body));
    }

    pub(crate) fn started(&mut self, batch: &mut Batch, call: CallId, attempt: u32) {
        self.tell(batch, EventBody::ToolCallStarted(ToolCallStarted { call, attempt }));
    }

    /// Proposed, authorized and claimed, in one batch.
    pub(crate) fn claim(&mut self, call: CallId) -> Batch {
        let mut batch = self.batch();
        let key = self.key(call);
        self.proposed(&mut batch, call);
        self.authorized(&mut batch, call, key);
        self.started(&mut batch, call, 1);
        batch
    }

    pub(crate) fn mark(&mut self, call: CallId) -> Batch {
        let mut batch = self.batch();
        self.tell(&mut batch, EventBody::CallMarked(CallMarked { call }));
        batch
    }

    pub(crate) fn settled(&mut self, batch: &mut Batch, call: CallId, effect_sent: bool) -> ToolCallSettled {
        let outcome = self.put(batch, &json!({"status": "succeeded", "content": "391"}));
        ToolCallSettled {
            call,
            outcome_status: OutcomeStatus::Succeeded,
            reason_code: None,
            effect_sent,
            duration_ms: 1,
            output_bytes: 3,
            truncated: false,
            artifact: None,
            label: Label::platform(),
            outcome,
        }
    }

    /// The call ended well.
    pub(crate) fn settle(&mut self, call: CallId, effect_sent: bool) -> Batch {
        let mut batch = self.batch();
        let body = self.settled(&mut batch, call, effect_sent);
        self.tell(&mut batch, EventBody::ToolCallCompleted(body));
        let item = self.item(&mut batch, ItemKind::ToolResult, &json!("391"));
        let item = ItemRecord { call: Some(call), ..item };
        self.tell(&mut batch, EventBody::ContextItemAppended(item));
        batch
    }

    /// A call that a person is asked about, and the run waits.
    pub(crate) fn park(&mut self, call: CallId, approval: ApprovalId) -> Batch {
        let mut batch = self.batch();
        self.proposed(&mut batch, call);
        let sealed = self.put(&mut batch, &json!({"schema": "mast.approval.v1"}));
        let card = self.put(&mut batch, &json!({"tool": "demo.external_write"}));
        let requested = ApprovalRequested {
            approval,
            call,
            risk: Risk::High,
            reach: Reach::Once,
            seal: Digest::of(b"seal"),
            sealed,
            card,
            policy_version: "default@000000000000+h00000000".to_owned(),
            expires_at: self.now().plus_seconds(4 * 3_600),
        };
        self.tell(&mut batch, EventBody::ApprovalRequested(requested));
        let waiting = RunWaitingForApproval { approvals: vec![approval] };
        self.tell(&mut batch, EventBody::RunWaitingForApproval(waiting));
        batch
    }

    pub(crate) fn resolve(&mut self, approval: ApprovalId, status: ApprovalStatus) -> Batch {
        let mut batch = self.batch();
        let words = self.put(&mut batch, &json!("go on"));
        let resolved = ApprovalResolved {
            approval,
            status,
            reach: Some(Reach::Once),
            resolved_by: Some(PrincipalId::from_u128(0xa1)),
            words: Some(words),
        };
        self.tell(&mut batch, EventBody::ApprovalResolved(resolved));
        batch
    }

    pub(crate) fn consumed(&mut self, batch: &mut Batch, approval: ApprovalId, call: CallId) {
        self.tell(batch, EventBody::ApprovalConsumed(ApprovalConsumed { approval, call }));
    }

    /// The run answers.
    pub(crate) fn end(&mut self) -> Batch {
        let mut batch = self.batch();
        let item = self.item(&mut batch, ItemKind::Assistant, &json!("391"));
        self.tell(&mut batch, EventBody::AssistantMessageCompleted(item));
        let completed = RunCompleted {
            completion: Completion::Unverified,
            steps: 2,
            model_calls: 2,
            tool_calls: 1,
            reasons: Vec::new(),
            report: None,
        };
        self.tell(&mut batch, EventBody::RunCompleted(completed));
        batch
    }
}
