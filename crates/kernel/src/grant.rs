//! Grants: a yes that a person let reach further than one call.
//!
//! A grant is bound to everything that the question was sealed over, less the arguments that the tool's
//! spec names free. It covers a call of the same session, or of the same run only; it ends by time, by
//! number, or when somebody takes it back; nothing inherits one. It answers what was asked when it was given,
//! and no layer that asks for the first time later. Rejected: a rule that is learned from a
//! yes, which remembers either one exact text or far too much. See `docs/spec/approvals.md`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approval::ToolIdentity;
use crate::canonical::{Canonical, Digest};
use crate::event::Reach;
use crate::id::{GrantId, PrincipalId, RunId, SessionId, StoreId, TenantId};
use crate::instant::Instant;
use crate::limits;
use crate::policy::{Case, Isolation};
use crate::resource::Resource;
use crate::spec::wire_enum;
use crate::trust::{Label, Trust};

wire_enum! {
    /// Where a grant is.
    GrantStatus {
        /// It covers calls.
        Active = "active",
        /// Somebody took it back.
        Revoked = "revoked",
        /// Its time is over, or it was used as often as it may be.
        Expired = "expired",
    }
}

/// What a grant is bound to. The store keeps it as it was made, with its digest. (A record.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantTerms {
    /// The store in which it was made.
    pub store: StoreId,
    /// Whose it is.
    pub tenant: TenantId,
    /// Whose it is.
    pub owner: PrincipalId,
    /// In which session.
    pub session: SessionId,
    /// In which run only, where it reaches no further.
    pub run: Option<RunId>,
    /// The tool, as it was declared then.
    pub tool: ToolIdentity,
    /// The version of Mast that asked.
    pub agent_version: String,
    /// Digest of the authority under which it was asked.
    pub authority: Digest,
    /// Digest of the arguments without the free ones.
    pub bound_arguments: Digest,
    /// What it may touch: exactly this.
    pub resources: Vec<Resource>,
    /// What confined it.
    pub confinement: Isolation,
    /// The worst label of a call that it covers.
    pub label: Label,
    /// What was asked when it was given, as the question's `asks`: it answers nothing else.
    #[serde(default)]
    pub asks: Vec<String>,
    /// When it ends.
    pub expires_at: Instant,
}

/// A grant in force, as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Which grant.
    pub id: GrantId,
    /// What it is bound to.
    pub terms: GrantTerms,
    /// How often it was used.
    pub n_uses: u32,
    /// How often it may be.
    pub uses_max: u32,
}

impl GrantTerms {
    /// The terms that follow from a sealed question and how far the yes reaches; none where a field of the
    /// question is not what a question has, or the yes reaches one call only.
    #[must_use]
    pub fn of(sealed: &Value, reach: Reach, now: Instant) -> Option<Self> {
        let mut fields = serde_json::Map::new();
        for name in [
            "store",
            "tenant",
            "owner",
            "session",
            "tool",
            "agent_version",
            "authority",
            "bound_arguments",
            "resources",
            "confinement",
            "label",
            "asks",
        ] {
            fields.insert(name.to_owned(), sealed.get(name)?.clone());
        }
        let run = match reach {
            Reach::Once => return None,
            Reach::Task => sealed.get("run")?.clone(),
            Reach::Session => Value::Null,
        };
        fields.insert("run".to_owned(), run);
        let expires_at = now.plus_seconds(limits::GRANT_SECONDS);
        fields.insert("expires_at".to_owned(), serde_json::to_value(expires_at).ok()?);
        serde_json::from_value(Value::Object(fields)).ok()
    }

    /// Whether a call is within these terms.
    #[must_use]
    pub fn cover(&self, case: &Case<'_>) -> bool {
        let place = case.place;
        let same_place = self.store == place.store
            && self.session == place.session
            && self.run.is_none_or(|run| run == place.run)
            && self.tenant == case.authority.tenant
            && self.owner == case.authority.principal
            && self.authority == case.authority.digest();
        let same_action = self.tool == ToolIdentity::of(case.tool)
            && self.bound_arguments == bound_arguments(case.arguments, &case.tool.spec.free_arguments)
            && self.resources == case.resources
            && self.confinement == case.surroundings.isolation;
        same_place && same_action && self.reaches(case.label) && case.now < self.expires_at
    }
}

impl GrantTerms {
    /// Whether a label is within the terms: no more private, and no less trusted, where everything that is
    /// Mast's own or its people's counts alike. (Else a grant would end with the first result of one of
    /// Mast's own tools, its own among them: see `docs/decisions/0008-labels-of-grants.md`.)
    fn reaches(&self, label: Label) -> bool {
        let worst = if self.label.trust.is_enveloped() { self.label.trust } else { Trust::InternalTool };
        label.is_no_worse_than(Label { trust: worst, ..self.label })
    }
}

impl Grant {
    /// Whether a call is within its terms, it may be used once more, and everything that is asked of the
    /// call was asked when it was given.
    #[must_use]
    pub fn covers(&self, case: &Case<'_>, asks: &[String]) -> bool {
        self.n_uses < self.uses_max
            && asks.iter().all(|ask| self.terms.asks.contains(ask))
            && self.terms.cover(case)
    }
}

/// Digest of the arguments without those that the spec names free.
#[must_use]
pub fn bound_arguments(arguments: &Canonical, free: &[String]) -> Digest {
    let mut value = arguments.value();
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, _| !free.contains(name));
    }
    // A part of what has a canonical form has one too.
    Canonical::of(&value).map_or_else(|_| arguments.digest(), |bound| bound.digest())
}
