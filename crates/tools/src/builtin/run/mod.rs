//! Tools with which a model says something of its own run.

mod assert;

use std::sync::Arc;

pub use assert::Assert;

use crate::tool::Tool;

/// The tools of this domain.
#[must_use]
pub fn tools() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Assert)]
}
