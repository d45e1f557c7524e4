//! Commands that destroy what cannot be brought back. Each is a question about the words of one command.

use super::place::Place;
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
const WRITERS: &[&str] =
    &["tee", "cp", "mv", "shred", "install", "truncate", "gcp", "gmv", "gtee", "rsync", "scp", "sponge"];
/// Programs that write to what follows `of=`.
const COPIERS: &[&str] = &["dd", "gdd", "dcfldd", "dc3dd"];
/// Of the programs that write, those whose first word is read.
const READ_FIRST: &[&str] = &["cp", "mv", "install", "gcp", "gmv", "rsync", "scp"];
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
    "/dev/mapper",
    "/dev/md",
    "/dev/loop",
    "/dev/mem",
    "/dev/kmem",
    "/dev/port",
    "/dev/block",
    "/dev/bcache",
    "/dev/mtd",
    "/dev/nbd",
    "/dev/pmem",
    "/dev/sg",
    "/dev/sr",
    "/dev/zram",
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
    let lists =
        [SYSTEM, HOMES, REMOVERS, CHANGERS, FORMATTERS, WRITERS, COPIERS, READ_FIRST, DEVICES, STOPPERS];
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

/// Whether a word is a long option, or a beginning of one: those are taken too while only one option begins
/// so. Where another program has one more that begins so, it errs on the side of refusing.
fn is_long(word: &str, option: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    name.len() > 2 && option.starts_with(name)
}

fn is_recursive(words: &[String]) -> bool {
    arguments(words).iter().take_while(|word| *word != "--").any(|word| {
        is_long(word, "--recursive")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']))
    })
}

/// Whether a word names a root: of the machine, of a home, of the folder that the command stands in.
fn is_root(word: &str) -> bool {
    let place = word.strip_suffix("/*").unwrap_or(word);
    if HOMES.contains(&place.trim_end_matches(['/', '.'])) || (place.is_empty() && !word.is_empty()) {
        return true;
    }
    let Place { names, absolute, above } = Place::of(place);
    match names.as_slice() {
        [] => absolute || above || word == place && !place.is_empty(),
        [name] => absolute && SYSTEM.contains(&name.to_ascii_lowercase().as_str()),
        _ => false,
    }
}

/// The folder that a command stands in, which it may look through and clean up.
fn is_here(word: &str) -> bool {
    let place = Place::of(word);
    place.names.is_empty() && !place.absolute && !place.above
}

pub(super) fn removes_root(words: &[String]) -> bool {
    REMOVERS.contains(&program(words))
        && (arguments(words).iter().any(|word| is_long(word, "--no-preserve-root"))
            || is_recursive(words) && arguments(words).iter().any(|word| is_root(word)))
}

pub(super) fn changes_root(words: &[String]) -> bool {
    CHANGERS.contains(&program(words))
        && is_recursive(words)
        && arguments(words).iter().any(|word| !is_here(word) && is_root(word))
}

pub(super) fn finds_and_removes_root(words: &[String]) -> bool {
    let removes =
        |word: &String| word == "-delete" || REMOVERS.contains(&word.rsplit('/').next().unwrap_or_default());
    let is_place = |word: &String| !is_here(word) && is_root(word);
    if !arguments(words).iter().any(removes) {
        return false;
    }
    match program(words) {
        "find" | "gfind" => {
            let mut rest = arguments(words).iter().peekable();
            // Its options, then where it looks, then what it looks for.
            while let Some(option) = rest.next_if(|word| is_find_option(word)) {
                if matches!(option.as_str(), "-D" | "-f") {
                    let value = rest.next();
                    if option == "-f" && value.is_some_and(is_place) {
                        return true;
                    }
                }
            }
            rest.take_while(|word| !word.starts_with(['-', '(', '!'])).any(is_place)
        }
        "fd" | "fdfind" => arguments(words).iter().any(is_place),
        _ => false,
    }
}

fn is_find_option(word: &str) -> bool {
    matches!(word, "-H" | "-L" | "-P" | "-D" | "-f" | "-E" | "-X" | "-x" | "-s" | "--")
        || word.strip_prefix("-O").is_some_and(|level| level.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(super) fn formats(words: &[String]) -> bool {
    let name = program(words);
    name == "mkfs" || name.starts_with("mkfs.") || FORMATTERS.contains(&name)
}

fn is_device(path: &str) -> bool {
    let place = Place::of(path).rooted();
    place.is_some_and(|place| DEVICES.iter().any(|device| place.starts_with(device)))
}

/// Whether what is put into this folder may be a disk of the same name.
fn holds_devices(folder: &str) -> bool {
    Place::of(folder).rooted().is_some_and(|place| place == "/dev") || is_device(folder)
}

/// Whether a command that copies its first words to its last one, or to the folder that an option names,
/// writes to a disk.
fn copies_to_device(words: &[String]) -> bool {
    let words = arguments(words);
    let last = words.last().filter(|_| words.len() > 1);
    let folders = words.iter().enumerate().filter_map(|(at, word)| {
        let is_option = word == "-t" || is_long(word, "--target-directory");
        match word.split_once('=') {
            Some((_, folder)) if is_option => Some(folder),
            _ if is_option => words.get(at + 1).map(String::as_str),
            _ => word.strip_prefix("-t"),
        }
    });
    last.is_some_and(|last| holds_devices(last)) || folders.into_iter().any(holds_devices)
}

pub(super) fn writes_device(resource: &Resource) -> bool {
    match resource {
        Resource::Redirect { path, write: true } | Resource::Path { path, write: true } => is_device(path),
        Resource::Command { words, .. } => match program(words) {
            name if COPIERS.contains(&name) => {
                arguments(words).iter().any(|word| word.strip_prefix("of=").is_some_and(is_device))
            }
            name if WRITERS.contains(&name) => {
                let reads_first = READ_FIRST.contains(&name);
                arguments(words).iter().skip(usize::from(reads_first)).any(|word| is_device(word))
                    || reads_first && copies_to_device(words)
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
