//! The journal's format is fixed by files. A golden file that was committed never changes: it proves
//! that old journals are still read, and that their hashes still hold.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::canonical::{Canonical, Digest};
use mast_kernel::event::*;
use mast_kernel::id::{
    ApprovalId, ArtifactId, CallId, GrantId, ItemId, PrincipalId, RunId, SessionId, StoreId, TenantId,
};
use mast_kernel::instant::Instant;
use mast_kernel::message::OutcomeStatus;
use mast_kernel::policy::Ruling;
use mast_kernel::run::{Completion, Mode, Priority};
use mast_kernel::spec::{Idempotency, Risk, SideEffect, ToolSource};
use mast_kernel::trust::{Label, Sensitivity, SourceKind, Trust};
use proptest::prelude::*;
use serde::Deserialize;

const CALL: CallId = CallId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_00ca);
const APPROVAL: ApprovalId = ApprovalId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_00a9);
const GRANT: GrantId = GrantId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_06a7);

fn digest(of: &str) -> Digest {
    Digest::of(of.as_bytes())
}

fn item() -> ItemRecord {
    ItemRecord {
        item: ItemId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0017),
        place: 3,
        kind: ItemKind::ToolResult,
        label: Label::new(Trust::ExternalUntrusted, Sensitivity::Private, SourceKind::Tool),
        call: Some(CALL),
        content: digest("content"),
    }
}

fn setup() -> RunSetup {
    RunSetup {
        provider: "openai_chat".to_owned(),
        model: "a-model".to_owned(),
        mode: Mode::Act,
        policy_version: "default@0123456789ab+h01234567".to_owned(),
        overlay: true,
        contract: digest("contract"),
        priority: Priority::Normal,
    }
}

fn settled(outcome_status: OutcomeStatus, reason_code: Option<&str>) -> ToolCallSettled {
    ToolCallSettled {
        call: CALL,
        outcome_status,
        reason_code: reason_code.map(str::to_owned),
        effect_sent: true,
        duration_ms: 12,
        output_bytes: 70_000,
        truncated: true,
        artifact: Some(ArtifactId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0a7f)),
        label: Label::new(Trust::InternalTool, Sensitivity::Private, SourceKind::Tool),
        outcome: digest("outcome"),
    }
}

fn stopped(code: &str) -> RunStopped {
    RunStopped { reason_code: code.to_owned() }
}

/// One event body of each type that belongs to a conversation or a run.
fn samples_of_runs() -> Vec<EventBody> {
    vec![
        EventBody::SessionCreated(SessionCreated {
            tenant: TenantId::from_u128(1),
            store: StoreId::from_u128(2),
            principal: PrincipalId::from_u128(3),
            surface: "cli".to_owned(),
            catalogue: digest("catalogue"),
        }),
        EventBody::UserMessageCreated(ItemRecord {
            kind: ItemKind::User,
            label: Label::typed(),
            call: None,
            ..item()
        }),
        EventBody::ContextItemAppended(item()),
        EventBody::AssistantMessageCompleted(ItemRecord { kind: ItemKind::Assistant, call: None, ..item() }),
        EventBody::RunQueued(setup()),
        EventBody::RunStarted(setup()),
        EventBody::RunWaitingForApproval(RunWaitingForApproval { approvals: vec![APPROVAL] }),
        EventBody::RunWaitingForUser(RunWaitingForUser { call: Some(CALL) }),
        EventBody::RunResumed(RunResumed {
            cause: ResumeCause::Approval,
            policy_version: setup().policy_version,
        }),
        EventBody::RunCompleted(RunCompleted {
            completion: Completion::Satisfied,
            steps: 2,
            model_calls: 2,
            tool_calls: 1,
            reasons: Vec::new(),
            report: None,
        }),
        EventBody::RunFailed(stopped("run.max_steps_exceeded")),
        EventBody::RunCancelled(stopped("tool.run_cancelled")),
        EventBody::ModelRequestStarted(ModelRequestStarted {
            step: 1,
            prefix: digest("prefix"),
            items: 1,
            tools: 12,
            answer_only: false,
        }),
        EventBody::ModelResponseCompleted(ModelResponseCompleted {
            step: 1,
            stop: StopKind::ToolCalls,
            calls: 1,
            input_tokens: Some(1_200),
            output_tokens: Some(34),
            cost_micro_usd: Some(560),
            duration_ms: 900,
            content: digest("reply"),
        }),
        EventBody::ModelResponseFailed(ModelResponseFailed {
            step: 1,
            reason_code: "run.model_error".to_owned(),
            duration_ms: 10_000,
        }),
        EventBody::ContextBudgetExceeded(ContextBudgetExceeded {
            step: 7,
            budget: BudgetKind::ToolCalls,
            refused: 2,
        }),
        EventBody::ArtifactCreated(ArtifactCreated {
            artifact: ArtifactId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0a7f),
            call: Some(CALL),
            size_bytes: 70_000,
            digest: digest("bytes"),
            label: item().label,
        }),
    ]
}

