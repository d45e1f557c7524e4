//! A yes, brought back to the call that it was given to: it holds for exactly what was asked.

use std::collections::BTreeSet;

use mast_kernel::approval::Sealed;
use mast_kernel::budget::Budget;
use mast_kernel::canonical::{Canonical, Digest};
use mast_kernel::event::Reach;
use mast_kernel::grant::{Grant, GrantTerms};
use mast_kernel::id::{ApprovalId, CallId, GrantId, PrincipalId, RunId, SessionId, StoreId, TenantId};
use mast_kernel::instant::Instant;
use mast_kernel::policy::{Authority, Case, Decision, Isolation, Overlay, Place, Policy, Surroundings, Yes};
use mast_kernel::registry::Registry;
use mast_kernel::resource::Resource;
use mast_kernel::run::{ApprovalMode, Mode, TurnContract};
use mast_kernel::scope::Scopes;
use mast_kernel::spec::{Egress, Idempotency, Risk, SideEffect, TargetKind, ToolKind, ToolSource, ToolSpec};
use mast_kernel::trust::{Label, Sensitivity, SourceKind, Trust};
use proptest::prelude::*;
use serde_json::{Value, json};

const ID: ApprovalId = ApprovalId::from_u128(9);
const AGENT: &str = "mast/1.0.0";

/// A call that asks, and everything around it.
#[derive(Clone)]
struct Ask {
    spec: ToolSpec,
    arguments: Value,
    resources: Vec<Resource>,
    authority: Authority,
    mode: Mode,
    label: Label,
    surroundings: Surroundings,
    place: Place,
    now: Instant,
    overlay: Overlay,
}

impl Ask {
    /// A write to an outside service, asked about by a person's own words.
    fn new() -> Self {
        let text = |free: bool| json!({"type": "string", "maxLength": if free { 20 } else { 10 }});
        let spec = ToolSpec {
            name: "demo.probe".to_owned(),
            version: "1.0.0".to_owned(),
            description: "A probe.".to_owned(),
            input_schema: json!({"type": "object", "properties": {"to": text(false), "note": text(true)},
                "additionalProperties": false}),
            output_schema: None,
            side_effect: SideEffect::ExternalWrite,
            risk: Risk::Medium,
            idempotency: Idempotency::NonIdempotent,
            required_scopes: Vec::new(),
            timeout_seconds: 1,
            maximum_output_bytes: 1,
            allow_parallel: false,
            kind: ToolKind::Capability,
            target_kind: TargetKind::InProcess,
            output_trust: Trust::InternalTool,
            output_sensitivity: Sensitivity::Public,
            egress: Egress::None,
            free_arguments: vec!["note".to_owned()],
            schema_codes: Vec::new(),
            aliases: Vec::new(),
            source: ToolSource::Builtin,
            server_id: None,
            deprecated: false,
        };
        Self {
            spec,
            arguments: json!({"to": "ops", "note": "a"}),
            resources: vec![Resource::Record { system: "demo".into(), record: "ops".into() }],
            authority: Authority {
                tenant: TenantId::from_u128(1),
                principal: PrincipalId::from_u128(1),
                scopes: mast_kernel::scope::platform(),
            },
            mode: Mode::Act,
            label: Label::typed(),
            surroundings: Surroundings::default(),
            place: Place {
                store: StoreId::from_u128(1),
                session: SessionId::from_u128(1),
                run: RunId::from_u128(1),
                call: CallId::from_u128(1),
            },
            now: Instant::from_micros(1_000_000),
            overlay: Overlay::On,
        }
    }

    fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut changed = self.clone();
        change(&mut changed);
        changed
    }

    fn judge<T>(&self, judge: impl FnOnce(&Policy, &Case<'_>) -> T) -> T {
        let registry = Registry::build(vec![self.spec.clone()]).unwrap();
        let contract = TurnContract {
            tools: BTreeSet::from(["demo.probe".to_owned()]),
            mode: self.mode,
            approval_mode: ApprovalMode::Park,
            budget: Budget::default(),
            required: mast_kernel::completion::Required::default(),
            workspace: None,
        };
        let arguments = Canonical::of(&self.arguments).unwrap();
        let case = Case {
            place: self.place,
            tool: registry.get("demo.probe", None).unwrap(),
            arguments: &arguments,
            resources: &self.resources,
            authority: &self.authority,
            contract: &contract,
            label: self.label,
            surroundings: &self.surroundings,
            idempotency_key: Digest::of(b"key"),
            now: self.now,
        };
        judge(&Policy::builtin(self.overlay), &case)
    }

    /// The sealed question.
    fn sealed(&self) -> Sealed {
        self.judge(|policy, case| match policy.decide(case).decision {
            Decision::Ask(approval) => approval.seal(ID, AGENT).unwrap(),
            other => panic!("{other:?}"),
        })
    }

    /// What becomes of this call with that yes: `allowed`, or the code of the refusal.
    fn after(&self, sealed: &Sealed, agent_version: &str) -> String {
        self.judge(|policy, case| {
            let yes = Yes { approval: ID, fields: &sealed.fields, seal: sealed.seal, agent_version };
            match policy.decide_again(case, &yes).decision {
                Decision::Allow(permit) => {
                    assert_eq!(permit.arguments().value(), self.arguments);
                    "allowed".to_owned()
                }
                Decision::Deny(denial) => denial.code.to_owned(),
                Decision::Ask(_) => panic!("a question is not asked a second time"),
            }
        })
    }
}

