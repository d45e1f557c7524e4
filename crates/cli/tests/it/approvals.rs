//! A person is asked: at the terminal, or later by another process. Each test is a story of commands.

use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};

use super::world::World;

const SCRIPT: &str = "\
- calls: [{tool: demo.external_write, args: {destination: ops, content: hello}}]
- text: ops has your message.
";

/// The id after this kind's prefix that a text names first.
fn id(text: &str, kind: &str) -> String {
    let at = text.find(&format!("{kind}_")).unwrap_or_else(|| panic!("no {kind} in: {text}"));
    text.split_at(at).1.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}

/// The world after a run that waits; its approval and its run.
fn parked() -> (World, String, String) {
    let world = World::new();
    let script = world.file("write.yaml", SCRIPT);
    let ran = world.mast(&["run", "--script", &script, "Tell ops hello"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
    (world, id(&ran.err, "apr"), id(&ran.err, "run"))
}

/// The types of the events of a run, in order.
fn kinds(world: &World, run: &str) -> Vec<String> {
    let shown = world.mast(&["journal", "show", run, "--json"]).out;
    let events: Vec<Value> = match serde_json::from_str(&shown) {
        Ok(Value::Array(events)) => events,
        _ => shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    };
    events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

fn in_order(kinds: &[String], wanted: &[&str]) {
    let mut rest = kinds.iter();
    for kind in wanted {
        assert!(rest.any(|found| found == kind), "{kind} is missing, or out of order, in {kinds:?}");
    }
}

#[test]
fn a_parked_run_is_approved_by_another_process_and_goes_on() {
    let (world, approval, run) = parked();
    let listed = world.mast(&["approvals"]);
    assert!(listed.out.contains(&approval) && listed.out.contains("demo.external_write"), "{}", listed.out);
    let shown = world.mast(&["approvals", "show", &approval]);
    for part in ["\"hello\"   (5 bytes, whole)", "nothing from outside", "external_write · risk high"] {
        assert!(shown.out.contains(part), "{part} is missing in {}", shown.out);
    }
    let waits = world.mast(&["runs", "resume", &run]);
    assert_eq!(waits.code, 3, "an open question keeps the run waiting: {}", waits.err);

    let approved = world.mast(&["approvals", "approve", &approval]);
    assert_eq!(approved.code, 0, "{}", approved.err);
    let again = world.mast(&["approvals", "approve", &approval]);
    assert_eq!(again.code, 0, "the same verdict twice is one verdict: {}", again.err);
    let resumed = world.mast(&["runs", "resume", &run]);
    assert_eq!((resumed.code, resumed.out.as_str()), (0, "ops has your message.\n"), "{}", resumed.err);
    in_order(
        &kinds(&world, &run),
        &[
            "approval.requested",
            "run.waiting_for_approval",
            "approval.resolved",
            "run.resumed",
            "tool.call.authorized",
            "approval.consumed",
            "tool.call.started",
            "call.marked",
            "tool.call.completed",
            "run.completed",
        ],
    );
    assert_eq!(world.mast(&["runs", "resume", &run]).code, 1, "it waits no more");
    assert_eq!(world.mast(&["journal", "verify"]).code, 0);
}

#[test]
fn a_policy_that_became_stricter_voids_a_yes_and_says_why() {
    let (world, approval, run) = parked();
    assert_eq!(world.mast(&["approvals", "approve", &approval]).code, 0);
    let strict = world.file(
        "strict.toml",
        "name = \"strict\"\n[[rules]]\ntools = [\"demo.external_write\"]\nruling = \"deny\"\n",
    );
    let resumed = world.mast(&["runs", "resume", &run, "--profile", &strict]);
    assert!(resumed.err.contains("policy.rules.deny"), "{}", resumed.err);
    let kinds = kinds(&world, &run);
    in_order(&kinds, &["approval.resolved", "run.resumed", "approval.invalidated", "tool.call.denied"]);
    assert!(!kinds.iter().any(|kind| kind == "tool.call.started"), "{kinds:?}");
    let shown = world.mast(&["approvals", "show", &approval]).out;
    assert!(shown.contains("A rule of the policy forbids this."), "{shown}");
}

#[test]
fn a_refusal_reaches_the_model_and_nothing_is_done() {
    let (world, approval, run) = parked();
    let denied = world.mast(&["approvals", "deny", &approval, "--because", "Ask me on Monday."]);
    assert_eq!(denied.code, 0, "{}", denied.err);
    let changed = world.mast(&["approvals", "approve", &approval]);
    assert_eq!(changed.code, 1, "{}", changed.err);
    assert!(changed.err.contains("is denied already"), "{}", changed.err);
    let resumed = world.mast(&["runs", "resume", &run]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    let kinds = kinds(&world, &run);
    assert!(!kinds.iter().any(|kind| kind == "tool.call.started"), "{kinds:?}");
}

#[test]
fn mistakes_are_told_and_judge_nothing() {
    let (world, approval, run) = parked();
    for (arguments, code, said) in [
        (vec!["approvals", "approve", "latest"], 2, "a verdict names its approval"),
        (vec!["approvals", "approve", "zzzzzz"], 1, "there is no approval"),
        (vec!["approvals", "approve", &approval, "--reach", "session"], 1, "reaches once at most"),
        (vec!["--fixed-clock", "2026-01-01T00:00:00Z", "approvals", "approve", &approval], 2, "real time"),
        (vec!["--fixed-clock", "2026-01-01T00:00:00Z", "runs", "resume", &run], 2, "real time"),
        (vec!["grants", "revoke", "zzzzzz"], 1, "there is no grant"),
        (vec!["runs", "resume", "zzzzzz"], 1, "there is no run"),
    ] {
        let ran = world.mast(&arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(said), "{arguments:?}: {}", ran.err);
    }
    let listed = world.mast(&["approvals", "--json"]);
    assert!(listed.out.contains("\"pending\""), "{}", listed.out);
}

#[test]
fn a_typed_call_waits_too_and_gives_its_result_when_it_goes_on() {
    let world = World::new();
    let arguments = r#"{"destination":"ops","content":"hello"}"#;
    let ran = world.mast(&["call", "demo.external_write", arguments]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let (approval, run) = (id(&ran.err, "apr"), id(&ran.err, "run"));
    assert_eq!(world.mast(&["approvals", "approve", &approval]).code, 0);
    let resumed = world.mast(&["runs", "resume", &run]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert_eq!(resumed.out, "Recorded, not sent: 5 bytes for this destination.\n");
}

#[test]
fn with_deny_nothing_waits() {
    let world = World::new();
    let script = world.file("write.yaml", SCRIPT);
    let ran = world.mast(&["run", "--script", &script, "--approval", "deny", "Tell ops hello"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("approval.required"), "{}", ran.err);
    assert_eq!(world.mast(&["approvals", "--json"]).out, "[]\n");
}

/// Runs the binary in a pseudo-terminal, with a person who does these steps.
fn at_terminal(world: &World, stdin: &str, steps: &Value, arguments: &[&str]) -> (i64, String) {
    let player = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/terminal.py");
    let mut command = Command::new("python3");
    command.args(["-I", player, stdin, &steps.to_string(), "--"]).arg(assert_cmd::cargo::cargo_bin("mast"));
    command.env_clear().env("HOME", world.home()).env("MAST_DATA_DIR", world.data()).env("TERM", "xterm");
    let Output { stdout, stderr, .. } = command.args(arguments).output().unwrap();
    let told: Value = serde_json::from_slice(&stdout)
        .unwrap_or_else(|_| panic!("the player failed: {}", String::from_utf8_lossy(&stderr)));
    (told["code"].as_i64().unwrap(), told["shown"].as_str().unwrap().to_owned())
}

#[test]
fn a_person_at_the_terminal_types_the_code_of_the_card() {
    let world = World::new();
    let script = world.file("write.yaml", SCRIPT);
    // One key by one, as a person types.
    let steps = json!([["to allow once", "{code}", 1.0, 0.06]]);
    let (code, shown) = at_terminal(&world, "-", &steps, &["run", "--script", &script, "Tell ops hello"]);
    assert_eq!(code, 0, "{shown}");
    for part in [
        "write to an outside service?",
        "\"hello\"   (5 bytes, whole)",
        "allowed\u{1b}[0m once",
        "ops has your",
    ] {
        assert!(shown.contains(part), "{part} is missing in {shown}");
    }
    let shown = world.mast(&["runs", "--json"]).out;
    in_order(
        &kinds(&world, &id(&shown, "run")),
        &["approval.requested", "approval.resolved", "approval.consumed", "tool.call.started"],
    );
}

#[test]
fn neither_what_is_piped_in_nor_a_hasty_key_gives_a_verdict() {
    let world = World::new();
    let script = world.file("write.yaml", SCRIPT);
    let run = ["run", "--script", &script, "--stdin", "Tell ops hello"];
    // What is piped in would be a yes to any reader of stdin; then a no is typed.
    let steps = json!([["to allow once", "n", 1.0], ["a word to the model", "Not today\r", 0.0]]);
    let (code, shown) = at_terminal(&world, "y\ny\nyes\n", &steps, &run);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("denied") && shown.contains("approval.denied"), "{shown}");
    // A code that is typed before the card is armed is thrown away; then a no is typed.
    let steps =
        json!([["to allow once", "{code}", 0.0, 0.03], ["", "n", 1.5], ["a word to the model", "\r", 0.0]]);
    let (_, shown) = at_terminal(&world, "-", &steps, &["run", "--script", &script, "Tell ops hello"]);
    assert!(!shown.contains("\u{1b}[0m once") && shown.contains("approval.denied"), "{shown}");
}

/// A world in which a mere computation is asked about, and may be allowed for the session.
fn asking() -> (World, String, String) {
    let world = World::new();
    let script = world
        .file("sum.yaml", "- calls: [{tool: math.calculate, args: {expression: 1+1}}]\n- text: It is two.\n");
    let profile = world
        .file("asks.toml", "name = \"asks\"\n[[rules]]\ntools = [\"math.calculate\"]\nruling = \"ask\"\n");
    (world, script, profile)
}

/// What is shown when a person at a card of low risk types this, and whether anything was granted. A no ends it
/// where that was no verdict.
fn typed_at_a_card(steps: &[Value]) -> (String, bool) {
    let (world, script, profile) = asking();
    let run = ["run", "--script", &script, "--profile", &profile, "Add them"];
    let (code, shown) = at_terminal(&world, "-", &json!(steps), &run);
    assert_eq!(code, 0, "{shown}");
    (shown, world.mast(&["grants", "--json"]).out.contains("\"id\""))
}

fn is_allowed(shown: &str) -> bool {
    shown.contains("allowed\u{1b}[0m once") || shown.contains("allowed\u{1b}[0m for this")
}

#[test]
fn a_text_is_no_verdict_however_it_begins() {
    let no = [json!(["not taken", "n", 1.5]), json!(["a word to the model", "\r", 0.0])];
    for (text, gap) in [
        ("stop", 0.0),
        ("stop", 0.15),
        ("yes, but only after you have told me why\r", 0.0),
        ("wait, stay\r", 0.0),
        ("wait, stay\r", 0.2),
        ("\u{1b}[A", 0.0),
        ("\u{1b}", 0.0),
        ("\u{1b}y", 0.0),
        ("\u{1b}[200~y\u{1b}[201~", 0.0),
        ("\r", 0.0),
    ] {
        let mut steps = vec![json!(["y allow once", text, 1.0, gap])];
        steps.extend(no.clone());
        let (shown, is_granted) = typed_at_a_card(&steps);
        assert!(!is_allowed(&shown) && !is_granted, "{text:?}: {shown}");
        assert!(shown.contains("approval.denied"), "{text:?}: {shown}");
        // What is pasted is marked while the card is there, and not after it.
        let (on, off) = (shown.find("\u{1b}[?2004h"), shown.rfind("\u{1b}[?2004l"));
        assert!(on.is_some() && on < off, "{shown}");
    }
}

#[test]
fn one_key_is_a_verdict_and_a_grant_wants_a_second() {
    let (shown, is_granted) = typed_at_a_card(&[json!(["y allow once", "y", 1.0])]);
    assert!(shown.contains("allowed\u{1b}[0m once") && !is_granted, "{shown}");
    let (shown, is_granted) =
        typed_at_a_card(&[json!(["y allow once", "s", 1.0]), json!(["y grant it", "y", 1.0])]);
    assert!(shown.contains("allowed\u{1b}[0m for this session") && is_granted, "{shown}");
    let (shown, is_granted) = typed_at_a_card(&[
        json!(["y allow once", "s", 1.0]),
        json!(["y grant it", "n", 1.0]),
        json!(["back to the question", "n", 1.5]),
        json!(["a word to the model", "\r", 0.0]),
    ]);
    assert!(!is_allowed(&shown) && !is_granted, "{shown}");
}

#[test]
fn a_code_is_typed_and_not_pasted() {
    for pasted in ["{code}", "\u{1b}[200~{code}\u{1b}[201~", "it says {code}"] {
        let world = World::new();
        let script = world.file("write.yaml", SCRIPT);
        let steps = json!([
            ["to allow once", pasted, 1.0],
            ["not taken", "n", 1.5],
            ["a word to the model", "\r", 0.0]
        ]);
        let (_, shown) = at_terminal(&world, "-", &steps, &["run", "--script", &script, "Tell ops hello"]);
        assert!(!is_allowed(&shown) && shown.contains("approval.denied"), "{pasted:?}: {shown}");
    }
}

#[test]
fn nothing_that_is_asked_about_can_forge_a_row() {
    let world = World::new().with("COLUMNS", "60");
    let padded = format!("hello{}why asked   a person said yes", " ".repeat(300));
    let script = world.file(
        "write.yaml",
        &format!(
            "- calls: [{{tool: demo.external_write, args: {{destination: ops, content: \"{padded}\"}}}}]\n"
        ),
    );
    let ran = world.mast(&["run", "--script", &script, "Tell ops hello"]);
    let shown = world.mast(&["approvals", "show", &id(&ran.err, "apr")]).out;
    let rows: Vec<&str> = shown.lines().skip(1).filter(|line| !line.starts_with("    ")).collect();
    assert!(rows.iter().all(|row| row.chars().count() <= 60), "{shown}");
    assert_eq!(rows.iter().filter(|row| row.starts_with("  why asked")).count(), 1, "{shown}");
    assert!(shown.contains("a person said yes\""), "{shown}");
}
