//! Failure denies: the store fails in each way at each commit, and nothing acts that was not claimed.

use std::sync::Arc;
use std::time::Duration;

use mast_kernel::spec::{Idempotency, SideEffect};
use mast_runtime::RunRequest;
use mast_testkit::{BrokenStore, Fault, Probe, Story};

const ONE_CALL: &str = "- calls: [{tool: demo.keeper, args: {text: hello}}]\n- text: \"done\"";

/// A durable text of the user's own: it acts, and nobody is asked.
fn keeper() -> Probe {
    let mut probe = Probe::new("demo.keeper", SideEffect::None);
    probe.marks = true;
    probe.spec.idempotency = Idempotency::NonIdempotent;
    probe.spec.allow_parallel = false;
    probe
}

/// Runs the story with a store that fails so; how often the body ran past its mark.
async fn effects(fault: Fault, fails_at: usize) -> (usize, Arc<BrokenStore>) {
    let probe = keeper();
    let store = Arc::new(BrokenStore::new(fault, fails_at));
    let story = Story::with(ONE_CALL, &[Arc::new(probe.clone())], store.clone());
    let mut session = story.session().await;
    let run = story.goes_on(&mut session, RunRequest::typed("Go."));
    let ended = tokio::time::timeout(Duration::from_secs(60), run).await;
    let failed = !matches!(ended, Ok(Ok(_)));
    let settled = store.n_commits() <= fails_at;
    assert_eq!(failed, !settled, "a run whose store fails does not end well ({fault:?} at {fails_at})");
    (probe.n_runs(), store)
}

#[tokio::test(start_paused = true)]
async fn no_effect_without_a_claim_on_disk() {
    let (n_runs, whole) = effects(Fault::Error, usize::MAX).await;
    assert_eq!(n_runs, 1);
    let n_commits = whole.n_commits();
    assert!(n_commits >= 4, "claim, mark, outcome and end are commits: {n_commits}");
    for fault in [Fault::Error, Fault::Hang, Fault::LateLie] {
        // Commit 0 is the claim of the one call: while it fails nothing runs.
        let (n_runs, store) = effects(fault, 0).await;
        assert_eq!(n_runs, 0, "{fault:?}");
        // The run then says that it failed, which is no effect; a store that hangs is not asked again.
        let n_tried = if fault == Fault::Hang { 1 } else { 2 };
        assert_eq!(store.n_commits(), n_tried, "{fault:?}: nothing else is tried after a failed claim");
        for fails_at in 1..n_commits {
            let (n_runs, store) = effects(fault, fails_at).await;
            assert_eq!(n_runs, 1, "{fault:?} at {fails_at}");
            let call = store.inner().calls(&mast_store::CallFilter::default()).await.unwrap().pop().unwrap();
            assert!(call.started_at.is_some(), "what ran was claimed before");
        }
    }
}
