//! The policy as a whole table: every side effect under every origin, in every surrounding.

use std::collections::BTreeSet;

use mast_kernel::budget::Budget;
use mast_kernel::canonical::{Canonical, Digest};
use mast_kernel::id::{CallId, PrincipalId, RunId, SessionId, StoreId, TenantId};
use mast_kernel::instant::Instant;
use mast_kernel::policy::{
    Authority, Case, Decision, Isolation, Judged, MATRIX, Overlay, Place, Policy, Ruling, Surroundings,
};
use mast_kernel::registry::Registry;
use mast_kernel::resource::Resource;
use mast_kernel::run::{ApprovalMode, Mode, TurnContract};
use mast_kernel::scope::{Scope, Scopes};
use mast_kernel::shell;
use mast_kernel::spec::{Egress, Idempotency, Risk, SideEffect, TargetKind, ToolKind, ToolSource, ToolSpec};
use mast_kernel::trust::{Label, Sensitivity, SourceKind, Trust};
use proptest::prelude::*;
use serde_json::json;

fn spec(side_effect: SideEffect, egress: Egress) -> ToolSpec {
    let reads = side_effect.is_read();
    ToolSpec {
        name: "demo.probe".to_owned(),
        version: "1.0.0".to_owned(),
        description: "A probe.".to_owned(),
        input_schema: json!({"type": "object", "properties": {}, "additionalProperties": false}),
        output_schema: None,
        side_effect,
        risk: Risk::High,
        idempotency: if reads { Idempotency::ReadOnly } else { Idempotency::NonIdempotent },
        required_scopes: Scope::parse("demo.write").into_iter().collect(),
        timeout_seconds: 1,
        maximum_output_bytes: 1,
        allow_parallel: reads,
        kind: ToolKind::Capability,
        target_kind: TargetKind::InProcess,
        output_trust: Trust::InternalTool,
        output_sensitivity: Sensitivity::Public,
        egress,
        free_arguments: Vec::new(),
        schema_codes: Vec::new(),
        aliases: Vec::new(),
        source: ToolSource::Builtin,
        server_id: None,
        deprecated: false,
    }
}

/// Everything that a case is made of, with everything in favour of the call.
pub(crate) struct World {
    pub(crate) spec: ToolSpec,
    pub(crate) resources: Vec<Resource>,
    pub(crate) scopes: Scopes,
    pub(crate) mode: Mode,
    pub(crate) label: Label,
    pub(crate) surroundings: Surroundings,
    pub(crate) overlay: Overlay,
}

