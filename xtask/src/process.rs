//! The one place of this program that starts processes.
//!
//! No shell is used: a command is a program and its arguments, so that nothing has to be quoted.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, ExitStatus, Stdio};

use crate::failed::Failed;
use crate::place;

/// Variables that `cargo run` sets for the program it starts. A cargo that inherits them rebuilds
/// every crate whose build script watches one of them (ring's does, and with it all that uses TLS),
/// and rebuilds them back when it is next called from a terminal.
const OF_CARGO_RUN: &[&str] = &[
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_MANIFEST_LINKS",
    "CARGO_PKG_AUTHORS",
    "CARGO_PKG_DESCRIPTION",
    "CARGO_PKG_HOMEPAGE",
    "CARGO_PKG_LICENSE",
    "CARGO_PKG_LICENSE_FILE",
    "CARGO_PKG_NAME",
    "CARGO_PKG_README",
    "CARGO_PKG_REPOSITORY",
    "CARGO_PKG_RUST_VERSION",
    "CARGO_PKG_VERSION",
    "CARGO_PKG_VERSION_MAJOR",
    "CARGO_PKG_VERSION_MINOR",
    "CARGO_PKG_VERSION_PATCH",
    "CARGO_PKG_VERSION_PRE",
];

/// A program, its arguments, and what is added to its environment. It runs in the repository's root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Process {
    program: String,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    is_quiet: bool,
}

impl Process {
    /// `line` is split at spaces; an argument with a space in it is added by [`Process::with`].
    pub(crate) fn new(line: &str) -> Self {
        let mut words = line.split_whitespace().map(str::to_owned);
        Self { program: words.next().unwrap_or_default(), arguments: words.collect(), ..Self::default() }
    }

    /// A program by its path, which may hold spaces.
    pub(crate) fn program(path: &str) -> Self {
        Self { program: path.to_owned(), ..Self::default() }
    }

    /// With further arguments.
    pub(crate) fn with<'a>(mut self, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        self.arguments.extend(arguments.into_iter().map(str::to_owned));
        self
    }

    /// With one more variable in its environment.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without what it says to stdout.
    pub(crate) fn quiet(mut self) -> Self {
        self.is_quiet = true;
        self
    }

    /// Runs it on this terminal; an unsuccessful end is an error.
    pub(crate) fn run(&self) -> Result<(), Failed> {
        let mut command = self.command();
        if self.is_quiet {
            command.stdin(Stdio::null()).stdout(Stdio::null());
        }
        let status = command.status().map_err(|source| self.not_started(source))?;
        self.judge(status)
    }

    /// Runs it and gives back what it wrote to stdout; its stderr stays on this terminal.
    pub(crate) fn answer(&self) -> Result<String, Failed> {
        let output =
            self.command().stderr(Stdio::inherit()).output().map_err(|source| self.not_started(source))?;
        self.judge(output.status)?;
        String::from_utf8(output.stdout)
            .map_err(|_| Failed::Answer { command: self.line(), what: "not UTF-8".to_owned() })
    }

    /// Whether it can be started at all and ends well, in silence.
    pub(crate) fn works(&self) -> bool {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Runs it and hands on each line of its stdout as it comes. The status is given back unjudged,
    /// since a test run that fails has still told something.
    pub(crate) fn lines(&self, mut each: impl FnMut(&str)) -> Result<Result<(), Failed>, Failed> {
        let failed = |source| self.not_started(source);
        let mut child = self.command().stdout(Stdio::piped()).spawn().map_err(failed)?;
        if let Some(stdout) = child.stdout.take() {
            let mut reader = BufReader::new(stdout);
            let mut bytes = Vec::new();
            while reader.read_until(b'\n', &mut bytes).map_err(failed)? > 0 {
                each(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']));
                bytes.clear();
            }
        }
        let status = child.wait().map_err(failed)?;
        Ok(self.judge(status))
    }

    /// The command as a person would type it.
    pub(crate) fn line(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={value}"));
        let words = std::iter::once(self.program.clone()).chain(self.arguments.iter().cloned());
        variables.chain(words).collect::<Vec<_>>().join(" ")
    }

    #[expect(clippy::disallowed_methods, reason = "a development program; the product starts none here")]
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(place::root());
        for name in OF_CARGO_RUN {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn judge(&self, status: ExitStatus) -> Result<(), Failed> {
        if status.success() {
            return Ok(());
        }
        Err(Failed::Ended { command: self.line(), how: status.to_string() })
    }

    fn not_started(&self, source: std::io::Error) -> Failed {
        Failed::Start { command: self.line(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_one_by_one_and_the_status_is_told_apart() {
        let mut seen = Vec::new();
        let status = Process::new("sh -c")
            .with(["echo one; printf 'two\\n\\303'; exit 3"])
            .lines(|line| seen.push(line.to_owned()))
            .unwrap();
        assert_eq!(seen, ["one", "two", "\u{fffd}"]);
        assert!(status.unwrap_err().to_string().ends_with("failed (exit status: 3)"));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let failed = Process::new("no-such-program --flag").run().unwrap_err();
        assert!(failed.to_string().starts_with("could not start `no-such-program --flag`"), "{failed}");
        assert!(!Process::new("no-such-program").works());
        assert!(Process::new("true").works());
    }

    #[test]
    fn what_cargo_run_sets_is_not_handed_on() {
        let seen = Process::new("env").variable("MAST_SEEN", "yes").answer().unwrap();
        assert!(seen.lines().any(|line| line == "MAST_SEEN=yes"));
        assert!(!seen.contains("CARGO_PKG_NAME="), "{seen}");
    }
}
