//! Each invariant of ARCHITECTURE.md names a test that exists, or says plainly that there is none yet
//! and which part of the work brings it.

use super::Finding;
use super::token::starts;
use super::tree::Tree;

const PAGE: &str = "ARCHITECTURE.md";
const INVARIANTS: usize = 10;
/// How a row says that it has no test yet; a part follows.
const NOT_YET: &str = "not yet: ";
/// The parts of the work that may still bring a test.
const PARTS: &[&str] = &["the keel", "the judge", "the ledger", "the hands"];

/// Rows of the table of invariants that name no test.
pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(PAGE) else { return vec![Finding::new(PAGE, 0, "there is none")] };
    let mut findings = Vec::new();
    let mut expected = 1;
    for (number, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let Some(Ok(row)) = cells.first().map(|cell| cell.parse::<usize>()) else { continue };
        let finding = |what: String| Finding::new(PAGE, number + 1, what);
        if row != expected {
            findings.push(finding(format!("row {row} stands where row {expected} should")));
        }
        expected = row + 1;
        findings.extend(of_cell(tree, cells.last().copied().unwrap_or_default()).into_iter().map(finding));
    }
    if expected != INVARIANTS + 1 {
        findings.push(Finding::new(PAGE, 0, format!("{} invariants, there are {INVARIANTS}", expected - 1)));
    }
    findings
}

/// What is wrong with the cell that names the tests.
fn of_cell(tree: &Tree, cell: &str) -> Vec<String> {
    if let Some((_, part)) = cell.split_once(NOT_YET)
        && !PARTS.contains(&part.trim_matches(['*', ' ']))
    {
        return vec![format!("`{part}` is no part of the work")];
    }
    let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
    if names.is_empty() && !cell.contains(NOT_YET) {
        return vec!["names no test, and does not say `not yet: <part>`".to_owned()];
    }
    let missing = names.into_iter().filter(|name| !is_test(tree, name));
    missing.map(|name| format!("there is no test named `{name}`")).collect()
}

/// Whether test code has a function of this name.
fn is_test(tree: &Tree, name: &str) -> bool {
    let function = format!("fn {name} (");
    tree.rust().any(|rust| {
        (0..rust.tokens.len()).any(|at| rust.tokens[at].test && starts(&rust.tokens, at, &function))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{finds, holds};
    use expect_test::expect;

    #[test]
    fn every_invariant_names_its_test() {
        holds(findings);
    }

    #[test]
    fn a_test_that_does_not_exist_is_seen() {
        let mut page = "| n | never | test |\n|---|---|---|\n".to_owned();
        let cells =
            ["`real`", "`real`, `lost`", "`product`", "", "not yet: the judge", "not yet: later", "`real`"];
        for (place, cell) in cells.iter().enumerate() {
            page.push_str(&format!("| {} | text | {cell} |\n", place + 1));
        }
        page.push_str("| 9 | text | `real` |\n");
        finds(
            findings,
            &[
                (PAGE, &page),
                ("crates/a/src/b.rs", "fn product() {}\n#[cfg(test)] mod tests { #[test] fn real() {} }"),
            ],
            expect![[r#"
                ARCHITECTURE.md:4: there is no test named `lost`
                ARCHITECTURE.md:5: there is no test named `product`
                ARCHITECTURE.md:6: names no test, and does not say `not yet: <part>`
                ARCHITECTURE.md:8: `later` is no part of the work
                ARCHITECTURE.md:10: row 9 stands where row 8 should
                ARCHITECTURE.md:0: 9 invariants, there are 10
            "#]],
        );
    }
}
