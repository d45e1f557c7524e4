//! Tools that tell what the platform knows of itself.

mod current_time;
pub mod zone;

use std::sync::Arc;

pub use current_time::CurrentTime;

use crate::tool::Tool;

/// The tools of this domain.
#[must_use]
pub fn tools() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(CurrentTime)]
}