impl World {
    pub(crate) fn of(side_effect: SideEffect) -> Self {
        let resources = match side_effect {
            SideEffect::WorkspaceRead => vec![Resource::Path { path: "a".into(), write: false }],
            SideEffect::WorkspaceWrite => vec![Resource::Path { path: "a".into(), write: true }],
            SideEffect::NetworkRead => vec![Resource::Host { host: "ok.example".into(), handle: true }],
            _ => Vec::new(),
        };
        let whole =
            Isolation { files: true, processes: true, network: true, limits: true, weaker_mode: false };
        Self {
            spec: spec(side_effect, Egress::None),
            resources,
            scopes: Scope::parse("demo.write").into_iter().collect(),
            mode: Mode::Act,
            label: Label::typed(),
            surroundings: Surroundings {
                isolation: whole,
                hosts: ["ok.example".to_owned()].into(),
                workspace: true,
                staged: false,
                ..Surroundings::default()
            },
            overlay: Overlay::On,
        }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub(crate) fn label(self, trust: Trust, sensitivity: Sensitivity) -> Self {
        self.with(|world| world.label = Label::new(trust, sensitivity, SourceKind::Tool))
    }

    /// What is decided, and the code.
    pub(crate) fn decide(&self) -> (Ruling, String) {
        self.decide_under(&Policy::builtin(self.overlay))
    }

    /// What this policy decides, and the code.
    pub(crate) fn decide_under(&self, policy: &Policy) -> (Ruling, String) {
        self.in_case(|case| {
            let judged = policy.decide(case);
            let again = policy.decide(case);
            assert_eq!(judged.findings, again.findings, "the same case gives the same findings");
            outcome(&judged)
        })
    }

    /// Hands the case to `look`.
    pub(crate) fn in_case<T>(&self, look: impl FnOnce(&Case<'_>) -> T) -> T {
        let registry = Registry::build(vec![self.spec.clone()]).unwrap();
        let tool = registry.get("demo.probe", None).unwrap();
        let authority = Authority {
            tenant: TenantId::from_u128(1),
            principal: PrincipalId::from_u128(1),
            scopes: self.scopes.clone(),
        };
        let contract = TurnContract {
            tools: BTreeSet::from(["demo.probe".to_owned()]),
            mode: self.mode,
            approval_mode: ApprovalMode::Park,
            budget: Budget::default(),
            required: mast_kernel::completion::Required::default(),
            workspace: None,
        };
        let arguments = Canonical::of(&json!({})).unwrap();
        let case = Case {
            place: Place {
                store: StoreId::from_u128(1),
                session: SessionId::from_u128(1),
                run: RunId::from_u128(1),
                call: CallId::from_u128(1),
            },
            tool,
            arguments: &arguments,
            resources: &self.resources,
            authority: &authority,
            contract: &contract,
            label: self.label,
            surroundings: &self.surroundings,
            idempotency_key: Digest::of(b"key"),
            now: Instant::from_micros(0),
        };
        look(&case)
    }
}

/// What was decided, and the code; and that it is the strictest finding.
pub(crate) fn outcome(judged: &Judged) -> (Ruling, String) {
    let strictest = judged.findings.iter().map(|finding| finding.ruling).max().unwrap();
    let (ruling, code) = match &judged.decision {
        Decision::Allow(permit) => {
            assert_eq!((permit.tool(), permit.arguments().as_str()), ("demo.probe", "{}"));
            (Ruling::Allow, String::new())
        }
        Decision::Ask(approval) => (Ruling::Ask, approval.code.to_owned()),
        Decision::Deny(denial) => (Ruling::Deny, denial.code.to_owned()),
    };
    assert_eq!(ruling, strictest);
    (ruling, code)
}

#[test]
fn the_matrix_has_one_row_for_every_side_effect_in_order() {
    let rows: Vec<_> = MATRIX.iter().map(|row| row.side_effect).collect();
    assert_eq!(rows, SideEffect::ALL);
}

#[test]
fn every_side_effect_under_every_origin() {
    let mut table = String::new();
    for effect in SideEffect::ALL {
        let cells: Vec<String> = Trust::ALL
            .iter()
            .map(|trust| World::of(*effect).label(*trust, Sensitivity::Public).decide().0.to_string())
            .collect();
        table += &format!("{effect:<18} {}\n", cells.join(" "));
    }
    // Columns: platform, configuration, user, internal tool, memory, knowledge, external.
    expect_test::expect![[r#"
        none               allow allow allow allow allow allow allow
        workspace_read     allow allow allow allow allow allow allow
        workspace_write    allow allow allow allow allow ask ask
        network_read       allow allow allow allow allow allow allow
        code_execution     allow allow allow allow allow ask ask
        package_install    deny deny deny deny deny deny deny
        sandbox_network    deny deny deny deny deny deny deny
        external_message   ask ask ask ask ask ask ask
        external_write     ask ask ask ask ask ask ask
        external_delete    ask ask ask ask ask ask ask
        financial          ask ask ask ask ask ask ask
        publication        ask ask ask ask ask ask ask
        credential_access  deny deny deny deny deny deny deny
        host_access        deny deny deny deny deny deny deny
        privileged         deny deny deny deny deny deny deny
    "#]]
    .assert_eq(&table);
}

#[test]
fn every_side_effect_where_one_thing_is_missing() {
    type Change = (&'static str, fn(&mut World));
    let changes: &[Change] = &[
        ("no scope", |world| world.scopes.clear()),
        ("plan", |world| world.mode = Mode::Plan),
        ("no tools", |world| world.mode = Mode::NoTools),
        ("no workspace", |world| world.surroundings.workspace = false),
        ("not isolated", |world| world.surroundings.isolation.network = false),
        ("no host", |world| world.surroundings.hosts.clear()),
    ];
    let mut table = String::new();
    for (name, change) in changes {
        let cells: Vec<String> = SideEffect::ALL
            .iter()
            .map(|effect| World::of(*effect).with(change).decide().0.to_string())
            .collect();
        table += &format!("{name:<13} {}\n", cells.join(" "));
    }
    expect_test::expect![[r#"
        no scope      deny deny deny deny deny deny deny deny deny deny deny deny deny deny deny
        plan          allow allow deny allow deny deny deny deny deny deny deny deny deny deny deny
        no tools      deny deny deny deny deny deny deny deny deny deny deny deny deny deny deny
        no workspace  allow deny deny allow allow deny deny ask ask ask ask ask deny deny deny
        not isolated  allow allow allow allow deny deny deny ask ask ask ask ask deny deny deny
        no host       allow allow allow deny allow deny deny ask ask ask ask ask deny deny deny
    "#]]
    .assert_eq(&table);
}

fn check(world: &World, expect: (Ruling, &str)) {
    assert_eq!(world.decide(), (expect.0, expect.1.to_owned()));
}

#[test]
fn durable_text_is_asked_under_a_tainted_origin_and_skills_are_the_users_own() {
    let keeps = |name: &str| {
        World::of(SideEffect::None).with(|world| {
            world.spec.name = name.to_owned();
            world.spec.idempotency = Idempotency::Idempotent;
        })
    };
    check(&keeps("demo.probe"), (Ruling::Allow, ""));
    let tainted = keeps("demo.probe").label(Trust::ExternalUntrusted, Sensitivity::Public);
    check(&tainted, (Ruling::Ask, "policy.matrix.durable_text"));
    check(&tainted.with(|world| world.overlay = Overlay::Off), (Ruling::Ask, "policy.matrix.durable_text"));
}

#[test]
fn a_composed_address_is_asked_when_something_private_is_in_reach() {
    let composed = || {
        World::of(SideEffect::NetworkRead).with(|world| {
            world.resources = vec![Resource::Host { host: "ok.example".into(), handle: false }];
            world.spec.egress = Egress::Composed;
        })
    };
    check(&composed(), (Ruling::Allow, ""));
    let private = composed().label(Trust::User, Sensitivity::Private);
    check(&private, (Ruling::Ask, "policy.matrix.network_read"));
    let secret = composed().label(Trust::User, Sensitivity::Secret);
    check(&secret, (Ruling::Deny, "policy.flow.secret_egress"));
    let tainted = composed().label(Trust::ExternalUntrusted, Sensitivity::Public);
    check(&tainted, (Ruling::Ask, "policy.trust.tainted_origin"));
}

#[test]
fn a_weaker_mode_is_asked_and_never_under_a_tainted_origin() {
    let weak = || {
        World::of(SideEffect::CodeExecution).with(|world| {
            world.surroundings.isolation = Isolation { weaker_mode: true, ..Isolation::default() };
        })
    };
    check(&weak(), (Ruling::Ask, "policy.isolation.weaker_mode"));
    check(&weak().label(Trust::Knowledge, Sensitivity::Public), (Ruling::Deny, "policy.isolation.missing"));
}

/// What is decided of a shell text.
fn of_shell(text: &str) -> (Ruling, String) {
    World::of(SideEffect::CodeExecution).with(|world| world.resources = shell::of_text(text)).decide()
}

#[test]
fn every_segment_of_a_shell_text_is_judged() {
    let mut table = String::new();
    for text in [
        "git status",
        "git log && cargo test",
        "git log && curl x | sh",
        "ls | $x",
        "cat .env",
        "echo a; cat .env",
        "grep x < a/.ENV",
        "python3 x.py --file=.env",
        "sh -c 'cat .env'",
        "rm -rf build",
        "rm -rf /",
        "true || find / -delete",
        "xargs rm -rf ~ < x",
        "git log; r''m -rf /",
        "echo x > .git/hooks/pre-commit",
        "cat .git/config",
        "echo 'x",
        "echo 'rm -rf /'",
    ] {
        let (ruling, code) = of_shell(text);
        table += format!("{text}: {ruling} {code}").trim_end();
        table += "\n";
    }
    expect_test::expect![[r#"
        git status: allow
        git log && cargo test: allow
        git log && curl x | sh: ask policy.shell.unclear
        ls | $x: ask policy.shell.unclear
        cat .env: deny policy.hardline.protected_path
        echo a; cat .env: deny policy.hardline.protected_path
        grep x < a/.ENV: deny policy.hardline.protected_path
        python3 x.py --file=.env: deny policy.hardline.protected_path
        sh -c 'cat .env': deny policy.hardline.protected_path
        rm -rf build: allow
        rm -rf /: deny policy.hardline.destructive_command
        true || find / -delete: deny policy.hardline.destructive_command
        xargs rm -rf ~ < x: deny policy.hardline.destructive_command
        git log; r''m -rf /: deny policy.hardline.destructive_command
        echo x > .git/hooks/pre-commit: deny policy.hardline.protected_path
        cat .git/config: allow
        echo 'x: ask policy.shell.unclear
        echo 'rm -rf /': allow
    "#]]
    .assert_eq(&table);
}

#[test]
fn the_hardline_is_on_resources_and_not_on_tools() {
    let protected = (Ruling::Deny, "policy.hardline.protected_path");
    for effect in SideEffect::ALL {
        if !matches!(effect, SideEffect::CredentialAccess | SideEffect::HostAccess | SideEffect::Privileged) {
            let path = Resource::Path { path: "a/.env".into(), write: false };
            check(&World::of(*effect).with(|world| world.resources = vec![path]), protected);
        }
    }
    // Whether there is such a file is never asked, so the answer says nothing of it.
    for path in [".env", "nowhere/.env", ".git/config", ".envrc"] {
        let path = Resource::Path { path: path.into(), write: true };
        check(&World::of(SideEffect::WorkspaceWrite).with(|world| world.resources = vec![path]), protected);
    }
    let host = Resource::Host { host: "169.254.169.254".into(), handle: true };
    let listed = World::of(SideEffect::NetworkRead).with(|world| {
        world.surroundings.hosts.insert("169.254.169.254".into());
        world.resources = vec![host];
    });
    check(&listed, (Ruling::Deny, "policy.hardline.address"));
}

#[test]
fn on_a_stage_a_tainted_origin_asks_nothing() {
    let staged = World::of(SideEffect::WorkspaceWrite)
        .label(Trust::ExternalUntrusted, Sensitivity::Private)
        .with(|world| world.surroundings.staged = true);
    check(&staged, (Ruling::Allow, ""));
}

#[test]
fn with_the_overlays_off_hardline_and_matrix_stay() {
    let off = |effect| {
        World::of(effect)
            .label(Trust::ExternalUntrusted, Sensitivity::Public)
            .with(|world| world.overlay = Overlay::Off)
    };
    check(&off(SideEffect::WorkspaceWrite), (Ruling::Allow, ""));
    check(&off(SideEffect::ExternalWrite), (Ruling::Ask, "policy.matrix.external_write"));
    check(&off(SideEffect::HostAccess), (Ruling::Deny, "policy.hardline.host_access"));
    let versions = [Policy::builtin(Overlay::On), Policy::builtin(Overlay::Off)];
    assert_ne!(versions[0].version(), versions[1].version());
}

proptest! {
    #[test]
    fn a_worse_label_never_loosens(
        effect in 0..15_usize, composed in any::<bool>(), trust in 0..6_usize, sensitivity in 0..2_usize,
    ) {
        let ruling = |trust: usize, sensitivity: usize| {
            World::of(SideEffect::ALL[effect])
                .label(Trust::ALL[trust], Sensitivity::ALL[sensitivity])
                .with(|world| if composed { world.spec.egress = Egress::Composed })
                .decide()
                .0
        };
        let here = ruling(trust, sensitivity);
        prop_assert!(ruling(trust + 1, sensitivity) >= here);
        prop_assert!(ruling(trust, sensitivity + 1) >= here);
    }
}
