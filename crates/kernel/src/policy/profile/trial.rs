//! A profile's own tests: a call in a few words, and what must be decided of it. Everything that is not
//! said speaks for the call (it was offered, every scope is held, a workspace is there, programs are
//! confined), so that a test is about the rules and not about the machine.

use serde_json::Value;

use super::fault::{ProfileFault, ProfileRefused};
use super::read::{COMMANDS, plain, words};
use super::table::{RULINGS, Table};
use crate::budget::Budget;
use crate::canonical::{Canonical, Digest};
use crate::id::{CallId, PrincipalId, RunId, SessionId, StoreId, TenantId};
use crate::instant::Instant;
use crate::name;
use crate::policy::{Authority, Case, Isolation, Past, Place, Policy, Ruling, Surroundings};
use crate::registry::{Registered, Registry};
use crate::resource::Resource;
use crate::run::{ApprovalMode, Mode, TurnContract};
use crate::shell;
use crate::spec::{Egress, Idempotency, SideEffect, TargetKind, ToolSource, ToolSpec};
use crate::trust::{Label, Sensitivity, SourceKind, Trust};

/// The tools that tests may name, and what their arguments would touch.
pub trait Roster {
    /// The declaration of a tool.
    fn spec(&self, tool: &str) -> Option<&ToolSpec>;

    /// What a call of it with these arguments would touch; none if it does not take them.
    fn resources(&self, tool: &str, arguments: &Value) -> Option<Vec<Resource>>;
}

/// No tools: every test says itself what its tool does.
#[derive(Debug, Clone, Copy)]
pub struct NoRoster;

impl Roster for NoRoster {
    fn spec(&self, _tool: &str) -> Option<&ToolSpec> {
        None
    }

    fn resources(&self, _tool: &str, _arguments: &Value) -> Option<Vec<Resource>> {
        None
    }
}

/// How a test ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// Its name, or the call in short.
    pub name: String,
    /// Its line.
    pub line: usize,
    /// What it expects.
    pub expected: Ruling,
    /// What is decided.
    pub found: Ruling,
}

impl Tested {
    /// Whether it passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.expected == self.found
    }
}

/// A call as a test names it.
#[derive(Debug, Clone, PartialEq)]
struct Sample {
    tool: Option<String>,
    effect: Option<SideEffect>,
    arguments: Option<Value>,
    resources: Vec<Resource>,
    line: usize,
}

/// One test.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trial {
    name: Option<String>,
    call: Sample,
    label: Label,
    mode: Mode,
    staged: bool,
    after: Vec<Sample>,
    expect: Ruling,
}

const CALL: &[&str] = &["tool", "effect", "arguments", "paths", "writes", "hosts", "commands"];
const TEST: &[&str] = &[
    "name",
    "tool",
    "effect",
    "arguments",
    "paths",
    "writes",
    "hosts",
    "commands",
    "origin",
    "sensitivity",
    "mode",
    "staged",
    "after",
    "expect",
];

/// The tool of a test that names only a side effect: one that a program which embeds Mast could have.
const ANY_TOOL: &str = "app.probe";

/// The tests of a file.
pub(super) fn read(top: &Table<'_>) -> Result<Vec<Trial>, ProfileRefused> {
    top.tables("tests", TEST)?.iter().map(trial).collect()
}

fn trial(table: &Table<'_>) -> Result<Trial, ProfileRefused> {
    let trust = |text: &str| Trust::ALL.into_iter().find(|trust| trust.as_str() == text);
    let trust = table.word("origin", "a trust, such as user or external_untrusted", trust)?;
    let found = |text: &str| Sensitivity::ALL.into_iter().find(|found| found.as_str() == text);
    let sensitivity = table.word("sensitivity", "public, private or secret", found)?;
    let expect = table.word("expect", RULINGS, Ruling::from_wire)?;
    Ok(Trial {
        name: table.word("name", "a text", |text| Some(text.to_owned()))?,
        call: sample(table)?,
        label: Label::new(
            trust.unwrap_or(Trust::User),
            sensitivity.unwrap_or(Sensitivity::Public),
            SourceKind::Caller,
        ),
        mode: table.word("mode", "act, plan or no_tools", Mode::from_wire)?.unwrap_or(Mode::Act),
        staged: table.switch("staged")?,
        after: table.tables("after", CALL)?.iter().map(sample).collect::<Result<_, _>>()?,
        expect: table.required("expect", expect)?,
    })
}

