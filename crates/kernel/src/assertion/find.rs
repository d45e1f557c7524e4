//! What a text says was done, by phrases.

use super::{Assertion, AssertionKind};

/// The assertions of a text, in their order.
#[must_use]
pub fn find(text: &str) -> Vec<Assertion> {
    let lower = text.to_ascii_lowercase();
    let said = ["tests pass", "tests passed", "tests are passing"];
    let found = said.iter().filter_map(|phrase| {
        let at = lower.find(phrase)?;
        Some(Assertion {
            kind: AssertionKind::TestsPassed,
            subject: None,
            span: Some(at..at + phrase.len()),
            is_structured: false,
        })
    });
    found.collect()
}
