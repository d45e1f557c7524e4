//! A closed world for the binary: its own home, no environment, its own data folder. What differs from
//! run to run (ids, times, hashes, durations, the folder) is replaced, so that whole outputs compare.

use std::io::Write as _;
use std::path::PathBuf;

use assert_cmd::Command;
use expect_test::Expect;
use tempfile::TempDir;

/// A home without anything in it.
pub(crate) struct World {
    home: TempDir,
    variables: Vec<(&'static str, String)>,
}

/// What a command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    pub(crate) fn home(&self) -> &std::path::Path {
        self.home.path()
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.home.path().join(".config/mast/config.toml")
    }

    /// Writes a file in the home and gives its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn mast(&self, arguments: &[&str]) -> Ran {
        self.mast_reading("", arguments)
    }

    /// Runs the binary in a process that dies as if by `kill -9` where an event is committed: such as
    /// `call.marked:before`.
    pub(crate) fn mast_dying(&self, at: &str, arguments: &[&str]) -> Ran {
        self.run(&[("MAST_TEST_DIE", at)], Vec::new(), arguments)
    }

    /// Runs the binary with this on its stdin.
    pub(crate) fn mast_reading(&self, stdin: impl Into<Vec<u8>>, arguments: &[&str]) -> Ran {
        self.run(&[], stdin.into(), arguments)
    }

    fn run(&self, variables: &[(&str, &str)], stdin: Vec<u8>, arguments: &[&str]) -> Ran {
        let mut command = Command::cargo_bin("mast").unwrap();
        command.env_clear().env("HOME", self.home.path()).env("MAST_DATA_DIR", self.data());
        command.envs(self.variables.iter().map(|(name, value)| (*name, value.as_str())));
        command.envs(variables.iter().copied());
        let output =
            command.args(arguments).write_stdin(stdin).current_dir(self.home.path()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        // A shell says 137 of a program that was killed.
        Ran { code: output.status.code().unwrap_or(137), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Runs the binary with a stdout that nobody reads, and gives its exit code and what it said.
    #[expect(clippy::disallowed_methods, reason = "the usual starter of the binary always reads its stdout")]
    pub(crate) fn mast_unread(&self, stdin: &str, arguments: &[&str]) -> (i32, String) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let (input, mut typed) = std::io::pipe().unwrap();
        typed.write_all(stdin.as_bytes()).unwrap();
        drop(typed);
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("mast"));
        command.env_clear().env("HOME", self.home.path()).env("MAST_DATA_DIR", self.data());
        let output = command.args(arguments).stdin(input).stdout(writer).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    /// Runs the binary and compares everything that it printed.
    pub(crate) fn check(&self, arguments: &[&str], expect: &Expect) -> Ran {
        let ran = self.mast(arguments);
        expect.assert_eq(&self.shown(&ran));
        ran
    }

    /// A run's outputs and exit code as one text.
    pub(crate) fn shown(&self, ran: &Ran) -> String {
        let home = self.home.path().to_str().unwrap();
        let plain = |text: &str| normal(&text.replace(home, "HOME"));
        format!("exit {}\n--- stdout\n{}--- stderr\n{}", ran.code, plain(&ran.out), plain(&ran.err))
    }
}

/// The text with everything that differs from run to run replaced.
fn normal(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let line =
            replace_runs(line, |run| run.len() == 64 && run.bytes().all(|b| b.is_ascii_hexdigit()), "HASH");
        let line = ids(&line);
        let line = times(&line);
        let line = endings(&line);
        durations(&line)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Replaces each run of letters and digits that `is` accepts.
fn replace_runs(text: &str, is: impl Fn(&str) -> bool, with: &str) -> String {
    let mut shown = String::new();
    let mut run = String::new();
    for character in text.chars().chain(['\0']) {
        if character.is_ascii_alphanumeric() {
            run.push(character);
            continue;
        }
        shown.push_str(if is(&run) { with } else { &run });
        run.clear();
        if character != '\0' {
            shown.push(character);
        }
    }
    shown
}

/// `run_` and 26 characters become `run_ID`.
fn ids(text: &str) -> String {
    replace_runs(text, |run| run.len() == 26 && run.starts_with('0'), "ID")
}

/// A moment becomes `TIME`.
fn times(text: &str) -> String {
    let mut words = Vec::new();
    for word in text.split(' ') {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_time = bare.len() >= 20 && bare.ends_with('Z') && bare.as_bytes()[10] == b'T';
        words.push(if is_time { word.replace(bare, "TIME") } else { word.to_owned() });
    }
    words.join(" ")
}

/// `…1mppem`, the ending of an id, becomes `…ENDING`; a time of day becomes `HH:MM:SS.mmm`; a policy's
/// version becomes `POLICY`.
fn endings(text: &str) -> String {
    let words = text.split(' ').map(|word| match word.split_once('…') {
        Some((before, ending)) if ending.len() == 6 => format!("{before}…ENDING"),
        _ if word.len() == 12 && word.as_bytes()[2] == b':' && word.as_bytes()[8] == b'.' => {
            "HH:MM:SS.mmm".to_owned()
        }
        _ if word.len() == 5 && word.as_bytes()[2] == b':' => "HH:MM".to_owned(),
        _ if word.len() == 10 && word.as_bytes()[4] == b'-' && word.as_bytes()[7] == b'-' => {
            "DATE".to_owned()
        }
        _ if word.starts_with("default@") => "POLICY".to_owned(),
        _ if word.starts_with("duration_ms=") => "duration_ms=N".to_owned(),
        _ => word.to_owned(),
    });
    // Near midnight what expires in four hours expires on another day.
    words.collect::<Vec<_>>().join(" ").replace("DATE HH:MM UTC", "HH:MM UTC")
}

/// `    12 ms` becomes `  N ms`, with as many spaces whatever the number.
fn durations(text: &str) -> String {
    for unit in [" ms", " s", " min"] {
        if let Some(before) = text.strip_suffix(unit) {
            let number = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '<');
            if number.len() < before.len() {
                return format!("{} N ms", number.trim_end());
            }
        }
    }
    text.to_owned()
}
