//! A person is asked: what was shown is what is done, once, and only while nothing has changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use expect_test::expect;
use mast_kernel::approval::ApprovalStatus;
use mast_kernel::event::{Reach, Reconciled};
use mast_kernel::grant::GrantStatus;
use mast_kernel::id::{PrincipalId, RunId};
use mast_kernel::policy::{Advice, Authority, Draft, NoRoster, Overlay, Policy, Whose};
use mast_kernel::run::{Completion, RunStatus};
use mast_kernel::spec::SideEffect;
use mast_runtime::{
    Answer, Ask, Judge, NotReconciled, NotTaken, ReviewFailed, Reviewed, Reviewer, RunRequest, RuntimeError,
    Session, Silent, Surface, Verdict, World,
};
use mast_store::audit::{self, Table};
use mast_store::{ApprovalFilter, CallFilter, GrantFilter, SessionFilter};
use mast_testkit::probe::Body;
use mast_testkit::{CountedIds, ManualClock, Probe, START_MICROS, Story, memory_store, world};
use mast_tools::{Cancellation, Tool};

const SEND: &str = "\
- calls: [{tool: demo.external_write, args: {destination: ops, content: hello}}]
- text: Sent.
";

/// A story with a probe that writes outside, and what it proposes.
fn probed(script: &str) -> (Story, Probe) {
    let probe = Probe::new("demo.probe", SideEffect::ExternalWrite);
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(probe.clone())];
    (Story::with(script, &tools, Arc::new(memory_store())), probe)
}

const PROBE: &str = "- calls: [{tool: demo.probe, args: {text: a}}]\n- text: Done.\n";

