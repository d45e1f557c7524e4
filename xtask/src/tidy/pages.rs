//! What documents and code point at is there: the page that a comment cites, the file that a link
//! leads to, the files that are generated.

use super::Finding;
use super::tree::Tree;
use crate::bless::GENERATED;

/// Where the pages are that state what Mast does.
const SPEC: &str = "docs/spec/";

/// Citations, links and generated files that lead nowhere.
pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for ending in [".rs", ".md", ".toml"] {
        for (path, text) in tree.texts(ending) {
            findings.extend(of_citations(tree, path, text));
        }
    }
    for (path, text) in tree.texts(".md") {
        findings.extend(of_links(tree, path, text));
    }
    findings
}

fn of_citations(tree: &Tree, path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (start, _) in line.match_indices(SPEC) {
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
            let rest =
                line.get(start..).and_then(|rest| rest.split(|c| !is_name(c)).next()).unwrap_or_default();
            let page = rest.trim_end_matches('.');
            if page.ends_with(".md") && !tree.has(page) {
                findings.push(Finding::new(
                    path,
                    number + 1,
                    format!("there is no page {}", page.trim_start_matches(SPEC)),
                ));
            }
        }
    }
    findings
}

fn of_links(tree: &Tree, path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_code = false;
    for (number, line) in text.lines().enumerate() {
        in_code ^= line.trim_start().starts_with("```");
        for target in targets(line).filter(|_| !in_code) {
            let file = target.split('#').next().unwrap_or_default();
            let outside = target.contains("://") || target.starts_with("mailto:");
            if outside || file.is_empty() {
                continue;
            }
            if resolve(path, file).is_none_or(|resolved| !tree.has(&resolved)) {
                findings.push(Finding::new(path, number + 1, format!("the link to {target} leads nowhere")));
            }
        }
    }
    findings
}

/// The targets of the links of a line, code left out.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split('`')
        .step_by(2)
        .flat_map(|prose| prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()))
}

/// A relative target as a path from the root; none if it leaves the repository.
fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{finds, holds};
    use expect_test::expect;

    #[test]
    fn citations_and_links_lead_somewhere() {
        holds(findings);
    }

    #[test]
    fn generated_files_are_there() {
        for generated in GENERATED {
            assert!(Tree::ours().has(generated.file), "{}: run `cargo xtask bless`", generated.file);
        }
    }

    #[test]
    fn a_dead_end_is_seen() {
        let page = |name: &str| format!("{SPEC}{name}");
        let cites = format!("//! See `{}`.\n// {}, or {}.\n", page("a.md"), page("lost.md"), page("a.md"));
        finds(
            findings,
            &[
                ("crates/a/src/lib.rs", &cites),
                (&page("a.md"), "[up](../guide.md) [here](#a) [web](https://x.y/z) [folder](../../crates/a)"),
                (
                    "docs/guide.md",
                    "[gone](spec/b.md#part) `[code](x.md)`\n```\n[code](y.md)\n```\n[out](../../z.md)",
                ),
            ],
            expect![[r#"
                crates/a/src/lib.rs:2: there is no page lost.md
                docs/guide.md:1: the link to spec/b.md#part leads nowhere
                docs/guide.md:5: the link to ../../z.md leads nowhere
            "#]],
        );
    }
}
