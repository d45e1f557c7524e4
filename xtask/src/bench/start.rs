//! How long one call takes that does nothing but start, calculate and end: what a person feels at
//! every `mast call`, and what a script pays for each line.
//!
//! The peer is CPython running one print of the same product. Both are started in turns, so that a
//! slow minute of the machine hits both.

use std::time::{Duration, Instant};

use super::report::{Row, median};
use crate::failed::Failed;
use crate::process::Process;

/// Starts of each; the first of each is not counted, it fills the page cache.
const STARTS: usize = 41;

/// One row: the whole life of a process, ours beside the peer's.
pub(super) fn measure() -> Result<Vec<Row>, Failed> {
    let target = target()?;
    let (binary, data) = (format!("{target}/release/mast"), format!("{target}/bench/cold-start"));
    let call = ["--data-dir", data.as_str(), "call", "math.calculate", r#"{"expression":"17*23"}"#];
    let ours = Process::program(&binary).with(call);
    let theirs = Process::new("python3 -c").with(["print(17*23)"]);
    let (ours, theirs) = in_turns(&ours, &theirs, STARTS)?;
    Ok(vec![Row { line: "cold `mast call`, journal on disk", ours, theirs, peer: "python3 -c", bound: 1.0 }])
}

/// The folder that cargo builds into. The data of a benchmark stands there too: it can be thrown away.
fn target() -> Result<String, Failed> {
    let metadata = Process::new("cargo metadata --format-version 1 --no-deps --offline");
    let answer = metadata.answer()?;
    let unexpected = |what: String| Failed::Answer { command: metadata.line(), what };
    let value: serde_json::Value =
        serde_json::from_str(&answer).map_err(|error| unexpected(error.to_string()))?;
    let target = value.get("target_directory").and_then(serde_json::Value::as_str);
    target.map(str::to_owned).ok_or_else(|| unexpected("no target_directory".to_owned()))
}

/// The medians of both, started one after the other.
fn in_turns(ours: &Process, theirs: &Process, starts: usize) -> Result<(Duration, Duration), Failed> {
    let (mut of_ours, mut of_theirs) = (Vec::new(), Vec::new());
    for start in 0..=starts {
        let (one, other) = (timed(ours)?, timed(theirs)?);
        if start > 0 {
            of_ours.push(one);
            of_theirs.push(other);
        }
    }
    Ok((median(of_ours), median(of_theirs)))
}

fn timed(process: &Process) -> Result<Duration, Failed> {
    let start = Instant::now();
    process.answer()?;
    Ok(start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_says_where_it_builds() {
        assert!(target().unwrap().starts_with('/'));
    }

    #[test]
    fn both_are_measured_and_a_failure_is_not_a_figure() {
        let works = Process::new("true");
        let (one, other) = in_turns(&works, &works, 3).unwrap();
        assert!(one > Duration::ZERO && other > Duration::ZERO);
        assert!(in_turns(&Process::new("false"), &works, 3).is_err());
    }
}
