//! How long one decision takes, under a profile of 200 rules and beside 1,000 tools.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark is not shipped")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mast_kernel::budget::Budget;
use mast_kernel::canonical::Digest;
use mast_kernel::id::{CallId, PrincipalId, RunId, SessionId, StoreId, TenantId};
use mast_kernel::instant::Instant;
use mast_kernel::policy::{
    Authority, Case, Draft, Isolation, NoRoster, Overlay, Past, Place, Policy, Profile, Surroundings, Whose,
};
use mast_kernel::registry::Registry;
use mast_kernel::resource::Resource;
use mast_kernel::run::{ApprovalMode, Mode, TurnContract};
use mast_kernel::scope::{self, Scope};
use mast_kernel::spec::{SideEffect, ToolSpec};
use mast_kernel::trust::Label;
use serde_json::json;

const N_RULES: usize = 200;
const N_TOOLS: usize = 1_000;
const N_PAST: usize = 64;

/// Rules of every kind, evenly mixed.
fn profile() -> Profile {
    let mut text = "name = \"bench\"\n".to_owned();
    for n in 0..N_RULES / 5 {
        text += &format!("[[rules]]\npaths = [\"area_{n}/**\", \"**/*.key{n}\"]\nruling = \"deny\"\n");
        text +=
            &format!("[[rules]]\nhosts = [\"host{n}.example\", \"*.zone{n}.example\"]\nruling = \"ask\"\n");
        text += &format!("[[rules]]\ncommands = [[\"tool{n}\", \"push\"]]\nruling = \"ask\"\n");
        text += &format!(
            "[[rules]]\ntools = [\"app.tool_{n}\"]\naccess = \"write\"\npaths = [\"x{n}\"]\nruling = \"ask\"\n"
        );
        text += &format!(
            "[[sequences]]\nafter = {{ paths = [\"secret_{n}/**\"] }}\nthen = {{ commands = [[\"send{n}\"]] }}\nruling = \"deny\"\n"
        );
    }
    Draft::read("bench.toml", &text, Whose::User).unwrap().load(&NoRoster).unwrap()
}

fn registry() -> Registry {
    let any =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    let effects = [
        SideEffect::WorkspaceRead,
        SideEffect::WorkspaceWrite,
        SideEffect::NetworkRead,
        SideEffect::CodeExecution,
        SideEffect::ExternalWrite,
    ];
    let spec = |n: usize| {
        let mut spec = ToolSpec::pure(&format!("app.tool_{n}"), "A tool.", any.clone(), any.clone());
        spec.side_effect = effects[n % effects.len()];
        spec.required_scopes = Scope::parse("workspace.read").into_iter().collect();
        spec
    };
    Registry::build((0..N_TOOLS).map(spec).collect()).unwrap()
}

/// A session in which much was read.
fn surroundings() -> Surroundings {
    let past = |n: usize| Past {
        tool: format!("app.tool_{n}"),
        side_effect: SideEffect::WorkspaceRead,
        resources: vec![Resource::Path { path: format!("docs/page{n}.md"), write: false }],
    };
    Surroundings {
        isolation: Isolation {
            files: true,
            processes: true,
            network: true,
            limits: true,
            weaker_mode: false,
        },
        hosts: ["docs.example".to_owned()].into(),
        workspace: true,
        staged: false,
        grants: Vec::new(),
        history: (0..N_PAST).map(past).collect(),
    }
}

fn decisions(criterion: &mut Criterion) {
    let policy = Policy::new(Overlay::On, Some(profile()), Vec::new());
    let registry = registry();
    let authority = Authority {
        tenant: TenantId::from_u128(1),
        principal: PrincipalId::from_u128(1),
        scopes: scope::platform(),
    };
    let contract = TurnContract {
        tools: registry.latest().map(|tool| tool.spec.name.clone()).collect(),
        mode: Mode::Act,
        approval_mode: ApprovalMode::Park,
        budget: Budget::default(),
        required: mast_kernel::completion::Required::default(),
        workspace: None,
    };
    let surroundings = surroundings();
    let path = |path: &str, write| Resource::Path { path: path.to_owned(), write };
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let command = |text: &str| Resource::Command { words: words(text), exact: true };
    let cases: [(&str, &str, Vec<Resource>); 6] = [
        ("read a file", "app.tool_500", vec![path("src/lib.rs", false)]),
        ("write a file under a rule", "app.tool_501", vec![path("area_7/a/b.txt", true)]),
        ("read a host", "app.tool_502", vec![Resource::Host { host: "docs.example".into(), handle: true }]),
        ("run a command", "app.tool_503", vec![command("cargo test --quiet --package mast")]),
        (
            "run a command under a sequence",
            "app.tool_503",
            vec![command("tool3 status"), command("send3 report.md"), command("git push origin main")],
        ),
        ("write outside", "app.tool_504", Vec::new()),
    ];
    let mut group = criterion.benchmark_group("decide");
    for (name, tool, resources) in &cases {
        let tool = registry.get(tool, None).unwrap();
        let arguments = tool.arguments(json!({"a": "some text of an argument"})).unwrap();
        let case = Case {
            place: Place {
                store: StoreId::from_u128(1),
                session: SessionId::from_u128(1),
                run: RunId::from_u128(1),
                call: CallId::from_u128(1),
            },
            tool,
            arguments: &arguments,
            resources,
            authority: &authority,
            contract: &contract,
            label: Label::typed(),
            surroundings: &surroundings,
            idempotency_key: Digest::of(b"key"),
            now: Instant::from_micros(0),
        };
        group.bench_function(*name, |bencher| bencher.iter(|| policy.decide(black_box(&case))));
    }
    group.finish();
}

criterion_group!(benches, decisions);
criterion_main!(benches);