#[test]
fn a_yes_to_an_unchanged_call_allows_it() {
    let ask = Ask::new();
    assert_eq!(ask.after(&ask.sealed(), AGENT), "allowed");
    let later = ask.with(|ask| ask.now = ask.now.plus_seconds(24 * 3_600 - 1));
    assert_eq!(later.after(&ask.sealed(), AGENT), "allowed");
}

#[test]
fn gate_policy_6_each_change_since_the_question_voids_the_yes_and_says_which() {
    let ask = Ask::new();
    let sealed = ask.sealed();
    let isolation = Isolation { files: true, ..Isolation::default() };
    let worse = Label::new(Trust::User, Sensitivity::Private, SourceKind::Tool);
    let changes: Vec<(&str, Ask)> = vec![
        ("approval.void.arguments", ask.with(|ask| ask.arguments = json!({"to": "ops", "note": "b"}))),
        ("approval.void.arguments", ask.with(|ask| ask.arguments = json!({"to": "all"}))),
        ("approval.void.resources", ask.with(|ask| ask.resources.clear())),
        ("approval.void.authority", ask.with(|ask| ask.authority.scopes = Scopes::new())),
        ("approval.void.definition", ask.with(|ask| ask.spec.description = "Another.".to_owned())),
        ("approval.void.definition", ask.with(|ask| ask.spec.version = "1.0.1".to_owned())),
        ("approval.void.definition", ask.with(|ask| ask.spec.risk = Risk::Low)),
        ("approval.void.confinement", ask.with(|ask| ask.surroundings.isolation = isolation)),
        ("approval.void.label", ask.with(|ask| ask.label = worse)),
        ("approval.void.label", ask.with(|ask| ask.label = Label::piped())),
        ("approval.void.foreign", ask.with(|ask| ask.place.call = CallId::from_u128(2))),
        ("approval.void.foreign", ask.with(|ask| ask.place.run = RunId::from_u128(2))),
        ("approval.void.foreign", ask.with(|ask| ask.place.session = SessionId::from_u128(2))),
        ("approval.void.foreign", ask.with(|ask| ask.place.store = StoreId::from_u128(2))),
        ("approval.void.foreign", ask.with(|ask| ask.authority.principal = PrincipalId::from_u128(2))),
        ("approval.void.foreign", ask.with(|ask| ask.authority.tenant = TenantId::from_u128(2))),
        ("approval.expired", ask.with(|ask| ask.now = ask.now.plus_seconds(24 * 3_600))),
        ("policy.turn.plan_mode", ask.with(|ask| ask.mode = Mode::Plan)),
    ];
    for (code, changed) in changes {
        assert_eq!(changed.after(&sealed, AGENT), code);
    }
    assert_eq!(ask.after(&sealed, "mast/1.0.1"), "approval.void.definition");
    let better = ask.with(|ask| ask.label = Label::platform());
    assert_eq!(better.after(&sealed, AGENT), "allowed", "a better label is no reason");
}

#[test]
fn a_yes_that_was_altered_or_forged_is_not_believed() {
    let ask = Ask::new();
    let sealed = ask.sealed();
    for name in sealed.fields.as_object().unwrap().keys() {
        let mut altered = sealed.clone();
        altered.fields[name] = json!("something else");
        assert_eq!(ask.after(&altered, AGENT), "approval.void.seal", "{name} altered");
        // Whoever can write a seal too makes another question of it, and not this call's.
        altered.seal = Canonical::of(&altered.fields).unwrap().digest();
        let is_policy = name == "policy_version";
        let told = ask.after(&altered, AGENT);
        assert_eq!(told == "allowed", is_policy, "{name} altered and sealed anew: {told}");
        let mut left_out = sealed.clone();
        left_out.fields.as_object_mut().unwrap().remove(name);
        left_out.seal = Canonical::of(&left_out.fields).unwrap().digest();
        assert_ne!(ask.after(&left_out, AGENT), "allowed", "{name} left out");
    }
    let nothing = Sealed { fields: json!({}), seal: Canonical::of(&json!({})).unwrap().digest() };
    assert_eq!(ask.after(&nothing, AGENT), "approval.void.seal");
}

#[test]
fn a_policy_that_asks_for_more_than_was_asked_denies_and_one_that_asks_for_less_allows() {
    let tainted = Ask::new().with(|ask| ask.label = Label::piped());
    let off = tainted.with(|ask| ask.overlay = Overlay::Off);
    assert_eq!(off.after(&tainted.sealed(), AGENT), "allowed", "less is asked than was");
    assert_eq!(tainted.after(&off.sealed(), AGENT), "policy.revalidation.escalated");
}

