//! What a benchmark run says: the machine, the versions, and one row a figure.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::failed::Failed;

/// The whole of a benchmark run.
#[derive(Debug)]
pub(super) struct Report {
    /// One line: processor, number of processors, kernel.
    pub(super) machine: String,
    /// One line a program.
    pub(super) versions: Vec<String>,
    pub(super) rows: Vec<Row>,
}

/// One figure, ours beside a peer's.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// What was measured.
    pub(super) line: &'static str,
    pub(super) ours: Duration,
    /// The peer's figure.
    pub(super) theirs: Duration,
    /// Who the peer is.
    pub(super) peer: &'static str,
    /// The largest ratio of ours to theirs that we stand by.
    pub(super) bound: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.ours.as_secs_f64() / self.theirs.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    fn holds(&self) -> bool {
        self.ratio() <= self.bound
    }
}

impl Report {
    /// The table, in Markdown.
    pub(super) fn table(&self) -> String {
        let mut table =
            "| line | ours | peer | ratio | bound | holds |\n|---|---|---|---|---|---|\n".to_owned();
        for row in &self.rows {
            table.push_str(&format!(
                "| {} | {} | {} ({}) | {:.2} | ≤ {:.2} | {} |\n",
                row.line,
                time(row.ours),
                time(row.theirs),
                row.peer,
                row.ratio(),
                row.bound,
                if row.holds() { "yes" } else { "**no**" },
            ));
        }
        table
    }

    /// The page, in Markdown.
    pub(super) fn page(&self) -> String {
        format!(
            "<!-- Written by `cargo xtask bench`. -->\n# Benchmarks\n\nMedians, ours and the peer's in \
             turns on the same machine. Read the ratios first.\n\n{}\nMachine: {}. Versions: {}.\n",
            self.table(),
            self.machine,
            self.versions.join(", ")
        )
    }

    /// An error that names each row that does not hold.
    pub(super) fn judge(&self) -> Result<(), Failed> {
        let broken: Vec<&str> = self.rows.iter().filter(|row| !row.holds()).map(|row| row.line).collect();
        if broken.is_empty() {
            return Ok(());
        }
        Err(Failed::Found { what: format!("out of bounds: {}", broken.join(", ")) })
    }
}

/// A time with three digits that count.
fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "µs"),
        s => (s * 1e9, "ns"),
    };
    let decimals = if value >= 100.0 { 0 } else { usize::from(value < 10.0) + 1 };
    format!("{value:.decimals$} {unit}")
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

/// The middle of several times; zero for none.
pub(super) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn row(line: &'static str, ours: u64, bound: f64) -> Row {
        let micros = Duration::from_micros;
        Row { line, ours: micros(ours), theirs: micros(10_000), peer: "CPython", bound }
    }

    #[test]
    fn a_page_has_the_table_the_machine_and_the_versions() {
        let report = Report {
            machine: describe("model name\t: Fast CPU\nmodel name\t: Fast CPU\n", "6.1.0\n"),
            versions: vec!["rustc 1.95.0".to_owned(), "Python 3.11".to_owned()],
            rows: vec![row("start", 4_567, 0.5), row("slow start", 123_456, 1.0)],
        };
        expect![[r#"
            <!-- Written by `cargo xtask bench`. -->
            # Benchmarks

            Medians, ours and the peer's in turns on the same machine. Read the ratios first.

            | line | ours | peer | ratio | bound | holds |
            |---|---|---|---|---|---|
            | start | 4.57 ms | 10.0 ms (CPython) | 0.46 | ≤ 0.50 | yes |
            | slow start | 123 ms | 10.0 ms (CPython) | 12.35 | ≤ 1.00 | **no** |

            Machine: 2 × Fast CPU, Linux 6.1.0. Versions: rustc 1.95.0, Python 3.11.
        "#]]
        .assert_eq(&report.page());
        assert_eq!(report.judge().unwrap_err().to_string(), "out of bounds: slow start");
    }

    #[test]
    fn the_median_is_the_middle_one() {
        let seconds = |list: &[u64]| list.iter().copied().map(Duration::from_secs).collect();
        assert_eq!(median(seconds(&[9, 1, 5])), Duration::from_secs(5));
        assert_eq!(median(Vec::new()), Duration::ZERO);
    }

    #[test]
    fn times_are_written_with_three_digits() {
        let written = [1_500_000_000, 12_340_000, 123_456, 7, 999].map(|n| time(Duration::from_nanos(n)));
        assert_eq!(written, ["1.50 s", "12.3 ms", "123 µs", "7.00 ns", "999 ns"]);
    }
}