/// One event body of each type that belongs to a call or a question about it.
fn samples_of_calls() -> Vec<EventBody> {
    vec![
        EventBody::ToolCallProposed(ToolCallProposed {
            call: CALL,
            step: 1,
            place: 1,
            declared: Some(Declared {
                tool: "demo.external_write".to_owned(),
                version: "1.0.0".to_owned(),
                pin: digest("pin"),
                source: ToolSource::Builtin,
                side_effect: SideEffect::ExternalWrite,
                risk: Risk::High,
                idempotency: Idempotency::NonIdempotent,
            }),
            origin: Label::typed(),
            parallel_group: Some(1),
            arguments: digest("arguments"),
        }),
        EventBody::ToolCallAuthorized(ToolCallAuthorized {
            call: CALL,
            decision: Ruling::Ask,
            findings: vec!["policy.matrix.external_write".to_owned()],
            policy_version: setup().policy_version,
            idempotency_key: digest("key"),
        }),
        EventBody::ToolCallDenied(ToolCallDenied {
            call: CALL,
            reason_code: "policy.turn.not_offered".to_owned(),
            findings: vec!["policy.turn.not_offered".to_owned()],
            policy_version: setup().policy_version,
            outcome: digest("outcome"),
        }),
        EventBody::ToolCallStarted(ToolCallStarted { call: CALL, attempt: 1 }),
        EventBody::ToolCallCompleted(settled(OutcomeStatus::Succeeded, None)),
        EventBody::ToolCallFailed(settled(OutcomeStatus::Failed, Some("tool.timeout.deadline"))),
        EventBody::ToolCallUncertain(settled(OutcomeStatus::Uncertain, Some("tool.outcome_unknown"))),
        EventBody::CallMarked(CallMarked { call: CALL }),
        EventBody::CallReconciled(CallReconciled {
            call: CALL,
            verdict: Reconciled::DidNot,
            found_by: ReconciledBy::Person,
            principal: PrincipalId::from_u128(3),
        }),
        EventBody::ApprovalRequested(ApprovalRequested {
            approval: APPROVAL,
            call: CALL,
            risk: Risk::High,
            reach: Reach::Once,
            seal: digest("seal"),
            sealed: digest("sealed"),
            card: digest("card"),
            policy_version: setup().policy_version,
            expires_at: Instant::from_micros(1_785_171_791_000_000),
        }),
        EventBody::ApprovalResolved(ApprovalResolved {
            approval: APPROVAL,
            status: ApprovalStatus::Approved,
            reach: Some(Reach::Once),
            resolved_by: Some(PrincipalId::from_u128(3)),
            words: Some(digest("words")),
        }),
        EventBody::ApprovalConsumed(ApprovalConsumed { approval: APPROVAL, call: CALL }),
        EventBody::ApprovalInvalidated(ApprovalInvalidated {
            approval: APPROVAL,
            call: CALL,
            reason_code: "approval.void".to_owned(),
        }),
    ]
}

