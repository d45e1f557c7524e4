//! Names that no tool may reach, wherever they lie and whether or not they are there: one list for the
//! judge, for what a sandbox mounts, and for the look at what a command changed. A name counts in every
//! spelling that some file system takes for the same. See `docs/spec/policy.md`.

mod names;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use crate::spec::wire_enum;

pub use names::{HARMLESS, PROTECTED};

wire_enum! {
    /// Why a name is protected.
    Protection {
        /// It holds a secret: neither read nor written.
        Secret = "secret",
        /// It steers version control, an editor or Mast: read, never written.
        Control = "control",
        /// Some program runs it by itself: read, never written.
        SelfExecuting = "self_executing",
    }
}

/// What editors and people add to the name of a copy. A copy of a secret is one; a copy of another name is run by
/// nothing.
pub const COPY_ENDS: &[&str] = &[
    "~", ".bak", ".backup", ".old", ".orig", ".save", ".saved", ".copy", ".swp", ".swo", ".swn", ".tmp", "#",
];

/// Flags that may stand before a glued value, as in `-rf.env`.
const GLUED_FLAGS_MAX: usize = 4;

/// What parts a word that holds a path from what stands beside it.
const PARTS: [char; 10] = ['=', '@', ':', ',', '<', '>', ';', '?', '#', '&'];

/// Every name of a secret has one of these, or is a letter that becomes one when it is folded; so most words
/// need no closer look.
const SECRET_MARKS: [char; 4] = ['.', '_', '/', '\\'];

/// How a path, or a word that may be one, is protected. The strictest holds.
#[must_use]
pub fn protection(path: &str) -> Option<Protection> {
    let names = names(path);
    // A hidden file with the ending of a key is one; a word such as `.api.key` more often is no file at all.
    let shown = names.iter().any(|name| name.starts_with('.')).then(|| without_dots(&names));
    let found = strictest(&names).into_iter().chain(shown.and_then(|shown| hidden_secret(&shown)));
    found.chain(resolved(&names).and_then(|names| strictest(&names))).min()
}

/// The names without the dot that hides each.
fn without_dots(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.strip_prefix('.').unwrap_or(name).to_owned()).collect()
}

/// Of names whose dots were taken away, whether an ending makes one a secret.
fn hidden_secret(names: &[String]) -> Option<Protection> {
    let endings = LOOKUP.wild.iter().filter(|(protection, wild)| {
        *protection == Protection::Secret && wild.start.is_empty() && wild.end.starts_with('.')
    });
    let mut endings = endings.map(|(_, wild)| wild);
    endings.any(|ending| names.iter().any(|name| ending.is_like(name))).then_some(Protection::Secret)
}

/// Where the names lead if no folder among them is a link; none if they name nothing above themselves.
fn resolved(names: &[String]) -> Option<Vec<String>> {
    names.iter().any(|name| name == "..").then(|| {
        let mut left: Vec<String> = Vec::new();
        for name in names {
            if name == ".." {
                left.pop();
            } else {
                left.push(name.clone());
            }
        }
        left
    })
}

