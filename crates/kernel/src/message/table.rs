//! The rows, sorted by code. A code that was ever written into a journal stays here for good, since old
//! runs must stay readable.

use super::{Entry, Remediation};

/// Declares the rows. What the model can do is one word before the code: nothing with this call
/// (`fixed`), the very same call later (`again`), other arguments (`change`), have a person asked
/// (`ask`).
macro_rules! rows {
    ($($kind:ident $code:literal: $message:literal;)*) => {
        /// Every reason code of Mast, sorted.
        pub const TABLE: &[Entry] = &[$($kind($code, $message),)*];
    };
}

const fn fixed(code: &'static str, message: &'static str) -> Entry {
    Entry { code, message, retryable: false, remediation: Remediation::None }
}

const fn again(code: &'static str, message: &'static str) -> Entry {
    Entry { code, message, retryable: true, remediation: Remediation::None }
}

const fn change(code: &'static str, message: &'static str) -> Entry {
    Entry { code, message, retryable: false, remediation: Remediation::ModifyArguments }
}

const fn ask(code: &'static str, message: &'static str) -> Entry {
    Entry { code, message, retryable: false, remediation: Remediation::RequestApproval }
}

rows! {
    fixed "approval.denied": "A person was asked and said no. Do not ask for the same thing again.";
    ask "approval.expired": "Nobody answered in time, so it was not done.";
    fixed "approval.refused_before": "A person refused this twice in this run, so it is not asked again.";
    ask "approval.required": "A person must approve this first.";
    again "approval.too_many_open":
        "Too many questions of this run wait for a person. Ask again when they are answered.";
    ask "approval.void": "Something changed after the approval was asked for, so it no longer holds.";
    ask "approval.void.arguments": "The arguments are not those that were approved.";
    ask "approval.void.authority": "What the caller may do has changed since the approval was asked for.";
    ask "approval.void.clock": "The clock went back after the approval was asked for, so it no longer holds.";
    ask "approval.void.confinement": "It would be confined in another way than was approved.";
    ask "approval.void.definition": "The tool, or Mast itself, is not the one that was approved.";
    fixed "approval.void.foreign": "The approval belongs to another call.";
    ask "approval.void.label": "Less trusted or more private text is in reach than when it was approved.";
    ask "approval.void.resources": "It would touch something else than was approved.";
    fixed "approval.void.seal": "The approval does not carry its seal, so it is not believed.";
    ask "approval.void.shown": "What was shown to the person is not what would be done.";
    fixed "approval.void.superseded": "The person went on with something else before this was answered.";
    ask "policy.admin.ask": "This machine's own policy wants a person to approve this first.";
    fixed "policy.admin.deny": "This machine's own policy forbids this.";
    ask "policy.advisory.ask": "A reviewer wants a person to approve this first.";
    fixed "policy.advisory.deny": "A reviewer is against this.";
    ask "policy.flow.private_egress":
        "Private text is in reach and could leave with this call. A person must approve it first.";
    fixed "policy.flow.secret_egress":
        "A secret is in reach and could leave with this call. That is never allowed.";
    fixed "policy.hardline.address": "That address is not open to any tool.";
    fixed "policy.hardline.credential_access": "Credentials are not open to any tool.";
    fixed "policy.hardline.destructive_command":
        "That command could destroy what cannot be brought back. No setting allows it.";
    fixed "policy.hardline.host_access": "The machine itself is not open to any tool.";
    fixed "policy.hardline.privileged": "No tool may act with higher privileges.";
    fixed "policy.hardline.protected_path": "That path is protected from every tool.";
    fixed "policy.isolation.missing": "Programs run only where they can be confined, and here they cannot.";
    ask "policy.isolation.weaker_mode":
        "The program would run less confined than usual. A person must approve it first.";
    fixed "policy.matrix.code_execution": "Programs run only under confinement.";
    fixed "policy.matrix.credential_access": "Credentials are not open to tools.";
    ask "policy.matrix.durable_text":
        "What this keeps would outlive the session. A person must approve it first.";
    ask "policy.matrix.external_delete": "This deletes something outside. A person must approve it first.";
    ask "policy.matrix.external_message": "This sends a message. A person must approve it first.";
    ask "policy.matrix.external_write": "This changes something outside. A person must approve it first.";
    ask "policy.matrix.financial": "This moves money. A person must approve it first.";
    fixed "policy.matrix.host_access": "The machine itself is not open to tools.";
    ask "policy.matrix.network_read":
        "That address may be read only after a person approves it, or not at all.";
    fixed "policy.matrix.package_install": "Packages may not be installed.";
    fixed "policy.matrix.privileged": "Tools may not act with higher privileges.";
    ask "policy.matrix.publication": "This publishes something. A person must approve it first.";
    fixed "policy.matrix.sandbox_network": "Programs in the sandbox may not use the network.";
    fixed "policy.matrix.skill_below_user": "Skills change only by a person's own words.";
    fixed "policy.matrix.unknown_tool": "There is no such tool.";
    change "policy.matrix.workspace_read": "Only the inside of the workspace may be read.";
    change "policy.matrix.workspace_write": "Only the inside of the workspace may be changed.";
    ask "policy.revalidation.escalated":
        "The rules ask for more now than when the approval was given, so it no longer holds.";
    ask "policy.rules.always_ask": "Every single call of this tool is asked about.";
    ask "policy.rules.ask": "A rule of the policy wants a person to approve this first.";
    fixed "policy.rules.deny": "A rule of the policy forbids this.";
    fixed "policy.scope.missing": "The caller does not hold every scope that this tool needs.";
    ask "policy.shell.unclear":
        "What this command would run cannot be told for sure. A person must approve it, or write it plainly.";
    ask "policy.trust.tainted_origin":
        "Text from outside may have shaped this call. A person must approve it first.";
    fixed "policy.turn.no_tools": "This request is to be answered without tools.";
    fixed "policy.turn.not_offered": "That tool was not offered for this request. Use one that was.";
    fixed "policy.turn.plan_mode":
        "This request only looks and changes nothing. Describe the change instead.";
    fixed "policy.unclassifiable": "No rule covers this call, so it is refused.";
    fixed "run.answer_cut": "The answer was cut off or held back.";
    fixed "run.budget_exceeded": "The run used up its model calls.";
    fixed "run.deadline_exceeded": "The run took longer than it was allowed.";
    fixed "run.effect_unknown": "Nobody knows whether a call of this run had its effect.";
    again "run.empty_model_turn": "The model answered nothing, twice.";
    fixed "run.file_empty": "A required file is there and has nothing in it.";
    fixed "run.file_missing": "A required file is not there.";
    fixed "run.file_unchanged": "A required file is as it was before the run.";
    fixed "run.file_without_receipt":
        "A required file has changed, and no call of this run is on record that changed it.";
    fixed "run.internal_error": "The run could not go on because of a fault in Mast.";
    fixed "run.interrupted": "The process that worked on the run ended before it did.";
    fixed "run.max_steps_exceeded": "The run used up its steps.";
    again "run.model_error": "The model could not be asked, or its answer could not be read.";
    fixed "run.read_missing": "What had to be read was not read whole.";
    again "run.reasoning_only": "The model thought and then answered nothing.";
    fixed "run.recovery_exhausted": "Every process that worked on the run ended before it got further.";
    fixed "run.repeated_denial": "The model asked for the same refused call again and again.";
    fixed "run.too_sensitive_for_provider": "What this run holds may not be sent to that model.";
    fixed "run.tool_loop_detected": "The model made the same call again and again without getting further.";
    fixed "run.verifier_changed": "What a required command judges by was changed in this run.";
    fixed "run.verifier_denied": "The rules do not let a required command run without asking, and nobody is asked at the end.";
    fixed "run.verifier_failed": "A required command did not pass.";
    fixed "run.verifier_unavailable": "Not available: a required command needs the sandbox.";
    fixed "tool.batch.too_many":
        "Too many calls in one reply. The first of them were taken; ask for the rest again.";
    fixed "tool.budget_exhausted": "The run has no tool calls left. Answer with what is known.";
    fixed "tool.contract.no_watermark":
        "The tool did not say when it reached out, so its result cannot be relied on.";
    fixed "tool.internal.fault": "The tool failed through a fault of its own.";
    change "tool.invalid_arguments.arity": "Wrong number of arguments for that function.";
    change "tool.invalid_arguments.division_by_zero": "Division by zero.";
    change "tool.invalid_arguments.domain": "An argument is outside the function's domain.";
    change "tool.invalid_arguments.expression_too_deep": "The expression is nested more than 32 levels deep.";
    change "tool.invalid_arguments.expression_too_long": "The expression is longer than 1024 characters.";
    change "tool.invalid_arguments.json": "The arguments are not one JSON object.";
    change "tool.invalid_arguments.not_a_directory": "That path is a file. Use workspace.read_text.";
    change "tool.invalid_arguments.not_a_file": "That path is a directory.";
    change "tool.invalid_arguments.not_text": "Not a UTF-8 text file. This tool reads text only.";
    change "tool.invalid_arguments.path_escape":
        "That path cannot be used. Give one inside the workspace, relative to its root.";
    change "tool.invalid_arguments.result_out_of_range": "The result is too large or too small to represent.";
    change "tool.invalid_arguments.schema": "The arguments do not fit the tool's schema.";
    change "tool.invalid_arguments.syntax": "The expression could not be parsed.";
    change "tool.invalid_arguments.unknown_name":
        "Unknown function or constant. Functions: abs, ceil, exp, floor, ln, log10, max, min, round, sqrt. \
        Constants: pi, e.";
    change "tool.invalid_arguments.unknown_timezone":
        "Unknown timezone. Provide an IANA name such as UTC, America/New_York, or Europe/London.";
    fixed "tool.loop_detected":
        "This call was made before and brought nothing new. Do something else or answer.";
    change "tool.not_found.no_such_path": "No such path in the workspace.";
    fixed "tool.not_found.not_offered": "That tool was not offered. Use one that was.";
    fixed "tool.outcome_unknown":
        "Nobody can say whether this happened. Do not repeat it; a person must look.";
    fixed "tool.output_invalid.schema": "The tool returned something else than it declares.";
    change "tool.output_too_large.ceiling": "The tool returned far too much and was stopped. Ask for less.";
    fixed "tool.recovery.changed": "Not run again after an interruption: the tool is not the same any more.";
    fixed "tool.recovery.exhausted": "Not run again: it was interrupted too often.";
    fixed "tool.run_cancelled": "The run was stopped.";
    again "tool.store.unavailable": "Nothing was done, because it could not be written down first.";
    again "tool.timeout.deadline": "The tool took longer than it is allowed.";
    fixed "tool.waiting.batch":
        "Not run: it waits for a person, or for another call of its reply. Do not ask for it again.";
}
