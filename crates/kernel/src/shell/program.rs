//! Programs that run what their arguments name, as data: which options take a value, and where the
//! command begins; and the variables that change what runs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a program runs of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    /// A vector, after its options and this many further words.
    Vector(usize),
    /// The same, and more words are added when it runs.
    Vectors(usize),
    /// Shell text: what is left after its options and this many further words.
    Joined(usize),
    /// Shell text: its first word.
    First,
    /// Shell text after `-c`, else a file, else what it reads.
    Shell,
    /// Shell text after `-c`; with how many words before a vector.
    OptionC(usize),
    /// Vectors after `-exec` and its kin.
    Find,
    /// Files that it writes.
    Tee,
    /// A vector, or a block that may have a name first.
    Coproc,
    /// Something of its own making, likely after its options and this many further words.
    Likely(usize),
    /// What its settings and some of its verbs name.
    Git,
    /// Nothing but what some of its options name.
    Options,
    /// Something that no argument shows.
    Unseen,
}

/// Names of programs, what they run, and their options that take a value.
pub(super) type Row = (&'static [&'static str], Runs, &'static [&'static str]);

const ROWS: &[Row] = &[
    (
        &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "yash", "csh", "tcsh", "posh"],
        Runs::Shell,
        &["-o", "-O", "+o", "+O", "--rcfile", "--init-file", "-C", "--init-command"],
    ),
    (
        &["env"],
        Runs::Vector(0),
        &["-u", "--unset", "-C", "--chdir", "-S", "--split-string", "-a", "--argv0", "-P"],
    ),
    (
        &["sudo", "sudoedit"],
        Runs::Vector(0),
        &[
            "-u",
            "--user",
            "-g",
            "--group",
            "-h",
            "--host",
            "-p",
            "--prompt",
            "-C",
            "--close-from",
            "-r",
            "--role",
            "-t",
            "--type",
            "-T",
            "--command-timeout",
            "-U",
            "--other-user",
            "-D",
            "--chdir",
            "-R",
            "--chroot",
        ],
    ),
    (&["doas"], Runs::Vector(0), &["-u", "-C", "-a"]),
    (&["pkexec"], Runs::Vector(0), &["--user"]),
    (&["nice"], Runs::Vector(0), &["-n", "--adjustment"]),
    (&["ionice"], Runs::Vector(0), &["-c", "--class", "-n", "--classdata"]),
    (&["chrt"], Runs::Vector(1), &["-T", "-P", "-D"]),
    (&["taskset", "setarch"], Runs::Vector(1), &[]),
    (
        &[
            "nohup",
            "setsid",
            "builtin",
            "command",
            "busybox",
            "toybox",
            "fakeroot",
            "linux32",
            "linux64",
            "catchsegv",
            "caffeinate",
            "rlwrap",
            "unbuffer",
            "dbus-run-session",
            "winpty",
            "noglob",
            "nocorrect",
            "then",
            "else",
            "do",
            "if",
            "elif",
            "while",
            "until",
            "!",
            "{",
            "dumb-init",
            "catatonit",
            "eatmydata",
            "proxychains",
            "proxychains4",
            "torsocks",
            "valgrind",
        ],
        Runs::Vector(0),
        &[],
    ),
    (&["coproc"], Runs::Coproc, &[]),
    (&["sshpass"], Runs::Vector(0), &["-f", "-d", "-p", "-P"]),
    (
        &["run0"],
        Runs::Vector(0),
        &[
            "-u",
            "--user",
            "-g",
            "--group",
            "-D",
            "--chdir",
            "-M",
            "--machine",
            "--unit",
            "--property",
            "--description",
            "--slice",
            "--nice",
            "--setenv",
            "--background",
        ],
    ),
    (&["gosu", "su-exec"], Runs::Vector(1), &[]),
    (&["tini"], Runs::Vector(0), &["-p", "-e"]),
    (&["choom"], Runs::Vector(0), &["-n", "--adjust", "-p", "--pid"]),
    (
        &["numactl"],
        Runs::Vector(0),
        &[
            "-i",
            "--interleave",
            "-p",
            "--preferred",
            "-P",
            "-N",
            "--cpunodebind",
            "-C",
            "--physcpubind",
            "-m",
            "--membind",
            "-w",
            "--weighted-interleave",
        ],
    ),
    (&["cpulimit"], Runs::Vector(0), &["-l", "--limit", "-p", "--pid", "-e", "--exe"]),
    (
        &["tmux"],
        Runs::Likely(1),
        &["-L", "-S", "-f", "-c", "-T", "-n", "-s", "-t", "-x", "-y", "-e", "-F", "-l", "-p"],
    ),
    (&["screen"], Runs::Likely(0), &["-S", "-c", "-e", "-h", "-p", "-s", "-t", "-T"]),
    (&["pwsh", "powershell", "nu", "elvish", "xonsh", "expect", "osascript"], Runs::Likely(0), &[]),
    (&["at", "batch"], Runs::Likely(1), &["-f", "-q", "-t"]),
    (&["crontab"], Runs::Likely(0), &["-u"]),
    (
        &["git"],
        Runs::Git,
        &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"],
    ),
    (
        &["tar", "gtar", "bsdtar", "rsync", "scp", "sftp", "sort", "gsort", "split", "gsplit", "zip", "man"],
        Runs::Options,
        &[],
    ),
    (&["exec"], Runs::Vector(0), &["-a"]),
    (&["time", "gtime"], Runs::Vector(0), &["-f", "--format", "-o", "--output"]),
    (&["timeout", "gtimeout"], Runs::Vector(1), &["-s", "--signal", "-k", "--kill-after"]),
    (&["stdbuf"], Runs::Vector(0), &["-i", "--input", "-o", "--output", "-e", "--error"]),
    (
        &["strace", "ltrace"],
        Runs::Vector(0),
        &["-e", "-o", "-s", "-p", "-u", "-E", "-P", "-a", "-S", "-I", "-b", "-n", "-l", "-x"],
    ),
    (&["unshare"], Runs::Vector(0), &["-S", "-G", "-R", "--root", "-w", "--wd", "--setuid", "--setgid"]),
    (&["nsenter"], Runs::Vector(0), &["-t", "--target", "-S", "-G"]),
    (&["chroot"], Runs::Vector(1), &[]),
    (
        &["setpriv", "xvfb-run", "systemd-run", "prlimit", "firejail", "bwrap"],
        Runs::Vector(0),
        &["-n", "-s", "-p", "-u", "-M"],
    ),
    (
        &["xargs", "gxargs"],
        Runs::Vectors(0),
        &[
            "-I",
            "-n",
            "-P",
            "-L",
            "-d",
            "-a",
            "-E",
            "-s",
            "-J",
            "-R",
            "-S",
            "--arg-file",
            "--delimiter",
            "--max-args",
            "--max-chars",
            "--max-lines",
            "--max-procs",
            "--replace",
            "--process-slot-var",
        ],
    ),
    (
        &["parallel"],
        Runs::Joined(0),
        &["-j", "--jobs", "-I", "-n", "-N", "-L", "-a", "--arg-file", "-S", "-d"],
    ),
    (&["entr"], Runs::Vectors(0), &[]),
    (&["eval"], Runs::Joined(0), &[]),
    (&["watch"], Runs::Joined(0), &["-n", "--interval", "-q", "--equexit"]),
    (
        &["ssh", "rsh", "mosh", "autossh"],
        Runs::Joined(1),
        &[
            "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-p", "-Q",
            "-R", "-S", "-W", "-w", "-B", "-P",
        ],
    ),
    (&["trap"], Runs::First, &[]),
    (&["su", "runuser", "script", "sg"], Runs::OptionC(usize::MAX), &[]),
    (&["flock"], Runs::OptionC(1), &["-w", "--timeout", "--wait", "-E", "--conflict-exit-code"]),
    (&["find", "gfind", "fd", "fdfind"], Runs::Find, &[]),
    (&["tee"], Runs::Tee, &[]),
    (
        &[".", "source", "alias", "hash", "enable", "bind", "complete", "mapfile", "readarray"],
        Runs::Unseen,
        &[],
    ),
];

