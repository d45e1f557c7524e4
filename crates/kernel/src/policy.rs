//! How a decision is made: every layer looks at the case and says what it finds, and the strictest
//! finding wins. Pure and total: the same case gives the same decision, and there is no case without
//! one. Rejected: layers that call each other or stop early, since then nobody can be shown why.
//! See `docs/spec/policy.md`.

mod advisory;
mod hardline;
mod in_force;
mod matrix;
mod overlay;
mod profile;
mod program;
mod rules;
mod standing;
mod turn;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::approval::{Approval, Asked};
use crate::canonical::{Canonical, Digest};
use crate::grant::Grant;
use crate::id::{CallId, GrantId, PrincipalId, RunId, SessionId, StoreId, TenantId};
use crate::instant::Instant;
use crate::permit::{Grounds, Permit};
use crate::registry::Registered;
use crate::resource::Resource;
use crate::run::TurnContract;
use crate::scope::{self, Scope, Scopes};
use crate::spec::{ToolSpec, wire_enum};
use crate::trust::Label;

pub use advisory::Advice;
pub use in_force::{At, Past, RuleAt};
pub use matrix::{Condition, MATRIX, Row};
pub use profile::{
    BUILTIN_FILE, Draft, History, NoRoster, Profile, ProfileFault, ProfileRefused, Roster, Tested, Told,
    Whose, loosest,
};
pub use standing::Yes;
pub use turn::narrowed_mode;

wire_enum! {
    /// What a layer rules. The declared order is the rank: the strictest of all layers holds.
    Ruling {
        /// It may run.
        Allow = "allow",
        /// A person must be asked.
        Ask = "ask",
        /// It must not run.
        Deny = "deny",
    }
}

wire_enum! {
    /// The layers, in the order in which they look.
    Layer {
        /// Compiled in; nothing loosens it.
        Hardline = "hardline",
        /// What this request offered.
        Turn = "turn",
        /// What the principal may do at all.
        Authority = "authority",
        /// What the side effect alone asks for.
        Matrix = "matrix",
        /// Whether text that nobody vouches for may have shaped the call.
        Trust = "trust",
        /// Whether something private would leave.
        Flow = "flow",
        /// What the profile's rules say.
        Rules = "rules",
        /// What the machine's own profiles say.
        Admin = "admin",
        /// What a reviewer says of a call that all the others allow.
        Advisory = "advisory",
    }
}

/// What one layer says of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// Which layer.
    pub layer: Layer,
    /// What it rules.
    pub ruling: Ruling,
    /// The reason code, where it does not simply allow.
    pub code: Option<&'static str>,
    /// The reason in a few plain words, for a person.
    pub why: &'static str,
    /// The rule that it comes from, where that is in a file.
    pub at: Option<At>,
}

impl Finding {
    /// The layer has nothing against it.
    #[must_use]
    pub const fn pass(layer: Layer, why: &'static str) -> Self {
        Self { layer, ruling: Ruling::Allow, code: None, why, at: None }
    }

    /// The layer wants a person asked.
    #[must_use]
    pub const fn ask(layer: Layer, code: &'static str, why: &'static str) -> Self {
        Self { layer, ruling: Ruling::Ask, code: Some(code), why, at: None }
    }

    /// The layer refuses.
    #[must_use]
    pub const fn deny(layer: Layer, code: &'static str, why: &'static str) -> Self {
        Self { layer, ruling: Ruling::Deny, code: Some(code), why, at: None }
    }
}

/// Who acts, and what they may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// Whose sessions these are.
    pub tenant: TenantId,
    /// Who acts.
    pub principal: PrincipalId,
    /// What they hold.
    pub scopes: Scopes,
}

impl Authority {
    /// What is left of this authority for something that holds only `scopes`.
    #[must_use]
    pub fn narrowed(&self, scopes: &Scopes) -> Self {
        Self { scopes: self.scopes.intersection(scopes).cloned().collect(), ..self.clone() }
    }