#[tokio::test]
async fn a_parked_run_goes_on_after_a_yes_and_acts_once() {
    let story = Story::new(SEND);
    let told = story.says("Tell ops hello.").await;
    assert_eq!(told.end.status, RunStatus::WaitingForApproval);
    let [ask] = told.end.asks.as_slice() else { panic!("{:?}", told.end.asks) };
    assert!(!told.journal.contains("tool.call.started"), "{}", told.journal);

    story.answers(ask.approval, Verdict::Yes(Reach::Once), None).await.unwrap();
    let told = story.resumes(told.end.run).await.unwrap();
    assert_eq!((told.end.status, told.end.answer.as_deref()), (RunStatus::Completed, Some("Sent.")));
    expect![[r#"
        session.created
        user.message.created
        run.queued
        run.started
        model.request.started
        model.response.completed
        context.item.appended
        tool.call.proposed
        approval.requested
        run.waiting_for_approval
        approval.resolved
        run.resumed
        tool.call.authorized
        approval.consumed
        tool.call.started
        call.marked
        tool.call.completed
        context.item.appended
        model.request.started
        model.response.completed
        assistant.message.completed
        run.completed"#]]
    .assert_eq(&told.kinds().join("\n"));
    let row = story.runtime.store().approval(ask.approval).await.unwrap().unwrap();
    assert_eq!(row.status, ApprovalStatus::Consumed);

    let again = story.resumes(told.end.run).await.unwrap_err();
    assert!(matches!(again, RuntimeError::NotWaiting { status: RunStatus::Completed, .. }), "{again}");
}

#[tokio::test]
async fn a_no_reaches_the_model_with_the_persons_words() {
    let story = Story::new(SEND);
    let told = story.says("Tell ops hello.").await;
    let approval = told.end.asks[0].approval;
    story.answers(approval, Verdict::No, Some("Ask me again on Monday.")).await.unwrap();
    let told = story.resumes(told.end.run).await.unwrap();
    assert_eq!(told.end.status, RunStatus::Completed);
    assert!(!told.journal.contains("tool.call.started"), "{}", told.journal);
    let shown = format!("{:?}", story.model.requests().last().unwrap().items);
    assert!(shown.contains("approval.denied") && shown.contains("Ask me again on Monday."), "{shown}");
}

#[tokio::test]
async fn a_run_whose_question_is_open_goes_on_waiting() {
    let story = Story::new(SEND);
    let told = story.says("Tell ops hello.").await;
    let before = told.journal.lines().count();
    let told = story.resumes(told.end.run).await.unwrap();
    assert_eq!(told.end.status, RunStatus::WaitingForApproval);
    assert_eq!(told.end.asks.len(), 1);
    assert_eq!(told.journal.lines().count(), before, "nothing is written for a run that still waits");
}

#[tokio::test]
async fn gate_policy_9_of_two_verdicts_at_the_same_moment_one_counts() {
    let story = Story::new(SEND);
    let told = story.says("Tell ops hello.").await;
    let approval = told.end.asks[0].approval;
    let yes = || story.answers(approval, Verdict::Yes(Reach::Once), None);
    let (one, other, no) = tokio::join!(yes(), yes(), story.answers(approval, Verdict::No, None));
    assert!(one.is_ok() && other.is_ok(), "the same answer twice is one answer");
    assert!(matches!(no, Err(NotTaken::Settled { status: ApprovalStatus::Approved, .. })), "{no:?}");
    let resolved = story.resumes(told.end.run).await.unwrap().journal;
    assert_eq!(resolved.matches("approval.resolved").count(), 1);
    assert_eq!(resolved.matches("approval.consumed").count(), 1);
}

#[tokio::test]
async fn of_two_who_take_a_run_up_at_once_one_has_it() {
    let (story, probe) = probed(PROBE);
    let told = story.says("Go.").await;
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await.unwrap();
    let run = told.end.run;
    let (one, other) = tokio::join!(story.resumes(run), story.resumes(run));
    let (told, refused) = match (one, other) {
        (Ok(told), Err(refused)) | (Err(refused), Ok(told)) => (told, refused),
        both => panic!("{both:?}"),
    };
    assert!(matches!(refused, RuntimeError::NotWaiting { .. }), "{refused}");
    assert_eq!((told.end.status, probe.n_runs()), (RunStatus::Completed, 1));
    let kinds = told.kinds();
    assert!(!kinds.contains(&"run.failed"), "{}", told.journal);
    assert_eq!(kinds.iter().filter(|kind| **kind == "run.resumed").count(), 1);
}

#[tokio::test]
async fn gate_policy_7_nobody_else_can_answer_or_learn_that_there_is_a_question() {
    let story = Story::new(SEND);
    let told = story.says("Tell ops hello.").await;
    let approval = told.end.asks[0].approval;
    let answer = async |by: &Authority| {
        let answer = Answer { approval, verdict: Verdict::Yes(Reach::Once), words: None, by };
        story.runtime.answer(&answer).await.unwrap_err()
    };
    let other = Authority { principal: PrincipalId::from_u128(2), ..story.authority.clone() };
    let foreign = answer(&other).await;
    assert!(matches!(foreign, NotTaken::NoSuchApproval(_)), "{foreign}");
    let weak = story.authority.narrowed(&std::collections::BTreeSet::new());
    assert!(matches!(answer(&weak).await, NotTaken::NotAllowed));
    let unknown = story.resumes(RunId::from_u128(99)).await.unwrap_err();
    assert!(matches!(unknown, RuntimeError::NoSuchRun(_)), "{unknown}");
}

/// A story whose clock the test moves.
fn timed() -> (Story, Arc<ManualClock>) {
    timed_with(SEND, &mast_tools::builtin::all())
}

fn timed_with(script: &str, tools: &[Arc<dyn Tool>]) -> (Story, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(START_MICROS));
    let world = World { clock: clock.clone(), ids: Arc::new(CountedIds::default()), ..world() };
    (Story::in_world(script, tools, Arc::new(memory_store()), world), clock)
}

#[tokio::test]
async fn silence_denies() {
    let (story, clock) = timed();
    let told = story.says("Tell ops hello.").await;
    clock.advance(4 * 3_600 + 1);
    let late = story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await;
    assert!(matches!(late, Err(NotTaken::Expired(_))), "{late:?}");
    let told = story.resumes(told.end.run).await.unwrap();
    assert!(told.journal.contains("reason_code=approval.expired"), "{}", told.journal);
    assert!(!told.journal.contains("tool.call.started"), "{}", told.journal);
}

#[tokio::test]
async fn a_yes_that_comes_too_late_to_be_used_is_void() {
    let (story, clock) = timed();
    let told = story.says("Tell ops hello.").await;
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await.unwrap();
    clock.advance(4 * 3_600 + 1);
    let told = story.resumes(told.end.run).await.unwrap();
    assert!(told.kinds().contains(&"approval.invalidated"), "{}", told.journal);
    assert!(!told.journal.contains("tool.call.started"), "{}", told.journal);
}

#[tokio::test]
async fn a_clock_that_goes_back_voids_what_waits() {
    let (story, clock) = timed();
    let told = story.says("Tell ops hello.").await;
    clock.advance(-3_600);
    let refused = story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await;
    assert!(matches!(refused, Err(NotTaken::Void { code: "approval.void.clock", .. })), "{refused:?}");
}

/// What is on record of a yes that was given in time, was over, and is used after the clock went back to where it
/// would hold. `meanwhile` puts the late moment on record.
async fn used_after_the_clock_went_back(meanwhile: impl AsyncFnOnce(&Story, &mut Session)) -> String {
    let (story, clock) = timed();
    let mut session = story.session().await;
    let told = story.goes_on(&mut session, RunRequest::typed("Tell ops hello.")).await.unwrap();
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await.unwrap();
    clock.advance(4 * 3_600 + 1);
    meanwhile(&story, &mut session).await;
    clock.advance(-4 * 3_600);
    story.resumes(told.end.run).await.unwrap().journal
}

#[tokio::test]
async fn a_yes_that_was_over_stays_over_when_the_clock_goes_back() {
    let head = async |story: &Story, session: &mut Session| {
        let late = story.runtime.world().clock.now();
        story.runtime.store().sign_head(session.id(), late).await.unwrap();
    };
    let asks = async |story: &Story, session: &mut Session| {
        let desk = story.runtime.desk(session.clone(), &Silent).await.unwrap();
        desk.close(0).await.unwrap();
    };
    for journal in [used_after_the_clock_went_back(head).await, used_after_the_clock_went_back(asks).await] {
        assert!(!journal.contains("tool.call.started"), "{journal}");
        assert!(journal.contains("approval.invalidated"), "{journal}");
        assert!(journal.contains("reason_code=approval.void.clock"), "{journal}");
    }
}

#[tokio::test]
async fn a_clock_that_goes_back_a_little_makes_no_yes_last_longer() {
    let (story, clock) = timed();
    let mut session = story.session().await;
    let told = story.goes_on(&mut session, RunRequest::typed("Tell ops hello.")).await.unwrap();
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await.unwrap();
    clock.advance(4 * 3_600 + 1);
    story.runtime.desk(session.clone(), &Silent).await.unwrap().close(0).await.unwrap();
    clock.advance(-4);
    let told = story.resumes(told.end.run).await.unwrap();
    assert!(!told.journal.contains("tool.call.started"), "{}", told.journal);
    assert!(told.journal.contains("reason_code=approval.expired"), "{}", told.journal);
}

#[tokio::test]
async fn a_question_that_waits_is_void_once_the_clock_went_back() {
    let (story, clock) = timed();
    let told = story.says("Tell ops hello.").await;
    clock.advance(-3_600);
    let told = story.resumes(told.end.run).await.unwrap();
    assert!(told.journal.contains("reason_code=approval.void.clock"), "{}", told.journal);
    assert_eq!(told.end.status, RunStatus::Completed, "{}", told.journal);
}

#[tokio::test]
async fn a_grant_that_was_over_covers_nothing_when_the_clock_goes_back() {
    let call = "- calls: [{tool: demo.probe, args: {text: a}}]\n- text: ok\n";
    let probe = Probe::new("demo.probe", SideEffect::ExternalWrite);
    let tools: [Arc<dyn Tool>; 1] = [Arc::new(probe.clone())];
    let (story, clock) = timed_with(&call.repeat(2), &tools);
    let mut session = story.session().await;
    let told = story.goes_on(&mut session, RunRequest::typed("One.")).await.unwrap();
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Session), None).await.unwrap();
    story.resumes(told.end.run).await.unwrap();
    let mut session = story.runtime.session(session.id(), story.authority.clone()).await.unwrap();
    clock.advance(365 * 24 * 3_600);
    story.runtime.desk(session.clone(), &Silent).await.unwrap().close(0).await.unwrap();
    clock.advance(-365 * 24 * 3_600);
    let told = story.goes_on(&mut session, RunRequest::typed("Two.")).await.unwrap();
    assert_eq!((told.end.status, probe.n_runs()), (RunStatus::WaitingForApproval, 1), "{}", told.journal);
    assert!(told.kinds().contains(&"grant.expired"), "{}", told.journal);
}

