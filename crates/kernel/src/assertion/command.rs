//! What command lines are for, as far as an assertion can be about it: tests, builds, installs, and which
//! programs leave the files alone.

use crate::resource::Resource;
use crate::shell;

/// A program, and the words of which one must follow for the row to hold; none where it always holds.
type Row = (&'static str, &'static [&'static str]);

/// What runs tests.
const TESTS: &[Row] = &[
    ("cargo", &["test", "t", "nextest"]),
    ("pytest", &[]),
    ("py.test", &[]),
    ("unittest", &[]),
    ("jest", &[]),
    ("vitest", &[]),
    ("mocha", &[]),
    ("ava", &[]),
    ("playwright", &["test"]),
    ("go", &["test"]),
    ("mvn", &["test", "verify", "package", "install"]),
    ("gradle", &["test", "check", "build"]),
    ("gradlew", &["test", "check", "build"]),
    ("dotnet", &["test"]),
    ("swift", &["test"]),
    ("mix", &["test"]),
    ("deno", &["test"]),
    ("bun", &["test"]),
    ("zig", &["test"]),
    ("bazel", &["test"]),
    ("sbt", &["test"]),
    ("rspec", &[]),
    ("phpunit", &[]),
    ("tox", &[]),
    ("nox", &[]),
    ("ctest", &[]),
    ("prove", &[]),
    ("node", &["--test"]),
    ("npm", &["test", "t"]),
    ("yarn", &["test"]),
    ("pnpm", &["test"]),
    ("make", &["test", "tests", "check"]),
    ("just", &["test", "tests", "check"]),
    ("rake", &["test", "spec"]),
];

/// What builds.
const BUILDS: &[Row] = &[
    ("cargo", &["build", "b", "check", "clippy", "run", "test", "nextest"]),
    ("go", &["build", "vet", "test"]),
    ("npm", &["build"]),
    ("yarn", &["build"]),
    ("pnpm", &["build"]),
    ("bun", &["build"]),
    ("make", &[]),
    ("ninja", &[]),
    ("tsc", &[]),
    ("vite", &["build"]),
    ("next", &["build"]),
    ("webpack", &[]),
    ("mvn", &["compile", "package", "install", "verify", "test"]),
    ("gradle", &["build", "assemble", "test", "check"]),
    ("gradlew", &["build", "assemble", "test", "check"]),
    ("dotnet", &["build", "test", "publish"]),
    ("swift", &["build", "test"]),
    ("zig", &["build"]),
    ("bazel", &["build", "test"]),
    ("cmake", &["--build"]),
    ("docker", &["build"]),
    ("just", &["build"]),
    ("gcc", &[]),
    ("g++", &[]),
    ("cc", &[]),
    ("clang", &[]),
    ("rustc", &[]),
    ("javac", &[]),
];

/// What installs packages.
const INSTALLS: &[Row] = &[
    ("pip", &["install"]),
    ("pip3", &["install"]),
    ("uv", &["add", "install", "sync"]),
    ("poetry", &["add", "install"]),
    ("npm", &["install", "i", "add", "ci"]),
    ("yarn", &["add", "install"]),
    ("pnpm", &["add", "install", "i"]),
    ("bun", &["add", "install"]),
    ("cargo", &["add", "install"]),
    ("go", &["get", "install"]),
    ("gem", &["install"]),
    ("bundle", &["install", "add"]),
    ("composer", &["require", "install"]),
    ("apt", &["install"]),
    ("apt-get", &["install"]),
    ("dnf", &["install"]),
    ("apk", &["add"]),
    ("brew", &["install"]),
];

/// What changes no file of the workspace besides what is redirected into one.
const KEEPS: &[Row] = &[
    ("cat", &[]),
    ("ls", &[]),
    ("head", &[]),
    ("tail", &[]),
    ("less", &[]),
    ("grep", &[]),
    ("egrep", &[]),
    ("rg", &[]),
    ("wc", &[]),
    ("diff", &[]),
    ("cmp", &[]),
    ("echo", &[]),
    ("printf", &[]),
    ("pwd", &[]),
    ("cd", &[]),
    ("stat", &[]),
    ("file", &[]),
    ("which", &[]),
    ("date", &[]),
    ("tree", &[]),
    ("du", &[]),
    ("df", &[]),
    ("cut", &[]),
    ("tr", &[]),
    ("uniq", &[]),
    ("jq", &[]),
    ("nl", &[]),
    ("od", &[]),
    ("xxd", &[]),
    ("sha256sum", &[]),
    ("md5sum", &[]),
    ("test", &[]),
    ("[", &[]),
    ("true", &[]),
    ("false", &[]),
    ("sleep", &[]),
    ("export", &[]),
    ("set", &[]),
    ("uname", &[]),
    ("whoami", &[]),
    ("curl", &[]),
    (
        "git",
        &[
            "status", "diff", "log", "show", "add", "commit", "push", "branch", "fetch", "remote", "tag",
            "blame",
        ],
    ),
];

/// What reads the files that it names.
const READS: &[Row] = &[
    ("cat", &[]),
    ("less", &[]),
    ("bat", &[]),
    ("head", &[]),
    ("tail", &[]),
    ("grep", &[]),
    ("rg", &[]),
    ("sed", &[]),
    ("awk", &[]),
    ("wc", &[]),
    ("jq", &[]),
    ("diff", &[]),
    ("nl", &[]),
];

/// What makes or changes the files that it names.
const WRITES: &[Row] = &[
    ("mv", &[]),
    ("cp", &[]),
    ("touch", &[]),
    ("tee", &[]),
    ("mkdir", &[]),
    ("ln", &[]),
    ("install", &[]),
    ("rsync", &[]),
    ("patch", &[]),
    ("truncate", &[]),
    ("sed", &["-i", "--in-place"]),
    ("perl", &["-i", "-pi"]),
    ("git", &["mv", "checkout", "restore", "apply"]),
    ("curl", &["-o", "-O", "--output"]),
    ("wget", &[]),
];

/// What takes away the files that it names.
const DELETES: &[Row] = &[("rm", &[]), ("unlink", &[]), ("rmdir", &[]), ("git", &["rm"])];

/// What changes files besides making, changing and deleting those that it names.
const CHANGES: &[Row] =
    &[("git", &["reset", "stash", "merge", "pull", "rebase", "clean", "revert", "cherry-pick"])];

/// Words that make a test runner run nothing.
const RUNS_NOTHING: &[&str] = &[
    "--collect-only",
    "--co",
    "--no-run",
    "--list",
    "--listTests",
    "--help",
    "-h",
    "--version",
    "-V",
    "--dry-run",
    "--fixtures",
    "-DskipTests",
];

/// Programs that run what follows them, as far as the shell's reader does not open them.
const RUNNERS: &[&[&str]] = &[
    &["uv", "run"],
    &["poetry", "run"],
    &["pipenv", "run"],
    &["bundle", "exec"],
    &["npx"],
    &["pnpm", "exec"],
    &["python", "-m"],
    &["python3", "-m"],
    &["npm", "run"],
    &["yarn", "run"],
    &["pnpm", "run"],
    &["bun", "run"],
    &["cargo", "xtask"],
];

/// What a command line does that an assertion can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Test,
    Build,
    Install,
    KeepFiles,
    Read,
    Write,
    Delete,
    Change,
}

/// Whether the words of a command do this.
pub(super) fn does(words: &[String], what: Does) -> bool {
    let rows = match what {
        Does::Test => TESTS,
        Does::Build => BUILDS,
        Does::Install => INSTALLS,
        Does::KeepFiles => KEEPS,
        Does::Read => READS,
        Does::Write => WRITES,
        Does::Delete => DELETES,
        Does::Change => CHANGES,
    };
    let idle = matches!(what, Does::Test | Does::Build)
        && words.iter().any(|word| RUNS_NOTHING.contains(&word.as_str()));
    !idle
        && (fits(words, rows)
            || inner(words).is_some_and(|inner| fits(&inner, rows) || is_script(&inner, what)))
        || what == Does::Test && !idle && words.first().is_some_and(|word| is_test_script(word))
}

/// A script of the project that has the name of what it does: `npm run test:unit`, `cargo xtask test`.
fn is_script(words: &[String], what: Does) -> bool {
    let named = match what {
        Does::Test => "test",
        Does::Build => "build",
        Does::Install | Does::KeepFiles | Does::Read | Does::Write | Does::Delete | Does::Change => {
            return false;
        }
    };
    words.first().is_some_and(|word| word.split([':', '-', '_']).any(|part| part == named))
}

/// A file of the project that runs its tests: `./run_tests.sh`.
fn is_test_script(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    let is_script = word.contains('/') || name.ends_with(".sh");
    is_script && name.split(['.', '_', '-']).any(|part| matches!(part, "test" | "tests"))
}

/// The program and its words behind one that runs what follows it.
fn inner(words: &[String]) -> Option<Vec<String>> {
    let begins = |runner: &&&[&str]| {
        words.len() > runner.len() && runner.iter().zip(words).all(|(one, word)| *one == program(word))
    };
    if words.first().is_some_and(|word| matches!(program(word), "bash" | "sh")) {
        return words.get(1..).map(<[String]>::to_vec);
    }
    let runner = RUNNERS.iter().find(begins)?;
    Some(words.get(runner.len()..)?.to_vec())
}

fn fits(words: &[String], rows: &[Row]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let is_row = |(name, verbs): &&Row| {
        *name == program(first)
            && (verbs.is_empty() || rest.iter().take(4).any(|word| verbs.contains(&word.as_str())))
    };
    rows.iter().any(|row| is_row(&row))
}

/// A program without the folders before it.
pub(super) fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The commands of a text, each as its words.
pub(super) fn commands(text: &str) -> Vec<Vec<String>> {
    words_of(&shell::of_text(text))
}

/// The commands among resources, each as its words.
pub(super) fn words_of(resources: &[Resource]) -> Vec<Vec<String>> {
    let words = resources.iter().filter_map(|resource| match resource {
        Resource::Command { words, .. } if !words.is_empty() => Some(words.clone()),
        Resource::Command { .. }
        | Resource::Path { .. }
        | Resource::Host { .. }
        | Resource::Record { .. }
        | Resource::Redirect { .. } => None,
    });
    words.collect()
}

/// Whether a text is a command by which tests run.
pub(super) fn is_test_run(text: &str) -> bool {
    commands(text).iter().any(|words| does(words, Does::Test))
}

/// Whether a word of a sentence is a program that builds, tests or installs.
pub(super) fn is_program(word: &str) -> bool {
    [TESTS, BUILDS, INSTALLS].concat().iter().any(|(name, _)| *name == word)
}

/// Whether the last command's end is not the end of the whole text: its parts are piped, or joined so
/// that a failure is passed over.
pub(super) fn is_masked(text: &str) -> bool {
    let (mut quote, mut before) = (None, ' ');
    let mut letters = text.trim_end_matches([';', '\n', ' ']).chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '|') => return true,
            (None, '&') if next == '&' => {
                letters.next();
            }
            (None, '&') if before != '>' && next != '>' => return true,
            (None | Some(_), _) => {}
        }
        before = letter;
    }
    false
}
