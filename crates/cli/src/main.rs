//! The binary `mast`: reads the configuration and the environment, builds everything, and prints.
//!
//! What cannot happen elsewhere: printing, reading the environment, choosing an exit code. What cannot
//! happen here: a decision about a call. The sandbox's inner launcher, a hidden verb, will be looked
//! for here before anything else.
//!
//! | module | the one idea |
//! |---|---|
//! | [`args`] | what may be written on the command line |
//! | [`config`] | what holds in this start, and why |
//! | [`assemble`] | the store, the tools, the model, the runtime, each built when first needed |
//! | [`output`] | the one printer |
//! | [`error`] | one line and one exit code for everything that can go wrong |
//! | [`files`] | reading a file with a bound, and never one that waits |
//! | [`logs`] | what `MAST_LOG` turns on |
//! | [`ids`], [`names`] | from what a person writes to what they mean |
//! | [`commands`] | the verbs, a file each |

mod args;
mod assemble;
mod commands;
mod config;
mod error;
mod files;
mod ids;
mod logs;
mod names;
mod output;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let environment = config::Environment::of_process();
    let arguments: Vec<_> = std::env::args_os().collect();
    // Before the arguments are read nobody has asked for JSON.
    let plain = output::Printer::new(&environment, false);
    output::catch_faults(&plain);
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let cli = match args::Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(refusal) => return ExitCode::from(plain.refusal(&refusal, &words) as u8),
    };
    let printer = output::Printer::new(&environment, cli.global.json);
    let began = logs::begin(&environment).map_err(error::CliError::from);
    let done = began.and_then(|()| commands::dispatch(cli, &printer, environment));
    let exit = done.unwrap_or_else(|error| {
        printer.error(&error);
        error.exit()
    });
    ExitCode::from(exit as u8)
}
