//! What "done" is worth at the terminal: required files, words that nothing on record supports, and traces.

use super::world::World;

/// A model that says much and does nothing.
const BOASTS: &str = "- text: I wrote report.md and all tests pass.\n";
/// A model that calculates, and says so.
const COUNTS: &str = "- calls: [{tool: math.calculate, args: {expression: \"17*23\"}}]\n\
                      - text: I calculated 17*23, and it is 391.\n";

/// The last line of a JSON output.
fn last_json(stdout: &str) -> serde_json::Value {
    serde_json::from_str(stdout.trim_end().lines().last().unwrap()).unwrap()
}

#[test]
fn words_that_nothing_supports_are_marked_or_taken_out_and_the_run_is_no_failure() {
    let world = World::new();
    let script = world.file("boasts.yaml", BOASTS);
    let run = world.mast(&["run", "--script", &script, "Fix it."]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("all tests pass [not on record: "), "{}", run.out);
    assert!(run.err.contains("not on record · tests_passed"), "{}", run.err);
    assert!(run.err.contains("done, unverified"), "{}", run.err);

    let run = world.mast(&["run", "--script", &script, "--remove-unsupported", "Fix it."]);
    assert!(!run.out.contains("all tests pass") && run.out.contains("[removed, "), "{}", run.out);

    // The journal keeps the words as they were said; a program gets both.
    let run = world.mast(&["run", "--json", "--script", &script, "Fix it."]);
    let end = last_json(&run.out);
    assert_eq!(end["answer"], "I wrote report.md and all tests pass.");
    assert_eq!(end["completion"], "unverified");
    assert_eq!(end["report"]["assertions"].as_array().unwrap().len(), 2, "{end}");
}

#[test]
fn a_required_file_that_is_not_there_is_missed_whatever_was_said() {
    let world = World::new();
    let script = world.file("boasts.yaml", BOASTS);
    let run = world.mast(&["run", "--script", &script, "--require-file", "report.md", "Write it."]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("report.md · A required file is not there. (run.file_missing)"), "{}", run.err);
    assert!(run.err.contains("incomplete · "), "{}", run.err);

    // What leads out of the folder is refused before anything begins.
    for path in ["../report.md", "/etc/passwd"] {
        let run = world.mast(&["run", "--script", &script, "--require-file", path, "Write it."]);
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(run.err.contains("does not name a file in or below this folder"), "{}", run.err);
    }
}

#[test]
fn a_command_that_cannot_be_run_is_said_to_be_so_before_and_the_run_ends_unverified() {
    let world = World::new();
    let script = world.file("boasts.yaml", BOASTS);
    let run = world.mast(&["run", "--script", &script, "--verify", "pytest -q", "Fix it."]);
    assert_eq!(run.code, 1, "{}", run.err);
    let before = run.err.find("this command cannot be run here").unwrap();
    let after = run.err.find("pytest -q · Not available: a required command needs the sandbox.").unwrap();
    assert!(before < after && run.err.contains("done, unverified"), "{}", run.err);
}

#[test]
fn a_trace_tells_what_is_on_record_of_each_call_and_of_the_answer() {
    let world = World::new();
    let script = world.file("counts.yaml", COUNTS);
    assert_eq!(world.mast(&["run", "--script", &script, "How much is it?"]).code, 0);
    let trace = world.mast(&["trace", "latest"]);
    assert_eq!(trace.code, 0, "{}", trace.err);
    for expected in [
        "completed · unverified",
        "How much is it?",
        "math.calculate · observed: its result is on record",
        "  math.calculate gave 391",
        "on record · value_calculated",
    ] {
        assert!(trace.out.contains(expected), "{expected}: {}", trace.out);
    }
    let trace = last_json(&world.mast(&["trace", "latest", "--json"]).out);
    assert_eq!(trace["effects"][0]["state"], "observed");
    assert_eq!(trace["report"]["assertions"][0]["support"], "supported");
    assert_eq!(world.mast(&["trace", "nope"]).code, 1);
}

#[test]
fn a_transcript_of_another_agent_is_held_against_its_own_results() {
    let world = World::new();
    let text = r#"{"messages": [
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "function": {"name": "bash", "arguments": "{\"command\": \"pytest -q\"}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "1 failed, 3 passed\nexit code: 1"},
        {"role": "assistant", "content": "All tests pass. \u001b[31m"}]}"#;
    let file = world.file("transcript.json", text);
    let trace = world.mast(&["trace", "import", &file]);
    assert_eq!(trace.code, 1, "what is found is told by the exit code: {}", trace.err);
    assert!(trace.out.contains("message 4 · \"All tests pass\""), "{}", trace.out);
    assert!(trace.out.contains("  not on record · tests_passed"), "{}", trace.out);
    assert!(!trace.out.contains('\u{1b}') && trace.err.contains("0 assertions on record, 1 not on record"));

    // The same words after a run that passed.
    let passed = text.replace("1 failed, 3 passed\\nexit code: 1", "4 passed\\nexit code: 0");
    let file = world.file("passed.json", &passed);
    let trace = world.mast(&["trace", "import", &file]);
    assert_eq!(trace.code, 0, "{}", trace.out);
    assert!(trace.out.contains("on record · tests_passed · bash gave 4 passed"), "{}", trace.out);

    let file = world.file("broken.json", "{\"messages\": [");
    let trace = world.mast(&["trace", "import", &file]);
    assert_eq!(trace.code, 1);
    assert!(trace.err.contains("line 1 is not JSON"), "{}", trace.err);
    assert_eq!(world.mast(&["trace", "import", "/nowhere.json"]).code, 1);
}
