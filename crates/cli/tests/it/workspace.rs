//! `--workspace`: tools work in the folder that a person named, and nowhere else.

use super::world::World;

/// A world with a folder for a task.
fn with_folder() -> (World, String) {
    let world = World::new();
    let folder = world.home().join("project");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/a.txt"), "one\ntwo\n").unwrap();
    let name = folder.to_str().unwrap().to_owned();
    (world, name)
}

#[test]
fn a_run_reads_and_writes_in_the_folder_that_was_named() {
    let (world, folder) = with_folder();
    let script = world.file(
        "copy.yaml",
        "- calls: [{tool: workspace.write_text, args: {path: notes/b.txt, content: three}}]\n\
         - calls: [{tool: workspace.read_lines, args: {path: src/a.txt, first: 2}}]\n- text: done\n",
    );
    let ran = world.mast(&["run", "--script", &script, "--workspace", &folder, "Note it"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(std::fs::read_to_string(format!("{folder}/notes/b.txt")).unwrap(), "three");
    let without = world.mast(&["run", "--script", &script, "Note it"]);
    assert!(without.err.contains("policy.turn.not_offered"), "{}", without.err);
}

#[test]
fn single_calls_work_there_too_and_lead_nowhere_else() {
    let (world, folder) = with_folder();
    let call = |tool: &str, arguments: &str| world.mast(&["call", tool, arguments, "--workspace", &folder]);
    assert_eq!(call("workspace.read_text", r#"{"path":"src/a.txt"}"#).out, "one\ntwo\n");
    assert_eq!(call("workspace.list_files", r#"{"recursive":true}"#).out, "src/\nsrc/a.txt  8\n");
    assert_eq!(call("workspace.read_lines", r#"{"path":"src/a.txt","first":2}"#).out, "2\ttwo\n");
    let escaped = world.mast(&["call", "workspace.read_text", r#"{"path":"../etc/passwd"}"#, "--json"]);
    assert!(escaped.code == 1 && escaped.out.contains("tool.invalid_arguments.path_escape"), "{escaped:?}");
    let inside = call("workspace.read_text", r#"{"path":"../etc/passwd"}"#);
    assert!(inside.code == 1 && !inside.out.contains("root:"), "{inside:?}");
    let nowhere = world.mast(&["call", "workspace.read_text", r#"{"path":"src/a.txt"}"#]);
    assert!(nowhere.code == 1 && nowhere.err.contains("policy.matrix.workspace"), "{nowhere:?}");
}

#[test]
fn a_folder_that_is_too_wide_or_mast_own_is_refused() {
    let (world, folder) = with_folder();
    assert_eq!(world.mast(&["call", "math.calculate", r#"{"expression":"1"}"#]).code, 0);
    std::fs::create_dir_all(world.home().join(".ssh/x")).unwrap();
    let home = world.home().to_str().unwrap().to_owned();
    let data = world.data().to_str().unwrap().to_owned();
    for (named, why) in [
        ("/", "the root of the machine"),
        (home.as_str(), "home folder"),
        (data.as_str(), "mast's data folder"),
        (&format!("{home}/.ssh/x"), "a protected place"),
        (&format!("{folder}/none"), "it cannot be opened"),
        (&format!("{folder}/src/a.txt"), "it is not a folder"),
    ] {
        let refused = world.mast(&["call", "workspace.list_files", "{}", "--workspace", named]);
        assert!(refused.code == 2 && refused.err.contains(why), "{named}: {refused:?}");
    }
}

#[test]
fn a_run_that_waits_goes_on_in_its_folder() {
    let (world, folder) = with_folder();
    let script = world.file(
        "copy.yaml",
        "- calls: [{tool: workspace.read_text, args: {path: src/a.txt}}]\n\
         - calls: [{tool: workspace.write_text, args: {path: c.txt, content: copied}}]\n- text: done\n",
    );
    let ran = world.mast(&["run", "--script", &script, "--workspace", &folder, "Copy it"]);
    assert_eq!(ran.code, 3, "what a stranger wrote was read before: {}", ran.err);
    let id = |kind: &str| {
        let (_, behind) = ran.err.split_at(ran.err.find(kind).unwrap());
        behind.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>()
    };
    assert_eq!(world.mast(&["approvals", "approve", &id("apr_")]).code, 0);
    let resumed = world.mast(&["runs", "resume", &id("run_")]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert_eq!(std::fs::read_to_string(format!("{folder}/c.txt")).unwrap(), "copied");
}

#[test]
fn a_required_file_is_looked_for_in_the_folder_of_the_run() {
    let (world, folder) = with_folder();
    let write = "- calls: [{tool: workspace.write_text, args: {path: report.md, content: all is well}}]\n";
    let script = world.file("report.yaml", &format!("{write}- text: The report is written.\n"));
    let run = |script: &str| {
        let flags = ["--workspace", &folder, "--require-file", "report.md", "Write a report"];
        world.mast(&[&["run", "--script", script], &flags[..]].concat())
    };
    let made = run(&script);
    assert!(made.code == 0 && made.err.contains("satisfied"), "{made:?}");
    let lazy = world.file("lazy.yaml", "- text: The report is written.\n");
    let unmade = run(&lazy);
    assert!(unmade.code == 1 && unmade.err.contains("as it was before the run"), "{unmade:?}");
}
