//! Commands that destroy what cannot be brought back. Each is a question about the words of one command.

use crate::resource::Resource;

/// Folders directly below `/` that hold the system or people's homes.
const SYSTEM: &[&str] = &[
    "applications",
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "library",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "system",
    "users",
    "usr",
    "var",
];
/// Spellings of a home folder.
const HOMES: &[&str] = &["~", "$HOME", "${HOME}", "~root", "$PWD", "${PWD}", "~+"];
/// Programs that remove.
const REMOVERS: &[&str] = &["rm", "rmdir", "unlink", "shred", "srm", "grm"];
/// Programs that change who may use a file.
const CHANGERS: &[&str] = &["chmod", "chown", "chgrp", "chattr", "setfacl"];
/// Programs that make a disk anew, beside those whose name begins with `mkfs`.
const FORMATTERS: &[&str] = &["mke2fs", "mkswap", "wipefs", "blkdiscard", "sgdisk", "sfdisk", "newfs"];
/// Programs that write to what their words name.
const WRITERS: &[&str] = &["dd", "tee", "cp", "mv", "shred", "install", "truncate"];
/// Beginnings of devices that are disks or memory.
const DEVICES: &[&str] = &[
    "/dev/sd",
    "/dev/hd",
    "/dev/vd",
    "/dev/xvd",
    "/dev/nvme",
    "/dev/mmcblk",
    "/dev/disk",
    "/dev/rdisk",
    "/dev/dm-",
    "/dev/mapper/",
    "/dev/md",
    "/dev/loop",
    "/dev/mem",
    "/dev/kmem",
    "/dev/port",
    "/proc/sysrq-trigger",
    "/proc/kcore",
];
/// Programs that stop the machine.
const STOPPERS: &[&str] = &["shutdown", "reboot", "halt", "poweroff"];
/// What stops the machine when `systemctl` or `init` is told so.
const STOPS: &[(&str, &[&str])] = &[
    ("systemctl", &["poweroff", "reboot", "halt", "kexec", "soft-reboot"]),
    ("init", &["0", "6"]),
    ("telinit", &["0", "6"]),
];

/// The lists as text.
pub(super) fn text() -> String {
    let lists = [SYSTEM, HOMES, REMOVERS, CHANGERS, FORMATTERS, WRITERS, DEVICES, STOPPERS];
    let mut text: String = lists.iter().map(|list| format!("{}\n", list.join(" "))).collect();
    for (program, verbs) in STOPS {
        text += &format!("{program} {}\n", verbs.join(" "));
    }
    text
}

/// The program's name without its folder.
fn program(words: &[String]) -> &str {
    words.first().map_or("", |word| word.rsplit('/').next().unwrap_or_default())
}

fn arguments(words: &[String]) -> &[String] {
    words.get(1..).unwrap_or_default()
}

fn is_recursive(words: &[String]) -> bool {
    arguments(words).iter().take_while(|word| *word != "--").any(|word| {
        word == "--recursive"
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']))
    })
}

/// Whether a word names a root: of the machine, of a home, of the folder that the command stands in.
fn is_root(word: &str) -> bool {
    let place = word.strip_suffix("/*").unwrap_or(word);
    if HOMES.contains(&place.trim_end_matches(['/', '.'])) || (place.is_empty() && !word.is_empty()) {
        return true;
    }
    let absolute = place.starts_with('/');
    let mut names: Vec<&str> = Vec::new();
    let mut above = false;
    for name in place.split('/').filter(|name| !name.is_empty() && *name != ".") {
        if name == ".." {
            above |= names.pop().is_none();
        } else {
            names.push(name);
        }
    }
    match names.as_slice() {
        [] => absolute || above || word == place && !place.is_empty(),
        [name] => absolute && SYSTEM.contains(&name.to_ascii_lowercase().as_str()),
        _ => false,
    }
}

pub(super) fn removes_root(words: &[String]) -> bool {
    REMOVERS.contains(&program(words))
        && (arguments(words).iter().any(|word| word == "--no-preserve-root")
            || is_recursive(words) && arguments(words).iter().any(|word| is_root(word)))
}

pub(super) fn changes_root(words: &[String]) -> bool {
    CHANGERS.contains(&program(words))
        && is_recursive(words)
        && arguments(words).iter().any(|word| word != "." && is_root(word))
}

pub(super) fn finds_and_removes_root(words: &[String]) -> bool {
    let removes =
        |word: &String| word == "-delete" || REMOVERS.contains(&word.rsplit('/').next().unwrap_or_default());
    matches!(program(words), "find" | "gfind")
        && arguments(words).iter().any(removes)
        && arguments(words)
            .iter()
            .skip_while(|word| matches!(word.as_str(), "-H" | "-L" | "-P"))
            .take_while(|word| !word.starts_with(['-', '(', '!']))
            .any(|word| !word.starts_with('.') && is_root(word))
}

pub(super) fn formats(words: &[String]) -> bool {
    let name = program(words);
    name == "mkfs" || name.starts_with("mkfs.") || FORMATTERS.contains(&name)
}

fn is_device(path: &str) -> bool {
    let path = path.replace("//", "/");
    DEVICES.iter().any(|device| path.starts_with(device))
}

pub(super) fn writes_device(resource: &Resource) -> bool {
    match resource {
        Resource::Redirect { path, write: true } | Resource::Path { path, write: true } => is_device(path),
        Resource::Command { words, .. } => match program(words) {
            "dd" => arguments(words).iter().any(|word| word.strip_prefix("of=").is_some_and(is_device)),
            name if WRITERS.contains(&name) => {
                let reads_first = matches!(name, "cp" | "mv" | "install");
                arguments(words).iter().skip(usize::from(reads_first)).any(|word| is_device(word))
            }
            _ => false,
        },
        Resource::Redirect { .. }
        | Resource::Path { .. }
        | Resource::Host { .. }
        | Resource::Record { .. } => false,
    }
}

/// A function that calls itself twice doubles with each turn.
pub(super) fn forks_without_end(words: &[String]) -> bool {
    matches!(words, [function, name, first, second, ..]
        if function == "function" && name == first && name == second)
}

pub(super) fn stops_machine(words: &[String]) -> bool {
    let name = program(words);
    STOPPERS.contains(&name)
        || STOPS.iter().any(|(program, verbs)| {
            *program == name && arguments(words).iter().any(|word| verbs.contains(&word.as_str()))
        })
}
