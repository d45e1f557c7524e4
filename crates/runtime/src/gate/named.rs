//! Gate steps 0, 1 and 4: from the name and the raw text of a call to a tool and its arguments.

use std::sync::Arc;

use mast_kernel::canonical::{Canonical, NotJson, parse_strict};
use mast_kernel::name::{nearest, provider_safe};
use mast_kernel::registry::Registered;
use mast_kernel::schema;
use mast_kernel::spec::Alias;
use mast_tools::Tool;
use serde_json::{Map, Value};

use super::{Ending, Gate, Proposal, Stop};
use crate::runtime::Runtime;

/// The control tool that reaches another by name.
const TOOL_CALL: &str = "tool.call";

/// A call's name and arguments, once `tool.call` is unwrapped.
#[derive(Debug)]
pub(super) struct Named {
    name: String,
    arguments: Result<Value, NotJson>,
}

/// A registered tool and its body.
#[derive(Debug, Clone)]
pub(super) struct Found<'a> {
    pub(super) registered: &'a Registered,
    pub(super) alias: Option<&'a Alias>,
    pub(super) body: &'a Arc<dyn Tool>,
}

/// The tool that a call reaches and the arguments that it gets there, however it is wrapped or named: by
/// this a repetition is told. What reaches no tool is told by its name and its text.
pub(crate) fn reached(runtime: &Runtime, name: &str, arguments: &str) -> (String, Value) {
    let as_sent = || (name.to_owned(), Value::String(arguments.to_owned()));
    let Ok(Named { name, arguments: Ok(mut arguments) }) = unwrap_text(name, arguments) else {
        return as_sent();
    };
    let Some(resolved) = runtime.toolbox().registry().resolve_call(&name, &arguments) else {
        return (name, arguments);
    };
    if let Some(alias) = resolved.alias {
        alias.rename(&mut arguments);
    }
    schema::apply_defaults(&resolved.tool.spec.input_schema, &mut arguments);
    (resolved.tool.spec.name.clone(), arguments)
}

/// Step 0. What `tool.call` names is judged as if it had been called by its own name.
pub(super) fn unwrap(proposal: &Proposal) -> Result<Named, Stop> {
    unwrap_text(&proposal.name, &proposal.arguments)
}

fn unwrap_text(name: &str, arguments: &str) -> Result<Named, Stop> {
    let arguments = match arguments.trim() {
        // A model that calls a tool without arguments often sends no text at all.
        "" => Ok(Value::Object(Map::new())),
        text => parse_strict(text),
    };
    if name != TOOL_CALL && name != provider_safe(TOOL_CALL) {
        return Ok(Named { name: name.to_owned(), arguments });
    }
    let inner = arguments.ok().and_then(|mut wrapper| {
        let fields = wrapper.as_object_mut()?;
        let name = fields.remove("name")?.as_str()?.to_owned();
        let arguments = fields.remove("arguments").unwrap_or_else(|| Value::Object(Map::new()));
        let exact = fields.is_empty() && arguments.is_object() && name != TOOL_CALL;
        exact.then_some(Named { name, arguments: Ok(arguments) })
    });
    inner.ok_or_else(|| Ending::denied("tool.not_found.not_offered").into())
}

impl Gate<'_> {
    /// Step 1. The tool that is registered under this name, an alias or a provider-safe name.
    pub(super) fn find(&self, named: &Named) -> Result<Found<'_>, Stop> {
        let toolbox = self.runtime.toolbox();
        let arguments = named.arguments.as_ref().unwrap_or(&Value::Null);
        let found = toolbox.registry().resolve_call(&named.name, arguments).and_then(|resolved| {
            let spec = &resolved.tool.spec;
            let body = toolbox.body(&spec.name, &spec.version)?;
            Some(Found { registered: resolved.tool, alias: resolved.alias, body })
        });
        found.ok_or_else(|| self.unknown(&named.name).into())
    }

    /// The refusal of a name that no tool has, with the nearest names that were offered.
    fn unknown(&self, wanted: &str) -> Ending {
        let ending = Ending::denied("policy.matrix.unknown_tool");
        let offered = self.frame.contract.tools.iter().map(String::as_str);
        let near = nearest(wanted, offered);
        if near.is_empty() {
            return ending;
        }
        let names: Vec<String> = near.into_iter().map(provider_safe).collect();
        ending.hint(format!("Nearest offered tools: {}", names.join(", ")))
    }
}

/// Step 4. Gives the arguments the tool's own names, applies defaults, validates. The answer is their one
/// spelling.
pub(super) fn validate(named: Named, tool: &Found<'_>) -> Result<Canonical, Stop> {
    let spec = &tool.registered.spec;
    let mut arguments = named.arguments.map_err(|error| {
        let ending = Ending::failed("tool.invalid_arguments.json").detail(error.to_string());
        with_schema(ending, &spec.input_schema)
    })?;
    if let Some(alias) = tool.alias {
        alias.rename(&mut arguments);
    }
    tool.registered.arguments(arguments).map_err(|fault| {
        let ending = Ending::failed(tool.registered.code_for(&fault)).detail(fault.to_string());
        with_schema(ending, &spec.input_schema).into()
    })
}

/// The schema as it was offered, so that the model can correct itself; nothing of its input.
fn with_schema(ending: Ending, schema: &Value) -> Ending {
    ending.hint(format!("The arguments must be one JSON object that fits this schema: {schema}"))
}
