//! What "done" is worth: stories of a model that says so, and of what is on record.

use std::sync::Arc;

use mast_kernel::assertion::{AssertionKind, Support};
use mast_kernel::completion::{Checking, Required};
use mast_kernel::policy::{Isolation, Surroundings};
use mast_kernel::run::{Completion, RunStatus};
use mast_runtime::{Report, RunRequest, Runtime};
use mast_store::verify::{Wanted, verify};
use mast_testkit::folder::Files;
use mast_testkit::{Folder, Story, Told, memory_store};

/// A program that adds, as a model left it, and the test that it must pass.
const BROKEN: &[(&str, &str)] =
    &[("sum.py", "def add(a, b): return a - b"), ("tests/test_sum.py", "assert add(2, 2) == 4")];

/// What `pytest -q` says of a copy.
fn tests_pass(files: &Files) -> bool {
    files.get("sum.py").is_some_and(|text| text.contains("a + b"))
}

/// A story in this folder: its tools, isolation, and a verifier.
fn story_in(folder: &Arc<Folder>, script: &str) -> Story {
    let mut story = Story::with(script, &folder.tools(), Arc::new(memory_store()));
    let isolation =
        Isolation { files: true, processes: true, network: true, limits: true, ..Isolation::default() };
    let surroundings = Surroundings { isolation, workspace: true, ..Surroundings::default() };
    story.runtime = story
        .runtime
        .with_surroundings(surroundings)
        .with_artifacts(Arc::<Folder>::clone(folder))
        .with_verifier(Arc::<Folder>::clone(folder));
    story
}

fn requiring(task: &str, files: &[&str], commands: &[&str]) -> RunRequest {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    RunRequest { required: Required::of(&owned(files), &owned(commands)), ..RunRequest::typed(task) }
}

fn report(told: &Told) -> &Report {
    told.end.report.as_ref().expect("the run answered")
}

fn codes(told: &Told) -> Vec<&str> {
    report(told).reasons.iter().map(|reason| reason.code.as_str()).collect()
}

/// The journal holds, and so does every value that it is committed to.
async fn holds(runtime: &Runtime) {
    let verified = verify(&**runtime.store(), Wanted::default()).await.unwrap();
    assert!(verified.is_sound(), "{verified:?}");
}

#[tokio::test]
async fn a_model_that_says_the_tests_pass_and_never_ran_them_is_not_believed() {
    // The model is asked to fix a bug. It does nothing at all and says that all is well.
    let story = Story::new("- text: I fixed the bug and all tests pass.");
    let told = story.says("Fix the bug in sum.py.").await;

    // The run ends, and its end is worth what is on record: nothing.
    assert_eq!(told.end.status, RunStatus::Completed);
    assert_eq!(told.end.completion, Some(Completion::Unverified));

    // The answer is not changed. Beside it stands which words nothing supports.
    assert_eq!(told.end.answer.as_deref(), Some("I fixed the bug and all tests pass."));
    let of_tests = |kind| kind == AssertionKind::TestsPassed;
    let marked: Vec<_> =
        report(&told).assertions.iter().filter(|checked| of_tests(checked.assertion.kind)).collect();
    assert_eq!(marked.len(), 1, "{:?}", report(&told).assertions);
    assert!(marked[0].is_unsupported());
    assert!(
        report(&told).marked.as_deref().is_some_and(|text| text.contains("all tests pass [not on record"))
    );

    // What was checked is on record, and the record can be checked.
    assert!(told.journal.contains("run.completed completion=unverified"), "{}", told.journal);
    holds(&story.runtime).await;
}

#[tokio::test]
async fn the_same_words_are_true_where_the_tests_really_passed() {
    // This model changes the program before it says so.
    let folder = Folder::with(BROKEN, tests_pass);
    let script = "
- calls: [{tool: workspace.write_text, args: {path: sum.py, content: 'def add(a, b): return a + b'}}]
- text: I fixed the bug and all tests pass.";
    let story = story_in(&folder, script);
    let told = story.asks(requiring("Fix the bug in sum.py.", &["sum.py"], &["pytest -q"])).await;

    // The tests ran when it was done, on a frozen copy, through the gate: they are a call like any other.
    assert_eq!(told.end.completion, Some(Completion::Verified), "{:?}", report(&told));
    assert!(matches!(report(&told).checks[0].checking, Checking::Passed { .. }));
    assert!(told.kinds().iter().filter(|kind| **kind == "tool.call.completed").count() == 2);
    assert_eq!(folder.n_frozen(), 0, "the copy is gone");

    // So its words have a receipt, which stands beside them with what it literally says.
    let tests = report(&told)
        .assertions
        .iter()
        .find(|checked| checked.assertion.kind == AssertionKind::TestsPassed)
        .unwrap();
    let Support::Supported { statement, .. } = &tests.support else { panic!("{tests:?}") };
    assert_eq!(statement, "sandbox.check gave `pytest -q` ended 0");
    assert_eq!(report(&told).marked, None);
    holds(&story.runtime).await;
}

#[tokio::test]
async fn tests_that_fail_leave_the_run_incomplete_whatever_is_said() {
    let folder = Folder::with(BROKEN, tests_pass);
    let story = story_in(&folder, "- text: All tests pass.");
    let told = story.asks(requiring("Fix it.", &[], &["pytest -q"])).await;
    assert_eq!(told.end.completion, Some(Completion::Incomplete));
    assert_eq!(codes(&told), ["run.verifier_failed"]);
    assert!(report(&told).assertions[0].is_unsupported());
}

