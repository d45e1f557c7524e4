//! `mast completions SHELL`: the completions of a shell, to be put where that shell looks for them.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::{CliError, Exit};
use crate::output::Printer;

/// Arguments of `mast completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the completions.
///
/// # Errors
///
/// [`CliError`] when they cannot be written.
pub(crate) fn run(args: &CompletionsArgs, printer: &Printer) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mast", &mut script);
    printer.result(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
