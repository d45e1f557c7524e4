//! What a receipt supports, and what it does not: one assertion at a time, beside the calls of its run.

use expect_test::{Expect, expect};
use mast_kernel::assertion::{self, Support, TOOL};
use mast_kernel::effect::Receipt;
use mast_kernel::message::OutcomeStatus;
use serde_json::{Value, json};

use crate::record::record;

/// What is said of each assertion of a text, with what it is about.
fn check(text: &str, calls: &str, expect: &Expect) {
    let receipts = if calls.is_empty() { Vec::new() } else { record(calls) };
    told(text, &receipts, expect);
}

fn told(text: &str, receipts: &[Receipt], expect: &Expect) {
    let mut lines = String::new();
    for one in assertion::check(assertion::all(text, receipts), receipts) {
        let subject = one.assertion.subject.as_deref().unwrap_or("–");
        let support = match &one.support {
            Support::Supported { by, .. } => {
                format!("supported by {}", receipts.iter().find(|receipt| receipt.call == *by).unwrap().tool)
            }
            Support::Unsupported { why } => format!("unsupported: {why}"),
            Support::NotCheckable { why } => format!("not checkable: {why}"),
        };
        lines.push_str(&format!("{} {subject}: {support}\n", one.assertion.kind));
    }
    expect.assert_eq(&lines);
}

