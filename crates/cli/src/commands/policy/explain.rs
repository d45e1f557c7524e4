//! `mast policy explain`: the case of a call, judged as the gate would judge it here, and every layer's
//! finding as a line. Nothing runs and nothing is written; what a session holds is read where one is named.

use std::collections::BTreeSet;

use mast_kernel::approval::open_seconds;
use mast_kernel::budget::Budget;
use mast_kernel::canonical::{Canonical, Digest, parse_strict};
use mast_kernel::id::{CallId, RunId, SessionId, StoreId};
use mast_kernel::instant::Instant;
use mast_kernel::policy::{Case, Decision, Finding, Judged, Layer, Place, Policy, Ruling, Surroundings};
use mast_kernel::registry::Registered;
use mast_kernel::resource::Resource;
use mast_kernel::run::{ApprovalMode, TurnContract};
use mast_kernel::scope::{self, Scope};
use mast_kernel::spec::ToolSpec;
use mast_kernel::trust::Label;
use mast_tools::Toolbox;
use serde_json::{Value, json};

use super::{ExplainArgs, Origin};
use crate::assemble::{Start, block_on, local_authority, open_to_look, runtime};
use crate::commands::call::misfit;
use crate::commands::runs::nothing_yet;
use crate::config::Config;
use crate::error::{CliError, Exit};
use crate::ids::{Wanted, find};
use crate::names::unknown;
use crate::output::Style;
use crate::output::layout::pad;

/// Columns of the layer's name.
const NAME_COLUMNS: usize = 11;

pub(super) fn run(
    args: &ExplainArgs,
    policy: &Policy,
    toolbox: &Toolbox,
    (start, config): (&Start, &Config),
) -> Result<Exit, CliError> {
    let printer = &start.printer;
    let (tool, arguments) = named(args, toolbox)?;
    let spec = &tool.spec;
    let body = toolbox.body(&spec.name, &spec.version);
    let resources = body.map(|body| body.resources(&arguments.value())).transpose().map_err(|failure| {
        CliError::failed(
            format!("{}: the arguments are refused ({failure})", spec.name),
            format!("see: mast tools show {}", spec.name),
        )
    })?;
    let resources = resources.unwrap_or_default();
    let authority = local_authority();
    let contract = TurnContract {
        tools: toolbox.registry().latest().map(|tool| tool.spec.name.clone()).collect::<BTreeSet<_>>(),
        mode: args.mode.mode(),
        approval_mode: ApprovalMode::Interactive,
        budget: Budget::default(),
        required: mast_kernel::completion::Required::default(),
        workspace: None,
    };
    let around = match &args.session {
        None => Around::nowhere(),
        Some(session) => block_on(Around::in_session(session, start, config))?,
    };
    let label = args.origin.map_or(around.label, Origin::label);
    let judged = policy.decide(&Case {
        place: around.place,
        tool,
        arguments: &arguments,
        resources: &resources,
        authority: &authority,
        contract: &contract,
        label,
        surroundings: &around.surroundings,
        idempotency_key: Digest::of(arguments.as_str().as_bytes()),
        now: around.now,
    });
    let told = Told { args, policy, spec, judged: &judged, label };
    if printer.is_json() {
        printer.result_json(&told.json(&resources))?;
        return Ok(Exit::Done);
    }
    for resource in &resources {
        printer.result_line(&[
            (Style::Bold, &pad("touches", NAME_COLUMNS)),
            (Style::Plain, &touched(resource)),
        ])?;
    }
    for finding in &judged.findings {
        let style = style(finding.ruling);
        let (said, why) = told.line(finding);
        printer.result_line(&[
            (Style::Bold, &pad(finding.layer.as_str(), NAME_COLUMNS)),
            (style, &said),
            (Style::Dim, &why),
        ])?;
    }
    if let Some(grant) = judged.grant {
        printer.result_line(&[
            (Style::Bold, &pad("grant", NAME_COLUMNS)),
            (Style::Plain, &format!("{grant} → {}", Ruling::Allow)),
            (Style::Dim, "   a yes was given that reaches this call"),
        ])?;
    }
    printer.result_line(&[
        (Style::Bold, &pad("decision", NAME_COLUMNS)),
        (style(told.ruling().0), &told.decision()),
    ])?;
    Ok(Exit::Done)
}