#[tokio::test]
async fn narrowed_scopes_void_a_yes() {
    let mut story = Story::new(SEND);
    let told = story.says("Tell ops hello.").await;
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await.unwrap();
    story.authority.scopes.retain(|scope| scope.as_str() != "session.read");
    let told = story.resumes(told.end.run).await.unwrap();
    assert!(told.journal.contains("reason_code=approval.void.authority"), "{}", told.journal);
    assert!(!told.journal.contains("tool.call.started"), "{}", told.journal);
}

/// A person who says the same to everything.
struct Always(Option<(Verdict, Option<String>)>);

#[async_trait]
impl Judge for Always {
    async fn judge(&self, _: &Ask) -> Option<(Verdict, Option<String>)> {
        self.0.clone()
    }
}

async fn says_to(story: &Story, judge: &dyn Judge, text: &str) -> (mast_runtime::RunEnd, String) {
    let mut session = story.session().await;
    let cancellation = Cancellation::new();
    let surface = Surface { observer: &Silent, cancellation: &cancellation, judge: Some(judge) };
    let end = story.runtime.run(&mut session, RunRequest::typed(text), &story.model, surface).await.unwrap();
    let events = story.runtime.store().events(session.id(), 0, 0).await.unwrap();
    (end, events.iter().map(mast_testkit::line).collect())
}

