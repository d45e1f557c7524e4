//! Kill -9 at every write of a run, before and after it, with a tool of each class: nothing that was
//! acknowledged is lost, nothing that must not be repeated is repeated, and whatever nobody can know is
//! said to be unknown.
//!
//! Needs: postgresql

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::event::Reach;
use mast_kernel::id::RunId;
use mast_kernel::limits;
use mast_kernel::policy::Authority;
use mast_kernel::run::{Priority, RunStatus};
use mast_kernel::spec::{Idempotency, SideEffect};
use mast_provider::{ProviderConfig, Script};
use mast_runtime::{Answerer, Crew, Crews, RunRequest, RuntimeError, Slots, Verdict, World};
use mast_store::verify::{Wanted, verify};
use mast_store::{ApprovalFilter, CallFilter, RunFilter, RunRow, Store};
use mast_testkit::{BrokenStore, CountedIds, Fault, ManualClock, Probe, START_MICROS, Story, Told};
use mast_tools::Cancellation;

/// Two calls side by side, one more, and an answer.
const SCRIPT: &str = "- calls: [{tool: demo.probe, args: {text: a}}, {tool: math.calculate, args: {expression: \"17*23\"}}]\n\
                      - calls: [{tool: demo.probe, args: {text: b}}]\n- text: ok\n";

/// Times to which a run may be taken up again before the test gives up.
const TAKEN_UP_MAX: usize = 8;

/// One row of the table.
#[derive(Debug, Default)]
struct Tally {
    n_points: usize,
    n_effects: usize,
    n_repeated: usize,
    n_uncertain: usize,
    n_lost: usize,
}

fn probe(class: Idempotency, side_effect: SideEffect) -> Probe {
    let mut probe = Probe::new("demo.probe", side_effect);
    probe.spec.idempotency = class;
    probe.spec.allow_parallel = class == Idempotency::ReadOnly;
    probe.marks = matches!(class, Idempotency::NonIdempotent | Idempotency::ConditionallyIdempotent);
    probe
}

/// One machine: a clock that all processes share, ids that never repeat, and a tool that acts on the world.
struct Machine {
    clock: Arc<ManualClock>,
    ids: Arc<CountedIds>,
    probe: Probe,
}

impl Machine {
    fn new(probe: Probe) -> Self {
        Self { clock: Arc::new(ManualClock::new(START_MICROS)), ids: Arc::default(), probe }
    }

    /// A process on it, with this store, whose model has said so much already.
    fn process(&self, store: Arc<dyn Store>, n_said: usize) -> Story {
        let world =
            World { clock: self.clock.clone(), tool_clock: self.clock.clone(), ids: self.ids.clone() };
        let mut tools = mast_tools::builtin::all();
        tools.push(Arc::new(self.probe.clone()));
        let script: String = SCRIPT.split_inclusive('\n').skip(n_said).collect();
        Story::in_world(&script, &tools, store, world)
    }

    /// Begins the run, and goes on with it while it waits for a person, who always says yes.
    async fn works(&self, story: &Story) -> Result<Told, RuntimeError> {
        let mut session = story.session().await;
        let told = story.goes_on(&mut session, RunRequest::typed("Go.")).await?;
        self.answers(story, told).await
    }

    async fn answers(&self, story: &Story, mut told: Told) -> Result<Told, RuntimeError> {
        while told.end.status == RunStatus::WaitingForApproval {
            self.says_yes(story).await;
            told = story.resumes(told.end.run).await?;
        }
        Ok(told)
    }

    async fn says_yes(&self, story: &Story) {
        let open = ApprovalFilter { status: Some(ApprovalStatus::Pending), ..ApprovalFilter::default() };
        for row in story.runtime.store().approvals(&open).await.unwrap() {
            story.answers(row.id, Verdict::Yes(Reach::Once), None).await.unwrap();
        }
    }

    /// Another process takes up what the first one left, after its lease is over.
    async fn takes_up(&self, store: &Arc<dyn Store>, run: RunId) -> Told {
        for _ in 0..TAKEN_UP_MAX {
            self.clock.advance(60);
            let reader = self.process(store.clone(), 0);
            let row = store.run(run).await.unwrap().unwrap();
            let n_said = reader.runtime.n_replies(&row).await.unwrap();
            let story = self.process(store.clone(), n_said as usize);
            if row.status == RunStatus::WaitingForApproval {
                self.says_yes(&story).await;
            }
            let told = story.resumes(run).await.unwrap();
            if told.end.status != RunStatus::WaitingForApproval {
                return told;
            }
        }
        panic!("the run does not end");
    }
}

