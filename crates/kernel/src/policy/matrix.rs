//! The matrix: what the side effect alone asks for. One row for each class, as data, so that the
//! manual prints the same table that decides.

use super::{Case, Finding, Layer, Ruling};
use serde::{Deserialize, Serialize};

use crate::resource::Resource;
use crate::spec::{Idempotency, SideEffect, ToolKind, wire_enum};
use crate::trust::{Sensitivity, Trust};

wire_enum! {
    /// Under which condition a row gives its first ruling.
    Condition {
        /// Always.
        Always = "always",
        /// It is READ_ONLY or a control tool; else it leaves durable text behind.
        PureOrControl = "pure_or_control",
        /// Every path lies inside the workspace.
        InsideWorkspace = "inside_workspace",
        /// The host is allowed, and the link is a handle or nothing private is in reach.
        AllowedHost = "allowed_host",
        /// Every dimension of isolation is in force for this call.
        Isolated = "isolated",
    }
}

/// One row of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The class.
    pub side_effect: SideEffect,
    /// What it rules when the condition holds.
    pub ruling: Ruling,
    /// The condition.
    pub condition: Condition,
    /// The reason code when the row does not allow.
    pub code: &'static str,
    /// The reason in plain words when the condition holds.
    pub why: &'static str,
}

const fn row(
    side_effect: SideEffect,
    ruling: Ruling,
    condition: Condition,
    code: &'static str,
    why: &'static str,
) -> Row {
    Row { side_effect, ruling, condition, code, why }
}

/// The matrix, one row for each side effect, in the order of the enumeration.
pub const MATRIX: &[Row] = {
    use Condition::{AllowedHost, Always, InsideWorkspace, Isolated, PureOrControl};
    use Ruling::{Allow, Ask, Deny};
    use SideEffect as Effect;
    &[
        row(Effect::None, Allow, PureOrControl, "policy.matrix.durable_text", "pure computation"),
        row(
            Effect::WorkspaceRead,
            Allow,
            InsideWorkspace,
            "policy.matrix.workspace_read",
            "reads the workspace",
        ),
        row(
            Effect::WorkspaceWrite,
            Allow,
            InsideWorkspace,
            "policy.matrix.workspace_write",
            "writes the workspace",
        ),
        row(Effect::NetworkRead, Allow, AllowedHost, "policy.matrix.network_read", "reads an allowed host"),
        row(
            Effect::CodeExecution,
            Allow,
            Isolated,
            "policy.matrix.code_execution",
            "runs a program, confined",
        ),
        row(Effect::PackageInstall, Deny, Always, "policy.matrix.package_install", "installs a package"),
        row(
            Effect::SandboxNetwork,
            Deny,
            Always,
            "policy.matrix.sandbox_network",
            "opens the sandbox's network",
        ),
        row(Effect::ExternalMessage, Ask, Always, "policy.matrix.external_message", "sends a message"),
        row(
            Effect::ExternalWrite,
            Ask,
            Always,
            "policy.matrix.external_write",
            "writes outside this machine",
        ),
        row(
            Effect::ExternalDelete,
            Ask,
            Always,
            "policy.matrix.external_delete",
            "deletes outside this machine",
        ),
        row(Effect::Financial, Ask, Always, "policy.matrix.financial", "spends money"),
        row(Effect::Publication, Ask, Always, "policy.matrix.publication", "publishes"),
        row(Effect::CredentialAccess, Deny, Always, "policy.matrix.credential_access", "reads credentials"),
        row(Effect::HostAccess, Deny, Always, "policy.matrix.host_access", "reaches the host"),
        row(Effect::Privileged, Deny, Always, "policy.matrix.privileged", "uses the host's privileges"),
    ]
};

/// The matrix as text: what the profile's hash is taken over.
pub(super) fn text() -> String {
    MATRIX
        .iter()
        .map(|row| format!("{} {} {} {}\n", row.side_effect, row.ruling, row.condition, row.code))
        .collect()
}

