//! Two workers share one journal on a server, and one of them is killed every second: every run ends once,
//! and nothing is lost or done twice.
//!
//! Needs: postgresql

use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mast_kernel::call::CallStatus;
use mast_kernel::event::Reach;
use mast_kernel::id::{PrincipalId, StoreId, TenantId};
use mast_kernel::instant::Instant;
use mast_kernel::policy::{Authority, Overlay, Policy};
use mast_kernel::run::RunStatus;
use mast_kernel::{approval::ApprovalStatus, scope};
use mast_runtime::{Answer, Answerer, NewSession, RunRequest, Runtime, Verdict, World as Machine};
use mast_store::sign::Signer;
use mast_store::verify::{Wanted, verify};
use mast_store::{
    ApprovalFilter, CallFilter, PostgresStore, RunFilter, RunRow, ServerOptions, Store, StoreIdentity,
};
use mast_tools::Toolbox;

use super::world::World;

/// How many runs.
const RUNS: usize = 1_000;
/// Every so many of them write outside, which a person must approve.
const WRITES: usize = 20;
/// Seconds after which the test gives up.
const GIVE_UP: u32 = 400;

const SUM: &str = "- calls: [{tool: math.calculate, args: {expression: \"17*23\"}}, {tool: system.current_time, args: {}}]\n\
                   - calls: [{tool: math.calculate, args: {expression: \"1+1\"}}]\n- text: It is 391.\n";
const WRITE: &str =
    "- calls: [{tool: demo.external_write, args: {destination: ops, content: hello}}]\n- text: Sent.\n";

fn authority() -> Authority {
    let (tenant, principal) = (TenantId::from_u128(1), PrincipalId::from_u128(1));
    Authority { tenant, principal, scopes: scope::platform() }
}

/// The journal that the workers share, opened as another program would.
async fn opened(world: &World, url: &str) -> Runtime {
    let seed: [u8; 32] = std::fs::read(world.data().join("journal.key")).unwrap().try_into().unwrap();
    let options = ServerOptions {
        url: url.to_owned(),
        identity_if_new: StoreIdentity { id: StoreId::from_u128(1), created_at: Instant::from_micros(0) },
        signer: Signer::from_seed(&seed),
        create: false,
        connections_max: 2,
    };
    let store: Arc<dyn Store> = Arc::new(PostgresStore::open(options).await.unwrap());
    let toolbox = Arc::new(Toolbox::builtin().unwrap());
    Runtime::new(store, toolbox, Policy::builtin(Overlay::On), Machine::system())
}

#[expect(clippy::disallowed_methods, reason = "the usual starter of the binary waits for its end")]
fn worker(world: &World, url: &str) -> Child {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("mast"));
    command.env_clear().env("HOME", world.home()).env("MAST_DATA_DIR", world.data()).env("MAST_STORE", url);
    command.arg("worker").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// The runs, all pages of them.
async fn with_status(runtime: &Runtime, status: RunStatus) -> usize {
    let filter = RunFilter { status: Some(status), limit: 1_000, ..RunFilter::default() };
    runtime.store().runs(&filter).await.unwrap().len()
}

/// Says yes to everything that is open.
async fn says_yes(runtime: &Runtime) -> usize {
    let open = ApprovalFilter { status: Some(ApprovalStatus::Pending), ..ApprovalFilter::default() };
    let open = runtime.store().approvals(&open).await.unwrap();
    for row in &open {
        let (verdict, by) = (Verdict::Yes(Reach::Once), authority());
        let answer = Answer { approval: row.id, verdict, words: None, by: &by };
        // A worker may be writing to the same conversation in this moment; the question stays open then.
        let _later = runtime.answer(&answer).await;
    }
    open.len()
}

#[tokio::test]
async fn a_thousand_runs_end_once_while_a_worker_is_killed_every_second() {
    let url = mast_testkit::server::empty_schema().await;
    let world = World::new().with("MAST_STORE", url.clone());
    let (sum, write) = (world.file("sum.yaml", SUM), world.file("write.yaml", WRITE));
    assert_eq!(world.mast(&["run", "--detach", "--script", &sum, "Go."]).code, 0);
    let runtime = opened(&world, &url).await;
    for number in 1..RUNS {
        let new = NewSession { authority: authority(), surface: "test" };
        let mut session = runtime.open_session(new).await.unwrap();
        let model = if number % WRITES == 0 { &write } else { &sum };
        let by = Answerer { provider: "scripted", model };
        runtime.enqueue(&mut session, RunRequest::typed("Go."), by).await.unwrap();
    }
    let mut workers = [worker(&world, &url), worker(&world, &url)];
    let mut second = tokio::time::interval(Duration::from_secs(1));
    let (mut n_kills, mut n_seconds) = (0, 0);
    loop {
        second.tick().await;
        says_yes(&runtime).await;
        let n_ended = with_status(&runtime, RunStatus::Completed).await;
        if n_ended >= RUNS {
            break;
        }
        n_seconds += 1;
        assert!(n_seconds < GIVE_UP, "{n_ended} of {RUNS} ended after {n_seconds} s");
        let victim = &mut workers[n_kills % 2];
        victim.kill().unwrap();
        victim.wait().unwrap();
        *victim = worker(&world, &url);
        n_kills += 1;
    }
    for worker in &mut workers {
        worker.kill().unwrap();
        worker.wait().unwrap();
    }
    let told = judged(&runtime, &write).await;
    mast_testkit::say(&format!(
        "runs {RUNS} · ended once {RUNS} · workers killed {n_kills} · {n_seconds} s · {told}"
    ));
}

/// Whether every run ended once and every call is settled once, as the journal has it.
async fn judged(runtime: &Runtime, write: &str) -> String {
    let store = runtime.store();
    let report = verify(store.as_ref(), Wanted::default()).await.unwrap();
    assert_eq!(report.findings, []);
    let runs = store.runs(&RunFilter { limit: 1_000, ..RunFilter::default() }).await.unwrap();
    let (mut n_marks, mut n_uncertain, mut n_again) = (0, 0, 0);
    for run in &runs {
        let kinds = kinds(store.as_ref(), run).await;
        let n = |kind: &str| kinds.get(kind).copied().unwrap_or(0);
        assert_eq!(n("run.completed"), 1, "{run:?}: {kinds:?}");
        let calls = store.calls(&CallFilter { run: Some(run.id), ..CallFilter::default() }).await.unwrap();
        let n_calls = if run.model == write { 1 } else { 3 };
        assert_eq!((calls.len(), n("tool.call.proposed")), (n_calls, n_calls), "{kinds:?}");
        let n_settled = n("tool.call.completed") + n("tool.call.uncertain");
        assert_eq!(n_settled, n_calls, "{kinds:?}");
        if run.model == write {
            assert_eq!((n("approval.consumed"), n("call.marked")), (1, 1), "{kinds:?}");
            n_marks += 1;
        }
        n_uncertain += calls.iter().filter(|call| call.status == CallStatus::Uncertain).count();
        n_again += usize::from(run.epoch > u32::from(run.model == write));
    }
    format!("taken up again {n_again} · writes {n_marks}, each marked once · outcome unknown {n_uncertain}")
}

/// How many events of each type a run has.
async fn kinds(store: &dyn Store, run: &RunRow) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for event in store.events(run.session, 0, 0).await.unwrap() {
        *kinds.entry(event.kind.clone()).or_insert(0) += 1;
    }
    kinds
}