/// How many writes the whole story has.
async fn n_writes(probe: &Probe, store: Arc<dyn Store>) -> usize {
    let whole = Arc::new(BrokenStore::over(store, Fault::Gone, usize::MAX - 1));
    let machine = Machine::new(probe.clone());
    machine.works(&machine.process(whole.clone(), 0)).await.unwrap();
    whole.n_commits()
}

/// The process is gone at this write; what the world and the journal hold when everything is over.
async fn crash(new: Probe, store: Arc<dyn Store>, at: usize, fault: Fault, tally: &mut Tally) {
    let machine = Machine::new(new);
    let broken = Arc::new(BrokenStore::over(store.clone(), fault, at));
    let story = machine.process(broken.clone(), 0);
    let gone = tokio::select! {
        biased;
        () = broken.gone() => true,
        ended = machine.works(&story) => { ended.unwrap(); false }
    };
    assert!(gone, "write {at} is within the run");
    tally.n_points += 1;
    // What had been handed over when the process ended is in the file.
    store.flush().await.unwrap();
    let Some(run) = store.runs(&RunFilter::default()).await.unwrap().pop() else { return };
    let acknowledged = succeeded(store.as_ref()).await;
    if !run.status.is_ended() {
        let told = machine.takes_up(&store, run.id).await;
        assert_eq!(told.end.status, RunStatus::Completed, "{fault:?} at {at}: {}", told.journal);
        let n_proposed = told.journal.matches("tool.call.proposed").count();
        assert_eq!(n_proposed, 3, "nothing is proposed twice: {}", told.journal);
        assert_eq!(told.journal.matches("kind=tool_result").count(), 3, "{}", told.journal);
    }
    let report = verify(store.as_ref(), Wanted::default()).await.unwrap();
    assert_eq!(report.findings, [], "{fault:?} at {at}");
    tally.n_lost += acknowledged.difference(&succeeded(store.as_ref()).await).count();
    tally.judge(&machine.probe, store.as_ref(), at).await;
}

async fn succeeded(store: &dyn Store) -> BTreeSet<String> {
    let filter = CallFilter { status: Some(CallStatus::Succeeded), ..CallFilter::default() };
    store.calls(&filter).await.unwrap().into_iter().map(|row| row.id.to_string()).collect()
}

impl Tally {
    /// Whether what the journal says of each call is what happened.
    async fn judge(&mut self, probe: &Probe, store: &dyn Store, at: usize) {
        let effects = probe.effects();
        self.n_effects += effects.len();
        for row in store.calls(&CallFilter::default()).await.unwrap() {
            let is_probe = row.declared.as_ref().is_some_and(|declared| declared.tool == "demo.probe");
            if !is_probe {
                assert_eq!(row.status, CallStatus::Succeeded);
                continue;
            }
            let key = row.idempotency_key.unwrap();
            let n_times = effects.iter().filter(|effect| **effect == key).count();
            self.n_repeated += n_times.saturating_sub(1);
            match row.status {
                CallStatus::Succeeded => assert!(n_times >= 1, "it is said to have happened, at {at}"),
                CallStatus::Uncertain => {
                    self.n_uncertain += 1;
                    assert!(row.effect_sent_at.is_some(), "only what was marked is in doubt, at {at}");
                }
                other => panic!("a call is {other} at {at}: {row:#?}"),
            }
            if probe.spec.idempotency == Idempotency::NonIdempotent {
                assert!(n_times <= 1, "it happened {n_times} times, at {at}");
            }
        }
    }
}

