//! Scopes: what a credential may do. Exact strings, compared whole: no wildcard, no hierarchy, no
//! prefix, because every clever comparison has granted too much somewhere.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// One exact scope, such as `workspace.read`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scope(String);

/// A set of scopes, in a fixed order.
pub type Scopes = BTreeSet<Scope>;

impl Scope {
    /// The scope with this name, if it has two or more segments of lower-case letters, digits and
    /// underscores, each beginning with a letter.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        crate::name::is_dotted(text).then(|| Self(text.to_owned()))
    }

    /// The scope as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The scopes that the local person holds: everything of the platform, nothing of any server.
pub const PLATFORM: &[&str] = &[
    "session.read",
    "session.write",
    "run.read",
    "run.write",
    "run.cancel",
    "approval.read",
    "approval.resolve",
    "artifact.read",
    "artifact.write",
    "workspace.read",
    "workspace.write",
    "sandbox.execute",
    "demo.write",
];

/// [`PLATFORM`] as a set.
#[must_use]
pub fn platform() -> Scopes {
    PLATFORM.iter().filter_map(|text| Scope::parse(text)).collect()
}

/// What is required and not held, in order.
#[must_use]
pub fn missing(required: &[Scope], held: &Scopes) -> Vec<Scope> {
    let lacking: BTreeSet<&Scope> = required.iter().filter(|scope| !held.contains(*scope)).collect();
    lacking.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_scope_counts() {
        let held = [Scope::parse("workspace.read").unwrap()].into();
        let need = |text: &str| missing(&[Scope::parse(text).unwrap()], &held).len();
        assert_eq!(need("workspace.read"), 0);
        assert_eq!(need("workspace.write"), 1);
        assert_eq!(need("workspace.read.deep"), 1);
        assert_eq!(Scope::parse("workspace.*"), None);
        assert_eq!(Scope::parse("workspace"), None);
    }

    #[test]
    fn every_platform_scope_is_one() {
        assert_eq!(platform().len(), PLATFORM.len());
    }
}
