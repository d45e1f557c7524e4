//! What can never happen to a decision, whatever the profile, the reviewer or the credential.

use std::fs;
use std::path::Path;

use mast_kernel::event::Reach;
use mast_kernel::id::{PrincipalId, TenantId};
use mast_kernel::message::{self, Outcome, OutcomeStatus};
use mast_kernel::policy::{
    Advice, Authority, Decision, Draft, Layer, NoRoster, Overlay, Past, Policy, Profile, Ruling, Whose,
    loosest,
};
use mast_kernel::registry::{FieldFault, Refusal, Registry};
use mast_kernel::resource::Resource;
use mast_kernel::run::Mode;
use mast_kernel::scope::{self, Scope, Scopes};
use mast_kernel::spec::{SideEffect, TargetKind, ToolSource};
use mast_kernel::trust::{Sensitivity, Trust};
use proptest::prelude::*;

use crate::policy::{World, outcome};

fn user(text: &str) -> Profile {
    Draft::read("mine.toml", text, Whose::User).unwrap().load(&NoRoster).unwrap()
}

fn under(text: &str) -> Policy {
    Policy::new(Overlay::On, Some(user(text)), Vec::new())
}

#[test]
fn gate_policy_2_a_thousand_evaluations_are_one() {
    let text = "name = \"x\"\n[[rules]]\nhosts = [\"*.example\"]\nruling = \"ask\"\n";
    let policy = under(text);
    for effect in SideEffect::ALL {
        let world = World::of(*effect).label(Trust::Memory, Sensitivity::Private);
        let first = world.decide_under(&policy);
        assert!((0..1_000 / 15 + 1).all(|_| world.decide_under(&policy) == first), "{effect}");
    }
}