#[tokio::test]
async fn a_person_who_is_there_answers_within_the_run() {
    let (story, probe) = probed(PROBE);
    let (end, journal) = says_to(&story, &Always(Some((Verdict::Yes(Reach::Once), None))), "Go.").await;
    assert_eq!((end.status, end.completion), (RunStatus::Completed, Some(Completion::Unverified)));
    assert_eq!(probe.n_runs(), 1);
    let order = ["approval.requested", "approval.resolved", "approval.consumed", "tool.call.started"];
    let places: Vec<_> = order.iter().map(|kind| journal.find(kind).unwrap()).collect();
    assert!(places.is_sorted(), "{journal}");

    let (story, probe) = probed(PROBE);
    let (end, _) = says_to(&story, &Always(None), "Go.").await;
    assert_eq!((end.status, probe.n_runs()), (RunStatus::WaitingForApproval, 0));
}

#[tokio::test]
async fn after_two_refusals_of_a_thing_it_is_not_asked_again() {
    let call = "- calls: [{tool: demo.probe, args: {text: TEXT}}]\n";
    let script: String = ["a", "b", "c"].map(|text| call.replace("TEXT", text)).concat() + "- text: ok\n";
    let (story, probe) = probed(&script);
    let (end, journal) = says_to(&story, &Always(Some((Verdict::No, None))), "Go.").await;
    assert_eq!(end.status, RunStatus::Completed);
    assert_eq!(journal.matches("approval.requested").count(), 2, "{journal}");
    assert_eq!(journal.matches("reason_code=approval.refused_before").count(), 1, "{journal}");
    assert_eq!(probe.n_runs(), 0);
}

#[tokio::test]
async fn what_nobody_knows_the_outcome_of_is_not_asked_about_again_after_a_pause() {
    let call = "- calls: [{tool: demo.probe, args: {text: TEXT}}]\n";
    let script: String = ["a", "b", "a"].map(|text| call.replace("TEXT", text)).concat() + "- text: ok\n";
    let probe = Probe::new("demo.probe", SideEffect::ExternalWrite).doing(Body::Panic);
    let story = Story::with(&script, &[Arc::new(probe.clone())], Arc::new(memory_store()));
    let mut told = story.says("Go.").await;
    for _ in 0..2 {
        story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await.unwrap();
        told = story.resumes(told.end.run).await.unwrap();
    }
    assert_eq!((told.end.status, probe.n_runs()), (RunStatus::Completed, 2), "{}", told.journal);
    assert_eq!(told.journal.matches("tool.call.uncertain").count(), 2, "{}", told.journal);
    assert_eq!(told.journal.matches("approval.requested").count(), 2, "{}", told.journal);
    let shown = format!("{:?}", story.model.requests().last().unwrap().items.last());
    assert!(shown.contains("tool.outcome_unknown"), "{shown}");
}

#[tokio::test]
async fn whoever_is_asked_learns_that_the_same_call_may_have_happened() {
    let call = "- calls: [{tool: demo.probe, args: {text: TEXT}}]\n- text: ok\n";
    let script: String = ["a", "b", "a"].map(|text| call.replace("TEXT", text)).concat();
    let probe = Probe::new("demo.probe", SideEffect::ExternalWrite).doing(Body::Panic);
    let story = Story::with(&script, &[Arc::new(probe)], Arc::new(memory_store()));
    let mut session = story.session().await;
    let told = story.goes_on(&mut session, RunRequest::typed("One.")).await.unwrap();
    let doubtful = told.end.asks[0].call;
    assert_eq!(told.end.asks[0].twin, None);
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await.unwrap();
    story.resumes(told.end.run).await.unwrap();

    let mut session = story.runtime.session(session.id(), story.authority.clone()).await.unwrap();
    let told = story.goes_on(&mut session, RunRequest::typed("Two.")).await.unwrap();
    assert_eq!(told.end.asks[0].twin, None, "other arguments are another call");
    story.answers(told.end.asks[0].approval, Verdict::No, None).await.unwrap();
    story.resumes(told.end.run).await.unwrap();

    let mut session = story.runtime.session(session.id(), story.authority.clone()).await.unwrap();
    let told = story.goes_on(&mut session, RunRequest::typed("Three.")).await.unwrap();
    assert_eq!(told.end.asks[0].twin, Some(doubtful));
    assert_eq!(story.resumes(told.end.run).await.unwrap().end.asks[0].twin, Some(doubtful));
}

