//! Assertions about commands, tests and builds.

use std::collections::BTreeSet;

use super::{Entry, Record, Support};
use crate::assertion::command::{Does, commands, does, program};
use crate::assertion::{BUILD, COMMIT, TESTS};

/// Programs that print what they are told, so that nothing they print shows that tests ran.
const FORGERS: [&str; 7] = ["echo", "printf", "python", "python3", "node", "perl", "yes"];

/// A command was run; where `well`, it also ended well.
pub(super) fn command(record: &Record<'_>, subject: Option<&str>, well: bool) -> Support {
    let wanted = subject.map(commands).unwrap_or_default();
    let of = |entry: &Entry<'_>| place_of(entry, subject, &wanted);
    if let Some(entry) = record.done(|entry| of(entry).is_some()) {
        let place = of(entry).unwrap_or(0);
        return match entry.exit() {
            _ if !well => entry.supported(),
            None | Some(0) if entry.exit_is_of(place) || is_same_line(entry, subject) => entry.supported(),
            Some(code) if code != 0 => {
                Support::Unsupported { why: format!("it ended with exit code {code}") }
            }
            None | Some(_) => {
                Support::NotCheckable { why: "the exit code is not that of this command".to_owned() }
            }
        };
    }
    let said = subject.map_or_else(|| "ran a command".to_owned(), |subject| format!("ran {subject}"));
    let failed = record.newest().find(|entry| entry.receipt.started_at.is_some() && of(entry).is_some());
    match failed {
        Some(entry) if !well => {
            Support::NotCheckable { why: format!("{}, so how far it ran is not on record", entry.ending()) }
        }
        Some(_) | None => record.unsupported(&said, |entry| of(entry).is_some(), false),
    }
}

fn is_same_line(entry: &Entry<'_>, subject: Option<&str>) -> bool {
    super::line(entry.receipt).is_some_and(|line| Some(line.trim()) == subject.map(str::trim))
}

/// Where among the commands of a call the wanted one stands.
fn place_of(entry: &Entry<'_>, subject: Option<&str>, wanted: &[Vec<String>]) -> Option<usize> {
    let by_tool = |words: &[&str]| entry.tool_has(words).then_some(0);
    let any = |what: Does| entry.commands.iter().position(|words| does(words, what));
    match subject {
        None => entry.is_program().then_some(0),
        Some(TESTS) => any(Does::Test).or_else(|| by_tool(&["test", "tests"])),
        Some(BUILD) => any(Does::Build).or_else(|| by_tool(&["build"])),
        Some(COMMIT) if entry.tool_has(&["commit"]) => Some(0),
        Some(subject) if subject == entry.receipt.tool => Some(0),
        Some(_) if wanted.is_empty() => None,
        Some(_) => {
            let place = |one: &Vec<String>| entry.commands.iter().position(|words| is_run_of(words, one));
            wanted.iter().map(place).collect::<Option<Vec<usize>>>()?.into_iter().max()
        }
    }
}

/// Whether a command that ran is the wanted one: the same program with at least the wanted words, or, for a
/// single word, a program that was handed it.
fn is_run_of(ran: &[String], wanted: &[String]) -> bool {
    let (Some((first, rest)), Some((name, words))) = (ran.split_first(), wanted.split_first()) else {
        return false;
    };
    let is_named = |word: &String| word.trim_start_matches("./") == name.trim_start_matches("./");
    if words.is_empty() && rest.iter().any(is_named) {
        return true;
    }
    program(first) == program(name) && words.iter().all(|word| rest.contains(word))
}

/// Tests, or a build, were run, passed, and nothing changed since.
pub(super) fn passed(record: &Record<'_>, what: Does, count: Option<&str>) -> Support {
    let tool_word: &[&str] = if what == Does::Test { &["test", "tests"] } else { &["build"] };
    let is_it = |entry: &Entry<'_>| entry.any(what) || entry.tool_has(tool_word);
    let mut programs: BTreeSet<String> = BTreeSet::new();
    let mut passing: Vec<&Entry<'_>> = Vec::new();
    let mut unclear = None;
    for entry in record.newest().filter(|entry| is_it(entry)) {
        // A newer run of the same tests takes the place of an older one.
        if !programs.insert(name_of(entry, what)) {
            continue;
        }
        match ended(entry, what) {
            Ended::Well => passing.push(entry),
            Ended::Badly(why) => return Support::Unsupported { why },
            Ended::Unclear(why) => unclear = Some(Support::NotCheckable { why }),
        }
    }
    let Some(newest) = passing.first() else {
        let said = if what == Does::Test { "ran tests" } else { "built anything" };
        return unclear.unwrap_or_else(|| record.unsupported(said, is_it, false));
    };
    if let Some(support) = record.changed_since(newest) {
        return support;
    }
    let counts: Vec<Counts> = passing.iter().map(|entry| Counts::of(&entry.output())).collect();
    match count.and_then(|count| count.replace([',', '.'], "").parse::<u64>().ok()) {
        Some(count) if !Counts::may_be(&counts, count) => {
            Support::Unsupported { why: format!("their output tells of another number than {count}") }
        }
        Some(_) | None => newest.supported(),
    }
}

