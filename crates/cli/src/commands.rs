//! The verbs. Each file has the arguments of one verb and what it does.

pub(crate) mod approvals;
pub(crate) mod call;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod grants;
mod help_markdown;
pub(crate) mod journal;
pub(crate) mod policy;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod tools;
pub(crate) mod trace;
pub(crate) mod worker;

use mast_kernel::instant::Instant;

use crate::args::{Cli, Command};
use crate::assemble::Start;
use crate::config::Environment;
use crate::error::{CliError, Exit};
use crate::output::Printer;

/// Does what the command line asks.
///
/// # Errors
///
/// [`CliError`] when it could not be done.
pub(crate) fn dispatch(cli: Cli, printer: &Printer, environment: Environment) -> Result<Exit, CliError> {
    let Cli { global, command } = cli;
    let start = || Start::new(global, printer, environment);
    match command {
        Command::Run(args) => run::run(&args, &start()?),
        Command::Call(args) => call::run(&args, &start()?),
        Command::Tools(args) => tools::run(&args, printer),
        Command::Runs(args) => runs::run(&args, &start()?),
        Command::Trace(args) => trace::run(&args, &start()?),
        Command::Worker(args) => worker::run(&args, &start()?),
        Command::Approvals(args) => approvals::run(&args, &start()?),
        Command::Grants(args) => grants::run(&args, &start()?),
        Command::Journal(args) => journal::run(&args, &start()?),
        Command::Policy(args) => policy::run(&args, &start()?),
        Command::Config(args) => config::run(&args, &start()?),
        Command::Doctor => doctor::run(&start()?),
        Command::Completions(args) => completions::run(&args, printer),
        Command::HelpMarkdown => help_markdown::run(printer),
    }
}

/// A moment as a person and a program read it: RFC 3339 in UTC, whole seconds.
pub(crate) fn moment(at: Instant) -> String {
    jiff::Timestamp::from_microsecond(at.micros())
        .map_or_else(|_| format!("{} µs", at.micros()), |at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// The time of day in UTC with milliseconds, for lines that follow each other closely.
pub(crate) fn time_of_day(at: Instant) -> String {
    jiff::Timestamp::from_microsecond(at.micros())
        .map_or_else(|_| format!("{} µs", at.micros()), |at| at.strftime("%H:%M:%S.%3f").to_string())
}
