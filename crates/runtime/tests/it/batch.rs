//! Batches: all calls of one reply are decided before any runs.

use std::sync::Arc;

use mast_kernel::run::RunStatus;
use mast_kernel::spec::{Idempotency, SideEffect};
use mast_testkit::{Probe, Story, memory_store};

#[tokio::test]
async fn while_one_call_asks_readers_run_and_writers_wait() {
    let reader = Probe::new("demo.reader", SideEffect::None);
    let asker = Probe::new("demo.asker", SideEffect::ExternalMessage);
    let mut keeper = Probe::new("demo.keeper", SideEffect::None);
    keeper.spec.idempotency = Idempotency::NonIdempotent;
    keeper.spec.allow_parallel = false;
    let script = "- calls: [{tool: demo.keeper, args: {text: a}}, {tool: demo.asker, args: {text: b}}, {tool: demo.reader, args: {text: c}}]";
    let tools: Vec<Arc<dyn mast_tools::Tool>> =
        vec![Arc::new(reader.clone()), Arc::new(asker.clone()), Arc::new(keeper.clone())];
    let story = Story::with(script, &tools, Arc::new(memory_store()));
    let told = story.says("Go.").await;
    assert_eq!(told.end.status, RunStatus::WaitingForApproval);
    assert_eq!((reader.n_runs(), asker.n_runs(), keeper.n_runs()), (1, 0, 0));
    assert_eq!(told.journal.matches("tool.call.proposed").count(), 3, "{}", told.journal);
    assert_eq!(told.journal.matches("tool.call.started").count(), 1, "{}", told.journal);
}

#[tokio::test]
async fn one_failure_does_not_stop_its_siblings() {
    let script = "- calls: [{tool: math.calculate, args: {expression: \"1/0\"}}, {tool: nothing.here, args: {}}, {tool: math.calculate, args: {expression: \"2+2\"}}]\n- text: \"4\"";
    let told = Story::new(script).says("Go.").await;
    assert_eq!(told.journal.matches("tool.call.failed").count(), 1);
    assert_eq!(told.journal.matches("tool.call.denied").count(), 1);
    assert_eq!(told.journal.matches("tool.call.completed").count(), 1);
    assert_eq!(told.end.answer.as_deref(), Some("4"));
}

#[tokio::test]
async fn results_stand_in_the_order_of_the_calls() {
    let script = "- calls: [{tool: math.calculate, args: {expression: \"1\"}, id: a}, {tool: no.such, args: {}, id: b}, {tool: math.calculate, args: {expression: \"3\"}, id: c}]\n- text: \"ok\"";
    let story = Story::new(script);
    story.says("Go.").await;
    let ids: Vec<String> = story.model.requests()[1]
        .items
        .iter()
        .filter_map(|item| match item {
            mast_provider::Item::ToolResult { call_id, .. } => Some(call_id.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
}

#[tokio::test]
async fn calls_beyond_the_largest_batch_are_answered_and_not_run() {
    let reader = Probe::new("demo.reader", SideEffect::None);
    let max = mast_kernel::limits::BATCH_CALLS_MAX;
    let calls: Vec<String> =
        (0..=max).map(|i| format!("{{tool: demo.reader, args: {{text: \"{i}\"}}}}")).collect();
    let script = format!("- calls: [{}]\n- text: \"ok\"", calls.join(", "));
    let story = Story::with(&script, &[Arc::new(reader.clone())], Arc::new(memory_store()));
    let request = mast_runtime::RunRequest {
        budget: mast_kernel::budget::Budget::new(32, 24, 1_000),
        ..mast_runtime::RunRequest::typed("Go.")
    };
    story.asks(request).await;
    assert_eq!(reader.n_runs(), max);
}

#[tokio::test]
async fn at_most_eight_questions_of_a_run_are_open() {
    let asker = Probe::new("demo.asker", SideEffect::ExternalMessage);
    let max = mast_kernel::limits::OPEN_ASKS_MAX;
    for (n, n_denied) in [(max, 0), (max + 1, 1)] {
        let calls: Vec<String> =
            (0..n).map(|i| format!("{{tool: demo.asker, args: {{text: \"{i}\"}}}}")).collect();
        let script = format!("- calls: [{}]", calls.join(", "));
        let story = Story::with(&script, &[Arc::new(asker.clone())], Arc::new(memory_store()));
        let told = story.says("Go.").await;
        assert_eq!(told.end.asks.len(), max);
        assert_eq!(told.journal.matches("reason_code=approval.too_many_open").count(), n_denied);
    }
}
