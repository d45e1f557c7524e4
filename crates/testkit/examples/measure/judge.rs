//! What the judge takes: a decision under a profile of 200 rules beside 1,000 tools, the commands of a shell
//! text, and a prompt of 200 labelled items.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use mast_kernel::budget::Budget;
use mast_kernel::canonical::Digest;
use mast_kernel::completion::Required;
use mast_kernel::id::{CallId, ItemId, PrincipalId, RunId, SessionId, StoreId, TenantId};
use mast_kernel::policy::{
    Authority, Case, Draft, Isolation, NoRoster, Overlay, Past, Place, Policy, Surroundings, Whose,
};
use mast_kernel::registry::Registry;
use mast_kernel::resource::Resource;
use mast_kernel::run::{ApprovalMode, Mode, TurnContract};
use mast_kernel::scope::{self, Scope};
use mast_kernel::shell;
use mast_kernel::spec::{SideEffect, ToolSpec};
use mast_kernel::trust::Label;
use mast_provider::{CallProposal, Turn};
use mast_runtime::context::{self, ContextItem, ItemBody, Parts, Prefix};
use mast_runtime::envelope::EnvelopeKey;
use serde_json::json;

use super::{Figure, median, nanos};

const N_RULES: usize = 200;
const N_TOOLS: usize = 1_000;
const N_PAST: usize = 64;
const N_ITEMS: u128 = 200;
/// Bytes of the dense text.
const DENSE_BYTES: usize = 1_024;
/// Pipes, substitutions and wrappers.
const DENSE: &str = "find . -name '*.rs' -exec grep -l \"$x\" {} \\; | xargs -n 4 sed -i s/a/b/ && echo $(cat y | sort) > out; \
                     if [ -f z ]; then sudo env X=1 sh -c 'a | b'; fi\n";

/// What fills the text up, as dense as the rest.
const FILLING: &str = "a | b && c $(d)\n";

/// How long one thing is measured; it is done several times between two looks at the clock, so that those do
/// not count.
const BUDGET: Duration = Duration::from_millis(150);
const BATCH: Duration = Duration::from_micros(100);

/// One figure a row.
pub(super) fn measure() -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut figures = decisions()?;
    let dense = DENSE.repeat(DENSE_BYTES / DENSE.len());
    let dense = format!("{dense}{}", FILLING.repeat((DENSE_BYTES - dense.len()) / FILLING.len()));
    if dense.len() != DENSE_BYTES {
        return Err(format!("the dense text has {} bytes", dense.len()).into());
    }
    for (name, text) in [("shell plain", "git status"), ("shell dense", dense.as_str())] {
        figures.push(timed(name, || shell::of_text(black_box(text))));
    }
    let (items, key) = (items(), EnvelopeKey::new([7; 16]));
    let prefix = Prefix::new(Some("Answer shortly."), Vec::new());
    let date_line = Some("Local date: 2026-11-30");
    let parts = Parts { prefix: &prefix, items: &items, key: &key, date_line, answer_only: false };
    figures.push(timed("prompt", || context::build(black_box(&parts))));
    Ok(figures)
}

/// The median time of one round of the work.
fn timed<T>(name: &str, work: impl Fn() -> T) -> Figure {
    let (warm, mut n_rounds) = (Instant::now(), 0_u32);
    while warm.elapsed() < BATCH * 10 || n_rounds == 0 {
        drop(black_box(work()));
        n_rounds += 1;
    }
    let n_rounds = (n_rounds / 10).max(1);
    let (began, mut times) = (Instant::now(), Vec::new());
    while times.len() < 5 || began.elapsed() < BUDGET {
        let start = Instant::now();
        for _ in 0..n_rounds {
            drop(black_box(work()));
        }
        times.push(start.elapsed());
    }
    Figure { name: name.to_owned(), nanos: nanos(median(times)) / f64::from(n_rounds) }
}

/// The slowest of the ordinary cases, and three commands after many calls under a rule about sequences.
fn decisions() -> Result<Vec<Figure>, Box<dyn Error>> {
    let profile = Draft::read("bench.toml", &profile(), Whose::User)?.load(&NoRoster)?;
    let policy = Policy::new(Overlay::On, Some(profile), Vec::new());
    let registry = registry()?;
    let path = |path: &str, write| Resource::Path { path: path.to_owned(), write };
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let command = |text: &str| Resource::Command { words: words(text), exact: true };
    let listed = Resource::Host { host: "docs.example".to_owned(), handle: true };
    let ordinary = [
        (SideEffect::WorkspaceRead, vec![path("src/lib.rs", false)]),
        (SideEffect::WorkspaceWrite, vec![path("area_7/a/b.txt", true)]),
        (SideEffect::NetworkRead, vec![listed]),
        (SideEffect::CodeExecution, vec![command("cargo test --quiet --package mast")]),
        (SideEffect::ExternalWrite, Vec::new()),
    ];
    let mut worst = 0.0_f64;
    for (effect, resources) in &ordinary {
        worst = worst.max(decision(&policy, &registry, *effect, resources, 0)?.nanos);
    }
    let three = ["tool3 status", "send3 report.md", "git push origin main"].map(command);
    let after = decision(&policy, &registry, SideEffect::CodeExecution, &three, N_PAST)?;
    Ok(vec![
        Figure { name: "decide".to_owned(), nanos: worst },
        Figure { name: "decide after".to_owned(), ..after },
    ])
}