#[test]
fn tests_pass_if_a_test_runner_says_so_and_nothing_changed_since() {
    let text = "All tests pass.";
    check(
        text,
        "run cargo test => 0 42 passed; 0 failed",
        &expect![[r#"
        tests_passed –: supported by sandbox.run
    "#]],
    );
    check(
        text,
        "run cargo test => 101 41 passed; 1 failed",
        &expect![[r#"
        tests_passed –: unsupported: their output says that 1 failed
    "#]],
    );
    check(
        text,
        "run cargo test => 0 0 passed; 0 failed",
        &expect![[r#"
        tests_passed –: unsupported: no test ran
    "#]],
    );
}

#[test]
fn what_only_looks_like_a_test_run_is_none() {
    let text = "All tests pass.";
    check(
        text,
        "run echo 42 passed => 0 42 passed",
        &expect![[r#"
        tests_passed –: unsupported: no call of this run ran tests
    "#]],
    );
    check(
        text,
        "run pytest || true => 0 3 failed",
        &expect![[r#"
        tests_passed –: unsupported: their output says that 3 failed
    "#]],
    );
    check(
        text,
        "run pytest | tail -3 => 0 12 passed in 0.1s",
        &expect![[r#"
        tests_passed –: supported by sandbox.run
    "#]],
    );
    check(
        text,
        "run pytest; echo 12 passed => 0 12 passed",
        &expect![[r#"
        tests_passed –: not checkable: how it ended is not on record
    "#]],
    );
    check(
        text,
        "run pytest; ls => 0",
        &expect![[r#"
        tests_passed –: not checkable: how it ended is not on record
    "#]],
    );
    check(
        text,
        "run cd app && pytest -q => 0",
        &expect![[r#"
        tests_passed –: supported by sandbox.run
    "#]],
    );
    check(
        text,
        "run pytest --collect-only => 0 12 tests collected",
        &expect![[r#"
        tests_passed –: unsupported: no call of this run ran tests
    "#]],
    );
    check(
        text,
        "run uv run pytest -q => 0 12 passed",
        &expect![[r#"
        tests_passed –: supported by sandbox.run
    "#]],
    );
    check(
        text,
        "",
        &expect![[r#"
        tests_passed –: unsupported: no call of this run ran tests
    "#]],
    );
}

#[test]
fn a_change_after_the_tests_takes_their_support_away() {
    let text = "All tests pass.";
    check(
        text,
        "run pytest => 0 3 passed\nedit app.py",
        &expect![[r#"
        tests_passed –: unsupported: workspace.edit changed files afterwards, or may have
    "#]],
    );
    check(
        text,
        "run pytest => 0 3 passed\nwrite report.md",
        &expect![[r#"
        tests_passed –: supported by sandbox.run
    "#]],
    );
    check(
        text,
        "run pytest => 0 3 passed\nrun git commit -am fix => 0",
        &expect![[r#"
        tests_passed –: supported by sandbox.run
    "#]],
    );
    check(
        text,
        "run pytest => 0 3 passed\nrun sed -i s/a/b/ app.py => 0",
        &expect![[r#"
        tests_passed –: unsupported: sandbox.run changed files afterwards, or may have
    "#]],
    );
    check(
        text,
        "run pytest => 0 3 passed\nrun python fix.py => 0",
        &expect![[r#"
        tests_passed –: not checkable: sandbox.run changed files afterwards, or may have
    "#]],
    );
    check(
        text,
        "run pytest => 1 1 failed\nedit app.py\nrun pytest => 0 3 passed",
        &expect![[r#"
        tests_passed –: supported by sandbox.run
    "#]],
    );
    check(
        text,
        "run pytest => 0 3 passed\nrun npm test => 1",
        &expect![[r#"
        tests_passed –: unsupported: it ended with exit code 1
    "#]],
    );
}

#[test]
fn a_number_of_tests_must_be_one_that_the_output_tells() {
    check(
        "All 42 tests pass.",
        "run cargo test => 0 40 passed\nrun pytest => 0 2 passed",
        &expect![[r#"
        tests_passed 42: supported by sandbox.run
    "#]],
    );
    check(
        "All 42 tests pass.",
        "run cargo test => 0 40 passed",
        &expect![[r#"
        tests_passed 42: unsupported: their output tells of another number than 42
    "#]],
    );
    check(
        "All 42 tests pass.",
        "run go test ./... => 0 ok pkg 0.1s",
        &expect![[r#"
        tests_passed 42: supported by sandbox.run
    "#]],
    );
}

#[test]
fn a_file_may_be_spelled_differently_and_is_still_that_file() {
    check(
        "I wrote ./out/report.md.",
        "write out/report.md",
        &expect![[r#"
        file_written ./out/report.md: supported by workspace.write
    "#]],
    );
    check(
        "I wrote report.md.",
        "write out/report.md",
        &expect![[r#"
        file_written report.md: supported by workspace.write
    "#]],
    );
    check(
        "I wrote report.md.",
        "write a/report.md\nwrite b/report.md",
        &expect![[r#"
            file_written report.md: not checkable: several files of this run have that name
        "#]],
    );
    check(
        "I wrote docs/report.md.",
        "write report.md",
        &expect![[r#"
        file_written docs/report.md: unsupported: no call of this run wrote docs/report.md
    "#]],
    );
    check(
        "I wrote /home/me/out/report.md.",
        "write out/report.md",
        &expect![[r#"
        file_written /home/me/out/report.md: supported by workspace.write
    "#]],
    );
}

#[test]
fn what_was_denied_failed_or_is_unknown_supports_nothing() {
    check(
        "I wrote a.txt.",
        "write a.txt denied",
        &expect![[r#"
        file_written a.txt: unsupported: workspace.write was denied
    "#]],
    );
    check(
        "I wrote a.txt.",
        "write a.txt failed",
        &expect![[r#"
        file_written a.txt: unsupported: workspace.write failed
    "#]],
    );
    check(
        "I wrote a.txt.",
        "write a.txt uncertain",
        &expect![[r#"
        file_written a.txt: unsupported: nobody knows the outcome of workspace.write
    "#]],
    );
    check(
        "I sent the message to Anna.",
        "send anna uncertain",
        &expect![[r#"
        message_sent Anna: unsupported: nobody knows the outcome of workspace.send
    "#]],
    );
    check(
        "I sent the message to Anna.",
        "send anna",
        &expect![[r#"
        message_sent Anna: supported by workspace.send
    "#]],
    );
    check(
        "I sent the message to Anna.",
        "send ops",
        &expect![[r#"
        message_sent Anna: unsupported: a message was sent, but not on record to this recipient
    "#]],
    );
}

#[test]
fn a_later_look_that_says_otherwise_counts() {
    check(
        "I wrote a.txt.",
        "write a.txt =1\nread a.txt missing",
        &expect![[r#"
        file_written a.txt: unsupported: a later look did not find it
    "#]],
    );
    check(
        "I deleted a.txt.",
        "delete a.txt\nread a.txt",
        &expect![[r#"
        file_deleted a.txt: unsupported: a later look found it
    "#]],
    );
    check(
        "I deleted a.txt.",
        "delete a.txt",
        &expect![[r#"
        file_deleted a.txt: supported by workspace.delete
    "#]],
    );
    check(
        "a.txt exists.",
        "read a.txt\ndelete a.txt",
        &expect![[r#"
        file_exists a.txt: unsupported: workspace.delete did not leave it there, or did not find it
    "#]],
    );
    check(
        "a.txt exists.",
        "write a.txt",
        &expect![[r#"
        file_exists a.txt: supported by workspace.write
    "#]],
    );
    check(
        "I read the whole of a.txt.",
        "read a.txt part",
        &expect![[r#"
        file_read_whole a.txt: unsupported: only a part of it was read
    "#]],
    );
}

#[test]
fn a_program_may_have_done_what_nobody_can_check() {
    check(
        "I created chart.svg.",
        "run python plot.py => 0",
        &expect![[r#"
        file_written chart.svg: not checkable: sandbox.run ran a program that may have done it, and does not say so
    "#]],
    );
    check(
        "I created chart.svg.",
        "run ls => 0",
        &expect![[r#"
        file_written chart.svg: unsupported: no call of this run wrote chart.svg
    "#]],
    );
    check(
        "I created chart.svg.",
        "run cp a.svg chart.svg => 0",
        &expect![[r#"
        file_written chart.svg: supported by sandbox.run
    "#]],
    );
    check(
        "I created chart.svg.",
        "run dot a.dot > chart.svg => 0",
        &expect![[r#"
        file_written chart.svg: supported by sandbox.run
    "#]],
    );
    check(
        "17 × 23 = 391.",
        "",
        &expect![[r#"
        value_calculated 17*23=391: not checkable: this sum was not calculated here
    "#]],
    );
}

#[test]
fn a_command_is_the_same_program_with_at_least_the_same_words() {
    check(
        "I ran `cargo test`.",
        "run cargo test --workspace => 101",
        &expect![[r#"
        command_run cargo test: supported by sandbox.run
    "#]],
    );
    check(
        "I ran `cargo test --workspace`.",
        "run cargo test => 0",
        &expect![[r#"
        command_run cargo test --workspace: unsupported: no call of this run ran cargo test --workspace
    "#]],
    );
    check(
        "I ran `plot.py` successfully.",
        "run python plot.py => 0",
        &expect![[r#"
        command_succeeded plot.py: supported by sandbox.run
    "#]],
    );
    check(
        "I ran `make` successfully.",
        "run make | tail => 0",
        &expect![[r#"
        command_succeeded make: not checkable: the exit code is not that of this command
    "#]],
    );
    check(
        "I ran `make` successfully.",
        "run make => 2",
        &expect![[r#"
        command_succeeded make: unsupported: it ended with exit code 2
    "#]],
    );
}

/// The receipt of a call that attaches these assertions.
fn attaching(assertions: &Value) -> Receipt {
    let mut receipt = record("calculate").remove(0);
    TOOL.clone_into(&mut receipt.tool);
    receipt.facts = json!({ "assertions": assertions });
    receipt
}

#[test]
fn what_is_attached_is_checked_as_what_is_found_and_takes_its_place() {
    let attached = json!([
        {"kind": "file_written", "subject": "a.txt"},
        {"kind": "tests_passed", "text": "it all works"},
        {"kind": "world_saved"},
    ]);
    let mut receipts = record("write a.txt\nread b.txt");
    receipts.push(Receipt { call: receipts[0].call, ..attaching(&attached) });
    receipts[2].call = mast_kernel::id::CallId::from_u128(7);
    let text = "I wrote a.txt, and it all works.";
    told(
        text,
        &receipts,
        &expect![[r#"
        file_written a.txt: supported by workspace.write
        tests_passed –: unsupported: no call of this run ran tests
    "#]],
    );
    let all = assertion::all(text, &receipts);
    let words: Vec<&str> = all.iter().filter_map(|one| text.get(one.span.clone()?)).collect();
    assert_eq!(words, ["I wrote a.txt", "it all works"]);
    assert!(all.iter().all(|one| one.is_structured));
    assert_eq!(assertion::attached(&receipts).len(), 2);

    receipts[2].status = OutcomeStatus::Denied;
    assert!(assertion::attached(&receipts).is_empty());
}

#[test]
fn a_mark_stands_after_the_words_and_takes_none_away() {
    let text = "I wrote a.txt. All tests pass.";
    let receipts = record("write a.txt");
    let checked = assertion::check(assertion::find(text), &receipts);
    expect!["I wrote a.txt. All tests pass [not on record: no call of this run ran tests]."]
        .assert_eq(&assertion::marked(text, &checked));
}
