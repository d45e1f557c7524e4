//! What was said before and is brought back to a decision: a person's yes to this very call, and grants.
//!
//! Neither loosens a layer. All layers look at the case again; a yes answers what they *ask*, and only if
//! nothing that was sealed has changed and nothing more is asked than was. See `docs/spec/approvals.md`.

use serde_json::Value;

use super::{Case, Finding, Ruling};
use crate::approval::{Approval, Asked};
use crate::canonical::{Canonical, Digest};
use crate::event::Reach;
use crate::id::{ApprovalId, GrantId};
use crate::message::lookup;
use crate::resource::Resource;
use crate::spec::SideEffect;

/// A yes that a person gave to a call, as the store holds it.
#[derive(Debug, Clone, Copy)]
pub struct Yes<'a> {
    /// The question that it answers.
    pub approval: ApprovalId,
    /// The fields that were sealed.
    pub fields: &'a Value,
    /// The seal, as the journal has it.
    pub seal: Digest,
    /// The version of Mast that would act now.
    pub agent_version: &'a str,
}

/// Which reason each sealed field stands for when it is not what it was.
const FIELDS: &[(&str, &str)] = &[
    ("schema", "approval.void.seal"),
    ("approval", "approval.void.foreign"),
    ("store", "approval.void.foreign"),
    ("tenant", "approval.void.foreign"),
    ("owner", "approval.void.foreign"),
    ("session", "approval.void.foreign"),
    ("run", "approval.void.foreign"),
    ("call", "approval.void.foreign"),
    ("agent_version", "approval.void.definition"),
    ("tool", "approval.void.definition"),
    ("authority", "approval.void.authority"),
    ("arguments", "approval.void.arguments"),
    ("bound_arguments", "approval.void.arguments"),
    ("resources", "approval.void.resources"),
    ("confinement", "approval.void.confinement"),
    ("label", "approval.void.label"),
    ("shown", "approval.void.shown"),
];

/// Why a yes does not hold for this case any more; none while it does.
pub(super) fn void(case: &Case<'_>, yes: &Yes<'_>) -> Option<&'static str> {
    let sealed = Canonical::of(yes.fields).ok().map(|fields| fields.digest());
    if sealed != Some(yes.seal) {
        return Some("approval.void.seal");
    }
    let Some((fresh, is_over)) = asked_again(case, yes.fields) else { return Some("approval.void.seal") };
    let Ok(fresh) = fresh.seal(yes.approval, yes.agent_version) else { return Some("approval.void.seal") };
    let differs = FIELDS.iter().find(|(name, _)| fresh.fields.get(*name) != yes.fields.get(*name));
    match differs {
        Some((_, code)) => Some(code),
        None if is_over => Some("approval.expired"),
        None if fresh.seal != yes.seal => Some("approval.void.seal"),
        None => None,
    }
}

/// The same question put to the case as it is now, and whether its time is over. What may rightly differ
/// is taken from the sealed fields: the policy, the expiry, and a label that has not become worse.
fn asked_again(case: &Case<'_>, fields: &Value) -> Option<(Approval, bool)> {
    let asks: Vec<String> = serde_json::from_value(fields.get("asks")?.clone()).ok()?;
    let code = lookup(code_of(asks.first()?))?.code;
    let reach: Reach = serde_json::from_value(fields.get("reach")?.clone()).ok()?;
    let policy_version = fields.get("policy_version")?.as_str()?;
    let mut fresh = Approval::of(case, Asked { policy_version, code, asks, reach });
    fresh.expires_at = serde_json::from_value(fields.get("expires_at")?.clone()).ok()?;
    let label = serde_json::from_value(fields.get("label")?.clone()).ok()?;
    if fresh.label.is_no_worse_than(label) {
        fresh.label = label;
    }
    let is_over = case.now >= fresh.expires_at;
    Some((fresh, is_over))
}

/// What asks: the code of each layer that does, and which rule where it stands in a file.
pub(super) fn asks(findings: &[Finding]) -> Vec<String> {
    let asking = findings.iter().filter(|finding| finding.ruling == Ruling::Ask);
    let told = |finding: &Finding| {
        let code = finding.code?;
        Some(finding.at.map_or_else(|| code.to_owned(), |at| format!("{code}@{}", at.rule.digest.to_hex())))
    };
    asking.filter_map(told).collect()
}

/// The reason code of one of these.
fn code_of(ask: &str) -> &str {
    ask.split_once('@').map_or(ask, |(code, _)| code)
}

/// Whether everything that is asked now was asked when the person said yes.
pub(super) fn is_same_ask(findings: &[Finding], fields: &Value) -> bool {
    let before = fields.get("asks").and_then(Value::as_array);
    asks(findings).iter().all(|code| before.is_some_and(|before| before.iter().any(|known| known == code)))
}

/// The furthest that a yes to this case may reach.
pub(super) fn reach(case: &Case<'_>, findings: &[Finding], always_asks: bool) -> Reach {
    let spec = &case.tool.spec;
    let is_once = always_asks
        || matches!(
            spec.side_effect,
            SideEffect::ExternalMessage
                | SideEffect::ExternalDelete
                | SideEffect::Financial
                | SideEffect::Publication
        )
        || findings.iter().any(|finding| finding.code == Some("policy.isolation.weaker_mode"))
        || (spec.side_effect == SideEffect::CodeExecution && !case.resources.iter().all(is_plain_command));
    if is_once { Reach::Once } else { Reach::Session }
}

/// Whether the words are exactly what runs, and say all that it does.
fn is_plain_command(resource: &Resource) -> bool {
    match resource {
        Resource::Command { words, exact } => *exact && super::program::may_repeat(words),
        _ => true,
    }
}

/// The grant that covers what is asked of this case, if one does.
pub(super) fn grant(case: &Case<'_>, asks: &[String], reach: Reach) -> Option<GrantId> {
    if reach == Reach::Once {
        return None;
    }
    case.surroundings.grants.iter().find(|grant| grant.covers(case, asks)).map(|grant| grant.id)
}
