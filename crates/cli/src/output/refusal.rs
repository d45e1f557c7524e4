//! What the argument parser says, on one line; and what is said if Mast itself breaks.

use clap::error::ErrorKind;

use super::{Printer, Style, block};
use crate::error::Exit;

impl Printer {
    /// Prints what the argument parser answered instead of arguments: help, the version, or what is
    /// wrong with them.
    pub(crate) fn refusal(&self, refusal: &clap::Error, words: &[String]) -> Exit {
        match refusal.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                let text =
                    if self.color.1 { refusal.render().ansi().to_string() } else { refusal.to_string() };
                super::write_out(&text).map_or(Exit::Failed, |()| Exit::Done)
            }
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                for line in block(&refusal.to_string()).lines() {
                    self.note(&[(Style::Plain, line)]);
                }
                Exit::Usage
            }
            _ => {
                let said = unquoted(refusal, words).unwrap_or_else(|| one_line(&refusal.to_string()));
                self.note(&[(Style::Bad, "mast: "), (Style::Plain, &said)]);
                Exit::Usage
            }
        }
    }
}

/// The parser's message without its blank lines, its label and its last line about help.
fn one_line(message: &str) -> String {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let (said, usage) = message.split_once("\nUsage:").unwrap_or((message, ""));
    let said: Vec<&str> =
        said.split_whitespace().map(|word| if word == "tip:" { "·" } else { word }).collect();
    let said = said.join(" ");
    let said = said.strip_suffix("For more information, try '--help'.").unwrap_or(&said).trim_end();
    let verb: Vec<&str> = usage.split_whitespace().take_while(|word| is_verb(word)).collect();
    let verb = if verb.is_empty() { "mast".to_owned() } else { verb.join(" ") };
    format!("{said}   see: {verb} --help")
}

/// What is said when a task was written without quotes, as people speak: `mast run What is 2 + 2`.
fn unquoted(refusal: &clap::Error, words: &[String]) -> Option<String> {
    let task = words.get(2..).filter(|_| words.get(1).is_some_and(|verb| verb == "run"))?;
    let is_plain = task.len() > 1 && !task.iter().any(|word| word.len() > 1 && word.starts_with('-'));
    let is_extra = refusal.kind() == ErrorKind::UnknownArgument;
    (is_extra && is_plain).then(|| format!("put the task in quotes: mast run \"{}\"", task.join(" ")))
}

/// Whether a word of a usage line is a verb rather than an argument.
fn is_verb(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && !word.starts_with('-')
}

/// If Mast breaks in a way that nobody foresaw, that is one line too.
pub(crate) fn catch_faults(printer: &Printer) {
    let printer = printer.clone();
    std::panic::set_hook(Box::new(move |fault| {
        let place = fault.location().map(ToString::to_string).unwrap_or_default();
        let said = format!("a fault in mast itself at {place}; what was recorded before is safe");
        printer.note(&[(Style::Bad, "mast: "), (Style::Plain, &said), (Style::Dim, "   see: mast doctor")]);
    }));
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use expect_test::{Expect, expect};

    use super::*;

    fn check(arguments: &[&str], expect: &Expect) {
        let refusal = crate::args::Cli::try_parse_from(arguments).unwrap_err();
        let words: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        let said = unquoted(&refusal, &words).unwrap_or_else(|| one_line(&refusal.to_string()));
        expect.assert_eq(&said);
    }

    #[test]
    fn one_line_that_says_what_to_do() {
        check(
            &["mast", "rnu"],
            &expect![
                "unrecognized subcommand 'rnu' · a similar subcommand exists: 'runs'   see: mast --help"
            ],
        );
        check(
            &["mast", "run", "--modle", "x"],
            &expect![
                "unexpected argument '--modle' found · a similar argument exists: '--model'   see: mast run --help"
            ],
        );
        check(
            &["mast", "run", "What", "is", "2", "+", "2"],
            &expect![[r#"put the task in quotes: mast run "What is 2 + 2""#]],
        );
        check(
            &["mast", "call"],
            &expect![[
                r#"the following required arguments were not provided: <TOOL>   see: mast call --help"#
            ]],
        );
        check(
            &["mast", "--fixed-clock", "yesterday", "doctor"],
            &expect![[
                r#"invalid value 'yesterday' for '--fixed-clock <TIME>': a moment is written like 2026-07-22T12:00:00Z   see: mast --help"#
            ]],
        );
    }
}
