//! What the judge takes by itself: no peer judges calls, so each figure has a bound of its own.

use super::measured::{Measured, ROUNDS};
use super::programs;
use super::report::{MICROS, MILLIS, Row};
use crate::failed::Failed;
use crate::process::Process;

const DECISION_TIME: &str = "Where a path is touched, two thirds are the comparison with the protected names; where \
    commands run, these and the spellings of each word; where a person is asked, the seal.";
const DENSE_TIME: &str =
    "Most of it is the parser's own, for a text in which nearly each word begins another command.";

/// A line, the name of its figure, its bound in nanoseconds, and where its time goes.
const LINES: [(&str, &str, f64, &str); 5] = [
    ("a decision, the slowest of the ordinary ones", "decide", 5.0 * MICROS, DECISION_TIME),
    (
        "a decision on three commands under a rule about sequences, after 64 calls",
        "decide after",
        5.0 * MICROS,
        DECISION_TIME,
    ),
    ("the commands of `git status`", "shell plain", 10.0 * MICROS, ""),
    ("the commands of a dense shell text of 1 KiB", "shell dense", 500.0 * MICROS, DENSE_TIME),
    ("a prompt of 200 items", "prompt", MILLIS, ""),
];

/// One row a line.
pub(super) fn measure() -> Result<Vec<Row>, Failed> {
    let program = programs::measure()?;
    let measured = Measured::in_rounds(ROUNDS, || Ok(vec![Process::program(&program).with(["judge"])]))?;
    let row = |(line, name, bound, why): (&str, &str, f64, &'static str)| {
        let row = Row::at_most(line, measured.time(name)?, bound);
        Ok(if why.is_empty() { row } else { row.because(why) })
    };
    LINES.into_iter().map(row).collect()
}
