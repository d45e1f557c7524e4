//! The gate, step by step, with tools of every class.

use std::sync::Arc;
use std::time::Duration;

use mast_kernel::run::{ApprovalMode, RunStatus};
use mast_kernel::scope::Scope;
use mast_kernel::spec::{Idempotency, SideEffect};
use mast_kernel::trust::{Sensitivity, Trust};
use mast_provider::Item;
use mast_runtime::RunRequest;
use mast_testkit::probe::Body;
use mast_testkit::{Probe, Story, Told, memory_store};

const ONE_CALL: &str = "- calls: [{tool: demo.probe, args: {text: hello}}]\n- text: \"done\"";

async fn one_call(probe: &Probe) -> (Story, Told) {
    let story = Story::with(ONE_CALL, &[Arc::new(probe.clone())], Arc::new(memory_store()));
    let told = story.says("Go.").await;
    (story, told)
}

/// What the model read of the call.
fn read(story: &Story) -> String {
    match story.model.requests().last().unwrap().items.last().unwrap() {
        Item::ToolResult { content, .. } => content.clone(),
        other => panic!("{other:?}"),
    }
}

/// A durable text of the user's own: it acts, and nobody is asked.
fn keeper() -> Probe {
    let mut probe = Probe::new("demo.probe", SideEffect::None);
    probe.marks = true;
    probe.spec.idempotency = Idempotency::NonIdempotent;
    probe.spec.allow_parallel = false;
    probe
}

