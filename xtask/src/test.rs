//! `cargo xtask test`: brings what the tests need, runs every test there is, and ends with one plain
//! line, `N passed, N failed`, over all of them.
//!
//! The runner is cargo's own: another one would be one more program to install first. Nothing is
//! skipped in silence: a missing program is an error, and an ignored test is one too. Two Postgres servers
//! run beside the tests: one for all, and one that tests may break.

use crate::failed::Failed;
use crate::needs;
use crate::postgres::Servers;
use crate::process::Process;
use crate::say;
use crate::tally::Tally;

/// The two halves of the test run: cargo runs examples in the documentation only when asked apart.
const HALVES: [&str; 2] =
    ["cargo test --workspace --all-targets --no-fail-fast", "cargo test --workspace --doc --no-fail-fast"];

/// Runs all tests, and prints the closing line last.
pub(crate) fn run() -> Result<(), Failed> {
    let tally = tally();
    match tally {
        Ok(tally) => {
            say::line(&tally.closing_line());
            judge(tally)
        }
        Err(failed) => {
            // Whoever reads only the last line must not mistake a run that never began for a good one.
            say::failure(&failed);
            let mut none = Tally::default();
            none.close(false);
            say::line(&none.closing_line());
            judge(none)
        }
    }
}

/// Runs all tests and counts them.
pub(crate) fn tally() -> Result<Tally, Failed> {
    needs::bring()?;
    let servers = Servers::start()?;
    let mut sum = Tally::default();
    for half in HALVES {
        sum = sum.and(of(&servers.told_to(Process::new(half)))?);
    }
    Ok(sum)
}

/// An error if anything failed or was left out.
pub(crate) fn judge(tally: Tally) -> Result<(), Failed> {
    let what = match tally {
        Tally { failed: 0, ignored: 0, .. } => return Ok(()),
        Tally { failed: 0, ignored, .. } => format!("{ignored} tests are ignored; run or remove them"),
        Tally { failed, .. } => format!("{failed} failed"),
    };
    Err(Failed::Found { what })
}

/// Runs one half, passing its lines on as they come.
fn of(half: &Process) -> Result<Tally, Failed> {
    say::heading(&half.line());
    let mut tally = Tally::default();
    let ended = half.lines(|line| {
        say::line(line);
        tally.take(line);
    })?;
    if let Err(failed) = &ended {
        say::failure(failed);
    }
    tally.close(ended.is_ok());
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_of(script: &str) -> Tally {
        of(&Process::new("sh -c").with([script])).unwrap()
    }

    #[test]
    fn a_good_run_is_good_and_any_other_is_not() {
        let good = run_of("echo 'test result: ok. 5 passed; 0 failed; 0 ignored'");
        assert_eq!((good.closing_line().as_str(), judge(good).is_ok()), ("5 passed, 0 failed", true));

        let bad = run_of("echo 'test result: FAILED. 5 passed; 2 failed; 0 ignored'; exit 101");
        assert_eq!((bad.closing_line().as_str(), judge(bad).is_ok()), ("5 passed, 2 failed", false));

        let dead = run_of("echo 'running 5 tests'; exit 101");
        assert_eq!((dead.closing_line().as_str(), judge(dead).is_ok()), ("0 passed, 1 failed", false));

        let ignored = run_of("echo 'test result: ok. 5 passed; 0 failed; 1 ignored'");
        assert_eq!(judge(ignored).unwrap_err().to_string(), "1 tests are ignored; run or remove them");
    }
}
