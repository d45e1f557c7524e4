//! The registry together with the bodies: what can be looked up, and what then runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use mast_kernel::registry::{Refusal, Registry};

use crate::tool::Tool;

/// A set of tools that may not start.
#[derive(Debug, thiserror::Error)]
#[error("the tools cannot be registered: {0}")]
pub struct ToolboxRefused(#[from] Refusal);

/// Tools by name and version, all of them registered.
#[derive(Debug)]
pub struct Toolbox {
    registry: Registry,
    bodies: BTreeMap<(String, String), Arc<dyn Tool>>,
}

impl Toolbox {
    /// Registers the tools.
    ///
    /// # Errors
    ///
    /// [`ToolboxRefused`] with the first of the registration faults; see `docs/spec/registry.md`.
    pub fn new(tools: &[Arc<dyn Tool>]) -> Result<Self, ToolboxRefused> {
        let specs = tools.iter().map(|tool| tool.spec());
        let registry = Registry::build(specs.clone().collect())?;
        let named = specs.zip(tools).map(|(spec, tool)| ((spec.name, spec.version), Arc::clone(tool)));
        Ok(Self { registry, bodies: named.collect() })
    }

    /// Mast's own tools.
    ///
    /// # Errors
    ///
    /// None with the builtins as they are: a test holds that.
    pub fn builtin() -> Result<Self, ToolboxRefused> {
        Self::new(&crate::builtin::all())
    }

    /// What can be looked up.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The body of exactly this tool.
    #[must_use]
    pub fn body(&self, name: &str, version: &str) -> Option<&Arc<dyn Tool>> {
        self.bodies.get(&(name.to_owned(), version.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gate_builtin_registration() {
        let toolbox = Toolbox::builtin().unwrap();
        let names: Vec<_> = toolbox.registry().latest().map(|tool| tool.spec.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "demo.external_write",
                "math.calculate",
                "run.assert",
                "system.current_time",
                "workspace.list_files",
                "workspace.read_lines",
                "workspace.read_text",
                "workspace.write_text"
            ]
        );
        for tool in toolbox.registry().latest() {
            let body = toolbox.body(&tool.spec.name, &tool.spec.version).unwrap();
            assert_eq!(body.spec(), tool.spec);
        }
    }
}