/// One event body of each type that belongs to a grant.
fn samples_of_grants() -> Vec<EventBody> {
    vec![
        EventBody::GrantCreated(GrantCreated {
            grant: GRANT,
            approval: APPROVAL,
            reach: Reach::Session,
            tool: "workspace.edit".to_owned(),
            seal: digest("grant seal"),
            sealed: digest("grant terms"),
            expires_at: Instant::from_micros(1_785_171_791_000_000),
            uses_max: 200,
        }),
        EventBody::GrantUsed(GrantUsed { grant: GRANT, call: CALL }),
        EventBody::GrantRevoked(GrantRevoked { grant: GRANT, revoked_by: PrincipalId::from_u128(3) }),
        EventBody::GrantExpired(GrantExpired { grant: GRANT }),
    ]
}

/// One event of each type, each after the same link.
fn samples() -> Vec<Event> {
    let link = Link { sequence: 41, hash: digest("before") };
    let bodies = samples_of_runs().into_iter().chain(samples_of_calls()).chain(samples_of_grants());
    bodies.map(|body| Event::seal(&link, SessionId::from_u128(4), &new_event(body)).unwrap()).collect()
}

fn new_event(body: EventBody) -> NewEvent {
    NewEvent {
        run: Some(RunId::from_u128(5)),
        actor: Actor::Platform,
        at: Instant::from_micros(1_785_157_391_123_456),
        body,
        salt: Salt::new(*b"sixteen bytes ok"),
    }
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn every_event_type_has_a_golden_file_and_is_still_written_like_it() {
    for event in samples() {
        let path = golden().join(format!("events/{}.{}.json", event.kind, event.version));
        let written = serde_json::to_string_pretty(&event).unwrap() + "\n";
        let Ok(golden) = std::fs::read_to_string(&path) else {
            panic!("a new event type wants a golden file; put this into {}:\n{written}", path.display());
        };
        assert_eq!(written, golden, "{}: a golden file never changes", path.display());
    }
    let sampled: BTreeSet<_> = samples().into_iter().map(|event| (event.kind, event.version)).collect();
    let known = EventBody::TYPES.iter().map(|(kind, version)| ((*kind).to_owned(), *version));
    assert_eq!(sampled, known.collect());
}

#[test]
fn every_golden_event_is_still_read_and_keeps_its_hash() {
    let mut n_files = 0;
    for entry in std::fs::read_dir(golden().join("events")).unwrap() {
        let path = entry.unwrap().path();
        let event: Event = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(event.computed_hash().unwrap(), event.hash, "{}", path.display());
        let body = event.body().unwrap();
        assert_eq!(body.kind(), event.kind);
        assert_eq!(path.file_name().unwrap(), format!("{}.{}.json", event.kind, event.version).as_str());
        n_files += 1;
    }
    assert!(n_files >= EventBody::TYPES.len());
}

#[test]
fn no_payload_has_room_for_arguments_output_or_outside_text() {
    // The names under which content would be carried; commitments go by `arguments` and `outcome`.
    let forbidden =
        ["result", "output", "error", "detail", "text", "message", "name", "title", "url", "path"];
    for event in samples() {
        for (name, value) in &event.payload {
            assert!(!forbidden.contains(&name.as_str()), "{}: {name}", event.kind);
            if ["arguments", "outcome", "content", "card", "sealed", "words", "catalogue", "contract"]
                .contains(&name.as_str())
            {
                assert!(value.as_str().is_some_and(|text| Digest::from_hex(text).is_ok()), "{}", event.kind);
            }
        }
    }
}

#[test]
fn an_unknown_type_a_later_version_and_an_unknown_field_are_told_apart() {
    let event = samples().pop().unwrap();
    let read =
        |kind: &str, version: u16| EventBody::read(kind, version, &event.payload).unwrap_err().to_string();
    expect_test::expect!["event type `moon.landed` is not known to this version of mast"]
        .assert_eq(&read("moon.landed", 1));
    expect_test::expect![
        "event type `approval.invalidated` has payload version 2, this version of mast knows up to 1"
    ]
    .assert_eq(&read("approval.invalidated", 2));
    assert!(read("approval.invalidated", 0).contains("payload version 0"));
    expect_test::expect!["the payload of an event of type `run.failed` is not what its type says"]
        .assert_eq(&read("run.failed", 1));
}

/// A whole chain with a signed head.
#[derive(Deserialize)]
struct GoldenChain {
    tenant: TenantId,
    session: SessionId,
    store: StoreId,
    created_at: Instant,
    genesis: Digest,
    events: Vec<Event>,
    heads_genesis: Digest,
    head: Head,
    head_digest: Digest,
    content: GoldenContent,
}

/// A value and its commitment.
#[derive(Deserialize)]
struct GoldenContent {
    salt: Salt,
    value: serde_json::Value,
    commitment: Digest,
}

fn golden_chain() -> GoldenChain {
    serde_json::from_str(&std::fs::read_to_string(golden().join("chain.json")).unwrap()).unwrap()
}

#[test]
fn the_golden_chain_holds() {
    let chain = golden_chain();
    let mut link = Link::genesis(chain.tenant, chain.session, chain.store);
    assert_eq!(link.hash, chain.genesis);
    for event in &chain.events {
        assert_eq!((event.sequence, event.previous), (link.sequence + 1, link.hash));
        assert_eq!(event.computed_hash().unwrap(), event.hash);
        assert_eq!(event.session, chain.session);
        link = event.link();
    }
    assert_eq!(chain.events.len(), 6);
    assert_eq!((chain.head.sequence, chain.head.hash), (link.sequence, link.hash));
    let genesis = Head::genesis(chain.store, chain.created_at, &chain.head.key);
    assert_eq!((genesis, chain.head.previous_head), (chain.heads_genesis, chain.heads_genesis));
    assert_eq!(chain.head.digest(), chain.head_digest);
    let value = Canonical::of(&chain.content.value).unwrap();
    assert_eq!(commitment(&chain.content.salt, &value), chain.content.commitment);
}

proptest! {
    /// Whatever is shown and whatever withheld, the chain holds; and it tells when something is not so.
    #[test]
    fn an_event_shown_in_part_keeps_its_hash(sample in 0..29_usize, shown in any::<u32>()) {
        let event = samples().remove(sample);
        let mut n = 0;
        let choice = std::cell::RefCell::new(&mut n);
        let part = Disclosure::of(&event, |_| {
            let mut n = choice.borrow_mut();
            **n += 1;
            shown >> (**n % 32) & 1 == 1
        })
        .unwrap();
        prop_assert_eq!(part.computed_hash().unwrap(), event.hash);
        for name in ["sequence", "session", "at", "type", "version"] {
            prop_assert!(part.shown().contains_key(name), "{}", name);
        }
        let text = serde_json::to_string(&part).unwrap();
        let read: Disclosure = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &part);
        prop_assert!(!text.contains(&event.salt.to_string()), "the salt of all fields stays at home");
        for place in 0..part.fields.len() {
            let mut changed = part.clone();
            changed.fields[place] = match changed.fields[place].clone() {
                Field::Shown { name, salt, .. } => Field::Shown { name, salt, value: "other".into() },
                Field::Withheld { name, .. } => Field::Withheld { name, digest: digest("other") },
            };
            prop_assert_ne!(changed.computed_hash().unwrap(), event.hash);
            let mut left_out = part.clone();
            left_out.fields.remove(place);
            prop_assert_ne!(left_out.computed_hash().unwrap(), event.hash);
        }
    }
}