    /// A digest that changes when anything of the authority does.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let scopes: Vec<&str> = self.scopes.iter().map(Scope::as_str).collect();
        Digest::of(format!("{}\n{}\n{}", self.tenant, self.principal, scopes.join("\n")).as_bytes())
    }
}

/// Which dimensions of isolation are in force for a call, as the sandbox reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts, each tested by name")]
pub struct Isolation {
    /// Files outside the workspace are out of reach.
    pub files: bool,
    /// Other processes are out of reach.
    pub processes: bool,
    /// The network is out of reach, or only listed hosts are in it.
    pub network: bool,
    /// Processor, memory, processes and file size are bounded.
    pub limits: bool,
    /// The operator named a weaker mode in the configuration.
    pub weaker_mode: bool,
}

impl Isolation {
    /// Whether nothing is missing.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        self.files && self.processes && self.network && self.limits
    }
}

/// What stands around a call: facts that were looked up before the decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// What confines a program that the call starts.
    pub isolation: Isolation,
    /// Hosts that the configuration allows to be read.
    pub hosts: std::collections::BTreeSet<String>,
    /// Whether a workspace is there, so that its paths mean something.
    pub workspace: bool,
    /// Whether the call acts only on a copy-on-write stage of the workspace.
    pub staged: bool,
    /// The calls of this session that ran before.
    pub history: History,
    /// The grants in force in this session, made by this version of Mast.
    pub grants: Vec<Grant>,
}

/// To which run, session and store a call belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The store as it was made.
    pub store: StoreId,
    /// The session.
    pub session: SessionId,
    /// The run.
    pub run: RunId,
    /// The call.
    pub call: CallId,
}

/// All that a decision may depend on.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// Where the call belongs.
    pub place: Place,
    /// The tool as registered, with its definition pin.
    pub tool: &'a Registered,
    /// The arguments in their canonical form.
    pub arguments: &'a Canonical,
    /// What it would touch.
    pub resources: &'a [Resource],
    /// Who acts.
    pub authority: &'a Authority,
    /// What was offered.
    pub contract: &'a TurnContract,
    /// The origin of the call: the join of everything that could have shaped it.
    pub label: Label,
    /// What stands around it.
    pub surroundings: &'a Surroundings,
    /// The key under which its effect is known.
    pub idempotency_key: Digest,
    /// The time at which it is judged.
    pub now: Instant,
}

impl Case<'_> {
    fn spec(&self) -> &ToolSpec {
        &self.tool.spec
    }
}

/// A refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denial {
    /// The reason code of the layer that refused first.
    pub code: &'static str,
}

/// What is done with a call.
#[derive(Debug)]
pub enum Decision {
    /// It may run, once.
    Allow(Permit),
    /// A person is asked.
    Ask(Box<Approval>),
    /// It does not run.
    Deny(Denial),
}

/// A decision and what every layer found.
#[derive(Debug)]
pub struct Judged {
    /// Every layer's finding, in the order of [`Layer`].
    pub findings: Vec<Finding>,
    /// What follows from them.
    pub decision: Decision,
    /// The grant that answers what would else be asked.
    pub grant: Option<GrantId>,
}

/// Whether the trust and flow overlays are on. Off is an operator's choice that is shown and recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlay {
    /// The default.
    On,
    /// Hardline, turn, authority and matrix stay.
    Off,
}

/// The rules in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    overlay: Overlay,
    version: String,
    /// The profile, and after it the admin profiles.
    files: Vec<Arc<Profile>>,
}

impl Policy {
    /// The built-in profile.
    #[must_use]
    pub fn builtin(overlay: Overlay) -> Self {
        Self::new(overlay, None, Vec::new())
    }

    /// The version that is recorded with each decision: profile name, twelve characters of the
    /// profile's SHA-256, eight of the hardline's.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether the overlays are on.
    #[must_use]
    pub const fn overlay(&self) -> Overlay {
        self.overlay
    }

