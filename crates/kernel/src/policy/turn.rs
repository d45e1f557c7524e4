//! What this request offered: a tool that was not offered does not run, however it is called.

mod phrase;

use super::{Finding, Layer};
use crate::run::{Mode, TurnContract};
use crate::spec::{Egress, Idempotency, SideEffect, ToolKind, ToolSpec};

pub use phrase::narrowed_mode;

/// What the turn contract says of a tool.
pub(super) fn finding(contract: &TurnContract, spec: &ToolSpec) -> Finding {
    match contract.mode {
        Mode::NoTools => {
            Finding::deny(Layer::Turn, "policy.turn.no_tools", "this request is to be answered without tools")
        }
        Mode::Plan if !looks_only(spec) => Finding::deny(
            Layer::Turn,
            "policy.turn.plan_mode",
            "this request only looks, and changes nothing",
        ),
        Mode::Plan | Mode::Act if !contract.tools.contains(&spec.name) => {
            Finding::deny(Layer::Turn, "policy.turn.not_offered", "this request did not offer it")
        }
        Mode::Plan | Mode::Act => Finding::pass(Layer::Turn, "offered"),
    }
}

/// Whether a tool changes nothing that outlives the run, and composes nothing for the network.
pub(super) fn looks_only(spec: &ToolSpec) -> bool {
    match spec.side_effect {
        SideEffect::None => spec.idempotency == Idempotency::ReadOnly || spec.kind == ToolKind::Control,
        SideEffect::WorkspaceRead => spec.idempotency == Idempotency::ReadOnly,
        SideEffect::NetworkRead => spec.egress != Egress::Composed,
        SideEffect::WorkspaceWrite
        | SideEffect::CodeExecution
        | SideEffect::PackageInstall
        | SideEffect::SandboxNetwork
        | SideEffect::ExternalMessage
        | SideEffect::ExternalWrite
        | SideEffect::ExternalDelete
        | SideEffect::Financial
        | SideEffect::Publication
        | SideEffect::CredentialAccess
        | SideEffect::HostAccess
        | SideEffect::Privileged => false,
    }
}
