//! No test is forgotten, ignored or asleep, and nothing is left for later in the code.
//!
//! Integration tests of a crate are one binary, `tests/it/main.rs`: each further binary links the
//! whole product again. The price is that a file which no `mod` names is never compiled, so that is
//! looked for.

use std::collections::BTreeSet;

use super::Finding;
use super::token::{Token, starts};
use super::tree::{Rust, Tree, house};

/// Tokens that no code of ours has, tests included.
const NOWHERE: &[(&str, &str)] = &[
    ("todo !", "nothing is left for later"),
    ("unimplemented !", "nothing is left for later"),
    ("# [ ignore", "a test runs, or is removed"),
    ("thread :: sleep (", "a test waits for an event or moves a manual clock"),
];

/// Test files and code that is not as it should be.
pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rust in tree.rust() {
        findings.extend(of_tokens(rust));
        findings.extend(of_documentation(rust));
    }
    findings.extend(forgotten(tree));
    findings.extend(unknown_folders(tree));
    findings.extend(unknown_fuzzers(tree));
    findings
}

fn of_tokens(rust: &Rust) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, token) in rust.tokens.iter().enumerate() {
        for (tokens, why) in NOWHERE.iter().filter(|(tokens, _)| starts(&rust.tokens, at, tokens)) {
            findings.push(Finding::new(
                &rust.path,
                token.line,
                format!("`{}`: {why}", tokens.replace(' ', "")),
            ));
        }
        if token.test && starts(&rust.tokens, at, "sleep (") {
            findings.push(Finding::new(&rust.path, token.line, "a test sleeps: wait for an event instead"));
        }
        if starts(&rust.tokens, at, "allow (") && in_attribute(&rust.tokens, at) {
            let what = "`allow`: write `expect` with a reason, which ends when it is no longer needed";
            findings.push(Finding::new(&rust.path, token.line, what));
        }
    }
    findings
}

/// Whether a place is inside the brackets of `#[…]` or `#![…]`, however deep.
fn in_attribute(list: &[Token], at: usize) -> bool {
    // Going back, the first token that is nested less deeply is the bracket around this one.
    let Some(open) = (0..at).rev().find(|place| list[*place].depth < list[at].depth) else { return false };
    let before = |back: usize| open.checked_sub(back).map_or("", |place| list[place].text.as_str());
    let is_attribute = before(1) == "#" || (before(1) == "!" && before(2) == "#");
    (list[open].text == "[" && is_attribute) || in_attribute(list, open)
}

/// Examples in the documentation run, too.
fn of_documentation(rust: &Rust) -> Vec<Finding> {
    let mut findings = Vec::new();
    for token in rust.tokens.iter().filter(|token| token.literal) {
        let fence = ["```", ","].iter().any(|mark| token.text.contains(&format!("{mark}{}", "ignore")));
        if fence && token.text.contains("```") {
            findings.push(Finding::new(
                &rust.path,
                token.line,
                "an example is ignored: let it run, or mark it as text",
            ));
        }
    }
    findings
}

/// Test files that no test binary contains.
fn forgotten(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in tree.paths().filter(|path| path.ends_with(".rs")) {
        let Some((home, below)) = path.split_once("/tests/") else { continue };
        let parts: Vec<&str> = below.trim_end_matches(".rs").split('/').collect();
        match parts.as_slice() {
            [_] => findings.push(Finding::new(
                path,
                0,
                "a second test binary: make it a module of tests/it/main.rs",
            )),
            ["it", "main"] => {}
            ["it", folders @ .., name] => {
                let parent = parent(tree, &format!("{home}/tests/it"), folders);
                let name = if *name == "mod" { folders.last().copied().unwrap_or(name) } else { name };
                if !parent.is_some_and(|parent| declares(tree, &parent, name)) {
                    findings.push(Finding::new(path, 0, "forgotten: no `mod` names it, so it never runs"));
                }
            }
            _ => {}
        }
    }
    findings
}

/// The file that must declare a module in these folders below `base`. For `a/mod.rs` that is the file
/// above `a`, which `declares` is asked with the folder's name.
fn parent(tree: &Tree, base: &str, folders: &[&str]) -> Option<String> {
    let Some((last, above)) = folders.split_last() else { return Some(format!("{base}/main.rs")) };
    let folder = above.iter().fold(base.to_owned(), |path, part| format!("{path}/{part}"));
    let candidates = [format!("{folder}/{last}.rs"), format!("{folder}/{last}/mod.rs")];
    candidates.into_iter().find(|path| tree.text(path).is_some())
}

