//! The chores of Mast's developers: `cargo xtask --help` lists them.
//!
//! They are a program and not shell scripts, so that they are checked like everything else, and so
//! that a fresh machine needs nothing beside the Rust toolchain. Checks on the code itself are
//! ordinary `#[test]`s in `tidy`, which `cargo test` runs too; nothing is checked only in CI.
//!
//! | module | the one idea |
//! |---|---|
//! | `test` | everything is tested, and the last line says how it went |
//! | `ci` | all that a change must pass |
//! | `bless` | files that are generated, and whether they are up to date |
//! | `bench` | our figures beside those of others |
//! | `fuzz` | one fuzzer for a while |
//! | `sim` | runs in which everything goes wrong |
//! | `licences` | what we depend on, and under which terms |
//! | `needs` | programs that some tests want |
//! | `postgres` | servers of the tests' own |
//! | `process`, `say`, `place` | starting, printing and finding things, each in one place |
//! | `tidy` | what a reviewer would otherwise have to look for |

mod bench;
mod bless;
mod ci;
mod failed;
mod fuzz;
mod licences;
mod needs;
mod place;
mod postgres;
mod process;
mod say;
mod sim;
mod tally;
mod test;
#[cfg(test)]
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The chores of Mast's developers.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

/// What can be asked for; each is a file of this crate.
#[derive(Debug, Subcommand)]
enum Chore {
    /// Bring what the tests need, and run every test and every example of the documentation.
    Test,
    /// Everything that a change must pass.
    Ci,
    /// Format, and apply the fixes that the compiler and clippy suggest.
    Fix,
    /// Rewrite the snapshots and the generated files.
    Bless(bless::BlessArgs),
    /// Measure, beside the peers that are installed, and write `docs/benchmarks.md`.
    Bench(bench::BenchArgs),
    /// Run one fuzzer.
    Fuzz(fuzz::FuzzArgs),
    /// Tell stories in which everything goes wrong, and check the invariants after each.
    Sim(sim::SimArgs),
    /// Check the licences and the duplicates of what is depended on.
    Licences,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Test => test::run(),
        Chore::Ci => ci::run(),
        Chore::Fix => ci::fix(),
        Chore::Bless(args) => bless::run(&args),
        Chore::Bench(args) => bench::run(&args),
        Chore::Fuzz(args) => fuzz::run(&args),
        Chore::Sim(args) => sim::run(&args),
        Chore::Licences => licences::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            say::failure(&failed);
            ExitCode::FAILURE
        }
    }
}
