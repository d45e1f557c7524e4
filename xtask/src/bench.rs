//! `cargo xtask bench [NAME]`: our figures beside those of others, on the same machine, one after the
//! other, and the page `docs/benchmarks.md` that records them.
//!
//! A figure alone says more about the machine than about Mast, so a row holds a ratio to a peer and
//! the bound that it must keep. A peer that is not installed is an error, not a missing row.

mod busy;
mod calculate;
mod call;
mod judge;
mod ledger;
mod measured;
mod programs;
mod report;
mod start;
mod step;

use clap::Args;

use crate::failed::Failed;
use crate::place;
use crate::process::Process;
use crate::say;
use busy::Counted;
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
const BENCHES: &[Bench] = &[
    Bench { name: "calculate", measure: calculate::measure },
    Bench { name: "call", measure: call::measure },
    Bench { name: "step", measure: step::measure },
    Bench { name: "judge", measure: judge::measure },
    Bench { name: "ledger", measure: ledger::measure },
    Bench { name: "start", measure: start::measure },
];

const PAGE: &str = "docs/benchmarks.md";
/// What is asked for its version, so that a figure can be understood later.
const RUST: &str = "rustc --version";

/// Runs the benchmarks, prints the table and, when all ran, writes the page.
pub(crate) fn run(args: &BenchArgs) -> Result<(), Failed> {
    let chosen = chosen(args.name.as_deref())?;
    let (machine, versions) = (report::machine()?, versions()?);
    let mut report = Report { machine, busy: Vec::new(), versions, rows: Vec::new() };
    for bench in chosen {
        say::heading(bench.name);
        let began = Counted::now()?;
        report.rows.extend((bench.measure)()?);
        report.busy.push(began.until(Counted::now()?));
    }
    programs::clean()?;
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
    let answer = |process: Process| Ok(process.answer()?.trim().to_owned());
    let python = Process::program(&programs::python()?).with(["--version"]);
    let peers = place::read(programs::PEERS)?;
    let peers = peers.lines().map(|peer| Ok(peer.replace("==", " ")));
    [Process::new(RUST), python].into_iter().map(answer).chain(peers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_chosen_by_its_name_and_all_without() {
        assert_eq!(chosen(None).unwrap().len(), BENCHES.len());
        assert_eq!(chosen(Some("start")).unwrap().len(), 1);
        let failed = chosen(Some("warm")).unwrap_err().to_string();
        assert!(
            failed.starts_with(
                "there is no benchmark named `warm`; there is: calculate, call, step, judge, ledger, start"
            ),
            "{failed}"
        );
    }
}