/// Where and when the call is judged, and what stands around it there.
struct Around {
    place: Place,
    surroundings: Surroundings,
    /// What a model that saw the session so far would act under.
    label: Label,
    now: Instant,
}

impl Around {
    /// In no session: nothing ran before, and no grant is in force.
    fn nowhere() -> Self {
        let place = Place {
            store: StoreId::from_u128(0),
            session: SessionId::from_u128(0),
            run: RunId::from_u128(0),
            call: CallId::from_u128(0),
        };
        Self {
            place,
            surroundings: Surroundings::default(),
            label: Label::typed(),
            now: Instant::from_micros(0),
        }
    }

    /// In a session, in a run of its own: a grant for one run does not reach it.
    async fn in_session(text: &str, start: &Start, config: &Config) -> Result<Self, CliError> {
        let store = open_to_look(start).await?.ok_or_else(nothing_yet)?;
        let session = find(&*store, text, Wanted::Either).await?.session();
        let place = Place { store: store.seal().identity.id, session, ..Self::nowhere().place };
        let runtime = runtime(start, config, store)?;
        let surroundings = runtime.surroundings_in(session).await?;
        let label = runtime.origin_in(session, local_authority()).await?;
        Ok(Self { place, surroundings, label, now: runtime.world().clock.now() })
    }
}

/// The tool and its arguments in their one spelling.
fn named<'t>(args: &ExplainArgs, toolbox: &'t Toolbox) -> Result<(&'t Registered, Canonical), CliError> {
    let registry = toolbox.registry();
    let given = parse_strict(&args.arguments).unwrap_or(Value::Null);
    let Some(resolved) = registry.resolve_call(&args.tool, &given) else {
        let known = registry.latest().map(|tool| tool.spec.name.as_str());
        return Err(CliError::usage(unknown("tool", &args.tool, known), "see: mast tools"));
    };
    let mut renamed = given;
    if let Some(alias) = resolved.alias {
        alias.rename(&mut renamed);
    }
    match resolved.tool.arguments(renamed) {
        Ok(arguments) => Ok((resolved.tool, arguments)),
        Err(_) => Err(misfit(resolved.tool, &args.arguments)),
    }
}

fn touched(resource: &Resource) -> String {
    let how = |write: &bool| if *write { "writes" } else { "reads" };
    match resource {
        Resource::Path { path, write } => format!("{} {path}", how(write)),
        Resource::Redirect { path, write } => format!("{} {path}, by a redirection", how(write)),
        Resource::Host { host, handle: true } => format!("host {host}, by a link that was issued"),
        Resource::Host { host, handle: false } => format!("host {host}, by a composed address"),
        Resource::Record { system, record } => format!("record {record} of {system}"),
        Resource::Command { words, exact: true } => format!("command {}", words.join(" ")),
        Resource::Command { words, exact: false } => {
            format!("command {} (not all of it can be read)", words.join(" "))
        }
    }
}

const fn style(ruling: Ruling) -> Style {
    match ruling {
        Ruling::Allow => Style::Plain,
        Ruling::Ask => Style::Warn,
        Ruling::Deny => Style::Bad,
    }
}

/// Everything that is told.
struct Told<'a> {
    args: &'a ExplainArgs,
    policy: &'a Policy,
    spec: &'a ToolSpec,
    judged: &'a Judged,
    label: Label,
}