#[tokio::test]
async fn of_two_who_reconcile_a_call_at_once_one_is_told_that_it_is_settled() {
    let probe = Probe::new("demo.probe", SideEffect::ExternalWrite).doing(Body::Panic);
    let story = Story::with(PROBE, &[Arc::new(probe)], Arc::new(memory_store()));
    let told = story.says("Go.").await;
    let call = told.end.asks[0].call;
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await.unwrap();
    story.resumes(told.end.run).await.unwrap();
    let says = |verdict| story.runtime.reconcile(call, verdict, &story.authority);
    let (one, other) = tokio::join!(says(Reconciled::Happened), says(Reconciled::DidNot));
    let refused = match (one, other) {
        (Ok(_), Err(refused)) | (Err(refused), Ok(_)) => refused,
        both => panic!("{both:?}"),
    };
    assert!(matches!(refused, NotReconciled::NotInDoubt { .. }), "{refused:?}");
}

#[tokio::test]
async fn the_same_denial_is_counted_across_a_pause() {
    let denied = "- calls: [{tool: math.calculate, args: {expression: \"1+1\"}}]\n";
    let probe = Probe::new("demo.probe", SideEffect::ExternalWrite);
    let mut tools = mast_tools::builtin::all();
    tools.push(Arc::new(probe.clone()));
    let script =
        denied.repeat(2) + "- calls: [{tool: demo.probe, args: {text: a}}]\n" + denied + "- text: ok\n";
    let mut story = Story::with(&script, &tools, Arc::new(memory_store()));
    let rule = "name = \"p\"\n[[tools]]\nname = \"math.calculate\"\nruling = \"deny\"\n";
    story.runtime = story.runtime.clone().under(profile(rule));
    let told = story.says("Go.").await;
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await.unwrap();
    let told = story.resumes(told.end.run).await.unwrap();
    let code = told.end.failure.map(|failure| failure.code);
    assert_eq!((told.end.status, code), (RunStatus::Failed, Some("run.repeated_denial")), "{}", told.journal);
}

#[tokio::test]
async fn a_batch_goes_on_where_it_stopped_without_a_second_proposal() {
    let script = "- calls: [{tool: demo.probe, args: {text: a}}, {tool: demo.probe, args: {text: b}}, \
                  {tool: math.calculate, args: {expression: \"1+1\"}}]\n- text: ok\n";
    let probe = Probe::new("demo.probe", SideEffect::ExternalWrite);
    let mut tools = mast_tools::builtin::all();
    tools.push(Arc::new(probe.clone()));
    let story = Story::with(script, &tools, Arc::new(memory_store()));
    let told = story.says("Go.").await;
    assert_eq!(told.end.asks.len(), 2);
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await.unwrap();
    assert_eq!(story.resumes(told.end.run).await.unwrap().end.asks.len(), 1, "one question is still open");
    assert_eq!(probe.n_runs(), 0, "nothing with an effect runs before all are answered");
    story.answers(told.end.asks[1].approval, Verdict::No, None).await.unwrap();
    let told = story.resumes(told.end.run).await.unwrap();
    assert_eq!(told.end.status, RunStatus::Completed);
    assert_eq!(probe.n_runs(), 1);
    assert_eq!(told.journal.matches("tool.call.proposed").count(), 3, "{}", told.journal);
}

#[tokio::test]
async fn a_yes_for_the_session_is_a_grant_that_is_counted_and_can_be_taken_back() {
    let call = "- calls: [{tool: demo.probe, args: {text: a}}]\n";
    let script = call.repeat(2) + "- text: ok\n" + call + "- text: ok\n";
    let (story, probe) = probed(&script);
    let mut session = story.session().await;
    let told = story.goes_on(&mut session, RunRequest::typed("Go.")).await.unwrap();
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Session), None).await.unwrap();
    let told = story.resumes(told.end.run).await.unwrap();
    assert_eq!(told.end.status, RunStatus::Completed, "{}", told.journal);
    assert_eq!(probe.n_runs(), 2, "the second call is covered");
    let grants = story.runtime.store().grants(&GrantFilter::default()).await.unwrap();
    let [grant] = grants.as_slice() else { panic!("{grants:?}") };
    assert_eq!((grant.status, grant.n_uses), (GrantStatus::Active, 1));

    let revoked = story.runtime.revoke(grant.id, &story.authority).await.unwrap();
    assert_eq!(revoked.status, GrantStatus::Revoked);
    let told = story.says("Again.").await;
    assert_eq!(told.end.status, RunStatus::WaitingForApproval, "another session has no grant");
}