fn sample(table: &Table<'_>) -> Result<Sample, ProfileRefused> {
    let is_name = |text: &str| name::is_tool_name(text).then(|| text.to_owned());
    let tool = table.word("tool", "the full name of a tool", is_name)?;
    let effect = table.word("effect", "a side effect, such as external_write", SideEffect::from_wire)?;
    if tool.is_none() && effect.is_none() {
        return Err(table.refuse(ProfileFault::Missing { key: "tool or effect" }));
    }
    let text = |value: &toml::de::DeValue<'_>| value.as_str().map(str::to_owned);
    let mut resources = Vec::new();
    for (key, write) in [("paths", false), ("writes", true)] {
        let paths: Vec<String> = plain(table.list(key, "paths", text)?);
        resources.extend(paths.into_iter().map(|path| Resource::Path { path, write }));
    }
    let hosts: Vec<String> = plain(table.list("hosts", "hosts", text)?);
    resources.extend(hosts.into_iter().map(|host| Resource::Host { host, handle: true }));
    let commands: Vec<Vec<String>> = plain(table.list("commands", COMMANDS, words)?);
    // What a command runs is judged with it, as when a tool is asked to run it.
    resources.extend(commands.iter().flat_map(|words| shell::of_vector(words)));
    Ok(Sample { tool, effect, arguments: table.json("arguments"), resources, line: table.line })
}

impl Trial {
    pub(super) const fn line(&self) -> usize {
        self.call.line
    }

    /// What this policy decides of it.
    pub(super) fn run(&self, policy: &Policy, roster: &dyn Roster) -> Result<Tested, ProfileFault> {
        let spec = self.call.spec(roster)?;
        let tool = spec.name.clone();
        let resources = self.call.resources(&tool, roster)?;
        let mut history = Vec::new();
        for earlier in &self.after {
            let spec = earlier.spec(roster)?;
            let resources = earlier.resources(&spec.name, roster)?;
            history.push(Past { tool: spec.name, side_effect: spec.side_effect, resources });
        }
        let unknown = || ProfileFault::UnknownTool { tool: tool.clone() };
        let registry = Registry::build(vec![spec]).map_err(|_| unknown())?;
        let registered = registry.all().next().ok_or_else(unknown)?;
        let found = self.ruling(policy, registered, &resources, history)?;
        let short = || match &self.call.effect {
            Some(effect) if self.call.tool.is_none() => effect.to_string(),
            _ => tool.clone(),
        };
        let name = self.name.clone().unwrap_or_else(short);
        Ok(Tested { name, line: self.line(), expected: self.expect, found })
    }