fn declares(tree: &Tree, parent: &str, name: &str) -> bool {
    let module = format!("mod {name} ;");
    let own_name = parent.ends_with(&format!("/{name}/mod.rs"));
    own_name
        || tree.rust().any(|rust| {
            rust.path == parent && (0..rust.tokens.len()).any(|at| starts(&rust.tokens, at, &module))
        })
}

/// Folders of test data that no code of their crate mentions: data that proves nothing.
fn unknown_folders(tree: &Tree) -> Vec<Finding> {
    let mut folders = BTreeSet::new();
    for path in tree.paths() {
        if let Some((home, below)) = path.split_once("/tests/")
            && let Some((folder, _)) = below.split_once('/')
            && folder != "it"
        {
            folders.insert((home, folder));
        }
    }
    let used = |(home, folder): &(&str, &str)| {
        let mentions = |token: &Token| token.literal && token.text.contains(folder);
        tree.rust()
            .any(|rust| house(&rust.path) == house(&format!("{home}/")) && rust.tokens.iter().any(mentions))
    };
    let unused = folders.iter().filter(|folder| !used(folder));
    unused
        .map(|(home, folder)| {
            Finding::new(&format!("{home}/tests/{folder}"), 0, "no test of its crate mentions it")
        })
        .collect()
}

/// Fuzzers that their manifest does not name: cargo would never build them.
fn unknown_fuzzers(tree: &Tree) -> Vec<Finding> {
    let manifest = tree.text("fuzz/Cargo.toml").unwrap_or_default();
    let fuzzers = tree.paths().filter(|path| path.starts_with("fuzz/fuzz_targets/"));
    let unnamed = fuzzers.filter(|path| !manifest.contains(path.trim_start_matches("fuzz/")));
    unnamed.map(|path| Finding::new(path, 0, "no row of fuzz/Cargo.toml names it")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{finds, holds};
    use expect_test::expect;

    #[test]
    fn no_test_is_forgotten_ignored_or_asleep() {
        holds(findings);
    }

    #[test]
    fn a_forgotten_file_is_seen() {
        finds(
            findings,
            &[
                ("crates/a/tests/it/main.rs", "mod named; mod deep; mod old;"),
                ("crates/a/tests/it/named.rs", "const DATA: &str = \"tests/golden/x\";"),
                ("crates/a/tests/it/deep.rs", "mod one;"),
                ("crates/a/tests/it/deep/one.rs", ""),
                ("crates/a/tests/it/deep/two.rs", ""),
                ("crates/a/tests/it/old/mod.rs", "mod part;"),
                ("crates/a/tests/it/old/part.rs", ""),
                ("crates/a/tests/it/lost.rs", ""),
                ("crates/a/tests/other.rs", ""),
                ("crates/a/tests/golden/x", "1"),
                ("crates/a/tests/vectors/y", "2"),
                ("fuzz/Cargo.toml", "path = \"fuzz_targets/one.rs\""),
                ("fuzz/fuzz_targets/one.rs", ""),
                ("fuzz/fuzz_targets/two.rs", ""),
            ],
            expect![[r#"
                crates/a/tests/it/deep/two.rs:0: forgotten: no `mod` names it, so it never runs
                crates/a/tests/it/lost.rs:0: forgotten: no `mod` names it, so it never runs
                crates/a/tests/other.rs:0: a second test binary: make it a module of tests/it/main.rs
                crates/a/tests/vectors:0: no test of its crate mentions it
                fuzz/fuzz_targets/two.rs:0: no row of fuzz/Cargo.toml names it
            "#]],
        );
    }

    #[test]
    fn what_is_left_for_later_is_seen() {
        let ignored = format!("/// ```{}\n/// x\n/// ```\nfn documented() {{}}\n", "ignore");
        finds(
            findings,
            &[
                (
                    "crates/a/src/b.rs",
                    "#![allow(dead_code)]\n#[cfg_attr(test, allow(unused))]\nfn f() { policy.allow(x); todo!() }\n\
                     async fn back_off() { sleep(1).await }\n#[cfg(test)]\nmod tests {\n #[test]\n #[ignore]\n fn g() { sleep(1) }\n}",
                ),
                ("crates/a/src/c.rs", &ignored),
            ],
            expect![[r#"
                crates/a/src/b.rs:1: `allow`: write `expect` with a reason, which ends when it is no longer needed
                crates/a/src/b.rs:2: `allow`: write `expect` with a reason, which ends when it is no longer needed
                crates/a/src/b.rs:3: `todo!`: nothing is left for later
                crates/a/src/b.rs:8: `#[ignore`: a test runs, or is removed
                crates/a/src/b.rs:9: a test sleeps: wait for an event instead
                crates/a/src/c.rs:1: an example is ignored: let it run, or mark it as text
            "#]],
        );
    }
}