/// Whether a word of a command names a secret: as it stands, as the value of an option (`--file=.env`,
/// `if=.env`, `-f.env`), behind an `@`, or as a part of a list (`a:.env`).
#[must_use]
pub fn word_names_secret(word: &str) -> bool {
    if word.is_ascii() && !word.contains(SECRET_MARKS) {
        return false;
    }
    let is_secret = |part: &str| {
        let mut names = names(part);
        // A sentence is no file name, and `*.key` would meet too many.
        names.retain(|name| !name.contains(char::is_whitespace));
        let is_secret = |names: &[String]| strictest(names) == Some(Protection::Secret);
        is_secret(&names) || resolved(&names).is_some_and(|names| is_secret(&names))
    };
    if is_secret(word) {
        return true;
    }
    if word.contains(char::is_whitespace) {
        return false;
    }
    let attached = word.strip_prefix('-').and_then(|flags| flags.find('.').map(|at| flags.split_at(at)));
    let is_glued = |flags: &str| {
        (1..=GLUED_FLAGS_MAX).contains(&flags.len()) && flags.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    word.split(PARTS).skip_while(|part| part.len() == word.len()).any(is_secret)
        || attached.is_some_and(|(flags, value)| is_glued(flags) && is_secret(value))
}

/// The names of a path in the one spelling that is compared.
fn names(path: &str) -> Vec<String> {
    let folded = fold(path);
    folded
        // A colon parts a drive, a host or a stream of the file from the rest.
        .split(['/', '\\', ':'])
        .map(trimmed)
        .filter(|name| !name.is_empty() && *name != ".")
        .map(str::to_owned)
        .collect()
}

/// What some file systems leave away at the end of a name.
fn trimmed(name: &str) -> &str {
    let bare = name.trim_end_matches(['.', ' ']);
    if bare.is_empty() { name } else { bare }
}

/// One spelling for what is shown or taken as the same text: compatibility forms composed, small letters,
/// nothing that cannot be seen.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let seen = text.chars().filter(|letter| !is_ignorable(*letter));
    seen.nfkc().flat_map(char::to_lowercase).filter(|letter| !is_ignorable(*letter)).nfkc().collect()
}

