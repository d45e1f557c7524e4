//! Programs that some tests use beside the Rust toolchain.
//!
//! A test file says in its module documentation what it uses, on a line `Needs: <name>`, and only
//! what a present test asks for is looked for. Where it may (Debian, as root) this module installs
//! what is missing; elsewhere it says what to install. It never lets a test be skipped in silence.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failed::Failed;
use crate::place;
use crate::process::Process;
use crate::say;

/// Something that a test may need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need {
    /// What a test file writes after `Needs:`; it is Debian's package too.
    pub(crate) name: &'static str,
    /// A command that succeeds when it is there.
    probe: &'static str,
    /// A folder below which Debian keeps it by version, for what is not on the path.
    versions: Option<(&'static str, &'static str)>,
}

/// Everything that a test may ask for.
pub(crate) const NEEDS: &[Need] = &[
    Need { name: "bubblewrap", probe: "bwrap --version", versions: None },
    Need { name: "chromium", probe: "chromium --version", versions: None },
    Need {
        name: "postgresql",
        probe: "postgres --version",
        versions: Some(("/usr/lib/postgresql", "bin/postgres")),
    },
    Need { name: "python3", probe: "python3 --version", versions: None },
];

/// How a test file says what it needs.
const MARK: &str = "//! Needs: ";
/// Folders of the repository deeper than this are not looked into.
const DEPTH_MAX: usize = 12;

impl Need {
    fn is_there(&self) -> bool {
        let below = |(folder, program): (&str, &str)| {
            fs::read_dir(folder).is_ok_and(|versions| {
                versions.flatten().any(|version| version.path().join(program).is_file())
            })
        };
        Process::new(self.probe).works() || self.versions.is_some_and(below)
    }
}

/// Sees to it that all that a present test needs is there.
pub(crate) fn bring() -> Result<(), Failed> {
    let mut asked = BTreeSet::new();
    gather(&place::root().join("crates"), DEPTH_MAX, &mut asked)?;
    let missing = missing(&asked, Need::is_there)?;
    if missing.is_empty() {
        return Ok(());
    }
    if !may_install() {
        return Err(Failed::Missing { missing: missing.join(" and "), packages: missing.join(" ") });
    }
    say::heading(&format!("installing {}", missing.join(", ")));
    let apt = |line: &str| Process::new(line).variable("DEBIAN_FRONTEND", "noninteractive");
    apt("apt-get update --quiet").run()?;
    apt("apt-get install --quiet --yes --no-install-recommends").with(missing.iter().copied()).run()
}

/// Those of the asked for that are not there, in order; a name that nobody knows is an error.
fn missing(asked: &BTreeSet<String>, is_there: impl Fn(&Need) -> bool) -> Result<Vec<&'static str>, Failed> {
    let mut missing = Vec::new();
    for name in asked {
        let Some(need) = NEEDS.iter().find(|need| need.name == name) else {
            let known = NEEDS.iter().map(|need| need.name).collect::<Vec<_>>().join(", ");
            return Err(Failed::Unknown { kind: "need", name: name.clone(), known });
        };
        if !is_there(need) {
            missing.push(need.name);
        }
    }
    Ok(missing)
}

/// Whether this is Debian, and we are root on it.
fn may_install() -> bool {
    let root = Process::new("id -u").answer().is_ok_and(|id| id.trim() == "0");
    root && Path::new("/etc/debian_version").is_file()
}

/// What the Rust files below `folder` need.
fn gather(folder: &Path, depth: usize, asked: &mut BTreeSet<String>) -> Result<(), Failed> {
    if depth == 0 {
        return Ok(());
    }
    let failed = |source| Failed::Read { path: folder.to_path_buf(), source };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path: PathBuf = entry.map_err(failed)?.path();
        if path.is_dir() {
            gather(&path, depth - 1, asked)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).map_err(|source| Failed::Read { path, source })?;
            asked.extend(needs_of(&text));
        }
    }
    Ok(())
}

/// What one file says that it needs.
fn needs_of(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| line.strip_prefix(MARK)).map(|name| name.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn only_what_is_asked_for_and_not_there_is_missing() {
        let there = |need: &Need| need.name == "bubblewrap";
        assert_eq!(missing(&asked(&["bubblewrap", "postgresql"]), there).unwrap(), ["postgresql"]);
        assert_eq!(missing(&asked(&[]), there).unwrap(), Vec::<&str>::new());
    }

    #[test]
    fn a_need_that_nobody_knows_is_an_error_that_lists_the_known() {
        let failed = missing(&asked(&["podman"]), |_| true).unwrap_err().to_string();
        assert_eq!(
            failed,
            "there is no need named `podman`; there is: bubblewrap, chromium, postgresql, python3"
        );
    }

    #[test]
    fn a_file_names_its_needs_in_its_documentation() {
        let text = "//! Starts a server.\n//!\n//! Needs: postgresql\n\nlet mark = \"//! Needs: x\";\n";
        assert_eq!(needs_of(text).collect::<Vec<_>>(), ["postgresql"]);
    }

    #[test]
    fn the_needs_of_the_present_tests_are_known() {
        let mut asked = BTreeSet::new();
        gather(&place::root().join("crates"), DEPTH_MAX, &mut asked).unwrap();
        missing(&asked, |_| true).unwrap();
    }
}