/// The row of a program.
static BY_NAME: LazyLock<BTreeMap<&str, &Row>> =
    LazyLock::new(|| ROWS.iter().flat_map(|row| row.0.iter().map(move |name| (*name, row))).collect());

/// What a program runs of its arguments, and which options of it take a value; none for a program like any
/// other.
pub(super) fn row(name: &str) -> Option<&'static Row> {
    BY_NAME.get(name).copied()
}

/// Words after which `find` runs a vector.
pub(super) const FIND_EXEC: &[&str] =
    &["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
/// Words after which `find` names a file that it writes.
pub(super) const FIND_WRITE: &[&str] = &["-fprint", "-fprint0", "-fls", "-fprintf"];

/// Variables that change which program runs, or what it runs by itself, with their beginnings.
const STEERING: &[&str] = &[
    "BROWSER",
    "CDPATH",
    "EDITOR",
    "ENV",
    "HOME",
    "IFS",
    "LESSCLOSE",
    "LESSOPEN",
    "MANPAGER",
    "NODE_OPTIONS",
    "PAGER",
    "PATH",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "RUBYOPT",
    "RUSTC",
    "SHELL",
    "SHELLOPTS",
    "VISUAL",
    "ZDOTDIR",
];
const STEERING_STARTS: &[&str] = &[
    "BASH_",
    "CARGO_",
    "DYLD_",
    "GCONV_",
    "GIT_",
    "JAVA_TOOL",
    "LD_",
    "NPM_CONFIG_",
    "PERL5",
    "PYTHON",
    "RUBYLIB",
    "RUSTC_",
    "SSH_",
    "SUDO_",
    "npm_config_",
];

/// Whether giving this variable a value can change what runs.
pub(super) fn steers(name: &str) -> bool {
    STEERING.contains(&name) || STEERING_STARTS.iter().any(|start| name.starts_with(start))
}
