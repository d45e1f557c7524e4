//! Programs of which a yes may reach further than one call: those whose words say all that they do. Rejected:
//! a list of those that run what they are handed (interpreters, build tools, test runners), which every new
//! program and every new spelling of an old one is missing from.

/// Programs that only do what their words say, whatever lies in the folder. They run no other program, and
/// read nothing that says what to do.
const SPOKEN: &[&str] = &[
    "arch",
    "base64",
    "basename",
    "cat",
    "chmod",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cp",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "false",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "grep",
    "head",
    "hexdump",
    "id",
    "jq",
    "join",
    "ln",
    "ls",
    "md5sum",
    "mkdir",
    "mv",
    "nl",
    "nproc",
    "od",
    "paste",
    "printf",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "rm",
    "rmdir",
    "seq",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "stat",
    "strings",
    "sum",
    "tac",
    "tail",
    "test",
    "touch",
    "tr",
    "tree",
    "true",
    "tsort",
    "uname",
    "unexpand",
    "uniq",
    "wc",
    "which",
    "whoami",
    "xxd",
    "[",
    "[[",
];

/// Verbs of `git` that look, or change only what is staged. What they could run is named by settings, and
/// those are protected. Others run hooks.
const GIT: &[&str] =
    &["add", "blame", "describe", "diff", "log", "ls-files", "rev-parse", "shortlog", "show", "status"];
/// Options of those that run something, in any shortened form.
const GIT_RUNS: &[&str] = &["--ext-diff", "--textconv", "--paginate", "--output"];

/// Whether a command only does what its words say, and so runs none of them.
pub(super) fn only_speaks(words: &[String]) -> bool {
    words.first().is_some_and(|program| SPOKEN.contains(&program.as_str()))
}

/// Whether a yes to this command may cover it again. A program with a folder before it is whatever lies
/// there then, and in other letters it is another program.
pub(super) fn may_repeat(words: &[String]) -> bool {
    match words.split_first() {
        Some((program, arguments)) if program == "git" => {
            let is_look = arguments.first().is_some_and(|verb| GIT.contains(&verb.as_str()));
            let runs = |word: &String| {
                let name = word.split('=').next().unwrap_or_default();
                name.len() > 2 && GIT_RUNS.iter().any(|option| option.starts_with(name))
            };
            is_look && !arguments.iter().any(runs)
        }
        _ => only_speaks(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may(text: &str) -> bool {
        may_repeat(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_runs_something_else_is_asked_each_time() {
        for text in [
            "python x.py",
            "python3.12 x.py",
            "Python3 x.py",
            "pypy x.py",
            "node x.js",
            "nodejs x.js",
            "tsx x.ts",
            "deno run x.ts",
            "bun x.ts",
            "yarn test",
            "pnpm test",
            "npm test",
            "npx x",
            "pytest -q",
            "just x",
            "make",
            "go run x.go",
            "cargo run",
            "cargo test",
            "docker run x",
            "psql -f x.sql",
            "vim x",
            "emacs x",
            "./script.sh",
            "/bin/ls",
            "bin/ls",
            "bash x.sh",
            "BASH x.sh",
            "sh x",
            "zsh x",
            "fish x",
            "perl x",
            "perl5.36 x",
            "ruby x",
            "env ls",
            "xargs ls",
            "sudo ls",
            "nice ls",
            "find . -exec x ;",
            "awk x",
            "sed -n 1p x",
            "sort x",
            "tar xf x",
            "git commit -m x",
            "git push",
            "git -c a.b=c status",
            "git diff --ext-diff",
            "git log --textc",
            "git log --output=x",
            "Cat x",
            "mytool x",
            "",
        ] {
            assert!(!may(text), "{text:?}");
        }
        assert!(!may_repeat(&[]));
    }

    #[test]
    fn what_only_does_what_it_says_may_be_repeated() {
        for text in [
            "ls -la src",
            "cat x",
            "grep -rn x src",
            "git status --short",
            "git diff HEAD~1",
            "wc -l x",
            "[ -f x ]",
        ] {
            assert!(may(text), "{text:?}");
        }
    }
}