    /// Decides a case.
    #[must_use]
    pub fn decide(&self, case: &Case<'_>) -> Judged {
        let findings = self.examine(case);
        let mut grant = None;
        let decision = match strictest(&findings) {
            (Ruling::Allow, _) => Decision::Allow(permit(case)),
            (Ruling::Ask, code) => {
                let reach = standing::reach(case, &findings, self.always_asks(&case.spec().name));
                let asks = standing::asks(&findings);
                grant = standing::grant(case, &asks, reach);
                let asked = Asked { policy_version: &self.version, code, asks, reach };
                match grant {
                    Some(_) => Decision::Allow(permit(case)),
                    None => Decision::Ask(Box::new(Approval::of(case, asked))),
                }
            }
            (Ruling::Deny, code) => Decision::Deny(Denial { code }),
        };
        Judged { findings, decision, grant }
    }

    /// Decides a case again that a person said yes to. All layers look again: a yes answers what they
    /// ask, if it is no more than was asked, and only while nothing that was sealed has changed.
    #[must_use]
    pub fn decide_again(&self, case: &Case<'_>, yes: &Yes<'_>) -> Judged {
        let findings = self.examine(case);
        let decision = match (strictest(&findings), standing::void(case, yes)) {
            (_, Some(code)) | ((Ruling::Deny, code), None) => Decision::Deny(Denial { code }),
            ((Ruling::Ask, _), None) if !standing::is_same_ask(&findings, yes.fields) => {
                Decision::Deny(Denial { code: "policy.revalidation.escalated" })
            }
            ((Ruling::Allow | Ruling::Ask, _), None) => Decision::Allow(permit(case)),
        };
        Judged { findings, decision, grant: None }
    }

    /// What every layer finds, for a decision and for its explanation.
    #[must_use]
    pub fn examine(&self, case: &Case<'_>) -> Vec<Finding> {
        let mut findings = vec![
            hardline::finding(case),
            offered(case.contract, case.spec()),
            held(&case.authority.scopes, case.spec()),
        ];
        let profile = self.files.first();
        findings.push(profile.map_or_else(|| matrix::finding(case), |profile| rules::matrix(case, profile)));
        if self.overlay == Overlay::On {
            findings.push(overlay::trust(case));
            findings.push(overlay::flow(case));
        }
        findings.extend(profile.map(|profile| rules::finding(case, profile)));
        let admins = self.files.iter().enumerate().skip(1);
        findings.extend(admins.map(|(file, admin)| rules::admin(case, admin, file)));
        findings
    }
}

/// The strictest ruling, and the code of the first layer that gave it. Nothing found is a refusal.
fn strictest(findings: &[Finding]) -> (Ruling, &'static str) {
    let worst = findings.iter().fold(None::<&Finding>, |worst, finding| match worst {
        Some(worst) if worst.ruling >= finding.ruling => Some(worst),
        _ => Some(finding),
    });
    let refused = (Ruling::Deny, "policy.unclassifiable");
    worst.map_or(refused, |finding| (finding.ruling, finding.code.unwrap_or(refused.1)))
}

/// The right that an allowed case gives. The one place where permits are made.
fn permit(case: &Case<'_>) -> Permit {
    Permit::issue(Grounds {
        call: case.place.call,
        tool: case.spec().name.clone(),
        version: case.spec().version.clone(),
        pin: case.tool.pin,
        arguments: case.arguments.clone(),
        resources: case.resources.to_vec(),
        idempotency_key: case.idempotency_key,
    })
}

/// Gate step 2: whether this request offered the tool.
#[must_use]
pub fn offered(contract: &TurnContract, spec: &ToolSpec) -> Finding {
    turn::finding(contract, spec)
}

/// Whether a run in plan mode offers this tool at all.
#[must_use]
pub fn is_offered_in_plan(spec: &ToolSpec) -> bool {
    turn::looks_only(spec)
}

/// Gate step 3: whether every required scope is held.
#[must_use]
pub fn held(scopes: &Scopes, spec: &ToolSpec) -> Finding {
    if scope::missing(&spec.required_scopes, scopes).is_empty() {
        Finding::pass(Layer::Authority, "scopes held")
    } else {
        Finding::deny(Layer::Authority, "policy.scope.missing", "a scope is missing")
    }
}
