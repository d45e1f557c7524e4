//! The files that the rules look at: the repository's, or those of a sample.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use super::token::{Token, starts, tokens};
use crate::place;

/// Folders that hold what was built, found or fetched, not what was written.
const NOT_OURS: &[&str] = &["target", ".git", "corpus", "artifacts", "node_modules"];
/// Larger files are data.
const TEXT_BYTES_MAX: u64 = 2_000_000;

/// Paths from the root, with `/`, and the texts there.
#[derive(Debug, Default)]
pub(super) struct Tree {
    texts: BTreeMap<String, String>,
    /// Every file, also those that are not text.
    paths: BTreeSet<String>,
    rust: BTreeMap<String, Rust>,
}

/// A Rust file, read.
#[derive(Debug)]
pub(super) struct Rust {
    pub(super) path: String,
    pub(super) tokens: Vec<Token>,
    /// Whether the whole file is test code.
    pub(super) test: bool,
}

impl Rust {
    /// The name of the folder of its crate: `kernel`, `xtask`, `embed`, `fuzz`.
    pub(super) fn house(&self) -> &str {
        house(&self.path)
    }

    /// Whether it is a part of what is shipped. The harness for tests is not.
    pub(super) fn is_product(&self) -> bool {
        self.path.starts_with("crates/")
            && self.path.contains("/src/")
            && !self.test
            && self.house() != "testkit"
    }
}

/// The name of the folder of the crate that a path belongs to.
pub(super) fn house(path: &str) -> &str {
    let mut parts = path.split('/');
    match parts.next() {
        Some("crates" | "examples") => parts.next().unwrap_or_default(),
        other => other.unwrap_or_default(),
    }
}

impl Tree {
    /// The repository, read once.
    pub(super) fn ours() -> &'static Self {
        static OURS: LazyLock<Tree> = LazyLock::new(|| {
            let mut tree = Tree::default();
            tree.gather(&place::root(), "");
            tree.read_rust();
            tree
        });
        &OURS
    }

    /// A sample.
    pub(super) fn of(sample: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in sample {
            tree.paths.insert((*path).to_owned());
            tree.texts.insert((*path).to_owned(), (*text).to_owned());
        }
        tree.read_rust();
        tree
    }

    fn gather(&mut self, folder: &Path, prefix: &str) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            let (path, kind) = (format!("{prefix}{name}"), entry.file_type().unwrap());
            if kind.is_dir() && !NOT_OURS.contains(&name.as_str()) {
                self.gather(&entry.path(), &format!("{path}/"));
            } else if kind.is_file() {
                let small = entry.metadata().unwrap().len() <= TEXT_BYTES_MAX;
                if let Some(text) = small.then(|| fs::read_to_string(entry.path()).ok()).flatten() {
                    self.texts.insert(path.clone(), text);
                }
                self.paths.insert(path);
            }
        }
    }

    fn read_rust(&mut self) {
        let rust: Vec<(&String, &String)> =
            self.texts.iter().filter(|(path, _)| path.ends_with(".rs") && !is_fixture(path)).collect();
        let mut test_modules = BTreeSet::new();
        let mut read = BTreeMap::new();
        for (path, text) in rust {
            let by_place = ["/tests/", "/benches/"].iter().any(|folder| path.contains(folder));
            let tokens = tokens(text, by_place).unwrap_or_else(|error| panic!("{path}: {error}"));
            test_modules.extend(test_modules_of(path, &tokens));
            read.insert(path.clone(), Rust { path: path.clone(), tokens, test: by_place });
        }
        for rust in read.values_mut() {
            let in_module = |stem: &String| {
                rust.path
                    .strip_prefix(stem.as_str())
                    .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            };
            if test_modules.iter().any(in_module) {
                rust.test = true;
                rust.tokens.iter_mut().for_each(|token| token.test = true);
            }
        }
        self.rust = read;
    }

    /// Every Rust file, in the order of the paths.
    pub(super) fn rust(&self) -> impl Iterator<Item = &Rust> {
        self.rust.values()
    }

    /// Every text whose path ends so.
    pub(super) fn texts(&self, ending: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts
            .iter()
            .filter(move |(path, _)| path.ends_with(ending))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text at a path.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Whether there is a file or a folder at a path.
    pub(super) fn has(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        path.is_empty()
            || self.paths.contains(path)
            || self.paths.range(folder.clone()..).next().is_some_and(|next| next.starts_with(&folder))
    }

    /// Every path.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }
}

/// Rust that is data of a test (samples that must not compile, for one) is not read as code.
fn is_fixture(path: &str) -> bool {
    let Some((_, below)) = path.split_once("/tests/") else { return false };
    below.contains('/') && !below.starts_with("it/")
}

/// The stems of the files of `#[cfg(test)] mod name;`: `a/src/tidy` for `a/src/tidy.rs` and below.
fn test_modules_of(path: &str, tokens: &[Token]) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let own = ["/main.rs", "/lib.rs", "/mod.rs"].iter().any(|name| path.ends_with(name));
    let base = if own { folder } else { path.trim_end_matches(".rs") };
    let is_module = |at: &usize| {
        tokens[*at].test
            && starts(tokens, *at, "mod")
            && tokens.get(at + 2).is_some_and(|token| token.text == ";")
    };
    (0..tokens.len()).filter(is_module).map(|at| format!("{base}/{}", tokens[at + 1].text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_for_tests_is_known_by_its_declaration() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "#[cfg(test)] mod harness; mod real;"),
            ("crates/a/src/harness.rs", "mod part;"),
            ("crates/a/src/harness/part.rs", ""),
            ("crates/a/src/harness2.rs", ""),
            ("crates/a/src/real.rs", "#[cfg(test)] mod tests;"),
            ("crates/a/src/real/tests.rs", ""),
            ("crates/a/tests/it/main.rs", ""),
            ("crates/a/tests/compile_fail/bad.rs", "fn ("),
        ]);
        let product: Vec<&str> =
            tree.rust().filter(|rust| rust.is_product()).map(|rust| rust.path.as_str()).collect();
        assert_eq!(product, ["crates/a/src/harness2.rs", "crates/a/src/lib.rs", "crates/a/src/real.rs"]);
        assert!(tree.has("crates/a/src/real") && tree.has("crates/") && !tree.has("crates/a/src/re"));
    }

    #[test]
    fn the_repository_is_looked_at() {
        let tree = Tree::ours();
        for path in ["Cargo.toml", "crates/kernel/src/lib.rs", "xtask/src/main.rs", ".ci/run"] {
            assert!(tree.has(path), "{path}");
        }
        assert!(tree.rust().filter(|rust| rust.is_product()).count() > 10);
    }
}