/// What stands in the store before the first write of a run: the session.
async fn matrix(name: &str, new_store: impl AsyncFn() -> Arc<dyn Store>) -> Vec<String> {
    let classes = [
        (Idempotency::ReadOnly, SideEffect::None),
        (Idempotency::Idempotent, SideEffect::None),
        (Idempotency::ConditionallyIdempotent, SideEffect::None),
        (Idempotency::NonIdempotent, SideEffect::None),
        (Idempotency::Idempotent, SideEffect::ExternalWrite),
        (Idempotency::ConditionallyIdempotent, SideEffect::ExternalWrite),
        (Idempotency::NonIdempotent, SideEffect::ExternalWrite),
    ];
    let mut lines = Vec::new();
    for (class, side_effect) in classes {
        let new = || probe(class, side_effect);
        let n_writes = n_writes(&new(), new_store().await).await;
        let mut tally = Tally::default();
        for at in 1..n_writes {
            for fault in [Fault::Gone, Fault::GoneAfter] {
                crash(new(), new_store().await, at, fault, &mut tally).await;
            }
        }
        let asked = if side_effect == SideEffect::None { "" } else { ", approved" };
        let Tally { n_points, n_effects, n_repeated, n_uncertain, n_lost } = tally;
        lines.push(format!(
            "{name:<9} {:<34} {n_points:>6} {n_effects:>8} {n_repeated:>9} {n_uncertain:>10} {n_lost:>5}",
            format!("{class}{asked}")
        ));
        let may_repeat = class != Idempotency::NonIdempotent;
        assert!(may_repeat || n_repeated == 0, "{lines:?}");
        assert_eq!(n_lost, 0, "{lines:?}");
        assert_eq!(n_uncertain > 0, class == Idempotency::NonIdempotent, "{lines:?}");
    }
    lines
}

fn print(lines: &[String]) {
    let head = ["store", "class of the tool", "kills", "effects", "repeated", "uncertain", "lost"];
    let [store, class, kills, effects, repeated, uncertain, lost] = head;
    let head =
        format!("{store:<9} {class:<34} {kills:>6} {effects:>8} {repeated:>9} {uncertain:>10} {lost:>5}");
    mast_testkit::say(&format!("killed at every write\n{head}\n{}", lines.join("\n")));
}

#[tokio::test]
async fn a_process_that_is_gone_at_any_write_repeats_and_hides_no_effect() {
    let lines = matrix("memory", async || Arc::new(mast_testkit::memory_store()) as Arc<dyn Store>).await;
    print(&lines);
}

#[tokio::test]
async fn in_a_file_too() {
    let folders: std::sync::Mutex<Vec<tempfile::TempDir>> = std::sync::Mutex::default();
    let lines = matrix("sqlite", async || {
        let folder = tempfile::tempdir().unwrap();
        let store = mast_testkit::file_store(&folder.path().join("mast.db")).await;
        folders.lock().unwrap().push(folder);
        Arc::new(store) as Arc<dyn Store>
    })
    .await;
    print(&lines);
}

#[tokio::test]
async fn on_a_server_too() {
    let new = async || Arc::new(mast_testkit::server::server_store().await) as Arc<dyn Store>;
    print(&matrix("postgres", new).await);
}

#[tokio::test]
async fn a_run_that_ends_every_process_which_works_on_it_is_given_up() {
    let machine = Machine::new(probe(Idempotency::NonIdempotent, SideEffect::None));
    let store: Arc<dyn Store> = Arc::new(mast_testkit::memory_store());
    let begun = Arc::new(BrokenStore::over(store.clone(), Fault::GoneAfter, 5));
    let story = machine.process(begun.clone(), 0);
    tokio::select! {
        biased;
        () = begun.gone() => {}
        ended = machine.works(&story) => panic!("{ended:?}"),
    }
    let run = store.runs(&RunFilter::default()).await.unwrap()[0].id;
    for _ in 0..limits::RECOVERIES_MAX {
        machine.clock.advance(60);
        let dies = Arc::new(BrokenStore::over(store.clone(), Fault::GoneAfter, 0));
        let story = machine.process(dies.clone(), 0);
        tokio::select! {
            biased;
            () = dies.gone() => {}
            ended = story.resumes(run) => panic!("{ended:?}"),
        }
    }
    machine.clock.advance(60);
    let told = machine.process(store.clone(), 0).resumes(run).await.unwrap();
    let code = told.end.failure.map(|failure| failure.code);
    assert_eq!(
        (told.end.status, code),
        (RunStatus::Failed, Some("run.recovery_exhausted")),
        "{}",
        told.journal
    );
    let open = store.calls(&CallFilter::default()).await.unwrap();
    assert!(open.iter().all(|call| call.status.is_settled()), "{open:?}");
    assert_eq!(verify(store.as_ref(), Wanted::default()).await.unwrap().findings, []);
}