#[test]
fn gate_policy_3_one_place_makes_a_permit() {
    fn count(folder: &Path) -> usize {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries
            .map(|path| match path.is_dir() {
                true => count(&path),
                false => fs::read_to_string(path).unwrap_or_default().matches("Permit::issue(").count(),
            })
            .sum()
    }
    assert_eq!(count(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")), 1);
}

/// A few lines that a profile may have, good and bad.
fn any_profile() -> impl Strategy<Value = String> {
    let ruling = || prop::sample::select(vec!["allow", "ask", "deny"]);
    let effect = || prop::sample::select(SideEffect::ALL.to_vec());
    let rows = prop::collection::btree_map(effect(), ruling(), 0..4);
    let tool = prop::option::of(ruling());
    let rule = prop::option::of((
        prop::sample::select(vec![
            "paths = [\"**\"]",
            "hosts = [\"*\"]",
            "tools = [\"demo.probe\"]",
            "effects = [\"none\", \"financial\"]",
        ]),
        ruling(),
    ));
    (rows, tool, rule).prop_map(|(rows, tool, rule)| {
        let mut text = "name = \"x\"\n[rows]\n".to_owned();
        for (effect, ruling) in rows {
            text += &format!("{effect} = \"{ruling}\"\n");
        }
        if let Some(ruling) = tool {
            text += &format!("[[tools]]\nname = \"demo.probe\"\nruling = \"{ruling}\"\n");
        }
        if let Some((what, ruling)) = rule {
            text += &format!("[[rules]]\n{what}\nruling = \"{ruling}\"\n");
        }
        text
    })
}

proptest! {
    #[test]
    fn gate_policy_5_no_profile_loosens_more_than_the_page_says(
        text in any_profile(), effect in 0..15_usize, trust in 0..7_usize, sensitivity in 0..3_usize,
        off in any::<bool>(),
    ) {
        let effect = SideEffect::ALL[effect];
        let world = World::of(effect)
            .label(Trust::ALL[trust], Sensitivity::ALL[sensitivity])
            .with(|world| if off { world.overlay = Overlay::Off });
        let (built_in, code) = world.decide();
        if let Ok(draft) = Draft::read("x", &text, Whose::User) {
            let profile = draft.load(&NoRoster).unwrap();
            let (found, found_code) = world.decide_under(&Policy::new(world.overlay, Some(profile), Vec::new()));
            prop_assert!(found >= built_in.min(loosest(effect, true)), "{text}");
            if code.starts_with("policy.hardline.") {
                prop_assert_eq!((found, found_code), (built_in, code));
            }
        }
        if let Ok(draft) = Draft::read("x", &text, Whose::Admin) {
            let admin = draft.load(&NoRoster).unwrap();
            let found = world.decide_under(&Policy::new(world.overlay, None, vec![admin])).0;
            prop_assert!(found >= built_in, "{text}");
        }
    }

    #[test]
    fn gate_policy_4_and_14_advice_never_lowers_a_rank(
        effect in 0..15_usize, trust in 0..7_usize, advice in 0..3_usize,
    ) {
        let advice = [Advice::Abstain, Advice::Ask, Advice::Deny][advice];
        let world = World::of(SideEffect::ALL[effect]).label(Trust::ALL[trust], Sensitivity::Public);
        let policy = Policy::builtin(Overlay::On);
        let plain = world.decide().0;
        let advised = world.in_case(|case| outcome(&policy.advised(case, policy.decide(case), advice)).0);
        prop_assert!(advised >= plain);
        prop_assert_eq!(advised, if plain == Ruling::Allow { advice.finding().ruling } else { plain });
    }
}

#[test]
fn gate_policy_8_a_denial_has_its_six_fields_and_the_tables_message_for_every_code() {
    for entry in message::TABLE.iter().filter(|entry| entry.code.starts_with("policy.")) {
        let outcome = Outcome::failure(OutcomeStatus::Denied, "demo.probe", entry.code);
        let value = serde_json::to_value(&outcome).unwrap();
        let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["status", "action", "reason_code", "message", "retryable", "remediation"]);
        assert_eq!(value["message"], entry.message);
    }
}

fn scopes(texts: &[&str]) -> Scopes {
    texts.iter().map(|text| Scope::parse(text).unwrap()).collect()
}

#[test]
fn gate_policy_11_scopes_have_a_grammar_and_a_server_may_only_require_its_own() {
    for bad in ["", "workspace", "workspace.*", "*", "Workspace.read", "workspace..read", "workspace.read "] {
        assert_eq!(Scope::parse(bad), None, "{bad}");
    }
    let of_server = |scope: &str| {
        let world = World::of(SideEffect::ExternalWrite).with(|world| {
            world.spec.name = "mcp.tickets.create".to_owned();
            world.spec.source = ToolSource::Mcp;
            world.spec.target_kind = TargetKind::McpServer;
            world.spec.server_id = Some("tickets".to_owned());
            world.spec.output_trust = Trust::ExternalUntrusted;
            world.spec.required_scopes = vec![Scope::parse(scope).unwrap()];
        });
        Registry::build(vec![world.spec]).map(drop)
    };
    assert_eq!(of_server("mcp.tickets.write"), Ok(()));
    for foreign in ["workspace.write", "mcp.other.write", "mcp.tickets2.write", "mcp.tickets"] {
        let refused = of_server(foreign).unwrap_err();
        let is_foreign = matches!(refused, Refusal::Field { fault: FieldFault::ForeignScope { .. }, .. });
        assert!(is_foreign, "{foreign}: {refused}");
    }
    assert!(scope::platform().iter().all(|scope| !scope.as_str().starts_with("mcp.")));
}

#[test]
fn gate_policy_12_scopes_are_compared_whole_and_only_the_missing_are_named() {
    let needs = |held: &[&str]| {
        World::of(SideEffect::None).with(|world| {
            world.spec.required_scopes =
                vec![Scope::parse("demo.write").unwrap(), Scope::parse("demo.read").unwrap()];
            world.scopes = scopes(held);
        })
    };
    assert_eq!(needs(&["demo.read", "demo.write", "run.read"]).decide().0, Ruling::Allow);
    for held in [&["demo.write"][..], &["demo.write", "demo.read.all"], &["demo.write", "demo.rea"], &[]] {
        assert_eq!(needs(held).decide(), (Ruling::Deny, "policy.scope.missing".to_owned()));
    }
    let required = [Scope::parse("demo.write").unwrap(), Scope::parse("demo.read").unwrap()];
    let missing = scope::missing(&required, &scopes(&["demo.write"]));
    assert_eq!(missing, [Scope::parse("demo.read").unwrap()]);
}

#[test]
fn gate_policy_12_a_child_never_holds_more_than_its_parent() {
    let authority = |held: &[&str]| Authority {
        tenant: TenantId::from_u128(1),
        principal: PrincipalId::from_u128(2),
        scopes: scopes(held),
    };
    let parent = authority(&["demo.read", "demo.write"]);
    let child = parent.narrowed(&scopes(&["demo.write", "workspace.write"]));
    assert_eq!(child, authority(&["demo.write"]));
    let grandchild = child.narrowed(&scopes(&["demo.read", "demo.write"]));
    assert_eq!(grandchild.scopes, child.scopes, "what a parent gave up does not come back");
    assert_ne!(parent.digest(), child.digest());
    assert!(parent.narrowed(&Scopes::new()).scopes.is_empty());
}

#[test]
fn gate_policy_15_a_reviewer_is_asked_only_about_what_is_allowed() {
    let policy = Policy::builtin(Overlay::On);
    for effect in SideEffect::ALL {
        World::of(*effect).in_case(|case| {
            let judged = policy.decide(case);
            let is_allowed = matches!(judged.decision, Decision::Allow(_));
            let advised = policy.advised(case, judged, Advice::Deny);
            let n_said = advised.findings.iter().filter(|finding| finding.layer == Layer::Advisory).count();
            assert_eq!(n_said, usize::from(is_allowed), "{effect}");
        });
    }
}

#[test]
fn gate_policy_16_and_18_a_reviewer_that_is_missing_or_silent_changes_nothing() {
    let policy = Policy::builtin(Overlay::On);
    assert_eq!(Advice::of(Err::<Advice, _>("timed out")), Advice::Abstain);
    for effect in SideEffect::ALL {
        let world = World::of(*effect);
        let silent =
            world.in_case(|case| outcome(&policy.advised(case, policy.decide(case), Advice::Abstain)));
        assert_eq!(silent, world.decide(), "{effect}");
    }
}

#[test]
fn a_rule_names_its_file_and_its_line() {
    let text = "name = \"x\"\n\n[[rules]]\ntools = [\"demo.probe\"]\nruling = \"deny\"\nwhy = \"not here\"\n";
    let admin = Draft::read("policy.toml", text, Whose::Admin).unwrap().load(&NoRoster).unwrap();
    let policy = Policy::new(Overlay::On, None, vec![admin]);
    let world = World::of(SideEffect::None);
    assert_eq!(world.decide_under(&policy), (Ruling::Deny, "policy.admin.deny".to_owned()));
    let findings = world.in_case(|case| policy.examine(case));
    let finding = findings.iter().find(|finding| finding.layer == Layer::Admin).unwrap();
    let (file, told) = policy.told(finding.at.unwrap()).unwrap();
    assert_eq!((file, told.at.line, told.what.as_str()), ("policy.toml", 3, "tool demo.probe"));
    assert_eq!(told.why.as_deref(), Some("not here"));
}

#[test]
fn the_matrix_tells_the_row_that_stands_in_its_place() {
    let policy = under("name = \"x\"\n[[tools]]\nname = \"demo.probe\"\nruling = \"allow\"\n");
    let at = |effect| {
        let findings = World::of(effect).in_case(|case| policy.examine(case));
        findings
            .iter()
            .find(|finding| finding.layer == Layer::Matrix)
            .map(|f| (f.ruling, f.at.map(|at| at.rule.line)))
    };
    assert_eq!(at(SideEffect::Publication), Some((Ruling::Allow, Some(2))));
    assert_eq!(at(SideEffect::Financial), Some((Ruling::Ask, None)));
    assert_eq!(at(SideEffect::PackageInstall), Some((Ruling::Ask, Some(2))));
    assert_eq!(at(SideEffect::HostAccess), Some((Ruling::Deny, None)));
    let tainted = World::of(SideEffect::Publication).label(Trust::ExternalUntrusted, Sensitivity::Public);
    assert_eq!(tainted.decide_under(&policy), (Ruling::Ask, "policy.trust.tainted_origin".to_owned()));
}

#[test]
fn what_happens_after_what_is_a_rule_too() {
    let text = "name = \"x\"\n[[sequences]]\nafter = { hosts = [\"*.example\"] }\n\
                then = { effects = [\"external_write\"] }\nruling = \"deny\"\n";
    let policy = under(text);
    let past = |host: &str| Past {
        tool: "web.fetch".to_owned(),
        side_effect: SideEffect::NetworkRead,
        resources: vec![Resource::Host { host: host.to_owned(), handle: true }],
    };
    let ruling = |effect, hosts: &[&str]| {
        let history = hosts.iter().map(|host| past(host)).collect();
        World::of(effect).with(|world| world.surroundings.history = history).decide_under(&policy)
    };
    let denied = (Ruling::Deny, "policy.rules.deny".to_owned());
    assert_eq!(ruling(SideEffect::ExternalWrite, &["a.example", "b.org"]), denied);
    assert_eq!(ruling(SideEffect::ExternalWrite, &["b.org"]).0, Ruling::Ask);
    assert_eq!(ruling(SideEffect::ExternalMessage, &["a.example"]).0, Ruling::Ask);
    assert_eq!(ruling(SideEffect::ExternalWrite, &[]).0, Ruling::Ask);
}

#[test]
fn a_yes_to_what_is_always_asked_reaches_one_call() {
    let reach = |text: &str| {
        let policy = under(text);
        World::of(SideEffect::ExternalWrite).in_case(|case| match policy.decide(case).decision {
            Decision::Ask(approval) => approval.reach,
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(reach("name = \"x\"\n"), Reach::Session);
    assert_eq!(reach("name = \"x\"\nalways_ask = [\"demo.probe\"]\n"), Reach::Once);
}

#[test]
fn modes_are_ordered_by_how_much_they_leave() {
    assert!(Mode::Act < Mode::Plan && Mode::Plan < Mode::NoTools);
}