/// Whether a character takes no room and changes nothing that is seen (the default ignorable ones of
/// Unicode, and what turns the direction of text).
#[must_use]
pub const fn is_ignorable(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The list as it is looked through: every word of every command is held against it.
struct Lookup {
    /// Single names without a `*`.
    names: BTreeMap<String, Protection>,
    /// Single names with one: what stands before it and behind it.
    wild: Vec<(Protection, Wild)>,
    /// Rows of several names, by one of them that has no `*`.
    rows: BTreeMap<String, Vec<(Protection, Vec<String>)>>,
}

/// A name with a `*`.
struct Wild {
    start: String,
    end: String,
}

impl Wild {
    fn parse(pattern: &str) -> Option<Self> {
        let (start, end) = pattern.split_once('*')?;
        Some(Self { start: start.to_owned(), end: end.to_owned() })
    }

    fn is_like(&self, name: &str) -> bool {
        let middle =
            name.strip_prefix(self.start.as_str()).and_then(|rest| rest.strip_suffix(self.end.as_str()));
        // A hidden name such as `.key` is not "something.key".
        middle.is_some_and(|middle| !(middle.is_empty() || self.start.is_empty() && middle.starts_with('.')))
    }
}

static LOOKUP: LazyLock<Lookup> = LazyLock::new(|| {
    let mut lookup = Lookup { names: BTreeMap::new(), wild: Vec::new(), rows: BTreeMap::new() };
    for (protection, patterns) in PROTECTED {
        for pattern in *patterns {
            let row: Vec<String> = pattern.split('/').map(str::to_ascii_lowercase).collect();
            match row.as_slice() {
                [name] => match Wild::parse(name) {
                    Some(wild) => lookup.wild.push((*protection, wild)),
                    None => {
                        lookup.names.entry(name.clone()).or_insert(*protection);
                    }
                },
                _ => {
                    // A row of wildcards alone would be found nowhere; a test holds that there is none.
                    let key = row.iter().rfind(|name| !name.contains('*')).cloned().unwrap_or_default();
                    lookup.rows.entry(key).or_default().push((*protection, row));
                }
            }
        }
    }
    lookup
});

fn strictest(names: &[String]) -> Option<Protection> {
    let found = listed(names);
    let has_copy = || names.iter().any(|name| without_copy_end(name).is_some());
    if found == Some(Protection::Secret) || !has_copy() {
        return found;
    }
    let originals: Vec<String> =
        names.iter().map(|name| without_copy_end(name).unwrap_or(name).to_owned()).collect();
    // An editor hides the copy that it works on behind a dot.
    let shown: Vec<String> =
        originals.iter().map(|name| name.strip_prefix('.').unwrap_or(name).to_owned()).collect();
    let is_secret = [originals, shown].iter().any(|names| listed(names) == Some(Protection::Secret));
    if is_secret { Some(Protection::Secret) } else { found }
}

/// The name that this is a copy of.
fn without_copy_end(name: &str) -> Option<&str> {
    let original = COPY_ENDS.iter().find_map(|end| name.strip_suffix(end))?;
    let original = original.trim_start_matches('#').trim_end_matches(".~").trim_end_matches(['~', '.']);
    (!original.is_empty()).then_some(original)
}

fn listed(names: &[String]) -> Option<Protection> {
    let single = names.iter().filter_map(|name| LOOKUP.names.get(name).copied());
    let wild = LOOKUP.wild.iter().filter(|(_, wild)| {
        names.iter().any(|name| wild.is_like(name) && !HARMLESS.contains(&name.as_str()))
    });
    let rows = names.iter().filter_map(|name| LOOKUP.rows.get(name)).flatten();
    let rows = rows.filter(|(_, row)| lies_in(names, row)).map(|(protection, _)| *protection);
    single.chain(wild.map(|(protection, _)| *protection)).chain(rows).min()
}

/// Whether some names in a row are those of the pattern, and none of them is a harmless one.
fn lies_in(names: &[String], wanted: &[String]) -> bool {
    names.windows(wanted.len()).any(|row| {
        row.iter().zip(wanted).all(|(name, pattern)| is_like(name, pattern))
            && !row.iter().any(|name| HARMLESS.contains(&name.as_str()))
    })
}

fn is_like(name: &str, pattern: &str) -> bool {
    Wild::parse(pattern).map_or(name == pattern, |wild| wild.is_like(name))
}

/// The list as text: a part of what the hardline's hash is taken over.
pub(crate) fn text() -> String {
    let mut text = String::new();
    for (protection, patterns) in PROTECTED {
        text += &format!("{protection} {}\n", patterns.join(" "));
    }
    text + &format!("harmless {}\ncopies {}\n", HARMLESS.join(" "), COPY_ENDS.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_protected_name() {
        use Protection::{Control, Secret, SelfExecuting};
        for (path, expect) in [
            (".env", Some(Secret)),
            ("a/.ENV", Some(Secret)),
            ("a/.env.production", Some(Secret)),
            (".env.", Some(Secret)),
            ("./.env/", Some(Secret)),
            ("a\\.env", Some(Secret)),
            (".e\u{200b}nv", Some(Secret)),
            ("\u{ff0e}env", Some(Secret)),
            ("a\u{ff0f}.env", Some(Secret)),
            (".ſsh/config", Some(Secret)),
            ("home/.ssh/known_hosts", Some(Secret)),
            (".docker/config.json", Some(Secret)),
            ("id_rsa", Some(Secret)),
            ("tls/server.pem", Some(Secret)),
            (".git/config", Some(Control)),
            ("vendor/x/.git", Some(Control)),
            ("GIT~1/hooks/pre-commit", Some(Control)),
            ("mirror.git/config", Some(Control)),
            ("sub/hooks/post-checkout", Some(Control)),
            (".vscode/tasks.json", Some(Control)),
            (".envrc", Some(SelfExecuting)),
            (".BashRC", Some(SelfExecuting)),
            (".rprofile", Some(SelfExecuting)),
            (".env.example", None),
            (".env.sample", None),
            (".env.template", None),
            ("id_rsa.pub", None),
            ("src/id_map.rs", None),
            ("environment", None),
            (".gitignore", None),
            (".github/workflows/ci.yml", None),
            ("docker/config.json", None),
            ("hooks/use-pre.ts", None),
            ("keyboard", None),
            ("a.pem.md", None),
            ("/etc/ssl/../shadow", Some(Secret)),
            ("/etc/shadow-", Some(Secret)),
            (".docker/a/b/../../config.json", Some(Secret)),
            (".ssh/../notes", Some(Secret)),
            (".claude/agents/../settings.json", Some(Control)),
            ("/proc/self/task/1/environ", Some(Secret)),
            ("/proc/7/mem", Some(Secret)),
            (".server.key", Some(Secret)),
            (".env::$DATA", Some(Secret)),
            ("c:.env", Some(Secret)),
            (".docker/config.json:x", Some(Secret)),
            ("id_rsa_old", Some(Secret)),
            ("/etc/mast/policy.toml", Some(Control)),
            ("/home/me/.local/share/mast/mast.db", Some(Control)),
            ("/home/me/.local/share/mast/keys/openai", Some(Secret)),
            (".key", None),
            (".config.toml", None),
            ("a/../b", None),
            ("proc/meminfo", None),
            ("etc/passwd", None),
            (".local/share/other", None),
            ("", None),
            ("..", None),
        ] {
            assert_eq!(protection(path), expect, "{path:?}");
        }
    }

    #[test]
    fn copies_of_secrets_and_what_tools_read_by_themselves() {
        use Protection::{Control, Secret, SelfExecuting};
        for (path, expect) in [
            ("id_rsa~", Some(Secret)),
            ("id_ed25519.bak", Some(Secret)),
            (".env.bak", Some(Secret)),
            (".env.swp", Some(Secret)),
            (".id_rsa.swp", Some(Secret)),
            ("#id_rsa#", Some(Secret)),
            ("tls/server.pem.orig", Some(Secret)),
            ("a.key~", Some(Secret)),
            (".npmrc.old", Some(Secret)),
            (".pgpass~", Some(Secret)),
            (".cargo/credentials.toml.bak", Some(Secret)),
            ("/etc/sudoers", Some(Secret)),
            ("/etc/sudoers.d/x", Some(Secret)),
            (".claude/settings.json", Some(Control)),
            (".mcp.json", Some(Control)),
            ("/home/me/.config/mast/config.toml", Some(Control)),
            ("mast.db-wal", Some(Control)),
            ("mast.db-shm", Some(Control)),
            (".cargo/config.toml", Some(SelfExecuting)),
            (".pre-commit-config.yaml", Some(SelfExecuting)),
            (".bazelrc", Some(SelfExecuting)),
            (".yarnrc.yml", Some(SelfExecuting)),
            (".bashrc.bak", None),
            ("notes~", None),
            ("keyboard.bak", None),
            ("id_rsa.pub.bak", Some(Secret)),
            ("a.pem.md~", None),
            (".config/masthead", None),
            (".claude/commands/x.md", None),
            ("cargo/config.toml", None),
            ("mast.db.md", None),
        ] {
            assert_eq!(protection(path), expect, "{path:?}");
        }
    }

    #[test]
    fn every_row_has_a_name_to_be_found_by() {
        assert!(!LOOKUP.rows.contains_key(""));
    }

    #[test]
    fn every_name_of_a_secret_has_its_mark() {
        let secrets = PROTECTED.iter().filter(|(protection, _)| *protection == Protection::Secret);
        for pattern in secrets.flat_map(|(_, patterns)| *patterns) {
            assert!(pattern.contains(SECRET_MARKS), "{pattern}");
        }
    }

    #[test]
    fn words_that_name_a_secret() {
        for word in [
            ".env",
            "--file=.env",
            "@.env",
            "if=.env",
            "-f.env",
            "host:.ssh/id_rsa",
            "data=@.env",
            "a,.env",
            "x/.env",
            "-rf.env",
            "-sT.env",
            "-abcd.env",
            "-f../x/.env",
            "f=@.env;type=text/plain",
            "f=@id_rsa;filename=a",
            "file:///x/.env?a",
            "x/.env#top",
            "/etc/ssl/../shadow",
            "id_rsa~",
        ] {
            assert!(word_names_secret(word), "{word:?}");
        }
        for word in [
            "--env",
            "update .env handling",
            ".api.key",
            "key=value",
            "a=b",
            ".env.example",
            "x = obj.key",
            "-e",
            "é@",
            "-Dspring.env",
            "-rf.envs",
            "-abcde.env",
        ] {
            assert!(!word_names_secret(word), "{word:?}");
        }
    }
}
