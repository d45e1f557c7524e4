//! What a reviewer would otherwise have to look for, as tests.
//!
//! Each rule is a pure function from a [`Tree`] (paths and texts) to [`Finding`]s, in a file of its
//! own, with two tests: the repository has no finding, and a bad sample has exactly the expected
//! ones, so that no rule can pass because it looks at nothing. Rust is read as tokens and not as
//! lines, so that comments and strings are not mistaken for code; a full parser was not needed for
//! that, and would not look inside macros.
//!
//! | rule | holds |
//! |---|---|
//! | `layers` | who may use whom, and which package stands behind which crate |
//! | `banned` | effects only where the architecture puts them |
//! | `bounds` | every bound is enforced somewhere |
//! | `shape` | short functions, files, traits and records |
//! | `suites` | no test is forgotten, ignored or asleep |
//! | `pages` | what documents and code point at is there |
//! | `invariants` | each invariant names a test that exists |
//! | `portable` | nothing of one machine is written down |

mod banned;
mod bounds;
mod exceptions;
mod invariants;
mod layers;
mod pages;
mod portable;
mod shape;
mod suites;
mod token;
mod tree;

use std::fmt;

use tree::Tree;

/// One place that is against a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    file: String,
    /// From 1; 0 when the whole file is meant.
    line: usize,
    what: String,
}

impl Finding {
    fn new(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

fn lines(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}

/// The repository has no finding under this rule.
fn holds(rule: fn(&Tree) -> Vec<Finding>) {
    let findings = exceptions::without(rule(Tree::ours()));
    assert!(findings.is_empty(), "\n{}", lines(&findings));
}

/// A sample has exactly these findings.
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written where it is used")]
fn finds(rule: fn(&Tree) -> Vec<Finding>, sample: &[(&str, &str)], expected: expect_test::Expect) {
    expected.assert_eq(&lines(&rule(&Tree::of(sample))));
}
