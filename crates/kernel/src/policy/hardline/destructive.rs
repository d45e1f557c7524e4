//! Commands that destroy what cannot be brought back. Each is a question about the words of one command.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::place::Place;
use crate::resource::Resource;

/// Folders directly below `/` that hold the system, and that nothing else is called.
const SYSTEM: &[&str] = &["boot", "etc", "lib32", "lib64", "proc", "root", "sbin", "sys", "usr"];
/// Folders directly below `/` that hold the system, people's homes or other disks, and whose names a project may
/// give to its own.
const COMMON: &[&str] = &[
    "applications",
    "bin",
    "dev",
    "home",
    "lib",
    "library",
    "media",
    "mnt",
    "opt",
    "run",
    "srv",
    "system",
    "users",
    "var",
    "volumes",
];
/// So many folders up, such a name is taken for the machine's: no project is so deep.
const UP_TO_ROOT: usize = 4;
/// Folders two below `/` that hold the system: the first name, and the second.
const INNER: &[(&str, &[&str])] = &[
    ("usr", &["bin", "include", "lib", "lib32", "lib64", "libexec", "local", "sbin", "share"]),
    ("var", &["lib", "log"]),
    ("system", &["library"]),
];
/// Folders below which each folder is somebody's home, or another disk.
const HOLDS_ROOTS: &[&str] = &["home", "users", "media", "mnt", "volumes"];
/// Spellings of a home folder.
const HOMES: &[&str] = &["~", "$HOME", "${HOME}", "~root", "$PWD", "${PWD}", "~+"];
/// Programs that remove.
const REMOVERS: &[&str] = &["rm", "rmdir", "unlink", "shred", "srm", "grm"];
/// Programs that change who may use a file.
const CHANGERS: &[&str] = &["chmod", "chown", "chgrp", "chattr", "setfacl"];
/// Programs that make a disk anew, beside those whose name begins with `mkfs`.
const FORMATTERS: &[&str] = &[
    "mke2fs",
    "mkdosfs",
    "mkntfs",
    "mkexfatfs",
    "mkswap",
    "wipefs",
    "blkdiscard",
    "sgdisk",
    "sfdisk",
    "newfs",
    "pvcreate",
];
/// Programs that do so when they are told so.
const FORMATS: &[(&str, &[&str])] = &[
    ("nvme", &["format", "sanitize"]),
    ("cryptsetup", &["luksFormat", "luksErase", "erase"]),
    ("parted", &["mklabel", "mktable", "mkpart", "rm"]),
    ("zpool", &["create", "destroy", "labelclear"]),
    ("hdparm", &["--security-erase", "--security-erase-enhanced", "--trim-sector-ranges"]),
    ("diskutil", &["eraseDisk", "eraseVolume", "zeroDisk", "secureErase", "partitionDisk"]),
];
/// Programs that write to what their words name.
const WRITERS: &[&str] =
    &["tee", "cp", "mv", "shred", "install", "truncate", "gcp", "gmv", "gtee", "rsync", "scp", "sponge"];
/// Programs that write to what follows `of=`.
const COPIERS: &[&str] = &["dd", "gdd", "dcfldd", "dc3dd"];
/// Programs that write to what follows one of these options.
const OUTPUTS: &[(&str, &[&str])] = &[
    ("curl", &["-o", "--output"]),
    ("wget", &["-O", "--output-document"]),
    ("aria2c", &["-o", "--out"]),
    ("sort", &["-o", "--output"]),
    ("openssl", &["-out"]),
    ("tar", &["-f", "--file"]),
    ("bsdtar", &["-f", "--file"]),
];
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
/// What stops the machine when another program is told so.
const STOPS: &[(&str, &[&str])] = &[
    (
        "systemctl",
        &[
            "poweroff",
            "reboot",
            "halt",
            "kexec",
            "soft-reboot",
            "poweroff.target",
            "reboot.target",
            "halt.target",
            "kexec.target",
            "runlevel0.target",
            "runlevel6.target",
        ],
    ),
    ("loginctl", &["poweroff", "reboot", "halt", "kexec"]),
    ("init", &["0", "6"]),
    ("telinit", &["0", "6"]),
    ("kexec", &["-e", "--exec"]),
];

/// Tables of programs with the words that make them what they are.
const TOLD: &[&[(&str, &[&str])]] = &[INNER, FORMATS, OUTPUTS, STOPS];

/// The lists as text.
pub(super) fn text() -> String {
    let lists =
        [SYSTEM, COMMON, HOLDS_ROOTS, HOMES, REMOVERS, CHANGERS, FORMATTERS, WRITERS, COPIERS, READ_FIRST];
    let lists = lists.into_iter().chain([DEVICES, STOPPERS]);
    let mut text: String = lists.map(|list| format!("{}\n", list.join(" "))).collect();
    for (program, words) in TOLD.iter().copied().flatten() {
        text += &format!("{program} {}\n", words.join(" "));
    }
    text
}

/// Length of the longest of those names.
const LONGEST: usize = 8;

