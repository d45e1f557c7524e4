//! A bound that nothing enforces is not one: each constant of `kernel::limits` is used by product code
//! outside that file.

use super::Finding;
use super::token::starts;
use super::tree::Tree;

const LIMITS: &str = "crates/kernel/src/limits.rs";

/// Bounds that no product code names.
pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let Some(limits) = tree.rust().find(|rust| rust.path == LIMITS) else {
        return vec![Finding::new(LIMITS, 0, "there is none")];
    };
    let list = &limits.tokens;
    let bounds = (0..list.len()).filter(|at| !list[*at].test && starts(list, *at, "const"));
    let used = |name: &str| {
        tree.rust()
            .filter(|rust| rust.is_product() && rust.path != LIMITS)
            .any(|rust| rust.tokens.iter().any(|token| !token.test && !token.literal && token.text == name))
    };
    bounds
        .filter(|at| !used(&list[at + 1].text))
        .map(|at| Finding::new(LIMITS, list[at].line, format!("nothing enforces {}", list[at + 1].text)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{finds, holds};
    use expect_test::expect;

    #[test]
    fn every_bound_is_enforced() {
        holds(findings);
    }

    #[test]
    fn a_bound_that_nothing_enforces_is_seen() {
        finds(
            findings,
            &[
                (
                    LIMITS,
                    "pub const A_MAX: u32 = 1;\npub const B_MAX: u32 = 2;\npub const C_MAX: u32 = A_MAX;",
                ),
                (
                    "crates/a/src/b.rs",
                    "/// C_MAX\nfn f() { limits::A_MAX; }\n#[cfg(test)] mod tests { fn g() { B_MAX; } }",
                ),
            ],
            expect![[r#"
                crates/kernel/src/limits.rs:2: nothing enforces B_MAX
                crates/kernel/src/limits.rs:3: nothing enforces C_MAX
            "#]],
        );
    }
}
