//! The one printer. Results go to stdout, everything else to stderr; whatever is printed has its
//! hidden characters made visible, Mast's own words too, so that no place can forget it. Colour is
//! added after that, repeats what the words say, and is used on a terminal only.

mod answers;
pub(crate) mod ask;
pub(crate) mod card;
mod escape;
pub(crate) mod hidden;
pub(crate) mod layout;
mod live;
mod log_lines;
mod refusal;

use std::io::{ErrorKind, IsTerminal as _, Write as _};

use serde_json::Value;

pub(crate) use answers::Answers;
pub(crate) use escape::{block, line};
pub(crate) use live::{Live, Tally};
pub(crate) use log_lines::LogLines;
pub(crate) use refusal::catch_faults;

use crate::config::Environment;
use crate::error::CliError;

/// How a piece of a line looks on a terminal with colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// As it is.
    Plain,
    /// Beside the matter.
    Dim,
    /// What a line is about.
    Bold,
    /// Allowed, done.
    Good,
    /// Waits for somebody.
    Warn,
    /// Denied, failed.
    Bad,
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Dim => "\u{1b}[2m",
            Self::Bold => "\u{1b}[1m",
            Self::Good => "\u{1b}[32m",
            Self::Warn => "\u{1b}[33m",
            Self::Bad => "\u{1b}[31m",
        }
    }
}

/// A piece of a line with its look.
pub(crate) type Span<'t> = (Style, &'t str);

/// Where everything is printed.
#[derive(Debug, Clone)]
pub(crate) struct Printer {
    /// Whether results are JSON.
    json: bool,
    /// Columns of a line on stderr, and on stdout.
    width: usize,
    columns: usize,
    /// Columns that the terminal has, however few.
    card_width: usize,
    /// Whether stderr is a terminal.
    terminal: bool,
    /// Whether stderr, and stdout, take colour.
    color: (bool, bool),
}

impl Printer {
    /// The printer for these streams.
    pub(crate) fn new(environment: &Environment, json: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let plain = environment.text("NO_COLOR").is_some() || environment.text("TERM") == Some("dumb");
        let asked: Option<usize> = environment.text("COLUMNS").and_then(|columns| columns.parse().ok());
        let of = |term: console::Term| term.size_checked().map(|(_, columns)| usize::from(columns));
        let of_stderr = terminal.then(|| of(console::Term::stderr())).flatten();
        let of_stdout = std::io::stdout().is_terminal().then(|| of(console::Term::stdout())).flatten();
        let found = asked.or(of_stderr).or(of_stdout).unwrap_or(layout::WIDTH_DEFAULT);
        let width = found.clamp(layout::WIDTH_MIN, layout::WIDTH_MAX);
        let is_cut = asked.is_some() || std::io::stdout().is_terminal();
        Self {
            json,
            width,
            columns: if is_cut { width } else { usize::MAX },
            card_width: found.clamp(layout::CARD_MIN, layout::WIDTH_MAX),
            terminal,
            color: (terminal && !plain, std::io::stdout().is_terminal() && !plain),
        }
    }

    /// Whether results are JSON.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Columns of a line.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// Columns of what a person is to judge: never more than there are, since what a terminal breaks by
    /// itself can look like another line of Mast's. Also where a pipe ends in a terminal after all.
    pub(crate) const fn card_width(&self) -> usize {
        self.card_width
    }

    /// Columns of a result's line. Only a terminal has a width; what reads a pipe wants whole lines.
    pub(crate) const fn columns(&self) -> usize {
        self.columns
    }

    /// Whether stderr is a terminal.
    pub(crate) const fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Prints a result: text of one or more lines.
    ///
    /// # Errors
    ///
    /// [`CliError`] when it cannot be written. That nobody reads it any more is none.
    pub(crate) fn result(&self, text: &str) -> Result<(), CliError> {
        let shown = block(text);
        let end = if shown.ends_with('\n') { "" } else { "\n" };
        write_out(&format!("{shown}{end}"))
    }

    /// Prints one line of a result.
    ///
    /// # Errors
    ///
    /// As [`Self::result`].
    pub(crate) fn result_line(&self, spans: &[Span<'_>]) -> Result<(), CliError> {
        write_out(&(paint(spans, self.color.1) + "\n"))
    }

    /// Prints a value as one line of JSON.
    ///
    /// # Errors
    ///
    /// As [`Self::result`].
    pub(crate) fn result_json(&self, value: &Value) -> Result<(), CliError> {
        write_out(&json_line(value))
    }

    /// Says something on stderr. That it cannot be said is no failure of the command.
    pub(crate) fn note(&self, spans: &[Span<'_>]) {
        // Nobody can be told that stderr is closed.
        drop(std::io::stderr().lock().write_all((paint(spans, self.color.0) + "\n").as_bytes()));
    }

    /// Answers that come fast, a line of JSON each.
    #[expect(clippy::unused_self, reason = "whoever has no printer prints nothing")]
    pub(crate) fn answers(&self) -> Answers {
        Answers::new()
    }

    /// Asks something that is answered on the same line. If it cannot be shown, nobody is there to answer.
    #[expect(clippy::unused_self, reason = "whoever has no printer prints nothing")]
    pub(crate) fn question(&self, text: &str) {
        drop(std::io::stderr().lock().write_all(line(text).as_bytes()));
    }

    /// Says on one line what went wrong and what to do about it.
    pub(crate) fn error(&self, error: &CliError) {
        if matches!(error, CliError::ReaderGone) {
            return;
        }
        let message = error.to_string();
        let hint = error.hint();
        let gap = if hint.is_empty() { "" } else { "   " };
        self.note(&[
            (Style::Bad, "mast: "),
            (Style::Plain, &message),
            (Style::Plain, gap),
            (Style::Dim, &hint),
        ]);
    }
}

/// A value as one line of JSON, its hidden characters as JSON escapes.
fn json_line(value: &Value) -> String {
    escape::json(&value.to_string()) + "\n"
}

/// Writes to stdout. That nobody reads it any more is no failure of the command, and no success either:
/// the verb goes on to its verdict, which is its exit code.
fn write_out(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(stdout_failed) {
        Err(CliError::ReaderGone) => Ok(()),
        written => written,
    }
}

/// Where an export goes that has no file: the lines are made for a program, and none is for a person.
pub(crate) fn raw() -> impl std::io::Write + Send {
    std::io::stdout()
}

/// What a failed write to stdout means.
fn stdout_failed(error: std::io::Error) -> CliError {
    match error.kind() {
        ErrorKind::BrokenPipe => CliError::ReaderGone,
        _ => CliError::Stream { what: "cannot write to stdout", source: error },
    }
}

fn paint(spans: &[Span<'_>], color: bool) -> String {
    let mut painted = String::new();
    for (style, text) in spans {
        let text = line(text);
        if color && *style != Style::Plain && !text.is_empty() {
            painted.push_str(style.code());
            painted.push_str(&text);
            painted.push_str("\u{1b}[0m");
        } else {
            painted.push_str(&text);
        }
    }
    painted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_repeats_and_never_hides() {
        let spans = [(Style::Bad, "denied"), (Style::Plain, " \u{1b}[32mallowed")];
        assert_eq!(paint(&spans, false), "denied \\u{1b}[32mallowed");
        assert_eq!(paint(&spans, true), "\u{1b}[31mdenied\u{1b}[0m \\u{1b}[32mallowed");
    }

    #[test]
    fn a_value_is_one_line() {
        let value = serde_json::json!({"a": "x\ny\u{9b}"});
        assert_eq!(json_line(&value), "{\"a\":\"x\\ny\\u009b\"}\n");
    }
}