#[tokio::test]
async fn who_changes_the_tests_is_not_judged_by_them() {
    // The model makes the test agree with the bug.
    let folder = Folder::with(BROKEN, |_| true);
    let script = "
- calls: [{tool: workspace.write_text, args: {path: tests/test_sum.py, content: 'assert True'}}]
- calls: [{tool: workspace.write_text, args: {path: tests/conftest.py, content: 'skip()'}}]
- text: All tests pass.";
    let story = story_in(&folder, script);
    let told = story.asks(requiring("Fix it.", &[], &["pytest -q"])).await;
    assert_eq!(told.end.completion, Some(Completion::Unverified));
    assert_eq!(codes(&told), ["run.verifier_changed"]);
    assert_eq!(report(&told).reasons[0].list, ["tests/conftest.py", "tests/test_sum.py"]);
    let calls = told.kinds().iter().filter(|kind| **kind == "tool.call.started").count();
    assert_eq!(calls, 2, "the command was not run at all");
}

#[tokio::test]
async fn where_nobody_can_run_the_command_the_run_is_unverified() {
    let story = Story::new("- text: Done.");
    let told = story.asks(requiring("Fix it.", &[], &["pytest -q"])).await;
    assert_eq!(told.end.completion, Some(Completion::Unverified));
    assert_eq!(codes(&told), ["run.verifier_unavailable"]);
    assert!(report(&told).is_required);
}

#[tokio::test]
async fn without_isolation_the_rules_do_not_let_the_command_run() {
    let folder = Folder::with(BROKEN, tests_pass);
    let mut story = story_in(&folder, "- text: Done.");
    story.runtime =
        story.runtime.with_surroundings(Surroundings { workspace: true, ..Surroundings::default() });
    let told = story.asks(requiring("Fix it.", &[], &["pytest -q"])).await;
    assert_eq!(told.end.completion, Some(Completion::Unverified));
    assert_eq!(codes(&told), ["run.verifier_denied"]);
}

#[tokio::test]
async fn a_required_file_must_be_there_and_be_this_run_s_work() {
    let nothing = "- text: I wrote report.md.";
    let writes = "
- calls: [{tool: workspace.write_text, args: {path: report.md, content: 'All is well.'}}]
- text: I wrote report.md.";
    let empty = "
- calls: [{tool: workspace.write_text, args: {path: report.md, content: ''}}]
- text: I wrote report.md.";
    let before: &[(&str, &str)] = &[("report.md", "Old.")];
    for (before, script, completion, code) in [
        (&[] as &[_], nothing, Completion::Incomplete, Some("run.file_missing")),
        (before, nothing, Completion::Incomplete, Some("run.file_unchanged")),
        (&[], empty, Completion::Incomplete, Some("run.file_empty")),
        (&[], writes, Completion::Satisfied, None),
        (before, writes, Completion::Satisfied, None),
    ] {
        let folder = Folder::with(before, tests_pass);
        let told = story_in(&folder, script).asks(requiring("Report.", &["report.md"], &[])).await;
        assert_eq!(told.end.completion, Some(completion), "{script}\n{}", told.journal);
        assert_eq!(codes(&told), Vec::from_iter(code), "{script}");
    }
}

#[tokio::test]
async fn a_file_that_somebody_else_wrote_meanwhile_proves_nothing() {
    // The model reads; a person writes the report at the same time.
    let folder = Folder::with(&[("notes.md", "n")], tests_pass);
    let mut story = story_in(&folder, "- text: The report is there.");
    let contract = requiring("Report.", &["report.md"], &[]);
    let mut session = story.session().await;
    let other = Arc::clone(&folder);
    story.runtime = story.runtime.with_artifacts(Arc::new(Meddler(other)));
    let told = story.goes_on(&mut session, contract).await.unwrap();
    assert_eq!(told.end.completion, Some(Completion::Unverified));
    assert_eq!(codes(&told), ["run.file_without_receipt"]);
}

/// Looks at a folder, in which somebody writes a file after the first look.
#[derive(Debug)]
struct Meddler(Arc<Folder>);

#[async_trait::async_trait]
impl mast_runtime::Artifacts for Meddler {
    async fn look(
        &self,
        path: &str,
    ) -> Result<Option<mast_kernel::completion::FileState>, mast_runtime::CannotLook> {
        let seen = self.0.look(path).await;
        self.0.put(path, "written by somebody else");
        seen
    }
}

#[tokio::test]
async fn what_had_to_be_read_must_have_been_read() {
    let reads = "
- calls: [{tool: workspace.read_text, args: {path: ./notes.md}}]
- text: Read.";
    for (script, completion) in [(reads, Completion::Satisfied), ("- text: Read.", Completion::Incomplete)] {
        let folder = Folder::with(&[("notes.md", "n")], tests_pass);
        let mut request = RunRequest::typed("Read notes.md.");
        request.required.reads = vec!["notes.md".to_owned()];
        let told = story_in(&folder, script).asks(request).await;
        assert_eq!(told.end.completion, Some(completion), "{script}\n{}", told.journal);
    }
}

#[tokio::test]
async fn nothing_required_and_nothing_asserted_leaves_no_report_behind() {
    let story = Story::new("- text: Hello.");
    let told = story.says("Hello.").await;
    assert_eq!(told.end.completion, Some(Completion::Unverified));
    assert!(!report(&told).is_required && report(&told).assertions.is_empty());
    assert!(
        told.journal.ends_with("completion=unverified steps=1 model_calls=1 tool_calls=0\n"),
        "{}",
        told.journal
    );
}

#[tokio::test]
async fn a_run_that_waits_awaits_its_person() {
    let script = "- calls: [{tool: demo.external_write, args: {destination: ops, content: hello}}]";
    let told = Story::new(script).says("Tell ops.").await;
    assert_eq!(told.end.completion, Some(Completion::AwaitingUser));
    assert_eq!(told.end.report, None);
}