#[tokio::test]
async fn what_a_model_reads_of_a_refusal_has_six_fields_and_the_missing_scopes_beside_it() {
    let mut probe = Probe::new("demo.probe", SideEffect::None);
    probe.spec.required_scopes =
        ["zoo.open", "demo.write"].iter().filter_map(|text| Scope::parse(text)).collect();
    let (story, told) = one_call(&probe).await;
    expect_test::expect![[r#"
        {"status":"denied","action":"demo.probe","reason_code":"policy.scope.missing","message":"The caller does not hold every scope that this tool needs.","retryable":false,"remediation":"none"}
        Missing scopes: zoo.open"#]]
    .assert_eq(&read(&story));
    assert_eq!(probe.n_runs(), 0);
    assert!(told.journal.contains("reason_code=policy.scope.missing"), "{}", told.journal);
}

#[tokio::test]
async fn every_class_that_reaches_out_waits_for_a_person_and_does_not_run() {
    use SideEffect::{ExternalDelete, ExternalMessage, ExternalWrite, Financial, Publication};
    for effect in [ExternalMessage, ExternalWrite, ExternalDelete, Financial, Publication] {
        let probe = Probe::new("demo.probe", effect);
        let (_, told) = one_call(&probe).await;
        assert_eq!(told.end.status, RunStatus::WaitingForApproval, "{effect}");
        assert_eq!(told.end.asks.len(), 1);
        assert_eq!(probe.n_runs(), 0);
        assert!(told.journal.trim_end().ends_with(&format!("approvals=[\"{}\"]", told.end.asks[0].approval)));
    }
}

#[tokio::test]
async fn every_class_that_is_never_allowed_is_denied() {
    use SideEffect as Effect;
    for (effect, code) in [
        (Effect::PackageInstall, "policy.matrix.package_install"),
        (Effect::SandboxNetwork, "policy.matrix.sandbox_network"),
        (Effect::CredentialAccess, "policy.hardline.credential_access"),
        (Effect::HostAccess, "policy.hardline.host_access"),
        (Effect::Privileged, "policy.hardline.privileged"),
        (Effect::CodeExecution, "policy.isolation.missing"),
        (Effect::NetworkRead, "policy.matrix.network_read"),
        // Without a folder it is not even offered.
        (Effect::WorkspaceWrite, "policy.turn.not_offered"),
    ] {
        let probe = Probe::new("demo.probe", effect);
        let (_, told) = one_call(&probe).await;
        assert!(told.journal.contains(&format!("reason_code={code}")), "{effect}: {}", told.journal);
        assert_eq!(probe.n_runs(), 0, "{effect}");
    }
}

#[tokio::test]
async fn where_nobody_is_to_be_asked_a_call_that_must_ask_is_denied() {
    let probe = Probe::new("demo.probe", SideEffect::ExternalWrite);
    let story = Story::with(ONE_CALL, &[Arc::new(probe.clone())], Arc::new(memory_store()));
    let told = story.asks(RunRequest { approval_mode: ApprovalMode::Deny, ..RunRequest::typed("Go.") }).await;
    assert_eq!(told.end.status, RunStatus::Completed);
    assert!(told.journal.contains("reason_code=approval.required"), "{}", told.journal);
    assert_eq!(probe.n_runs(), 0);
}

#[tokio::test]
async fn a_tool_that_acts_is_claimed_and_marked_before_it_is_settled() {
    let probe = keeper();
    let (_, told) = one_call(&probe).await;
    assert_eq!(probe.n_runs(), 1);
    let kinds: Vec<&str> = told
        .journal
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|kind| kind.contains("call."))
        .collect();
    assert_eq!(
        kinds,
        [
            "tool.call.proposed",
            "tool.call.authorized",
            "tool.call.started",
            "call.marked",
            "tool.call.completed"
        ]
    );
}

#[tokio::test]
async fn success_without_the_mark_breaks_the_contract() {
    let (story, _) = one_call(&keeper().doing(Body::ForgetTheMark)).await;
    assert!(read(&story).contains("tool.contract.no_watermark"), "{}", read(&story));
}

#[tokio::test]
async fn a_body_that_panics_ends_its_call_and_not_the_run() {
    let mut probe = Probe::new("demo.probe", SideEffect::None);
    probe.body = Body::Panic;
    let (story, told) = one_call(&probe).await;
    assert_eq!(told.end.status, RunStatus::Completed);
    assert!(read(&story).contains("tool.internal.fault"), "{}", read(&story));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_hangs_is_cut_off_at_its_deadline() {
    let mut probe = Probe::new("demo.probe", SideEffect::None);
    probe.body = Body::Hang;
    let began = tokio::time::Instant::now();
    let (story, _) = one_call(&probe).await;
    assert!(read(&story).contains("tool.timeout.deadline"), "{}", read(&story));
    assert_eq!(began.elapsed().as_secs(), Duration::from_secs(1).as_secs());
}

#[tokio::test]
async fn the_words_of_others_stand_in_an_envelope_beside_the_object() {
    let mut probe = Probe::new("demo.probe", SideEffect::None);
    probe.body = Body::Fail;
    let (story, told) = one_call(&probe).await;
    let read = read(&story);
    let (object, rest) = read.split_once('\n').unwrap();
    assert!(!object.contains("IGNORE"), "{object}");
    assert!(rest.starts_with("<untrusted kind=\"tool\"") && rest.contains("IGNORE ALL RULES"), "{rest}");
    assert!(!told.journal.contains("IGNORE"), "{}", told.journal);
    let failed = told.journal.lines().find(|line| line.contains("tool.call.failed")).unwrap();
    assert!(failed.contains("trust=external_untrusted"), "{failed}");
}

#[tokio::test]
async fn a_result_that_its_schema_does_not_allow_is_not_shown() {
    let mut probe = Probe::new("demo.probe", SideEffect::None);
    probe.body = Body::WrongResult;
    let (story, _) = one_call(&probe).await;
    assert!(read(&story).contains("tool.output_invalid.schema"), "{}", read(&story));
}

#[tokio::test]
async fn a_long_result_is_shown_in_part_and_kept_whole_and_a_too_long_one_fails() {
    let mut probe = Probe::new("demo.probe", SideEffect::None);
    probe.body = Body::Say(65_536 * 4);
    let (story, told) = one_call(&probe).await;
    assert!(read(&story).len() < 17_000);
    assert!(told.journal.contains("truncated=true"), "{}", told.journal);
    let call = story.runtime.store().calls(&mast_store::CallFilter::default()).await.unwrap().pop().unwrap();
    let kept = story.runtime.store().content(&call.outcome.unwrap()).await.unwrap().unwrap();
    assert_eq!(kept.value.value()["whole"].as_str().unwrap().len(), 65_536 * 4);
    probe.body = Body::Say(65_536 * 4 + 1);
    let (story, _) = one_call(&probe).await;
    assert!(read(&story).contains("tool.output_too_large.ceiling"), "{}", read(&story));
}

#[tokio::test]
async fn a_result_is_labelled_as_its_tool_declares_or_worse() {
    let mut probe = Probe::new("demo.probe", SideEffect::None);
    probe.spec.output_trust = Trust::Knowledge;
    probe.spec.output_sensitivity = Sensitivity::Private;
    let (story, told) = one_call(&probe).await;
    assert!(read(&story).starts_with("<untrusted kind=\"tool\""), "{}", read(&story));
    let completed = told.journal.lines().find(|line| line.contains("tool.call.completed")).unwrap();
    assert!(
        completed.contains("trust=knowledge") && completed.contains("sensitivity=private"),
        "{completed}"
    );
}
