//! What does not compile: a permit made by hand, used twice, swapped, or run unclaimed.

#[test]
fn no_tool_runs_without_a_claimed_permit() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/*.rs");
}