impl Told<'_> {
    /// What a layer says: what it looked at and its ruling, and the reason.
    fn line(&self, finding: &Finding) -> (String, String) {
        let about = self.about(finding);
        let said = match (about.is_empty(), finding.ruling) {
            (true, Ruling::Allow) => "pass".to_owned(),
            (true, ruling) => ruling.to_string(),
            (false, ruling) => format!("{about} → {ruling}"),
        };
        (said, format!("   {}{}", finding.why, self.reason(finding)))
    }

    fn about(&self, finding: &Finding) -> String {
        if let Some((file, told)) = finding.at.and_then(|at| self.policy.told(at)) {
            return format!("{file} line {}: {}", told.at.line, told.what);
        }
        let label = self.label;
        match finding.layer {
            Layer::Hardline | Layer::Rules | Layer::Admin | Layer::Advisory => String::new(),
            Layer::Turn => format!("mode {}", self.args.mode.mode()),
            Layer::Authority => self.scopes(),
            Layer::Matrix => self.spec.side_effect.to_string(),
            Layer::Trust => format!("origin {}", label.trust.as_str()),
            Layer::Flow => format!("sends {} · {} in reach", self.spec.egress, label.sensitivity.as_str()),
        }
    }

    /// The scopes that are missing, or those that are needed and held.
    fn scopes(&self) -> String {
        let named = |scopes: &[Scope], end: &str| {
            let names: Vec<&str> = scopes.iter().map(Scope::as_str).collect();
            format!("{} {end}", names.join(", "))
        };
        let missing = scope::missing(&self.spec.required_scopes, &local_authority().scopes);
        match (missing.is_empty(), self.spec.required_scopes.is_empty()) {
            (false, _) => named(&missing, "missing"),
            (true, true) => "no scope needed".to_owned(),
            (true, false) => named(&self.spec.required_scopes, "held"),
        }
    }

    /// The reason that the rule itself gives.
    fn reason(&self, finding: &Finding) -> String {
        let told = finding.at.and_then(|at| self.policy.told(at));
        told.and_then(|(_, told)| told.why).map(|why| format!(" ({why})")).unwrap_or_default()
    }

    fn ruling(&self) -> (Ruling, Option<&'static str>) {
        match &self.judged.decision {
            Decision::Allow(_) => (Ruling::Allow, None),
            Decision::Ask(approval) => (Ruling::Ask, Some(approval.code)),
            Decision::Deny(denial) => (Ruling::Deny, Some(denial.code)),
        }
    }

    /// `ask · risk high · expires in 4 h · policy.matrix.external_write`.
    fn decision(&self) -> String {
        let (ruling, code) = self.ruling();
        let mut said = format!("{ruling} · risk {}", self.spec.risk);
        if ruling == Ruling::Ask {
            said.push_str(&format!(" · expires in {} h", open_seconds(self.spec.risk) / 3_600));
        }
        code.into_iter().for_each(|code| said.push_str(&format!(" · {code}")));
        said
    }

    fn json(&self, resources: &[Resource]) -> Value {
        let (ruling, code) = self.ruling();
        let findings = self.judged.findings.iter().map(|finding| {
            let told = finding.at.and_then(|at| self.policy.told(at));
            json!({
                "layer": finding.layer,
                "ruling": finding.ruling,
                "reason_code": finding.code,
                "why": finding.why,
                "about": self.about(finding),
                "file": told.as_ref().map(|(file, _)| file),
                "line": told.as_ref().map(|(_, told)| told.at.line),
                "rule": told.as_ref().map(|(_, told)| &told.what),
                "reason": told.as_ref().and_then(|(_, told)| told.why.as_ref()),
            })
        });
        json!({
            "id": self.spec.name,
            "policy_version": self.policy.version(),
            "resources": resources,
            "findings": findings.collect::<Vec<_>>(),
            "decision": ruling,
            "reason_code": code,
            "grant": self.judged.grant,
            "risk": self.spec.risk,
            "expires_in_seconds": (ruling == Ruling::Ask).then(|| open_seconds(self.spec.risk)),
        })
    }
}