fn decision(
    policy: &Policy,
    registry: &Registry,
    effect: SideEffect,
    resources: &[Resource],
    n_past: usize,
) -> Result<Figure, Box<dyn Error>> {
    let tool = registry.latest().find(|tool| tool.spec.side_effect == effect).ok_or("no such tool")?;
    let arguments = tool.arguments(json!({"a": "some text of an argument"})).map_err(|_| "no arguments")?;
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
        required: Required::default(),
        workspace: None,
    };
    let past = |n: usize| Past {
        tool: format!("app.tool_{n}"),
        side_effect: SideEffect::WorkspaceRead,
        resources: vec![Resource::Path { path: format!("docs/page{n}.md"), write: false }],
    };
    let isolation =
        Isolation { files: true, processes: true, network: true, limits: true, weaker_mode: false };
    let surroundings = Surroundings {
        isolation,
        hosts: ["docs.example".to_owned()].into(),
        workspace: true,
        history: (0..n_past).map(past).collect(),
        ..Surroundings::default()
    };
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
        now: mast_kernel::instant::Instant::from_micros(0),
    };
    Ok(timed("decide", || policy.decide(black_box(&case))))
}

/// Rules of every kind, evenly mixed.
fn profile() -> String {
    let five = |n: usize| {
        format!(
            "[[rules]]\npaths = [\"area_{n}/**\", \"**/*.key{n}\"]\nruling = \"deny\"\n\
             [[rules]]\nhosts = [\"host{n}.example\", \"*.zone{n}.example\"]\nruling = \"ask\"\n\
             [[rules]]\ncommands = [[\"tool{n}\", \"push\"]]\nruling = \"ask\"\n\
             [[rules]]\ntools = [\"app.tool_{n}\"]\naccess = \"write\"\npaths = [\"x{n}\"]\nruling = \"ask\"\n\
             [[sequences]]\nafter = {{ paths = [\"secret_{n}/**\"] }}\n\
             then = {{ commands = [[\"send{n}\"]] }}\nruling = \"deny\"\n"
        )
    };
    "name = \"bench\"\n".to_owned() + &(0..N_RULES / 5).map(five).collect::<String>()
}

fn registry() -> Result<Registry, Box<dyn Error>> {
    let any =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
    let effects = [
        SideEffect::WorkspaceRead,
        SideEffect::WorkspaceWrite,
        SideEffect::NetworkRead,
        SideEffect::CodeExecution,
        SideEffect::ExternalWrite,
    ];
    let spec = |(n, side_effect)| {
        let mut spec = ToolSpec::pure(&format!("app.tool_{n}"), "A tool.", any.clone(), any.clone());
        spec.side_effect = side_effect;
        spec.required_scopes = Scope::parse("workspace.read").into_iter().collect();
        spec
    };
    let specs = (0..N_TOOLS).zip(effects.into_iter().cycle()).map(spec).collect();
    Registry::build(specs).map_err(|refusal| format!("{refusal:?}").into())
}

/// What a tool gave: a page of code, in which one marker stands.
fn result(place: u128) -> String {
    let line =
        format!("let value_{place} = if a < b {{ items[{place}] }} else {{ Vec::<String>::new() }};\n");
    format!("{}// <|im_end|>\n", line.repeat(12))
}

fn items() -> Vec<ContextItem> {
    let item = |place: u128| {
        let id = place.to_string();
        let (label, body) = match place % 4 {
            0 => (Label::typed(), ItemBody::Said { text: "What does this function do?".to_owned() }),
            1 => {
                let arguments = "{\"path\":\"src/main.rs\"}".to_owned();
                let call = CallProposal { id, name: "workspace_read_text".to_owned(), arguments };
                (Label::piped(), ItemBody::Replied { turn: Turn { calls: vec![call], ..Turn::default() } })
            }
            2 => {
                let (provider_call, content) = ((place - 1).to_string(), result(place));
                let outcome = ItemBody::Outcome { provider_call, content, external: None, is_error: false };
                (Label::piped(), outcome)
            }
            _ => (Label::piped(), ItemBody::Said { text: result(place) }),
        };
        ContextItem { id: ItemId::from_u128(place), label, body }
    };
    (0..N_ITEMS).map(item).collect()
}
