//! Props: tools that stand in for kinds of effect, and for ways out, that have no tool yet. Their bodies
//! reach nothing but a [`Scene`], and write down there what they really did: an effect is counted by what
//! the body wrote, not by what the journal says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::resource::Resource;
use mast_kernel::spec::{Egress, Idempotency, SideEffect, ToolSpec};
use mast_kernel::trust::{Label, Sensitivity, Trust};
use mast_tools::{Context, Failure, Output, Tool};
use serde_json::{Map, Value, json};

use crate::probe::Probe;

/// What a prop's body does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Gives what lies ready for it.
    Gives,
    /// Writes down what it was told to do.
    Acts,
    /// Both: a page is got by sending its address out.
    Fetches,
}

/// One prop as a line of the table.
struct Line {
    name: &'static str,
    effect: SideEffect,
    arguments: &'static [&'static str],
    does: Does,
    label: (Trust, Sensitivity),
    egress: Egress,
}

const fn line(
    name: &'static str,
    effect: SideEffect,
    arguments: &'static [&'static str],
    does: Does,
) -> Line {
    let label = (Trust::ExternalUntrusted, Sensitivity::Private);
    Line { name, effect, arguments, does, label, egress: Egress::None }
}

const fn gives(name: &'static str, effect: SideEffect, arguments: &'static [&'static str]) -> Line {
    line(name, effect, arguments, Does::Gives)
}

const fn acts(name: &'static str, effect: SideEffect, arguments: &'static [&'static str]) -> Line {
    Line { label: (Trust::InternalTool, Sensitivity::Private), ..line(name, effect, arguments, Does::Acts) }
}

const fn sends(name: &'static str, effect: SideEffect, arguments: &'static [&'static str]) -> Line {
    Line { egress: Egress::Composed, ..acts(name, effect, arguments) }
}

/// Every prop: one for each side effect, and the reads that texts of others come in by.
const LINES: &[Line] = {
    use SideEffect as Effect;
    let public = (Trust::ExternalUntrusted, Sensitivity::Public);
    &[
        gives("workspace.read_text", Effect::WorkspaceRead, &["path"]),
        gives("workspace.list_files", Effect::WorkspaceRead, &["path"]),
        gives("email.read", Effect::None, &["id"]),
        Line { label: public, ..gives("app.describe", Effect::None, &["name"]) },
        Line {
            label: (Trust::Memory, Sensitivity::Private),
            ..gives("memory.search", Effect::None, &["query"])
        },
        Line { does: Does::Fetches, label: public, ..sends("web.fetch", Effect::NetworkRead, &["url"]) },
        acts("memory.remember", Effect::None, &["text"]),
        acts("workspace.write_text", Effect::WorkspaceWrite, &["content", "path"]),
        acts("sandbox.shell", Effect::CodeExecution, &["command"]),
        sends("email.send", Effect::ExternalMessage, &["to", "body"]),
        sends("app.record_write", Effect::ExternalWrite, &["record", "content"]),
        acts("app.record_delete", Effect::ExternalDelete, &["record"]),
        sends("app.publish", Effect::Publication, &["body"]),
        acts("app.pay", Effect::Financial, &["to", "amount"]),
        acts("sandbox.install", Effect::PackageInstall, &["name"]),
        sends("sandbox.open_network", Effect::SandboxNetwork, &["host"]),
        acts("vault.reveal", Effect::CredentialAccess, &["name"]),
        acts("host.run", Effect::HostAccess, &["command"]),
        acts("admin.change", Effect::Privileged, &["setting"]),
    ]
};

/// What lies ready for a reading prop.
#[derive(Debug, Clone)]
pub struct Ready {
    /// The text.
    pub text: String,
    /// Whether the call fails, and the text is what was said outside.
    pub fails: bool,
    /// The label that was stored with the text, where it is worse than the prop's.
    pub label: Option<Label>,
}

/// What a body did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The prop.
    pub tool: &'static str,
    /// Its class.
    pub effect: SideEffect,
    /// The arguments that it acted on, joined by blanks: the body of a message, a whole address.
    pub carried: String,
}

/// What the props act on.
#[derive(Debug, Default)]
pub struct Scene {
    ready: Mutex<BTreeMap<String, Ready>>,
    traces: Mutex<Vec<Trace>>,
}

impl Scene {
    /// Lays a text ready for the prop `tool` and the argument `key`.
    ///
    /// # Panics
    ///
    /// When a test panicked while it held the scene.
    pub fn lay(&self, tool: &str, key: &str, ready: Ready) {
        self.ready.lock().expect("nobody panicked here").insert(format!("{tool} {key}"), ready);
    }

    /// Takes everything away, and forgets what was done.
    ///
    /// # Panics
    ///
    /// When a test panicked while it held the scene.
    pub fn clear(&self) {
        self.ready.lock().expect("nobody panicked here").clear();
        self.traces.lock().expect("nobody panicked here").clear();
    }

    /// What the bodies did, oldest first.
    ///
    /// # Panics
    ///
    /// When a test panicked while it held the scene.
    #[must_use]
    pub fn traces(&self) -> Vec<Trace> {
        self.traces.lock().expect("nobody panicked here").clone()
    }

    fn find(&self, tool: &str, key: &str) -> Option<Ready> {
        self.ready.lock().expect("nobody panicked here").get(&format!("{tool} {key}")).cloned()
    }

    /// Every prop, on this scene.
    #[must_use]
    pub fn props(self: &Arc<Self>) -> Vec<Arc<dyn Tool>> {
        LINES.iter().map(|line| Arc::new(Prop { line, scene: Arc::clone(self) }) as Arc<dyn Tool>).collect()
    }
}

/// One prop.
struct Prop {
    line: &'static Line,
    scene: Arc<Scene>,
}

impl std::fmt::Debug for Prop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prop").field("name", &self.line.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl Tool for Prop {
    fn spec(&self) -> ToolSpec {
        let Line { name, effect, arguments, does, label, egress } = self.line;
        let properties: Map<String, Value> =
            arguments.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let acts = *does == Does::Acts;
        let idempotency = if acts { Idempotency::NonIdempotent } else { Idempotency::ReadOnly };
        ToolSpec {
            description: format!("Stands in for {name}."),
            input_schema: json!({
                "type": "object", "properties": properties, "required": arguments, "additionalProperties": false
            }),
            idempotency,
            allow_parallel: !acts,
            maximum_output_bytes: 262_144,
            output_trust: label.0,
            output_sensitivity: label.1,
            egress: *egress,
            ..Probe::new(name, *effect).spec
        }
    }

    fn resources(&self, arguments: &Value) -> Result<Vec<Resource>, Failure> {
        let first = arguments[self.line.arguments[0]].as_str().unwrap_or_default().to_owned();
        let path = arguments["path"].as_str().unwrap_or_default().to_owned();
        Ok(match self.line.effect {
            SideEffect::WorkspaceRead | SideEffect::WorkspaceWrite => {
                if path.starts_with(['/', '~']) || path.split('/').any(|part| part == "..") {
                    let code = "tool.invalid_arguments.schema";
                    return Err(Failure::invalid_arguments(code, "it leaves the workspace"));
                }
                vec![Resource::Path { path, write: self.line.effect == SideEffect::WorkspaceWrite }]
            }
            SideEffect::NetworkRead => vec![Resource::Host { host: host(&first), handle: false }],
            SideEffect::CodeExecution => {
                let words = first.split_whitespace().map(str::to_owned).collect();
                vec![Resource::Command { words, exact: true }]
            }
            SideEffect::None => Vec::new(),
            _ => vec![Resource::Record { system: self.line.name.to_owned(), record: first }],
        })
    }

    async fn run(&self, permit: Claimed<Permit>, context: &Context) -> Result<Output, Failure> {
        let Line { name, effect, arguments, does, .. } = *self.line;
        let given = permit.arguments().value();
        let given: Vec<&str> =
            arguments.iter().map(|argument| given[*argument].as_str().unwrap_or_default()).collect();
        if does != Does::Gives {
            if does == Does::Acts {
                context.mark_effect_sent().await?;
            }
            let trace = Trace { tool: name, effect, carried: given.join(" ") };
            self.scene.traces.lock().expect("nobody panicked here").push(trace);
        }
        if does == Does::Acts {
            return Ok(Output::new("done", json!({ "text": "done" })));
        }
        let nothing = || Ready { text: "nothing is there".to_owned(), fails: false, label: None };
        let Ready { text, fails, label } = self.scene.find(name, given[0]).unwrap_or_else(nothing);
        if fails {
            return Err(Failure {
                external_text: Some(text),
                ..Failure::internal("a prop was told to fail")
            });
        }
        Ok(Output { label, ..Output::new(text, json!({ "text": "" })) })
    }
}

/// The host of an address, whatever else stands in it.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    host.split(':').next().unwrap_or_default().to_ascii_lowercase()
}
