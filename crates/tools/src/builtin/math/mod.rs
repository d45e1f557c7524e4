//! Tools that compute.

mod calculate;
pub mod expression;

use std::sync::Arc;

pub use calculate::Calculate;

use crate::tool::Tool;

/// The tools of this domain.
#[must_use]
pub fn tools() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Calculate)]
}
