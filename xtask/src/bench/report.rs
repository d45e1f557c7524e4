//! What a benchmark run says: the machine, how busy it was, the versions, and one row a figure.

use std::fs;
use std::path::PathBuf;

use super::busy::Busy;
use super::measured::Beside;
use crate::failed::Failed;

/// The whole of a benchmark run.
#[derive(Debug)]
pub(super) struct Report {
    /// One line: processor, number of processors, kernel.
    pub(super) machine: String,
    /// How busy it was with other work, before each benchmark.
    pub(super) busy: Vec<Busy>,
    /// One line a program.
    pub(super) versions: Vec<String>,
    pub(super) rows: Vec<Row>,
}

/// A figure with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Amount {
    Nanos(f64),
    Bytes(f64),
}

impl Amount {
    /// The number alone.
    const fn number(self) -> f64 {
        match self {
            Self::Nanos(number) | Self::Bytes(number) => number,
        }
    }
}

/// Nanoseconds in a microsecond, and in a millisecond.
pub(super) const MICROS: f64 = 1e3;
pub(super) const MILLIS: f64 = 1e6;
/// Bytes in a mebibyte.
pub(super) const MIB: f64 = 1_048_576.0;

/// One figure, ours, and what it is held against.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// What was measured.
    pub(super) line: String,
    pub(super) ours: Amount,
    /// Who the peer is, its figure, and the ratio of ours to it.
    pub(super) peer: Option<(String, Amount, f64)>,
    pub(super) bound: Bound,
    /// Where its time goes, for a row that is known to miss its bound.
    pub(super) known: Option<&'static str>,
}

/// What we stand by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bound {
    /// The largest ratio of ours to the peer's.
    Ratio(f64),
    /// The largest figure.
    Most(f64),
}

impl Row {
    /// A row that is held against a peer.
    pub(super) fn beside(line: impl Into<String>, peer: &str, seen: Beside, bound: f64) -> Self {
        let peer = Some((peer.to_owned(), seen.theirs, seen.ratio));
        Self { line: line.into(), ours: seen.ours, peer, bound: Bound::Ratio(bound), known: None }
    }

    /// A row that is held against a number of its own unit.
    pub(super) fn at_most(line: impl Into<String>, ours: Amount, bound: f64) -> Self {
        Self { line: line.into(), ours, peer: None, bound: Bound::Most(bound), known: None }
    }

    /// The same row with a peer's figure, for the reader only.
    pub(super) fn and(self, peer: &str, seen: Beside) -> Self {
        Self { peer: Some((peer.to_owned(), seen.theirs, seen.ratio)), ..self }
    }

    /// The same row, and where its time goes, as a profile told: said on the page while the row misses.
    pub(super) fn because(self, known: &'static str) -> Self {
        Self { known: Some(known), ..self }
    }

    /// By how much it misses, and why; nothing for a row that holds.
    fn miss(&self) -> Option<String> {
        if self.holds() {
            return None;
        }
        let (seen, bound) = match (self.bound, &self.peer) {
            (Bound::Ratio(bound), Some((.., ratio))) => (*ratio, bound),
            (Bound::Ratio(bound), None) => (f64::INFINITY, bound),
            (Bound::Most(bound), _) => (self.ours.number(), bound),
        };
        let peer = match (&self.bound, &self.peer) {
            (Bound::Ratio(_), Some((name, ..))) => format!(", beside {name}"),
            _ => String::new(),
        };
        let why = self.known.unwrap_or("It held when it was measured last: look for what has changed since.");
        Some(format!("- {}{peer}: {} times its bound. {why}\n", self.line, digits(seen / bound)))
    }

    /// A ratio that cannot be told holds nothing.
    fn holds(&self) -> bool {
        match self.bound {
            Bound::Ratio(bound) => self.peer.as_ref().is_some_and(|(.., ratio)| *ratio <= bound),
            Bound::Most(bound) => self.ours.number() <= bound,
        }
    }

    fn written(&self) -> String {
        let bound = match (self.bound, self.ours) {
            (Bound::Ratio(bound), _) => format!("ratio ≤ {bound}"),
            (Bound::Most(bound), Amount::Nanos(_)) => format!("≤ {}", amount(Amount::Nanos(bound))),
            (Bound::Most(bound), Amount::Bytes(_)) => format!("≤ {}", amount(Amount::Bytes(bound))),
        };
        let (peer, ratio) = match &self.peer {
            Some((name, theirs, ratio)) => (format!("{} ({name})", amount(*theirs)), digits(*ratio)),
            None => ("–".to_owned(), "–".to_owned()),
        };
        let (ours, holds) = (amount(self.ours), if self.holds() { "yes" } else { "**no**" });
        format!("| {} | {ours} | {peer} | {ratio} | {bound} | {holds} |\n", self.line)
    }
}

impl Report {
    /// The table, in Markdown.
    pub(super) fn table(&self) -> String {
        let head = "| line | ours | peer | ratio | bound | holds |\n|---|---|---|---|---|---|\n";
        head.to_owned() + &self.rows.iter().map(Row::written).collect::<String>()
    }

    /// The rows that miss, by how much and why, in Markdown; nothing where all hold.
    fn misses(&self) -> String {
        let misses: String = self.rows.iter().filter_map(Row::miss).collect();
        if misses.is_empty() { misses } else { format!("\n## What misses, and why\n\n{misses}") }
    }

