//! Options, settings and words of the shell itself whose value is a command, or may hold one, as data.

use super::word::Word;

/// Options whose value is a command. A long one counts in its shortened forms too.
const OPTIONS: &[(&[&str], &[&str])] = &[
    (
        &["tar", "gtar", "bsdtar"],
        &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "-I",
            "--info-script",
            "-F",
            "--new-volume-script",
            "--rsh-command",
        ],
    ),
    (&["rsync"], &["--rsh", "-e"]),
    (&["mosh"], &["--ssh"]),
    (&["scp", "sftp"], &["-S"]),
    (&["sort", "gsort"], &["--compress-program"]),
    (&["split", "gsplit"], &["--filter"]),
    (&["zip"], &["-TT", "--unzip-command"]),
    (&["man"], &["-P", "--pager", "-H", "--html"]),
    (&["git rebase"], &["-x", "--exec"]),
    (&["git difftool"], &["-x", "--extcmd"]),
    (&["git clone", "git ls-remote"], &["-u", "--upload-pack"]),
    (&["git fetch", "git pull"], &["--upload-pack"]),
    (&["git push"], &["--receive-pack", "--exec"]),
    (&["git archive"], &["--exec"]),
    (&["git grep"], &["-O", "--open-files-in-pager"]),
];

/// The options of a program, or of a verb of `git`, whose value is a command.
pub(super) fn running_options(program: &str) -> &'static [&'static str] {
    OPTIONS.iter().find(|(names, _)| names.contains(&program)).map_or(&[], |(_, options)| options)
}

/// Settings of `ssh`, in small letters, whose value is a command.
pub(super) const SSH_RUNS: &[&str] =
    &["proxycommand", "localcommand", "knownhostscommand", "match", "include"];
/// Programs that take such settings with `-o`.
pub(super) const SSH_KIN: &[&str] = &["ssh", "autossh", "scp", "sftp"];

/// Beginnings of settings of `git`, in small letters, that name no command, and no place to find one.
pub(super) const GIT_PLAIN: &[&str] = &[
    "advice.",
    "color.",
    "column.",
    "commit.gpgsign",
    "core.abbrev",
    "core.autocrlf",
    "core.filemode",
    "core.ignorecase",
    "core.longpaths",
    "core.quotepath",
    "core.safecrlf",
    "diff.algorithm",
    "diff.noprefix",
    "diff.renames",
    "fetch.prune",
    "gc.auto",
    "http.postbuffer",
    "init.defaultbranch",
    "log.date",
    "log.decorate",
    "merge.conflictstyle",
    "merge.ff",
    "protocol.version",
    "pull.ff",
    "pull.rebase",
    "push.autosetuprem",
    "push.default",
    "rebase.autostash",
    "safe.directory",
    "status.",
    "tag.gpgsign",
    "user.email",
    "user.name",
];

/// Words that begin a block, which a name may stand before after `coproc`.
pub(super) const BLOCKS: &[&str] =
    &["{", "(", "((", "[[", "!", "while", "until", "for", "if", "case", "select", "function", "time"];

/// Programs of the shell itself that read an index, and so run what stands in it even in quotes.
const READ_INDEX: &[&str] = &[
    "[",
    "[[",
    "declare",
    "export",
    "float",
    "for",
    "getopts",
    "integer",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "select",
    "test",
    "typeset",
    "unset",
    "wait",
];

/// Whether a command hands an index that is expanded once more to what expands it: `test -v 'a[$(x)]'`.
pub(super) fn expands_index(words: &[Word]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let is_expanded =
        |word: &Word| word.text.split_once('[').is_some_and(|(_, rest)| rest.contains(['$', '`']));
    let name = program.text.rsplit('/').next().unwrap_or_default();
    if program.assigned().is_some() {
        return words.iter().any(is_expanded);
    }
    let sets = name != "printf" || arguments.iter().any(|word| word.text.starts_with("-v"));
    READ_INDEX.contains(&name) && sets && arguments.iter().any(is_expanded)
}
