//! The overlays: what an allowed call may not do because of what was read before it.

use super::{Case, Finding, Layer};
use crate::resource::Resource;
use crate::spec::{Egress, Idempotency, SideEffect};
use crate::trust::Sensitivity;

/// The trust overlay: under a tainted origin only reads, and work on a stage, go unasked.
pub(super) fn trust(case: &Case<'_>) -> Finding {
    if !case.label.trust.is_tainted() {
        return Finding::pass(Layer::Trust, "nothing from outside was read");
    }
    if reads_only(case) {
        return Finding::pass(Layer::Trust, "it only reads");
    }
    if case.surroundings.staged {
        return Finding::pass(Layer::Trust, "it works on the stage");
    }
    Finding::ask(Layer::Trust, "policy.trust.tainted_origin", "text from outside may have shaped it")
}

fn reads_only(case: &Case<'_>) -> bool {
    let spec = case.spec();
    match spec.side_effect {
        SideEffect::None => spec.idempotency == Idempotency::ReadOnly,
        SideEffect::WorkspaceRead => true,
        SideEffect::NetworkRead => {
            !case.resources.is_empty()
                && case
                    .resources
                    .iter()
                    .all(|resource| matches!(resource, Resource::Host { handle: true, .. }))
        }
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

/// The flow overlay: what is private leaves only when a person says so, what is secret never.
pub(super) fn flow(case: &Case<'_>) -> Finding {
    if case.spec().egress != Egress::Composed {
        return Finding::pass(Layer::Flow, "it sends nothing of the model's making");
    }
    match case.label.sensitivity {
        Sensitivity::Public => Finding::pass(Layer::Flow, "nothing private is in reach"),
        Sensitivity::Private => {
            Finding::ask(Layer::Flow, "policy.flow.private_egress", "something private could leave with it")
        }
        Sensitivity::Secret => {
            Finding::deny(Layer::Flow, "policy.flow.secret_egress", "a secret could leave with it")
        }
    }
}