/// A worker's crew: the scripted model, for whoever asked.
struct Scripted(Authority);

#[async_trait]
impl Crews for Scripted {
    async fn crew(&self, _: &RunRow, n_replies: u32) -> Result<Crew, String> {
        let script: String = SCRIPT.split_inclusive('\n').skip(n_replies as usize).collect();
        let script = Script::parse(&script).map_err(|fault| fault.to_string())?;
        let config = ProviderConfig { script: Some(script), ..ProviderConfig::default() };
        let provider = mast_provider::build("scripted", &config).map_err(|error| error.to_string())?;
        Ok(Crew { provider, authority: self.0.clone(), instructions: None, date_line: None })
    }

    fn done(&self, _: &RunRow, _: RunStatus) {}
}

#[tokio::test]
async fn a_worker_that_wakes_up_after_its_run_was_taken_writes_nothing_more() {
    let mut slow = probe(Idempotency::NonIdempotent, SideEffect::None).doing(mast_testkit::probe::Body::Hang);
    slow.spec.timeout_seconds = 1;
    let machine = Machine::new(slow);
    let store: Arc<dyn Store> = Arc::new(mast_testkit::memory_store());
    let story = machine.process(store.clone(), 0);
    let sleeps = machine.works(&story);
    let takes = async {
        let marked = loop {
            let rows = store.calls(&CallFilter::default()).await.unwrap();
            if let Some(row) = rows.into_iter().find(|row| row.effect_sent_at.is_some()) {
                break row;
            }
            tokio::task::yield_now().await;
        };
        machine.takes_up(&store, marked.run).await
    };
    let (woken, taken) = tokio::join!(sleeps, takes);
    assert!(woken.is_err(), "what it had is somebody else's: {woken:?}");
    assert_eq!(taken.end.status, RunStatus::Completed);
    let events =
        store.events(store.runs(&RunFilter::default()).await.unwrap()[0].session, 0, 0).await.unwrap();
    let n_ended = events.iter().filter(|event| event.kind == "run.completed").count();
    let n_outcomes = events.iter().filter(|event| event.kind == "tool.call.uncertain").count();
    assert_eq!(
        (n_ended, n_outcomes),
        (1, 2),
        "the run ends once, and each of its two doubtful calls is settled once"
    );
    assert_eq!(verify(store.as_ref(), Wanted::default()).await.unwrap().findings, []);
}

#[tokio::test]
async fn two_workers_on_one_store_end_every_run_once() {
    const RUNS: usize = 40;
    let machine = Machine::new(probe(Idempotency::NonIdempotent, SideEffect::None));
    let store: Arc<dyn Store> = Arc::new(mast_testkit::memory_store());
    let (one, other) = (machine.process(store.clone(), 0), machine.process(store.clone(), 0));
    for number in 0..RUNS {
        let mut session = one.session().await;
        let by = Answerer { provider: "scripted", model: "scripted" };
        let priority = [Priority::Interactive, Priority::Normal, Priority::Background][number % 3];
        let request = RunRequest { priority, ..RunRequest::typed("Go.") };
        one.runtime.enqueue(&mut session, request, by).await.unwrap();
    }
    let crews = Scripted(one.authority.clone());
    let stop = Cancellation::new();
    let work = |story: &Story| story.runtime.clone();
    let (one, other) = (work(&one), work(&other));
    let (first, second) = tokio::join!(
        one.work(Slots::default(), &crews, &stop, true),
        other.work(Slots::default(), &crews, &stop, true)
    );
    first.unwrap();
    second.unwrap();
    let runs = store.runs(&RunFilter::default()).await.unwrap();
    assert!(runs.iter().all(|run| run.status == RunStatus::Completed), "{runs:#?}");
    assert_eq!((runs.len(), machine.probe.effects().len()), (RUNS, 2 * RUNS));
    assert_eq!(verify(store.as_ref(), Wanted::default()).await.unwrap().findings, []);
}
