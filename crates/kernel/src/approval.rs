//! Approvals: a question to a person, sealed so that the yes answers exactly what was shown.
//!
//! The seal is a SHA-256 over everything that must not change between the question and the act. It is
//! checked again when the run goes on. See `docs/spec/approvals.md`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canonical::{Canonical, Digest, NotCanonical};
use crate::event::Reach;
use crate::grant;
use crate::id::{ApprovalId, PrincipalId, TenantId};
use crate::instant::Instant;
use crate::policy::{Case, Isolation, Place};
use crate::registry::Registered;
use crate::resource::Resource;
use crate::spec::{Idempotency, Risk, SideEffect, wire_enum};
use crate::trust::Label;

/// Tag of the sealed form; another form gets another tag.
const SEAL_TAG: &str = "mast.approval.v1";

wire_enum! {
    /// Where an approval is.
    ApprovalStatus {
        /// Nobody has answered.
        Pending = "pending",
        /// A person said yes; not used yet.
        Approved = "approved",
        /// The yes was used, once.
        Consumed = "consumed",
        /// A person said no.
        Denied = "denied",
        /// Nobody answered in time.
        Expired = "expired",
        /// Its run was stopped, or what it asked about has changed.
        Void = "void",
    }
}

impl ApprovalStatus {
    /// Whether an approval in this state may move to `next`.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        match self {
            Self::Pending => !matches!(next, Self::Pending | Self::Consumed),
            Self::Approved => matches!(next, Self::Consumed | Self::Expired | Self::Void),
            Self::Consumed | Self::Denied | Self::Expired | Self::Void => false,
        }
    }
}

/// Seconds that a question stays open.
#[must_use]
pub const fn open_seconds(risk: Risk) -> u32 {
    match risk {
        Risk::Low | Risk::Medium => 24 * 3_600,
        Risk::High => 4 * 3_600,
        Risk::Critical => 3_600,
    }
}

/// What a person is asked, before it is sealed. (A record: the seal's specification names its fields.)
#[derive(Debug, Clone, PartialEq)]
pub struct Approval {
    /// Where the call belongs.
    pub place: Place,
    /// Who asks: the owner of the run.
    pub owner: (TenantId, PrincipalId),
    /// The tool that would run.
    pub tool: ToolIdentity,
    /// The arguments that it would run with.
    pub arguments: Canonical,
    /// What it would touch.
    pub resources: Vec<Resource>,
    /// Digest of the authority under which it was asked.
    pub authority: Digest,
    /// What would confine it.
    pub isolation: Isolation,
    /// The origin of the call.
    pub label: Label,
    /// The policy that wanted it asked.
    pub policy_version: String,
    /// The reason code of the layer that wanted it asked.
    pub code: &'static str,
    /// The reason codes of all layers that wanted it asked, in their order.
    pub asks: Vec<String>,
    /// The furthest that a yes may reach.
    pub reach: Reach,
    /// Digest of the arguments without those that the spec names free: what a grant would be bound to.
    pub bound_arguments: Digest,
    /// When the question closes.
    pub expires_at: Instant,
}

/// Why a case asks: what [`Approval::of`] adds to the case itself.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) policy_version: &'a str,
    pub(crate) code: &'static str,
    pub(crate) asks: Vec<String>,
    pub(crate) reach: Reach,
}

/// Which tool an approval is about, as it was declared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolIdentity {
    /// Registry name.
    pub name: String,
    /// Exact version.
    pub version: String,
    /// Definition pin.
    pub pin: Digest,
    /// What it may do.
    pub side_effect: SideEffect,
    /// How bad a mistake would be.
    pub risk: Risk,
    /// Whether doing it again is safe.
    pub idempotency: Idempotency,
}

impl ToolIdentity {
    /// A tool as it is registered now.
    #[must_use]
    pub fn of(tool: &Registered) -> Self {
        let spec = &tool.spec;
        Self {
            name: spec.name.clone(),
            version: spec.version.clone(),
            pin: tool.pin,
            side_effect: spec.side_effect,
            risk: spec.risk,
            idempotency: spec.idempotency,
        }
    }
}

/// A sealed approval: the fields as they were sealed, and the seal.
#[derive(Debug, Clone, PartialEq)]
pub struct Sealed {
    /// The sealed fields, in one JSON object.
    pub fields: Value,
    /// SHA-256 over the canonical form of `fields`.
    pub seal: Digest,
}

impl Approval {
    /// The question that a case gives rise to.
    pub(crate) fn of(case: &Case<'_>, asked: Asked<'_>) -> Self {
        let spec = &case.tool.spec;
        let Asked { policy_version, code, asks, reach } = asked;
        Self {
            place: case.place,
            owner: (case.authority.tenant, case.authority.principal),
            tool: ToolIdentity::of(case.tool),
            arguments: case.arguments.clone(),
            resources: case.resources.to_vec(),
            authority: case.authority.digest(),
            isolation: case.surroundings.isolation,
            label: case.label,
            policy_version: policy_version.to_owned(),
            code,
            asks,
            reach,
            bound_arguments: grant::bound_arguments(case.arguments, &spec.free_arguments),
            expires_at: case.now.plus_seconds(open_seconds(spec.risk)),
        }
    }

    /// What a person is shown: the whole action, structured; a surface lays it out.
    #[must_use]
    pub fn card(&self) -> Value {
        serde_json::json!({
            "tool": self.tool.name,
            "version": self.tool.version,
            "side_effect": self.tool.side_effect,
            "risk": self.tool.risk,
            "arguments": self.arguments.value(),
            "resources": self.resources,
            "origin": self.label.trust,
            "sensitivity": self.label.sensitivity,
            "reason_code": self.code,
            "reach": self.reach,
            "expires_at": self.expires_at,
        })
    }

    /// Seals the question under its id, together with the digest of what is shown.
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] when a field has no canonical form; then there is no approval.
    pub fn seal(&self, id: ApprovalId, agent_version: &str) -> Result<Sealed, NotCanonical> {
        let shown = Canonical::of(&self.card())?.digest();
        let fields = serde_json::json!({
            "schema": SEAL_TAG,
            "store": self.place.store,
            "approval": id,
            "tenant": self.owner.0,
            "owner": self.owner.1,
            "session": self.place.session,
            "run": self.place.run,
            "call": self.place.call,
            "tool": self.tool,
            "agent_version": agent_version,
            "authority": self.authority,
            "arguments": self.arguments.digest(),
            "bound_arguments": self.bound_arguments,
            "resources": self.resources,
            "confinement": self.isolation,
            "label": self.label,
            "policy_version": self.policy_version,
            "asks": self.asks,
            "reach": self.reach,
            "expires_at": self.expires_at,
            "shown": shown,
        });
        let seal = Canonical::of(&fields)?.digest();
        Ok(Sealed { fields, seal })
    }
}
