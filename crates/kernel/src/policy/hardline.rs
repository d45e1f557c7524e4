//! The hardline: what no profile, grant or verdict can allow. Compiled in and hashed.

use super::{Finding, Layer};
use crate::spec::{SideEffect, ToolSpec};

/// Classes of tools that are refused whatever anybody says, with their reason code.
const REFUSED: &[(SideEffect, &str)] = &[
    (SideEffect::CredentialAccess, "policy.hardline.credential_access"),
    (SideEffect::HostAccess, "policy.hardline.host_access"),
    (SideEffect::Privileged, "policy.hardline.privileged"),
];

/// The hardline as text: what its hash is taken over.
pub(super) fn text() -> String {
    REFUSED.iter().map(|(effect, code)| format!("{effect} deny {code}\n")).collect()
}

/// What the hardline says of a tool.
pub(super) fn finding(spec: &ToolSpec) -> Finding {
    REFUSED.iter().find(|(effect, _)| *effect == spec.side_effect).map_or_else(
        || Finding::pass(Layer::Hardline, "nothing forbidden"),
        |(_, code)| Finding::deny(Layer::Hardline, code, "no setting can allow this"),
    )
}
