//! What the gate takes for one call: in memory by itself, on disk beside the bare statements.

use super::measured::{Measured, ROUNDS};
use super::programs;
use super::report::{MICROS, Row};
use crate::failed::Failed;
use crate::process::Process;

const MEMORY_MAX: f64 = 30.0 * MICROS;
const MEMORY_TIME: &str = "About 350 blocks of SHA-256 a call take most of it (six events, a salted digest and a \
    link for each of their fields), then the memory of canonical JSON, and seven requests to the system's \
    randomness for ids and salts. Fewer or shorter digests would be another journal format.";
const BARE: &str = "bare statements";

/// A line, the name of its figure, and its bound.
const ON_DISK: [(&str, &str, f64); 3] = [
    ("a pure call, journal on disk", "pure", 2.5),
    ("a pure call, each commit flushed", "flushed", 1.5),
    ("a call that asks a person, flushed", "asking", 1.5),
];

/// One row in memory, three on disk.
pub(super) fn measure() -> Result<Vec<Row>, Failed> {
    let program = programs::measure()?;
    let measured = Measured::in_rounds(ROUNDS, || {
        let run = |words: &[&str]| Process::program(&program).with(words.iter().copied());
        Ok(vec![run(&["memory"]), run(&["disk", &programs::folder("call")?])])
    })?;
    let in_memory = Row::at_most("a pure call, journal in memory", measured.time("memory")?, MEMORY_MAX)
        .because(MEMORY_TIME);
    let on_disk = ON_DISK.into_iter().map(|(line, name, bound)| {
        let seen = measured.times(name, (&measured, &format!("{name} bare")))?;
        Ok(Row::beside(line, BARE, seen, bound))
    });
    std::iter::once(Ok(in_memory)).chain(on_disk).collect()
}
