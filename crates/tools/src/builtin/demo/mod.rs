//! Tools that rehearse what others do for real.

mod external_write;

use std::sync::Arc;

pub use external_write::ExternalWrite;

use crate::tool::Tool;

/// The tools of this domain.
#[must_use]
pub fn tools() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(ExternalWrite)]
}