#[tokio::test]
async fn a_grant_reaches_neither_another_session_nor_other_arguments() {
    let call = |text: &str| format!("- calls: [{{tool: demo.probe, args: {{text: {text}}}}}]\n");
    let script = call("a") + &call("b") + "- text: ok\n";
    let (story, probe) = probed(&script);
    let told = story.says("Go.").await;
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Session), None).await.unwrap();
    let told = story.resumes(told.end.run).await.unwrap();
    assert_eq!(told.end.status, RunStatus::WaitingForApproval, "other arguments ask again");
    assert_eq!(probe.n_runs(), 1);
}

#[tokio::test]
async fn a_grant_does_not_answer_a_rule_that_asks_for_the_first_time_later() {
    let call = "- calls: [{tool: demo.probe, args: {text: a}}]\n";
    let script = call.to_owned() + "- text: one\n" + call + "- text: two\n" + call + "- text: three\n";
    let (mut story, probe) = probed(&script);
    let mut session = story.session().await;
    let told = story.goes_on(&mut session, RunRequest::typed("One.")).await.unwrap();
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Session), None).await.unwrap();
    story.resumes(told.end.run).await.unwrap();
    let mut session = story.runtime.session(session.id(), story.authority.clone()).await.unwrap();
    let told = story.goes_on(&mut session, RunRequest::typed("Two.")).await.unwrap();
    assert_eq!(told.end.status, RunStatus::Completed, "the same question is answered: {}", told.journal);
    assert_eq!(probe.n_runs(), 2);

    let rule = "name = \"later\"\n[[rules]]\ntools = [\"demo.probe\"]\nruling = \"ask\"\n";
    story.runtime = story.runtime.clone().under(profile(rule));
    let told = story.goes_on(&mut session, RunRequest::typed("Three.")).await.unwrap();
    assert_eq!(told.end.status, RunStatus::WaitingForApproval, "{}", told.journal);
    assert_eq!(probe.n_runs(), 2);
}

/// Whether a yes to a rule is still a yes when the profile has become another one.
async fn holds_under(after: &str) -> bool {
    const BEFORE: &str = "name = \"p\"\nrules = [{ tools = [\"demo.probe\"], effects = [\"external_write\"], ruling = \"ask\" }]\n";
    let (mut story, probe) = probed(PROBE);
    story.runtime = story.runtime.clone().under(profile(BEFORE));
    let told = story.says("Go.").await;
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await.unwrap();
    story.runtime = story.runtime.clone().under(profile(after));
    let told = story.resumes(told.end.run).await.unwrap();
    let is_refused = told.journal.contains("reason_code=policy.revalidation.escalated");
    assert_eq!(is_refused, probe.n_runs() == 0, "{}", told.journal);
    probe.n_runs() == 1
}

#[tokio::test]
async fn a_yes_answers_the_rule_that_asked_and_no_other_on_its_line() {
    let same = "tools = [\"demo.probe\"]\neffects = [\"external_write\"]\nruling = \"ask\"\n";
    assert!(holds_under(&format!("name = \"q\"\n# Moved.\n\n[[rules]]\nwhy = \"new\"\n{same}")).await);
    assert!(!holds_under("name = \"p\"\nrules = [{ tools = [\"demo.probe\"], ruling = \"ask\" }]\n").await);
    let other = "[{ effects = [\"external_write\"], ruling = \"ask\" }]";
    assert!(!holds_under(&format!("name = \"p\"\nrules = {other}\n")).await);
}

#[tokio::test]
async fn some_yeses_reach_one_call_only() {
    let story = Story::new(SEND);
    let told = story.says("Tell ops hello.").await;
    let far = story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Session), None).await;
    assert!(matches!(far, Err(NotTaken::TooFar { most: Reach::Once, .. })), "{far:?}");
    let open = ApprovalFilter { status: Some(ApprovalStatus::Pending), ..ApprovalFilter::default() };
    assert_eq!(story.runtime.store().approvals(&open).await.unwrap().len(), 1, "it stays open");
}

