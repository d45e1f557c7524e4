//! The command line: what may be written, and nothing of what it does. Each verb's own arguments
//! stand with the verb. See `docs/spec/cli.md`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use mast_kernel::instant::Instant;

use crate::commands::{
    approvals, call, completions, config, grants, journal, policy, run, runs, tools, trace, worker,
};

/// Mast: a tool runtime for AI agents. The model proposes; the runtime disposes.
#[derive(Debug, Parser)]
#[command(name = "mast", version, arg_required_else_help = true, infer_long_args = false)]
#[command(
    after_help = "Set up a model: mast config use ollama --model NAME, or set OPENAI_API_KEY or ANTHROPIC_API_KEY."
)]
pub(crate) struct Cli {
    /// What holds for every verb.
    #[command(flatten)]
    pub(crate) global: Global,
    /// The verb.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What holds for every verb.
#[derive(Clone, Args)]
pub(crate) struct Global {
    /// Keep the database, keys and everything else in this folder
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Keep the journal on this Postgres server, postgres://user@host/database, instead of in a file
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Read the settings from this file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Judge by this policy profile; `default` is the built-in one
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// Judge by this admin profile too, which only tightens
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) admin_profile: Option<PathBuf>,
    /// Let tools see this moment (RFC 3339); nothing is judged by it
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_instant)]
    pub(crate) fixed_clock: Option<Instant>,
    /// Print results as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The address of the store may hold a password.
impl std::fmt::Debug for Global {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Global").field("data_dir", &self.data_dir).finish_non_exhaustive()
    }
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Give a task to a model, and run the tools that it asks for
    Run(run::RunArgs),
    /// Call one tool yourself
    Call(call::CallArgs),
    /// List the tools, or show one whole
    Tools(tools::ToolsArgs),
    /// List the runs, or show one
    Runs(runs::RunsArgs),
    /// Show what of a run is on record, or hold another agent's transcript against its own results
    Trace(trace::TraceArgs),
    /// Take up runs that nobody works on, until it is stopped
    Worker(worker::WorkerArgs),
    /// List what waits for your verdict, and give it
    Approvals(approvals::ApprovalsArgs),
    /// List the yeses that reach further than one call, or take one back
    Grants(grants::GrantsArgs),
    /// Show what is on record, or check that nobody has changed it
    Journal(journal::JournalArgs),
    /// Show the policy in force, test it, or explain what it says of a call
    Policy(policy::PolicyArgs),
    /// Show and change the settings
    Config(config::ConfigArgs),
    /// Tell what this machine has and what is missing
    Doctor,
    /// Write the completions of a shell
    Completions(completions::CompletionsArgs),
    /// Write the reference of the command line
    #[command(hide = true)]
    HelpMarkdown,
}

/// Reads a moment as RFC 3339.
pub(crate) fn parse_instant(text: &str) -> Result<Instant, String> {
    let refused = || "a moment is written like 2026-07-22T12:00:00Z".to_owned();
    if !text.as_bytes().get(10).is_some_and(|byte| byte.eq_ignore_ascii_case(&b't')) {
        return Err(refused());
    }
    let moment: jiff::Timestamp = text.parse().map_err(|_| refused())?;
    Ok(Instant::from_micros(moment.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_moment_is_rfc_3339() {
        assert_eq!(parse_instant("1970-01-01T00:00:01.5Z"), Ok(Instant::from_micros(1_500_000)));
        assert_eq!(parse_instant("1970-01-01T01:00:00+01:00"), Ok(Instant::from_micros(0)));
        for bad in
            ["", "2026-07-22", "2026-07-22T12:00:00", "2026-07-22 12:00:00Z", "yesterday", "1700000000"]
        {
            assert!(parse_instant(bad).is_err(), "{bad}");
        }
    }
}
