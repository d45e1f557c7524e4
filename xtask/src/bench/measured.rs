//! What measuring programs say, and how they are run in turns.
//!
//! A program prints one JSON object a line: a name, and nanoseconds or bytes or both. It is run several
//! times, and its peer after it each time, so that a slow minute of the machine hits both.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::report::Amount;
use crate::failed::Failed;
use crate::process::Process;

/// How often each program is run.
pub(super) const ROUNDS: usize = 5;

/// One line of a program.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: String,
    nanos: Option<f64>,
    bytes: Option<f64>,
}

/// What was measured under each name, one figure a round.
#[derive(Debug, Default)]
pub(super) struct Measured {
    nanos: BTreeMap<String, Vec<f64>>,
    bytes: BTreeMap<String, Vec<f64>>,
}

/// A ratio and the two figures that it is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Beside {
    pub(super) ours: Amount,
    pub(super) theirs: Amount,
    pub(super) ratio: f64,
}

impl Measured {
    /// Runs all programs, one after the other, in rounds.
    pub(super) fn in_rounds(
        n_rounds: usize,
        programs: impl Fn() -> Result<Vec<Process>, Failed>,
    ) -> Result<Self, Failed> {
        let mut measured = Self::default();
        for _ in 0..n_rounds {
            for program in programs()? {
                measured.take(&program)?;
            }
        }
        Ok(measured)
    }

    /// Runs one program, and takes what it says.
    pub(super) fn take(&mut self, program: &Process) -> Result<(), Failed> {
        self.read(&program.answer()?).map_err(|what| Failed::Answer { command: program.line(), what })
    }

    fn read(&mut self, text: &str) -> Result<(), String> {
        for line in text.lines() {
            let Line { name, nanos, bytes } =
                serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
            for (told, figures) in [(nanos, &mut self.nanos), (bytes, &mut self.bytes)] {
                if let Some(figure) = told {
                    if !(figure.is_finite() && figure > 0.0) {
                        return Err(format!("{line}: a figure is above nothing"));
                    }
                    figures.entry(name.clone()).or_default().push(figure);
                }
            }
        }
        Ok(())
    }

    /// The middle time.
    pub(super) fn time(&self, name: &str) -> Result<Amount, Failed> {
        Ok(Amount::Nanos(middle(rounds(&self.nanos, name)?)))
    }

    /// The most memory of any round.
    pub(super) fn memory(&self, name: &str) -> Result<Amount, Failed> {
        Ok(Amount::Bytes(rounds(&self.bytes, name)?.iter().copied().fold(0.0, f64::max)))
    }

    /// A time and a peer's, and the middle of the ratios of all rounds.
    pub(super) fn times(&self, ours: &str, (peers, theirs): (&Self, &str)) -> Result<Beside, Failed> {
        let (one, other) = (rounds(&self.nanos, ours)?, rounds(&peers.nanos, theirs)?);
        let ratios: Vec<f64> = one.iter().zip(other).map(|(one, other)| one / other).collect();
        Ok(Beside { ours: self.time(ours)?, theirs: peers.time(theirs)?, ratio: middle(&ratios) })
    }
}

fn rounds<'a>(figures: &'a BTreeMap<String, Vec<f64>>, name: &str) -> Result<&'a [f64], Failed> {
    figures.get(name).map(Vec::as_slice).ok_or_else(|| {
        let known = figures.keys().cloned().collect::<Vec<_>>().join(", ");
        Failed::Unknown { kind: "figure", name: name.to_owned(), known }
    })
}

/// The middle of several figures, the greater one of two; nothing for none.
fn middle(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Measured {
        let mut measured = Measured::default();
        texts.iter().for_each(|text| measured.read(text).unwrap());
        measured
    }

    #[test]
    fn a_ratio_is_of_figures_of_one_round() {
        let measured = read(&[
            "{\"name\":\"a\",\"nanos\":10}\n{\"name\":\"b\",\"nanos\":5}",
            "{\"name\":\"a\",\"nanos\":90}\n{\"name\":\"b\",\"nanos\":30}",
            "{\"name\":\"a\",\"nanos\":40}\n{\"name\":\"b\",\"nanos\":10}",
        ]);
        let expected = Beside { ours: Amount::Nanos(40.0), theirs: Amount::Nanos(10.0), ratio: 3.0 };
        assert_eq!(measured.times("a", (&measured, "b")).unwrap(), expected);
    }

    #[test]
    fn of_memory_the_most_counts() {
        let measured = read(&["{\"name\":\"a\",\"nanos\":1,\"bytes\":7}", "{\"name\":\"a\",\"bytes\":3}"]);
        assert_eq!(measured.memory("a").unwrap(), Amount::Bytes(7.0));
    }

    #[test]
    fn what_is_no_figure_is_an_error() {
        for line in ["?", "{\"name\":\"a\",\"nanos\":0}", "{\"name\":\"a\",\"micros\":1}"] {
            assert!(Measured::default().read(line).is_err(), "{line}");
        }
        let failed = read(&["{\"name\":\"a\",\"nanos\":1}"]).time("b").unwrap_err().to_string();
        assert_eq!(failed, "there is no figure named `b`; there is: a");
    }

    #[test]
    fn every_round_runs_every_program() {
        let echo = || Ok(vec![Process::new("echo {\"name\":\"a\",\"nanos\":2}")]);
        let measured = Measured::in_rounds(3, echo).unwrap();
        assert_eq!(rounds(&measured.nanos, "a").unwrap(), [2.0; 3]);
        assert!(Measured::in_rounds(1, || Ok(vec![Process::new("false")])).is_err());
    }
}