    fn ruling(
        &self,
        policy: &Policy,
        tool: &Registered,
        resources: &[Resource],
        history: Vec<Past>,
    ) -> Result<Ruling, ProfileFault> {
        let name = &tool.spec.name;
        let given = self.call.arguments.clone().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        let refused = |_| ProfileFault::Arguments { tool: name.clone() };
        let arguments = Canonical::of(&given).map_err(refused)?;
        let authority = Authority {
            tenant: TenantId::from_u128(1),
            principal: PrincipalId::from_u128(1),
            scopes: tool.spec.required_scopes.iter().cloned().collect(),
        };
        let contract = TurnContract {
            tools: [name.clone()].into(),
            mode: self.mode,
            approval_mode: ApprovalMode::Park,
            budget: Budget::default(),
            required: crate::completion::Required::default(),
            workspace: None,
        };
        let surroundings = Surroundings {
            isolation: Isolation {
                files: true,
                processes: true,
                network: true,
                limits: true,
                weaker_mode: false,
            },
            hosts: resources.iter().filter_map(host_of).collect(),
            workspace: true,
            staged: self.staged,
            history: history.into(),
            grants: Vec::new(),
        };
        let place = Place {
            store: StoreId::from_u128(1),
            session: SessionId::from_u128(1),
            run: RunId::from_u128(1),
            call: CallId::from_u128(1),
        };
        let findings = policy.examine(&Case {
            place,
            tool,
            arguments: &arguments,
            resources,
            authority: &authority,
            contract: &contract,
            label: self.label,
            surroundings: &surroundings,
            idempotency_key: Digest::of(name.as_bytes()),
            now: Instant::from_micros(0),
        });
        Ok(findings.iter().map(|finding| finding.ruling).max().unwrap_or(Ruling::Deny))
    }
}

fn host_of(resource: &Resource) -> Option<String> {
    match resource {
        Resource::Host { host, handle: _ } => Some(host.clone()),
        Resource::Path { .. }
        | Resource::Record { .. }
        | Resource::Command { .. }
        | Resource::Redirect { .. } => None,
    }
}

impl Sample {
    /// The declaration that is judged: that of the roster, unless the test says what the tool does.
    fn spec(&self, roster: &dyn Roster) -> Result<ToolSpec, ProfileFault> {
        let name = self.tool.as_deref().unwrap_or(ANY_TOOL);
        match (roster.spec(name), self.effect) {
            (Some(known), None) => Ok(known.clone()),
            (_, Some(effect)) => Ok(made_up(name, effect)),
            (None, None) => Err(ProfileFault::UnknownTool { tool: name.to_owned() }),
        }
    }

    fn resources(&self, tool: &str, roster: &dyn Roster) -> Result<Vec<Resource>, ProfileFault> {
        let mut resources = self.resources.clone();
        if let Some(arguments) = &self.arguments {
            let refused = || ProfileFault::Arguments { tool: tool.to_owned() };
            resources.extend(roster.resources(tool, arguments).ok_or_else(refused)?);
        }
        Ok(resources)
    }
}

/// A tool of this name that does what the test says.
fn made_up(name: &str, effect: SideEffect) -> ToolSpec {
    let any = serde_json::json!({"type": "object", "properties": {}, "additionalProperties": false});
    let mut spec = ToolSpec::pure(name, "A tool of a test.", any.clone(), any);
    spec.side_effect = effect;
    spec.output_trust = Trust::ExternalUntrusted;
    if !effect.is_read() {
        spec.idempotency = Idempotency::NonIdempotent;
        spec.allow_parallel = false;
    }
    if sends(effect) {
        spec.egress = Egress::Composed;
    }
    let mut segments = name.split('.');
    match (segments.next(), segments.next()) {
        (Some("mcp"), Some(server)) => {
            spec.source = ToolSource::Mcp;
            spec.target_kind = TargetKind::McpServer;
            spec.server_id = Some(server.to_owned());
        }
        (Some("device"), _) => {
            spec.source = ToolSource::Device;
            spec.target_kind = TargetKind::Device;
        }
        _ => {}
    }
    spec
}

/// Whether such a tool carries text of the model's making away.
const fn sends(effect: SideEffect) -> bool {
    match effect {
        SideEffect::SandboxNetwork
        | SideEffect::ExternalMessage
        | SideEffect::ExternalWrite
        | SideEffect::ExternalDelete
        | SideEffect::Financial
        | SideEffect::Publication => true,
        SideEffect::None
        | SideEffect::WorkspaceRead
        | SideEffect::WorkspaceWrite
        | SideEffect::NetworkRead
        | SideEffect::CodeExecution
        | SideEffect::PackageInstall
        | SideEffect::CredentialAccess
        | SideEffect::HostAccess
        | SideEffect::Privileged => false,
    }
}