fn name_of(entry: &Entry<'_>, what: Does) -> String {
    let words = entry.commands.iter().find(|words| does(words, what));
    words
        .and_then(|words| words.first())
        .map_or_else(|| entry.receipt.tool.clone(), |word| program(word).to_owned())
}

/// How a run of tests or a build ended.
enum Ended {
    Well,
    Badly(String),
    Unclear(String),
}

fn ended(entry: &Entry<'_>, what: Does) -> Ended {
    if !entry.is_done() {
        return Ended::Badly(entry.ending());
    }
    let counts = Counts::of(&entry.output());
    let is_test = what == Does::Test;
    if is_test && counts.failed > 0 {
        return Ended::Badly(format!("their output says that {} failed", counts.failed));
    }
    let place = entry.commands.iter().rposition(|words| does(words, what)).unwrap_or(0);
    let is_forged = || {
        entry.commands.iter().any(|words| words.first().is_some_and(|word| FORGERS.contains(&program(word))))
    };
    match entry.exit() {
        Some(code) if entry.exit_is_of(place) && code != 0 => {
            Ended::Badly(format!("it ended with exit code {code}"))
        }
        Some(_) if entry.exit_is_of(place) && is_test && counts.ran_none() => {
            Ended::Badly("no test ran".to_owned())
        }
        Some(_) if entry.exit_is_of(place) => Ended::Well,
        Some(_) | None if is_test && counts.total() > 0 && !is_forged() => Ended::Well,
        None if !is_test => Ended::Well,
        Some(_) | None => Ended::Unclear("how it ended is not on record".to_owned()),
    }
}

/// How many tests an output tells of.
#[derive(Debug, Default)]
struct Counts {
    passed: Vec<u64>,
    failed: u64,
    others: Vec<u64>,
}

impl Counts {
    /// Reads "42 passed", "passed: 42", "Ran 42 tests" and the like.
    fn of(output: &str) -> Self {
        let mut counts = Self::default();
        let is_part = |letter: char| !letter.is_alphanumeric() && !matches!(letter, ':' | '=');
        let words: Vec<&str> = output.split(is_part).filter(|word| !word.is_empty()).collect();
        for (at, word) in words.iter().enumerate() {
            let (name, told) = match word.split_once([':', '=']) {
                Some((name, "")) => (name, words.get(at + 1).copied()),
                Some((name, rest)) => (name, Some(rest)),
                None => (*word, at.checked_sub(1).and_then(|before| words.get(before)).copied()),
            };
            let Some(n) = told.and_then(|told| told.parse::<u64>().ok()) else { continue };
            match name.to_ascii_lowercase().as_str() {
                "passed" | "passing" | "pass" | "ok" => counts.passed.push(n),
                "failed" | "failing" | "failures" | "failure" | "errors" | "fail" => counts.failed += n,
                "tests" | "test" | "total" | "run" | "examples" => counts.others.push(n),
                _ => {}
            }
        }
        counts
    }

    fn total(&self) -> u64 {
        self.passed.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }

    fn ran_none(&self) -> bool {
        let told = !self.passed.is_empty() || !self.others.is_empty();
        told && self.total() == 0 && self.others.iter().all(|n| *n == 0)
    }

    /// Whether a number of passed tests fits what the outputs tell; one that tells nothing fits any.
    fn may_be(all: &[Self], count: u64) -> bool {
        let told = |counts: &Self| {
            counts.passed.contains(&count) || counts.others.contains(&count) || counts.total() == count
        };
        let is_silent = all.iter().all(|counts| counts.passed.is_empty() && counts.others.is_empty());
        let sum = all.iter().fold(0_u64, |sum, counts| sum.saturating_add(counts.total()));
        is_silent || all.iter().any(told) || sum == count
    }
}
