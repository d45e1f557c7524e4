//! `cargo xtask ci`: everything that a change must pass, and `cargo xtask fix`: what of it a machine
//! can mend.
//!
//! Every step runs even when an earlier one failed, so that one run tells all there is to mend. The
//! last line is the tests' closing line; what else failed is named above it.

use crate::bless::{self, BlessArgs};
use crate::failed::Failed;
use crate::licences;
use crate::process::Process;
use crate::say;
use crate::tally::Tally;
use crate::test;

const FORMAT: &str = "cargo fmt --all --check";
const CLIPPY: &str = "cargo clippy --workspace --all-targets --locked -- -D warnings";
const DOCUMENTATION: &str = "cargo doc --workspace --no-deps --locked";

/// Runs every step, says how each went, and ends with the tests' closing line.
pub(crate) fn run() -> Result<(), Failed> {
    let mut tally = Tally::default();
    let tests = || {
        tally = test::tally()?;
        test::judge(tally)
    };
    let steps = [
        ("format", step("format", || Process::new(FORMAT).run())),
        ("clippy", step("clippy", || Process::new(CLIPPY).run())),
        ("tests", step("tests", tests)),
        ("documentation", step("documentation", documentation)),
        ("generated files", step("generated files", || bless::run(&BlessArgs { check: true, files: false }))),
        ("licences", step("licences", licences::run)),
    ];
    tally.close(steps.iter().all(|(name, done)| *name != "tests" || done.is_ok()));
    let (lines, all_well) = summary(&steps);
    for line in lines {
        say::line(&line);
    }
    say::line(&tally.closing_line());
    if all_well { Ok(()) } else { Err(Failed::Found { what: "not everything passed".to_owned() }) }
}

/// Formats, and applies what the compiler and clippy suggest.
pub(crate) fn fix() -> Result<(), Failed> {
    Process::new("cargo clippy --workspace --all-targets --fix --allow-dirty --allow-staged").run()?;
    Process::new("cargo fmt --all").run()
}

fn documentation() -> Result<(), Failed> {
    Process::new(DOCUMENTATION).variable("RUSTDOCFLAGS", "-D warnings").run()
}

fn step(name: &str, work: impl FnOnce() -> Result<(), Failed>) -> Result<(), Failed> {
    say::heading(name);
    let done = work();
    if let Err(failed) = &done {
        say::failure(failed);
    }
    done
}

/// One line a step, and whether all went well.
fn summary(steps: &[(&str, Result<(), Failed>)]) -> (Vec<String>, bool) {
    let line = |(name, done): &(&str, Result<(), Failed>)| match done {
        Ok(()) => format!("ok      {name}"),
        Err(failed) => format!("FAILED  {name}: {failed}"),
    };
    (steps.iter().map(line).collect(), steps.iter().all(|(_, done)| done.is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bad_step_is_named_and_spoils_the_whole() {
        let bad = || Err(Failed::Found { what: "2 failed".to_owned() });
        let (lines, all_well) = summary(&[("format", Ok(())), ("tests", bad())]);
        assert_eq!(lines, ["ok      format", "FAILED  tests: 2 failed"]);
        assert!(!all_well);
        assert!(summary(&[("format", Ok(()))]).1);
    }
}
