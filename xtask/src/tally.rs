//! Counting what Rust's test runner says. Each test binary ends with a line such as
//! `test result: ok. 12 passed; 0 failed; 0 ignored; …`; the sum over all of them is what a person
//! (and whoever reads the last line of the log) wants to know.

/// How many tests passed, failed and were left out, over several test binaries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
}

impl Tally {
    /// Takes one line of the runner into account; lines that are not a result change nothing.
    pub(crate) fn take(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else { return };
        for part in result.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(what)) = (words.next(), words.next()) else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }

    /// A run that ended badly without a failed test (it did not compile, or a test binary died) still
    /// counts as one failure: zero failures must mean that nothing failed.
    pub(crate) fn close(&mut self, ended_well: bool) {
        if !ended_well && self.failed == 0 {
            self.failed = 1;
        }
    }

    /// The sum of two.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            ignored: self.ignored + other.ignored,
        }
    }

    /// The closing line, plain, so that it can be read by a program too.
    pub(crate) fn closing_line(&self) -> String {
        format!("{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(lines: &[&str], ended_well: bool, closing: &str) {
        let mut tally = Tally::default();
        for line in lines {
            tally.take(line);
        }
        tally.close(ended_well);
        assert_eq!(tally.closing_line(), closing);
    }

    #[test]
    fn results_are_summed_and_other_lines_are_not() {
        check(
            &[
                "running 3 tests",
                "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
                "test a::test result: ok. 9 passed",
                "test result: FAILED. 4 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.50s",
            ],
            false,
            "7 passed, 2 failed",
        );
    }

    #[test]
    fn a_run_that_dies_without_a_result_is_a_failure() {
        check(&["test result: ok. 3 passed; 0 failed; 0 ignored"], false, "3 passed, 1 failed");
        check(&[], true, "0 passed, 0 failed");
    }

    proptest! {
        #[test]
        fn any_line_can_be_taken(line in "(test result: )?\\PC{0,60}", passed in 0..u64::from(u32::MAX)) {
            let mut tally = Tally::default();
            tally.take(&line);
            let mut counted = Tally::default();
            counted.take(&format!("test result: ok. {passed} passed; 0 failed; 7 ignored; 0 measured"));
            prop_assert_eq!(counted, Tally { passed, failed: 0, ignored: 7 });
        }
    }
}