/// What the matrix says of a case.
pub(super) fn finding(case: &Case<'_>) -> Finding {
    let effect = case.spec().side_effect;
    let Some(row) = MATRIX.iter().find(|row| row.side_effect == effect) else {
        return Finding::deny(Layer::Matrix, "policy.unclassifiable", "its class has no rule");
    };
    let ruled =
        Finding { layer: Layer::Matrix, ruling: row.ruling, code: Some(row.code), why: row.why, at: None };
    match row.condition {
        Condition::Always => ruled,
        Condition::PureOrControl => pure_or_control(case, row),
        Condition::InsideWorkspace => inside_workspace(case, row),
        Condition::AllowedHost => allowed_host(case, row),
        Condition::Isolated => isolated(case, row),
    }
}

fn pure_or_control(case: &Case<'_>, row: &Row) -> Finding {
    let spec = case.spec();
    if spec.kind == ToolKind::Control {
        return Finding::pass(Layer::Matrix, "acts on this run only");
    }
    if spec.idempotency == Idempotency::ReadOnly {
        return Finding::pass(Layer::Matrix, row.why);
    }
    if spec.domain() == "skill" && case.label.trust > Trust::User {
        return Finding::deny(
            Layer::Matrix,
            "policy.matrix.skill_below_user",
            "only a person's own words may change skills",
        );
    }
    if case.label.trust.is_tainted() {
        return Finding::ask(Layer::Matrix, row.code, "what it keeps would outlive this session");
    }
    Finding::pass(Layer::Matrix, "keeps a text of your own")
}

/// Paths are parsed relative to the root, and a parser refuses any that could leave it; what is left to
/// judge is whether there is a workspace at all.
fn inside_workspace(case: &Case<'_>, row: &Row) -> Finding {
    let only_paths = case.resources.iter().all(|resource| matches!(resource, Resource::Path { .. }));
    if case.surroundings.workspace && only_paths {
        Finding::pass(Layer::Matrix, row.why)
    } else {
        Finding::deny(Layer::Matrix, row.code, "it lies outside the workspace")
    }
}

fn allowed_host(case: &Case<'_>, row: &Row) -> Finding {
    let mut hosts = 0;
    let mut composed = false;
    for resource in case.resources {
        match resource {
            Resource::Host { host, handle } if case.surroundings.hosts.contains(host) => {
                hosts += 1;
                composed |= !handle;
            }
            Resource::Host { .. }
            | Resource::Path { .. }
            | Resource::Record { .. }
            | Resource::Command { .. }
            | Resource::Redirect { .. } => {
                return Finding::deny(Layer::Matrix, row.code, "that host is not on the list");
            }
        }
    }
    if hosts == 0 {
        return Finding::deny(Layer::Matrix, row.code, "it names no host");
    }
    if composed && case.label.sensitivity >= Sensitivity::Private {
        return Finding::ask(
            Layer::Matrix,
            row.code,
            "the model wrote the address, and private text is in reach",
        );
    }
    Finding::pass(Layer::Matrix, row.why)
}

fn isolated(case: &Case<'_>, row: &Row) -> Finding {
    let isolation = case.surroundings.isolation;
    let unclear = |one: &Resource| matches!(one, Resource::Command { exact: false, .. });
    if isolation.is_whole() && case.resources.iter().any(unclear) {
        return Finding::ask(
            Layer::Matrix,
            "policy.shell.unclear",
            "what it would run cannot be told for sure",
        );
    }
    if isolation.is_whole() {
        return Finding::pass(Layer::Matrix, row.why);
    }
    if isolation.weaker_mode && !case.label.trust.is_tainted() {
        return Finding::ask(
            Layer::Matrix,
            "policy.isolation.weaker_mode",
            "it would run less confined than it should",
        );
    }
    Finding::deny(Layer::Matrix, "policy.isolation.missing", "it cannot be confined here")
}
