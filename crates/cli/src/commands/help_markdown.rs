//! `mast help-markdown`: the reference of the command line, `docs/cli.md`, made from the arguments
//! themselves so that it cannot say something else.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command, CommandFactory as _};

use crate::args::Cli;
use crate::error::{CliError, Exit};
use crate::output::Printer;

/// Prints the reference.
///
/// # Errors
///
/// [`CliError`] when it cannot be written.
pub(crate) fn run(printer: &Printer) -> Result<Exit, CliError> {
    printer.result(&reference())?;
    Ok(Exit::Done)
}

/// The reference as Markdown.
fn reference() -> String {
    let mut command = Cli::command();
    command.build();
    let mut text = String::from(
        "# Command line\n\nMade by `cargo xtask bless` from the program itself; exit codes and formats are in \
         [spec/cli.md](spec/cli.md).\n",
    );
    section(&mut text, &command, "mast", true);
    text
}

fn section(text: &mut String, command: &Command, path: &str, is_root: bool) {
    let verbs: Vec<&Command> =
        command.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help").collect();
    if is_root || verbs.is_empty() || command.get_arguments().any(|arg| is_own(arg, false)) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let usage = command.clone().render_usage().to_string();
        let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).to_owned();
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## `{path}`\n\n{about}\n\n```text\n{usage}\n```\n");
        arguments(text, command, is_root);
    }
    for verb in verbs {
        section(text, verb, &format!("{path} {}", verb.get_name()), false);
    }
}

fn arguments(text: &mut String, command: &Command, is_root: bool) {
    let own: Vec<&Arg> = command.get_arguments().filter(|arg| is_own(arg, is_root)).collect();
    if own.is_empty() {
        return;
    }
    text.push_str("\n| | |\n|---|---|\n");
    for arg in own {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let words: Vec<String> =
            arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
        let takes_words = arg.get_action().takes_values() && !words.is_empty();
        let words = if takes_words { format!(" ({})", words.join(", ")) } else { String::new() };
        let _ = writeln!(text, "| `{}` | {help}{words} |", spelling(arg));
    }
}

/// Whether an argument belongs to this section: what holds for every verb is told once, at the root.
fn is_own(arg: &Arg, is_root: bool) -> bool {
    let of_parser = matches!(
        arg.get_action(),
        ArgAction::Help | ArgAction::HelpLong | ArgAction::HelpShort | ArgAction::Version
    );
    !of_parser && !arg.is_hide_set() && (is_root || !arg.is_global_set())
}

fn spelling(arg: &Arg) -> String {
    let value = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let takes = arg.get_action().takes_values();
    match (arg.get_long(), value) {
        (Some(long), Some(value)) if takes => format!("--{long} {value}"),
        (Some(long), _) => format!("--{long}"),
        (None, Some(value)) => value,
        (None, None) => arg.get_id().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_up_to_date() {
        expect_test::expect_file!["../../../../docs/cli.md"].assert_eq(&reference());
    }

    #[test]
    fn every_verb_that_is_not_hidden_has_a_section() {
        let text = reference();
        for verb in Cli::command().get_subcommands() {
            let told = text.contains(&format!("## `mast {}", verb.get_name()));
            assert_eq!(told, !verb.is_hide_set(), "{}", verb.get_name());
        }
        assert!(text.contains("| `--fixed-clock TIME` |"), "{text}");
    }
}
