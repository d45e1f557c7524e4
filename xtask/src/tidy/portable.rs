//! Nothing of one machine is written down: no path of the one that it was written on, no registry but
//! the public one; and no file that silently replaces the rules for everybody.

use super::Finding;
use super::tree::Tree;

/// Beginnings of paths of the machines that Mast is written on, taken apart so that this file does
/// not hold them.
const MACHINE: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/root/", ".cache"),
    concat!("/tmp/", "helpers"),
    concat!("../", "shared"),
];
/// Where every package comes from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// Files of which there is one, at the root: another one would replace it without a word.
const ONE: &[&str] = &["clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml"];
/// Files that there are none of.
const NONE: &[&str] = &["rust-toolchain.toml", "rust-toolchain"];

/// Traces of one machine.
pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts("") {
        for (number, line) in text.lines().enumerate() {
            if let Some(trace) = MACHINE.iter().find(|trace| line.contains(*trace)) {
                findings.push(Finding::new(path, number + 1, format!("`{trace}` is a place of one machine")));
            }
        }
    }
    for (number, line) in tree.text("Cargo.lock").unwrap_or_default().lines().enumerate() {
        if line.starts_with("source = ") && !line.contains(REGISTRY) {
            findings.push(Finding::new("Cargo.lock", number + 1, "a package from elsewhere than crates.io"));
        }
    }
    for path in tree.paths() {
        let name = path.rsplit('/').next().unwrap_or(path);
        if ONE.contains(&name) && path != name {
            findings.push(Finding::new(
                path,
                0,
                format!("it replaces the {name} of the root without a word"),
            ));
        }
        if NONE.contains(&name) {
            findings.push(Finding::new(path, 0, "the toolchain is the one that is installed"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{finds, holds};
    use expect_test::expect;

    #[test]
    fn nothing_of_one_machine_is_written_down() {
        holds(findings);
    }

    #[test]
    fn a_trace_is_seen() {
        let trace = format!("see {}main\n", MACHINE[0]);
        let lock = format!("source = \"{REGISTRY}\"\nsource = \"registry+https://mirror.example/index\"\n");
        let found = |path: &str| format!("{}", Tree::of(&[(path, trace.as_str())]).texts("").count());
        assert_eq!(found("README.md"), "1");
        let seen = findings(&Tree::of(&[("README.md", &trace)]));
        assert_eq!((seen.len(), seen[0].line, seen[0].file.as_str()), (1, 1, "README.md"));
        finds(
            findings,
            &[
                ("Cargo.lock", &lock),
                ("clippy.toml", ""),
                ("crates/a/clippy.toml", ""),
                ("rust-toolchain.toml", ""),
            ],
            expect![[r#"
                Cargo.lock:2: a package from elsewhere than crates.io
                crates/a/clippy.toml:0: it replaces the clippy.toml of the root without a word
                rust-toolchain.toml:0: the toolchain is the one that is installed
            "#]],
        );
    }
}