/// Whether a command that removes, changes or overwrites something can begin with this word.
pub(super) fn may_begin(word: &str) -> bool {
    static NAMES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let lists = [REMOVERS, CHANGERS, WRITERS, COPIERS, &["find", "gfind", "fd", "fdfind"]];
        let outputs = OUTPUTS.iter().map(|(program, _)| *program);
        lists.into_iter().flatten().copied().chain(outputs).collect()
    });
    // Most words are options, or too long.
    let name = word.rsplit('/').next().unwrap_or_default();
    name.len() <= LONGEST
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && NAMES.contains(name)
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
    let bare = place.trim_end_matches(['/', '.']);
    let is_home = HOMES.contains(&bare) || bare.starts_with('~') && !bare.contains('/');
    if is_home || (place.is_empty() && !word.is_empty()) {
        return true;
    }
    let Place { names, absolute, n_above } = Place::of(place);
    let has = |list: &[&str], name: &str| list.contains(&name.to_ascii_lowercase().as_str());
    match names.as_slice() {
        [] => absolute || n_above > 0 || word == place && !place.is_empty(),
        [name] if has(SYSTEM, name) => absolute || n_above > 0,
        [name] => (absolute || n_above >= UP_TO_ROOT) && has(COMMON, name),
        [first, second] if absolute || n_above >= UP_TO_ROOT => {
            let is_inner =
                |(known, inner): &(&str, &[&str])| *known == first.to_ascii_lowercase() && has(inner, second);
            has(HOLDS_ROOTS, first) || INNER.iter().any(is_inner)
        }
        _ => false,
    }
}

/// The folder that a command stands in, which it may look through and clean up.
fn is_here(word: &str) -> bool {
    let place = Place::of(word);
    place.names.is_empty() && !place.absolute && place.n_above == 0
}

/// Whether a table says that this program is told so.
fn is_told(table: &[(&str, &[&str])], words: &[String]) -> bool {
    let name = program(words);
    let told = |known: &[&str]| arguments(words).iter().any(|word| known.contains(&word.as_str()));
    table.iter().any(|(program, known)| *program == name && told(known))
}

pub(super) fn removes_root(words: &[String]) -> bool {
    let names_root = || arguments(words).iter().any(|word| is_root(word));
    match program(words) {
        name if REMOVERS.contains(&name) => {
            arguments(words).iter().any(|word| is_long(word, "--no-preserve-root"))
                || is_recursive(words) && names_root()
        }
        // What it does not find in its source it removes from where it copies to.
        "rsync" => {
            arguments(words).iter().any(|word| word.starts_with("--del"))
                && words.last().is_some_and(|to| !is_here(to) && is_root(to))
        }
        _ => false,
    }
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
    name == "mkfs" || name.starts_with("mkfs.") || FORMATTERS.contains(&name) || is_told(FORMATS, words)
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

/// Whether an option names a disk as where the output goes. An archive that is only read goes nowhere.
fn puts_out_to_device(words: &[String]) -> bool {
    let name = program(words);
    let Some((_, options)) = OUTPUTS.iter().find(|(program, _)| *program == name) else { return false };
    let words = arguments(words);
    if name.ends_with("tar") {
        let (flags, is_bundle) = match words.first() {
            Some(first) if !first.starts_with("--") => (first.trim_start_matches('-'), true),
            _ => ("", false),
        };
        let writes = |word: &String| matches!(word.as_str(), "--create" | "--append" | "--update");
        let is_written = is_bundle && flags.contains(['c', 'r', 'u']) || words.iter().any(writes);
        return is_written
            && words.iter().any(|word| is_device(word.split_once('=').map_or(word, |(_, to)| to)));
    }
    words.iter().enumerate().any(|(at, word)| {
        options.iter().any(|option| match after_option(word, option) {
            Some("") => words.get(at + 1).is_some_and(|to| is_device(to)),
            Some(to) => is_device(to.trim_start_matches('=')),
            None => false,
        })
    })
}

/// What stands behind an option in its word; a letter may stand behind others, as in `-sSLo`.
fn after_option<'w>(word: &'w str, option: &str) -> Option<&'w str> {
    let is_letter = option.len() == 2 && word.starts_with('-') && !word.starts_with("--");
    match option.strip_prefix('-').filter(|_| is_letter) {
        Some(letter) => word.split_once(letter).map(|(_, behind)| behind),
        None => word.strip_prefix(option),
    }
}

pub(super) fn writes_device(resource: &Resource) -> bool {
    match resource {
        Resource::Redirect { path, write: true } | Resource::Path { path, write: true } => is_device(path),
        Resource::Redirect { .. }
        | Resource::Path { .. }
        | Resource::Command { .. }
        | Resource::Host { .. }
        | Resource::Record { .. } => false,
    }
}

pub(super) fn copies_onto_device(words: &[String]) -> bool {
    match program(words) {
        name if COPIERS.contains(&name) => {
            arguments(words).iter().any(|word| word.strip_prefix("of=").is_some_and(is_device))
        }
        name if WRITERS.contains(&name) => {
            let reads_first = READ_FIRST.contains(&name);
            arguments(words).iter().skip(usize::from(reads_first)).any(|word| is_device(word))
                || reads_first && copies_to_device(words)
        }
        _ => puts_out_to_device(words),
    }
}

/// A function that calls itself twice doubles with each turn.
pub(super) fn forks_without_end(words: &[String]) -> bool {
    matches!(words, [function, name, first, second, ..]
        if function == "function" && name == first && name == second)
}

pub(super) fn stops_machine(words: &[String]) -> bool {
    STOPPERS.contains(&program(words)) || is_told(STOPS, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_can_begin_such_a_command_is_looked_at() {
        let outputs = OUTPUTS.iter().map(|(program, _)| *program);
        for name in [REMOVERS, CHANGERS, WRITERS, COPIERS].into_iter().flatten().copied().chain(outputs) {
            assert!(may_begin(name) && may_begin(&format!("/usr/bin/{name}")), "{name}");
        }
        assert!(!may_begin("-rm") && !may_begin("") && !may_begin("removal"));
    }
}