    /// The page, in Markdown.
    pub(super) fn page(&self) -> String {
        format!(
            "<!-- Written by `cargo xtask bench`. -->\n# Benchmarks\n\n{}\n{}{}\nMachine: {}. {}\n\nVersions: \
             {}.\n",
            include_str!("preface.md"),
            self.table(),
            self.misses(),
            self.machine,
            Busy::told(&self.busy),
            self.versions.join(", ")
        )
    }

    /// An error that names each row that does not hold.
    pub(super) fn judge(&self) -> Result<(), Failed> {
        let broken = self.rows.iter().filter(|row| !row.holds()).map(|row| row.line.as_str());
        let broken: Vec<&str> = broken.collect();
        if broken.is_empty() {
            return Ok(());
        }
        Err(Failed::Found { what: format!("out of bounds: {}", broken.join("; ")) })
    }
}

/// A figure with three digits that count, rounded up, so that a miss is not rounded away.
fn amount(amount: Amount) -> String {
    let (value, unit) = match amount {
        Amount::Nanos(n) if n >= 1e9 => (n / 1e9, "s"),
        Amount::Nanos(n) if n >= MILLIS => (n / MILLIS, "ms"),
        Amount::Nanos(n) if n >= MICROS => (n / MICROS, "µs"),
        Amount::Nanos(n) => (n, "ns"),
        Amount::Bytes(n) => (n / MIB, "MiB"),
    };
    format!("{} {unit}", digits(value))
}

/// Three digits that count, rounded up.
fn digits(value: f64) -> String {
    let (scale, decimals) = match value {
        v if v >= 100.0 => (1.0, 0),
        v if v >= 10.0 => (10.0, 1),
        v if v >= 1.0 => (100.0, 2),
        _ => (1e3, 3),
    };
    // What is a whole number of the last digit but for the error of binary fractions stays as it is.
    format!("{:.decimals$}", (value * scale - 1e-9).ceil() / scale)
}

/// One line on this machine, from what the kernel says of itself.
pub(super) fn machine() -> Result<String, Failed> {
    let read = |path: &str| {
        fs::read_to_string(path).map_err(|source| Failed::Read { path: PathBuf::from(path), source })
    };
    Ok(describe(&read("/proc/cpuinfo")?, &read("/proc/sys/kernel/osrelease")?))
}

fn describe(processors: &str, kernel: &str) -> String {
    let names: Vec<&str> = processors
        .lines()
        .filter_map(|line| line.strip_prefix("model name"))
        .filter_map(|rest| rest.split_once(": ").map(|(_, name)| name.trim()))
        .collect();
    let name = names.first().copied().unwrap_or("a processor without a name");
    format!("{} × {name}, Linux {}", names.len().max(1), kernel.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn seen(ours: f64, ratio: f64) -> Beside {
        Beside { ours: Amount::Nanos(ours), theirs: Amount::Nanos(10_000_000.0), ratio }
    }

    fn report() -> Report {
        Report {
            machine: describe("model name\t: Fast CPU\nmodel name\t: Fast CPU\n", "6.1.0\n"),
            busy: vec![Busy { n_processors: 2, n_busy: 0.1 }, Busy { n_processors: 2, n_busy: 1.5 }],
            versions: vec!["rustc 1.95.0".to_owned(), "Python 3.11".to_owned()],
            rows: vec![
                Row::beside("start", "CPython", seen(4_567_000.0, 0.4567), 0.5),
                Row::beside("slow start", "CPython", seen(123_456_000.0, 12.3456), 12.34)
                    .because("It waits for the disk."),
                Row::at_most("small", Amount::Bytes(20.001 * MIB), 20.0 * MIB),
                Row::at_most("quick", Amount::Nanos(999.0), MICROS).and("CPython", seen(999.0, 1e-4)),
            ],
        }
    }

    #[test]
    fn a_page_has_the_table_the_machine_and_the_versions() {
        let page = report().page();
        let (_, told) = page.split_once("| line |").unwrap();
        expect![[r#"
             ours | peer | ratio | bound | holds |
            |---|---|---|---|---|---|
            | start | 4.57 ms | 10.0 ms (CPython) | 0.457 | ratio ≤ 0.5 | yes |
            | slow start | 124 ms | 10.0 ms (CPython) | 12.4 | ratio ≤ 12.34 | **no** |
            | small | 20.1 MiB | – | – | ≤ 20.0 MiB | **no** |
            | quick | 999 ns | 10.0 ms (CPython) | 0.001 | ≤ 1.00 µs | yes |

            ## What misses, and why

            - slow start, beside CPython: 1.01 times its bound. It waits for the disk.
            - small: 1.01 times its bound. It held when it was measured last: look for what has changed since.

            Machine: 2 × Fast CPU, Linux 6.1.0. It was busy: other work kept up to 1.5 of its 2 processors.

            Versions: rustc 1.95.0, Python 3.11.
        "#]]
        .assert_eq(told);
        assert_eq!(report().judge().unwrap_err().to_string(), "out of bounds: slow start; small");
    }

    #[test]
    fn what_holds_is_no_failure_and_a_ratio_without_a_peer_holds_nothing() {
        let mut report = report();
        report.rows.truncate(1);
        assert!(report.judge().is_ok());
        report.rows[0].peer = None;
        assert!(report.judge().is_err());
    }

    #[test]
    fn figures_have_three_digits_and_are_rounded_up() {
        let written = [1.5e9, 12_340_000.0, 123_456.0, 7.0, 999.0, 12_000_001.0, 12_000_000.0];
        let written = written.map(|n| amount(Amount::Nanos(n)));
        assert_eq!(written, ["1.50 s", "12.4 ms", "124 µs", "7.00 ns", "999 ns", "12.1 ms", "12.0 ms"]);
    }
}
