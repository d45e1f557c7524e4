//! `cargo xtask bench [NAME]`: our figures beside those of others, on the same machine, one after the
//! other, and the page `docs/benchmarks.md` that records them.
//!
//! A figure alone says more about the machine than about Mast, so a row holds a ratio to a peer and
//! the bound that it must keep. A peer that is not installed is an error, not a missing row.

mod cold_start;
mod report;

use clap::Args;

use crate::failed::Failed;
use crate::place;
use crate::process::Process;
use crate::say;
use report::{Report, Row};

/// Which benchmarks to run.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Only this one; the page is then left as it is.
    name: Option<String>,
}

/// One benchmark: a file of this folder, and a row in [`BENCHES`].
#[derive(Debug)]
struct Bench {
    name: &'static str,
    /// Measures, and gives one row for each line of the table.
    measure: fn() -> Result<Vec<Row>, Failed>,
}

/// Every benchmark, in the order of the page.
const BENCHES: &[Bench] = &[Bench { name: "cold-start", measure: cold_start::measure }];

const PAGE: &str = "docs/benchmarks.md";
/// What is asked for its version, so that a figure can be understood later.
const VERSIONS: [&str; 2] = ["rustc --version", "python3 --version"];

/// Builds the release, runs the benchmarks, prints the table and, when all ran, writes the page.
pub(crate) fn run(args: &BenchArgs) -> Result<(), Failed> {
    let chosen = chosen(args.name.as_deref())?;
    Process::new("cargo build --release --package mast").run()?;
    let mut report = Report { machine: report::machine()?, versions: versions()?, rows: Vec::new() };
    for bench in chosen {
        say::heading(bench.name);
        report.rows.extend((bench.measure)()?);
    }
    say::line(&report.table());
    if args.name.is_none() {
        place::write(PAGE, &report.page())?;
    }
    report.judge()
}

fn chosen(name: Option<&str>) -> Result<Vec<&'static Bench>, Failed> {
    let Some(name) = name else { return Ok(BENCHES.iter().collect()) };
    let found: Vec<&Bench> = BENCHES.iter().filter(|bench| bench.name == name).collect();
    if found.is_empty() {
        let known = BENCHES.iter().map(|bench| bench.name).collect::<Vec<_>>().join(", ");
        return Err(Failed::Unknown { kind: "benchmark", name: name.to_owned(), known });
    }
    Ok(found)
}

fn versions() -> Result<Vec<String>, Failed> {
    VERSIONS.iter().map(|line| Ok(Process::new(line).answer()?.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_chosen_by_its_name_and_all_without() {
        assert_eq!(chosen(None).unwrap().len(), BENCHES.len());
        assert_eq!(chosen(Some("cold-start")).unwrap().len(), 1);
        let failed = chosen(Some("warm")).unwrap_err().to_string();
        assert!(failed.starts_with("there is no benchmark named `warm`; there is: cold-start"), "{failed}");
    }
}