/// A grant from a yes to this call, with this reach.
fn grant(ask: &Ask, reach: Reach) -> Grant {
    let terms = GrantTerms::of(&ask.sealed().fields, reach, ask.now).unwrap();
    Grant { id: GrantId::from_u128(1), terms, n_uses: 0, uses_max: 2 }
}

#[test]
fn a_grant_covers_what_it_was_given_for_and_leaves_open_what_the_spec_names_free() {
    let ask = Ask::new();
    let covers = |grant: &Grant, ask: &Ask| ask.judge(|_, case| grant.covers(case, &[]));
    let (task, session) = (grant(&ask, Reach::Task), grant(&ask, Reach::Session));
    assert!(GrantTerms::of(&ask.sealed().fields, Reach::Once, ask.now).is_none());
    let other_note = ask.with(|ask| ask.arguments = json!({"to": "ops", "note": "b"}));
    let other_run = ask.with(|ask| ask.place.run = RunId::from_u128(2));
    let own_result = ask.with(|ask| ask.label.trust = Trust::InternalTool);
    for (of, task_covers) in [(&ask, true), (&other_note, true), (&own_result, true), (&other_run, false)] {
        assert!(covers(&session, of));
        assert_eq!(covers(&task, of), task_covers);
    }
    let isolation = Isolation { files: true, ..Isolation::default() };
    for changed in [
        ask.with(|ask| ask.arguments = json!({"to": "all", "note": "a"})),
        ask.with(|ask| ask.resources.clear()),
        ask.with(|ask| ask.place.session = SessionId::from_u128(2)),
        ask.with(|ask| ask.place.store = StoreId::from_u128(2)),
        ask.with(|ask| ask.authority.principal = PrincipalId::from_u128(2)),
        ask.with(|ask| ask.authority.scopes = Scopes::new()),
        ask.with(|ask| ask.spec.version = "1.0.1".to_owned()),
        ask.with(|ask| ask.surroundings.isolation = isolation),
        ask.with(|ask| ask.label.trust = Trust::Memory),
        ask.with(|ask| ask.label.sensitivity = Sensitivity::Private),
        ask.with(|ask| ask.now = ask.now.plus_seconds(mast_kernel::limits::GRANT_SECONDS)),
    ] {
        assert!(!covers(&session, &changed));
    }
    assert!(!covers(&Grant { n_uses: 2, ..session }, &ask), "it was used as often as it may be");
}

#[test]
fn a_grant_answers_an_ask_and_never_a_denial() {
    let ask = Ask::new();
    let given = ask.with(|this| this.surroundings.grants = vec![grant(&ask, Reach::Session)]);
    let decided = |ask: &Ask| ask.judge(Policy::decide);
    assert!(matches!(decided(&ask).decision, Decision::Ask(_)));
    let judged = decided(&given);
    assert!(matches!(judged.decision, Decision::Allow(_)));
    assert_eq!(judged.grant, Some(GrantId::from_u128(1)));
    let plan = given.with(|ask| ask.mode = Mode::Plan);
    assert!(matches!(decided(&plan).decision, Decision::Deny(_)));
    for (effect, reach) in [
        (SideEffect::ExternalWrite, Reach::Session),
        (SideEffect::ExternalMessage, Reach::Once),
        (SideEffect::ExternalDelete, Reach::Once),
        (SideEffect::Financial, Reach::Once),
        (SideEffect::Publication, Reach::Once),
    ] {
        let asked = ask.with(|ask| ask.spec.side_effect = effect);
        let Decision::Ask(approval) = decided(&asked).decision else { panic!("{effect} asks") };
        assert_eq!(approval.reach, reach, "{effect}");
    }
}

#[test]
fn a_grant_answers_what_was_asked_when_it_was_given_and_nothing_that_is_asked_later() {
    let ask = Ask::new();
    let session = grant(&ask, Reach::Session);
    let known = session.terms.asks.clone();
    assert!(!known.is_empty());
    let more = [known.clone(), vec!["policy.rule.ask@later.toml:3".to_owned()]].concat();
    for (asks, is_covered) in
        [(&known, true), (&Vec::new(), true), (&more, false), (&more[1..].to_vec(), false)]
    {
        assert_eq!(ask.judge(|_, case| session.covers(case, asks)), is_covered, "{asks:?}");
    }
    // Terms that were kept before terms named what was asked answer nothing.
    let mut old = serde_json::to_value(&session.terms).unwrap();
    old.as_object_mut().unwrap().remove("asks");
    let old = Grant { terms: serde_json::from_value(old).unwrap(), ..session };
    assert!(!ask.judge(|_, case| old.covers(case, &known)));
}

proptest! {
    #[test]
    fn a_yes_holds_for_its_own_arguments_and_for_no_others(to in "[a-z]{0,10}", note in "[a-z ]{0,20}") {
        let ask = Ask::new();
        let other = ask.with(|ask| ask.arguments = json!({"to": to, "note": note}));
        let same = other.arguments == ask.arguments;
        prop_assert_eq!(other.after(&ask.sealed(), AGENT) == "allowed", same);
        prop_assert_eq!(other.after(&other.sealed(), AGENT), "allowed");
    }
}
