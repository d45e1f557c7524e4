//! Mast's own tools: a folder for each domain, a file for each tool.

pub mod demo;
pub mod math;
pub mod run;
pub mod system;
pub mod workspace;

use std::sync::Arc;

use crate::tool::Tool;

/// Every builtin tool, by domain.
#[must_use]
pub fn all() -> Vec<Arc<dyn Tool>> {
    [demo::tools(), math::tools(), run::tools(), system::tools(), workspace::tools()].concat()
}
