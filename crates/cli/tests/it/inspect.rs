//! What only looks: `tools`, `runs`, `journal verify`, `doctor`, `completions`, help.

use expect_test::expect;

use crate::world::World;

#[test]
fn the_tools_are_listed() {
    let world = World::new();
    world.check(&["tools"], &expect![[r#"
        exit 0
        --- stdout
        demo.external_write   1.0.0  external_write · high     Rehearses a write to an outside service.
        math.calculate        1.0.0  none · low                Computes a mathematical expression in decimal arithmetic with 50 significant digits, rounding half to even (round(2.5) is 2).
        run.assert            1.0.0  none · low                Attaches to your answer what it says was done: files written, read or deleted, commands run, tests passed, messages sent and the like.
        system.current_time   1.0.0  none · low                Tells the current date, time and weekday in a time zone.
        workspace.list_files  1.0.0  workspace_read · low      Lists the files and folders in a folder of the workspace: paths and sizes, at most 1000.
        workspace.read_lines  1.0.0  workspace_read · low      Reads lines of a UTF-8 text file of the workspace, each with its number.
        workspace.read_text   1.0.0  workspace_read · low      Reads a UTF-8 text file of the workspace, whole.
        workspace.write_text  1.0.0  workspace_write · medium  Writes a UTF-8 text file of the workspace, whole; folders above it are made.
        --- stderr
    "#]]);
    let list: Vec<serde_json::Value> = serde_json::from_str(&world.mast(&["tools", "--json"]).out).unwrap();
    assert!(list.iter().all(|tool| tool["id"] == tool["name"] && tool["pin"].as_str().unwrap().len() == 64));
    assert!(!world.data().exists(), "listing the tools makes no store");
}

#[test]
fn a_tool_is_shown_whole() {
    let world = World::new();
    let ran = world.mast(&["tools", "show", "demo.external_write"]);
    let (facts, rest) = ran.out.split_once("\narguments\n").unwrap();
    expect![[r#"
        demo.external_write 1.0.0
        effect   external_write · risk high · non_idempotent
        needs    demo.write
        result   internal_tool · public
        limits   10 s · 4096 bytes · runs alone
        runs in  in_process · builtin
        sends    composed
        aliases  none
        pin      ae3d014cd0867f75796cbb80cc7ee1b13b7820c7d730186697b2c3c62dcb69a0

        Rehearses a write to an outside service. A person is asked each time. Nothing is sent: the destination is only a label, and what would have been written is recorded.
    "#]].assert_eq(facts);
    let (schemas, manual) = rest.split_once("\nmanual\n").unwrap();
    let (arguments, result) = schemas.split_once("\nresult\n").unwrap();
    let is_closed = |schema: &str| {
        serde_json::from_str::<serde_json::Value>(schema).unwrap()["additionalProperties"] == false
    };
    assert!(is_closed(arguments) && is_closed(result));
    assert!(manual.starts_with("Rehearses a write to an outside service: it always asks"), "{manual}");
}

#[test]
fn a_tool_that_is_not_there_is_not_shown() {
    let world = World::new();
    world.check(
        &["tools", "show", "math.calcualte"],
        &expect![[r#"
        exit 2
        --- stdout
        --- stderr
        mast: no tool named `math.calcualte` (did you mean math.calculate?)   see: mast tools
    "#]],
    );
}

#[test]
fn the_runs_and_one_of_them() {
    let world = World::new();
    world.check(
        &["runs"],
        &expect![[r#"
        exit 0
        --- stdout
        --- stderr
        no runs yet   begin with: mast run "…"
    "#]],
    );
    world.mast(&["run", "17 * 23"]);
    world.check(
        &["runs"],
        &expect![[r#"
            exit 0
            --- stdout
            run_ID  TIME  completed · unverified  offline  17 * 23
            --- stderr
        "#]],
    );
    world.check(
        &["runs", "show", "latest"],
        &expect![[r#"
            exit 0
            --- stdout
            run      run_ID
            session  ses_ID
            state    completed · unverified · N ms
            model    offline
            policy   POLICY · act
            began    TIME
            call  math.calculate  succeeded N ms
            asked  17 * 23
            --- stderr
            every step: mast journal show run_ID
        "#]],
    );
    let list: Vec<serde_json::Value> = serde_json::from_str(&world.mast(&["runs", "--json"]).out).unwrap();
    let id = list[0]["id"].as_str().unwrap();
    assert_eq!(world.mast(&["runs", "show", id.split_at(id.len() - 4).1]).code, 0);
    assert_eq!(world.mast(&["runs", "show", id.split_at(12).0]).code, 0, "a beginning will do");
    assert_eq!(world.mast(&["runs", "show", id.split_at(id.len() - 3).1]).code, 2);
}

#[test]
fn a_noted_head_is_found_again() {
    let world = World::new();
    let ran = world.mast(&["run", "--json", "17 * 23"]);
    let end: serde_json::Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    let head = end["head"].as_str().unwrap();
    world.mast(&["run", "1 + 1"]);
    let ran = world.mast(&["journal", "verify", "--head", head]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for beginning in [head.split_at(8).0, head.split_at(20).0] {
        assert_eq!(world.mast(&["journal", "verify", "--head", beginning]).code, 0, "{beginning}");
    }
    assert_eq!(world.mast(&["journal", "verify", "--head", head.split_at(7).0]).code, 2);
    let other = if head.starts_with('0') { "1" } else { "0" };
    assert_eq!(world.mast(&["journal", "verify", "--head", &other.repeat(12)]).code, 1);
    let ran = world.mast(&["journal", "verify", "--head", &"0".repeat(64)]);
    assert_eq!(ran.code, 1, "{ran:?}");
    world.check(
        &["journal", "verify", "--head", "xyz"],
        &expect![[r#"
            exit 2
            --- stdout
            --- stderr
            mast: `xyz` is not a head   it is 64 hexadecimal digits, or the first 8 of them or more, as mast journal show prints them
        "#]],
    );
}

#[test]
fn a_list_says_that_it_was_cut_and_a_failed_run_says_why() {
    let world = World::new();
    let script = world.file("s.yaml", "- error: {kind: authentication}\n");
    for _ in 0..2 {
        assert_eq!(world.mast(&["run", "--script", &script, "do this"]).code, 1);
    }
    let ran = world.mast(&["runs", "--limit", "1"]);
    assert_eq!(
        (ran.out.lines().count(), ran.err.as_str()),
        (1, "the newest 1   more: mast runs --limit N\n")
    );
    assert_eq!(world.mast(&["runs", "--limit", "2"]).err, "");
    let shown = world.mast(&["runs", "show", "latest"]).out;
    let why = shown.lines().find_map(|line| line.strip_prefix("why      ")).unwrap_or_default();
    assert!(why.ends_with('.'), "{shown}");
}

#[test]
fn doctor_tells_what_chose_the_model() {
    let ran = World::new().with("OPENAI_API_KEY", "sk-x").mast(&["doctor"]);
    assert!(ran.out.contains("openai gpt-5-mini · key from OPENAI_API_KEY"), "{}", ran.out);
}

#[test]
fn a_journal_fits_a_narrow_terminal() {
    let world = World::new().with("COLUMNS", "60");
    let ran = world.mast(&["run", "--json", "17 * 23"]);
    let end: serde_json::Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    let ran = world.mast(&["journal", "show", end["session"].as_str().unwrap()]);
    let lines: Vec<&str> = ran.out.lines().chain(ran.err.lines()).collect();
    assert!(lines.iter().all(|line| line.chars().count() <= 60), "{lines:#?}");
    assert!(lines[0].contains(" session.created "), "{lines:#?}");
    let head = ran.err.split_whitespace().nth(1).unwrap();
    assert_eq!(world.mast(&["journal", "verify", "--head", head]).code, 0, "{head}");
}

#[test]
fn doctor_tells_what_is_there_and_what_is_not() {
    let world = World::new();
    assert_eq!(world.mast(&["doctor"]).code, 0);
    world.mast(&["run", "17 * 23"]);
    let ran = world.mast(&["doctor"]);
    for line in
        ["model     offline only", "sandbox   not here yet", "folder    ", "zones     time zone database "]
    {
        assert!(ran.out.contains(line), "{}", ran.out);
    }
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn completions_and_help_are_written() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = world.mast(&["completions", shell]);
        assert!(ran.code == 0 && ran.out.contains("fixed-clock"), "{shell}");
    }
    assert!(world.mast(&["help-markdown"]).out.starts_with("# Command line"));
    assert!(world.mast(&["tools", "--markdown"]).out.starts_with("# Tools"));
    assert_eq!(world.mast(&["--help"]).code, 0);
    assert!(world.mast(&["--version"]).out.starts_with("mast "));
    assert_eq!(world.mast(&[]).code, 2);
}
