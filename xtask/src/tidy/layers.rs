//! Who may use whom: the picture in ARCHITECTURE.md as a table, compared with the manifests.
//!
//! The compiler only forbids cycles. That a tool cannot see the store, or a page the database, holds
//! because a manifest does not name it, and this rule keeps manifests from naming it in passing.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::Finding;
use super::tree::{Tree, house};

/// A crate of ours, and the crates of ours that its product code may use.
const LAYERS: &[(&str, &[&str])] = &[
    ("kernel", &[]),
    ("sandbox", &[]),
    ("tools", &["kernel", "sandbox"]),
    ("provider", &["kernel"]),
    ("store", &["kernel"]),
    ("runtime", &["kernel", "sandbox", "tools", "provider", "store"]),
    ("mcp", &["kernel", "runtime", "tools", "sandbox"]),
    ("server", &["kernel", "runtime"]),
    ("cli", &["kernel", "sandbox", "tools", "provider", "store", "runtime", "mcp", "server"]),
    ("testkit", &["kernel", "sandbox", "tools", "provider", "store", "runtime"]),
    ("embed", &["kernel", "sandbox", "tools", "provider", "store", "runtime"]),
    ("xtask", &[]),
];

/// What only tests may use.
const FOR_TESTS: &str = "testkit";

/// A package from outside whose job belongs to some crates alone: nobody else may name it.
const JOBS: &[(&str, &[&str])] = &[
    ("axum", &["server"]),
    ("clap", &["cli", "xtask"]),
    ("dashu-float", &["tools"]),
    ("ed25519-dalek", &["store"]),
    ("getrandom", &["runtime"]),
    ("indicatif", &["cli"]),
    ("jiff", &["tools", "provider", "cli"]),
    ("landlock", &["sandbox"]),
    ("libsqlite3-sys", &["store"]),
    ("object_store", &["store"]),
    ("reqwest", &["provider", "tools"]),
    ("rmcp", &["mcp"]),
    ("rustix", &["sandbox", "cli"]),
    ("seccompiler", &["sandbox"]),
    ("sqlx", &["store", "testkit"]),
    ("tracing-subscriber", &["cli"]),
    ("tree-sitter", &["kernel"]),
    ("tree-sitter-bash", &["kernel"]),
    ("uuid", &["runtime"]),
];

/// Crates that are not shipped, so `cargo build` leaves them out.
const NOT_SHIPPED: &[&str] = &["testkit", "embed", "xtask"];

/// Packages that would bring I/O, tasks or a clock into the pure core: it may name only these.
const OF_KERNEL: &[&str] = &[
    "hmac",
    "jsonschema",
    "serde",
    "serde_json",
    "sha2",
    "thiserror",
    "toml",
    "tree-sitter",
    "tree-sitter-bash",
    "unicode-normalization",
];

/// Manifests that name what they may not, and crates that are not in the table.
pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let manifest = |path: &&str| {
        path.starts_with("crates/") || path.starts_with("examples/") || *path == "xtask/Cargo.toml"
    };
    for (path, text) in tree.texts("/Cargo.toml").filter(|(path, _)| manifest(path)) {
        match text.parse::<Table>() {
            Ok(table) => findings.extend(of_manifest(path, &table)),
            Err(error) => findings.push(Finding::new(path, 0, error.to_string())),
        }
    }
    findings.extend(of_workspace(tree.text("Cargo.toml").unwrap_or_default()));
    findings
}

/// What is built when nothing is asked for is what is shipped.
fn of_workspace(manifest: &str) -> Vec<Finding> {
    let table: Table = manifest.parse().unwrap_or_default();
    let members = table.get("workspace").and_then(|workspace| workspace.get("default-members"));
    let members: BTreeSet<&str> = members
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|member| member.as_str()?.strip_prefix("crates/"))
        .collect();
    let shipped = LAYERS.iter().map(|(name, _)| *name).filter(|name| !NOT_SHIPPED.contains(name));
    if members.is_empty() || members == shipped.collect() {
        return Vec::new();
    }
    vec![Finding::new("Cargo.toml", 0, "`default-members` are not the crates that are shipped")]
}

fn of_manifest(path: &str, table: &Table) -> Vec<Finding> {
    let own = house(path);
    let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == own) else {
        return vec![Finding::new(path, 0, format!("{own} is not in the table of layers"))];
    };
    let mut findings = Vec::new();
    for (name, for_tests) in dependencies(table) {
        let what = match name.strip_prefix("mast-") {
            Some(ours) if allowed.contains(&ours) || for_tests && ours == FOR_TESTS => continue,
            Some(ours) => format!("{own} may not use {ours}"),
            None if for_tests || may_name(own, &name) => continue,
            None => format!("{own} may not use the package {name}"),
        };
        findings.push(Finding::new(path, 0, what));
    }
    findings
}

fn may_name(own: &str, package: &str) -> bool {
    if own == "kernel" {
        return OF_KERNEL.contains(&package);
    }
    JOBS.iter().find(|(name, _)| *name == package).is_none_or(|(_, houses)| houses.contains(&own))
}

/// The packages that a manifest names, each with whether it is for tests only.
fn dependencies(manifest: &Table) -> BTreeSet<(String, bool)> {
    let mut found = BTreeSet::new();
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets.into_iter().flat_map(|targets| targets.values().filter_map(Value::as_table));
    for table in std::iter::once(manifest).chain(tables) {
        for (kind, for_tests) in
            [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)]
        {
            let entries = table.get(kind).and_then(Value::as_table).into_iter().flatten();
            found.extend(entries.map(|(key, value)| {
                let renamed = value.get("package").and_then(Value::as_str);
                (renamed.unwrap_or(key).to_owned(), for_tests)
            }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{finds, holds};
    use expect_test::expect;

    #[test]
    fn the_manifests_keep_to_the_layers() {
        holds(findings);
        let manifests =
            Tree::ours().texts("/Cargo.toml").map(|(path, _)| house(path)).collect::<BTreeSet<_>>();
        for (name, _) in LAYERS {
            assert!(manifests.contains(name), "{name} is in the table of layers, and there is no such crate");
        }
    }

    #[test]
    fn a_manifest_that_reaches_too_far_is_seen() {
        finds(
            findings,
            &[
                (
                    "crates/tools/Cargo.toml",
                    "[dependencies]\nmast-store.workspace = true\nserde = \"1\"\nmast-testkit = {}",
                ),
                (
                    "crates/runtime/Cargo.toml",
                    "[dependencies]\nmast-tools = {}\n[dev-dependencies]\nmast-testkit = {}",
                ),
                (
                    "crates/kernel/Cargo.toml",
                    "[dependencies]\ntokio = \"1\"\n[dev-dependencies]\ntokio = \"1\"",
                ),
                (
                    "crates/server/Cargo.toml",
                    "[target.'cfg(unix)'.dependencies]\ndb = { package = \"sqlx\" }",
                ),
                ("crates/core/Cargo.toml", ""),
                ("Cargo.toml", "[workspace]\ndefault-members = [\"crates/kernel\", \"crates/testkit\"]"),
            ],
            expect![[r#"
                crates/core/Cargo.toml:0: core is not in the table of layers
                crates/kernel/Cargo.toml:0: kernel may not use the package tokio
                crates/server/Cargo.toml:0: server may not use the package sqlx
                crates/tools/Cargo.toml:0: tools may not use store
                crates/tools/Cargo.toml:0: tools may not use testkit
                Cargo.toml:0: `default-members` are not the crates that are shipped
            "#]],
        );
    }
}