#[tokio::test]
async fn what_a_person_does_next_retires_what_they_left_unanswered() {
    let script = SEND.to_owned() + "- text: Hi.\n";
    let story = Story::new(&script.replace("- text: Sent.\n", ""));
    let mut session = story.session().await;
    let first = story.goes_on(&mut session, RunRequest::typed("Tell ops hello.")).await.unwrap();
    let second = story.goes_on(&mut session, RunRequest::typed("Never mind. Hello!")).await.unwrap();
    assert_eq!(second.end.answer.as_deref(), Some("Hi."));
    assert!(second.journal.contains("reason_code=approval.void.superseded"), "{}", second.journal);
    let late = story.answers(first.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await;
    assert!(matches!(late, Err(NotTaken::Settled { status: ApprovalStatus::Void, .. })), "{late:?}");
}

/// A profile that says this, over the built-in one.
fn profile(text: &str) -> Policy {
    let draft = Draft::read("test.toml", text, Whose::User).unwrap();
    Policy::new(Overlay::On, Some(draft.load(&NoRoster).unwrap()), Vec::new())
}

#[tokio::test]
async fn a_rule_about_a_sequence_sees_what_ran_before_in_the_session_also_after_a_restart() {
    let script = "- calls: [{tool: demo.probe, args: {text: a}}]\n\
                  - calls: [{tool: math.calculate, args: {expression: \"1+1\"}}]\n- text: two\n\
                  - calls: [{tool: demo.probe, args: {text: b}}]\n- text: three\n";
    let probe = Probe::new("demo.probe", SideEffect::ExternalWrite);
    let mut tools = mast_tools::builtin::all();
    tools.push(Arc::new(probe.clone()));
    let mut story = Story::with(script, &tools, Arc::new(memory_store()));
    let rule = "name = \"after\"\n[[sequences]]\nafter = { tools = [\"math.calculate\"] }\n\
                then = { tools = [\"demo.probe\"] }\nruling = \"deny\"\n";
    story.runtime = story.runtime.clone().under(profile(rule));
    let mut session = story.session().await;
    let told = story.goes_on(&mut session, RunRequest::typed("One.")).await.unwrap();
    assert_eq!(told.end.asks.len(), 1, "nothing was calculated before");
    story.goes_on(&mut session, RunRequest::typed("Two.")).await.unwrap();
    let mut session = story.runtime.session(session.id(), story.authority.clone()).await.unwrap();
    let told = story.goes_on(&mut session, RunRequest::typed("Three.")).await.unwrap();
    assert!(told.journal.contains("reason_code=policy.rules.deny"), "{}", told.journal);
    assert_eq!(probe.n_runs(), 0);
}

#[tokio::test]
async fn a_rule_about_a_sequence_sees_the_earlier_calls_of_the_same_reply() {
    let calculate = "{tool: math.calculate, args: {expression: \"1+1\"}}";
    let probe = Probe::new("demo.probe", SideEffect::ExternalWrite);
    let mut tools = mast_tools::builtin::all();
    tools.push(Arc::new(probe.clone()));
    let rule = "name = \"after\"\n[[sequences]]\nafter = { tools = [\"math.calculate\"] }\n\
                then = { tools = [\"demo.probe\"] }\nruling = \"deny\"\n";
    let says = async |calls: String| {
        let script = format!("- calls: [{calls}]\n- text: ok\n");
        let mut story = Story::with(&script, &tools, Arc::new(memory_store()));
        story.runtime = story.runtime.clone().under(profile(rule));
        story.says("Go.").await
    };
    let probed = "{tool: demo.probe, args: {text: a}}";
    let wrapped = "{tool: tool.call, args: {name: math.calculate, arguments: {expression: \"1+1\"}}}";
    for first in [calculate, wrapped] {
        let told = says(format!("{first}, {probed}")).await;
        assert!(told.journal.contains("reason_code=policy.rules.deny"), "{}", told.journal);
    }
    let told = says(format!("{probed}, {calculate}")).await;
    assert_eq!(told.end.asks.len(), 1, "what comes later is not before: {}", told.journal);
    assert_eq!(probe.n_runs(), 0);
}

#[tokio::test]
async fn gate_policy_13_scopes_are_those_of_the_runs_beginning_and_narrower_ones_hold_from_the_next_run() {
    let script = SEND.to_owned() + SEND;
    let mut story = Story::new(&script.replace("- text: Sent.\n", ""));
    let mut session = story.session().await;
    story.authority.scopes.retain(|scope| scope.as_str() != "demo.write");
    let told = story.goes_on(&mut session, RunRequest::typed("Tell ops hello.")).await.unwrap();
    assert_eq!(told.end.asks.len(), 1, "the session was opened with the scope");

    let mut session = story.runtime.session(session.id(), story.authority.clone()).await.unwrap();
    let told = story.goes_on(&mut session, RunRequest::typed("Again.")).await.unwrap();
    assert!(told.journal.contains("reason_code=policy.scope.missing"), "{}", told.journal);
    let shown = format!("{:?}", session.authority().scopes);
    assert!(!shown.contains("demo.write"), "{shown}");
}

/// How many rows each table holds.
async fn rows(story: &Story) -> Vec<(&'static str, usize)> {
    let store = story.runtime.store();
    let session = store.sessions(&SessionFilter::default()).await.unwrap()[0].id;
    let mut counted = Vec::new();
    for table in Table::ALL {
        let of = !matches!(table, Table::Sessions | Table::Contents | Table::Heads);
        let ask = audit::Ask { table, session: of.then_some(session), after: None, limit: 0 };
        counted.push((table.name(), store.shelf(&ask).await.unwrap().rows.len()));
    }
    counted
}

/// What an approved call adds to each table between its claim and its outcome.
async fn added(story: &Story) -> (Vec<(&'static str, usize)>, String) {
    let told = story.says("Go.").await;
    story.answers(told.end.asks[0].approval, Verdict::Yes(Reach::Once), None).await.unwrap();
    let before = rows(story).await;
    let told = story.resumes(told.end.run).await.unwrap();
    assert_eq!(told.end.status, RunStatus::Completed);
    let after = rows(story).await;
    let added = before.iter().zip(after).map(|(before, after)| (after.0, after.1 - before.1)).collect();
    (added, told.journal)
}

#[tokio::test]
async fn gate_builtin_external_write_record() {
    // An approved write leaves its record as the structured result of its call, and its body writes to no
    // table: what is added is exactly what the gate adds for any tool of this class.
    let story = Story::new(SEND);
    let (of_write, journal) = added(&story).await;
    let (other, _) = probed(PROBE);
    assert_eq!(of_write, added(&other).await.0);
    let of_body = journal.lines().filter(|line| line.contains("call.marked")).count();
    assert_eq!(of_body, 1, "the mark is the body's only word: {journal}");

    let calls = story.runtime.store().calls(&CallFilter::default()).await.unwrap();
    let kept = story.runtime.store().content(&calls[0].outcome.unwrap()).await.unwrap().unwrap();
    expect![[r#"
        {"byte_count":5,"checksum":"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","destination":"ops","recorded":true}"#]]
    .assert_eq(&kept.value.value()["structured"].to_string());
}

/// A reviewer who says the same to everything, or fails, or never answers, and counts.
#[derive(Debug)]
struct Says(Option<Result<Advice, ()>>, AtomicUsize);

#[async_trait]
impl Reviewer for Says {
    async fn review(&self, _: &Reviewed<'_>) -> Result<Advice, ReviewFailed> {
        self.1.fetch_add(1, Ordering::SeqCst);
        match self.0 {
            Some(said) => said.map_err(|()| ReviewFailed("it is away".to_owned())),
            None => std::future::pending().await,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn gate_policy_15_to_18_a_reviewer_is_asked_once_may_only_tighten_and_is_not_missed() {
    let script = "- calls: [{tool: math.calculate, args: {expression: \"1+1\"}}]\n- text: ok\n";
    for (said, status, n_calculated) in [
        (Some(Ok(Advice::Abstain)), RunStatus::Completed, 1),
        (Some(Ok(Advice::Ask)), RunStatus::WaitingForApproval, 0),
        (Some(Ok(Advice::Deny)), RunStatus::Completed, 0),
        (Some(Err(())), RunStatus::Completed, 1),
        (None, RunStatus::Completed, 1),
    ] {
        let reviewer = Arc::new(Says(said, AtomicUsize::new(0)));
        let mut story = Story::new(script);
        story.runtime = story.runtime.clone().with_reviewer(reviewer.clone());
        let told = story.says("Go.").await;
        assert_eq!(told.end.status, status, "{said:?}: {}", told.journal);
        assert_eq!(told.journal.matches("tool.call.completed").count(), n_calculated, "{said:?}");
        assert_eq!(reviewer.1.load(Ordering::SeqCst), 1, "{said:?}");
        if let [ask] = told.end.asks.as_slice() {
            story.answers(ask.approval, Verdict::Yes(Reach::Once), None).await.unwrap();
            let told = story.resumes(told.end.run).await.unwrap();
            assert_eq!(told.end.status, RunStatus::Completed, "{}", told.journal);
            assert_eq!(reviewer.1.load(Ordering::SeqCst), 1, "it is not asked about a verdict");
        }
    }
    // What is asked anyway is not shown to it.
    let reviewer = Arc::new(Says(Some(Ok(Advice::Abstain)), AtomicUsize::new(0)));
    let mut story = Story::new(SEND);
    story.runtime = story.runtime.clone().with_reviewer(reviewer.clone());
    assert_eq!(story.says("Tell ops hello.").await.end.status, RunStatus::WaitingForApproval);
    assert_eq!(reviewer.1.load(Ordering::SeqCst), 0);
}
