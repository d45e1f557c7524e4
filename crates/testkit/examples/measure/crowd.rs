//! Many runs at once, journal on disk: those that a process left behind are carried to their ends by
//! another, and new ones are carried out beside each other.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::future::try_join_all;
use mast_kernel::instant::Instant as Moment;
use mast_kernel::policy::{Authority, Overlay, Policy};
use mast_kernel::run::RunStatus;
use mast_kernel::spec::{Idempotency, SideEffect};
use mast_provider::{Provider, ProviderConfig, ProviderError, Request, Script, Sink, Turn};
use mast_runtime::{
    Answerer, Crew, Crews, RunRequest, Runtime, RuntimeError, Session, Silent, Slots, Surface, World,
};
use mast_store::{RunFilter, RunRow, Store, Writer as _};
use mast_testkit::Probe;
use mast_testkit::probe::Body;
use mast_tools::{Cancellation, Clock, Tool, Toolbox};

use super::around::{Around, Kept};
use super::ledger::{by_session, in_order};
use super::{Figure, place};

/// Runs that a process left behind, and how many of them are made at once.
const LEFT: usize = 10_000;
const AT_ONCE: usize = 100;
/// Runs beside each other.
const MANY: usize = 500;
/// How many runs one process takes up at once.
const SLOTS: usize = 64;

/// What the model of a run says, by the model's name.
const SCRIPTS: [(&str, &str); 4] = [
    ("answers", "- text: done\n"),
    ("looks", "- calls: [{tool: demo.look, args: {text: a}}]\n- text: done\n"),
    ("acts", "- calls: [{tool: demo.act, args: {text: a}}]\n- text: done\n"),
    (
        "steps",
        "- calls: [{tool: math.calculate, args: {expression: \"17 * 23\"}}]\n\
         - calls: [{tool: math.calculate, args: {expression: \"391 + 1\"}}]\n- text: done\n",
    ),
];

/// Carries runs out with the model that they name.
struct ByName(Authority);

#[async_trait]
impl Crews for ByName {
    async fn crew(&self, run: &RunRow, n_replies: u32) -> Result<Crew, String> {
        let skipped = usize::try_from(n_replies).map_err(|error| error.to_string())?;
        let provider = model(&run.model, skipped).map_err(|error| error.to_string())?;
        Ok(Crew { provider, authority: self.0.clone(), instructions: None, date_line: None })
    }

    fn done(&self, _: &RunRow, _: RunStatus) {}
}

/// The model of this name, after so many of its replies.
fn model(name: &str, skipped: usize) -> Result<Arc<dyn Provider>, Box<dyn Error>> {
    let script = SCRIPTS.iter().find(|(known, _)| *known == name).map(|(_, script)| *script);
    let script: String = script.unwrap_or_default().split_inclusive('\n').skip(skipped).collect();
    let script = Some(Script::parse(&script)?);
    let config = ProviderConfig { script, model: Some(name.to_owned()), ..ProviderConfig::default() };
    Ok(mast_provider::build("scripted", &config)?)
}

/// A model that is asked and never answers, and counts how often.
#[derive(Debug, Default)]
struct Mute(AtomicUsize);

#[async_trait]
impl Provider for Mute {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn model(&self) -> &'static str {
        "answers"
    }

    async fn complete(&self, _: &Request, _: &mut dyn Sink) -> Result<Turn, ProviderError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }
}

/// The machine's clock, after every lease of before is over.
#[derive(Debug)]
struct Later(Arc<dyn Clock>);

impl Clock for Later {
    fn now(&self) -> Moment {
        self.0.now().plus_seconds(3_600)
    }
}

/// A runtime with a tool that looks and one that acts, which do this.
fn with_probes(
    store: Arc<dyn Store>,
    body: Body,
    world: World,
) -> Result<(Runtime, [Probe; 2]), Box<dyn Error>> {
    let mut probes = ["demo.look", "demo.act"].map(|name| Probe::new(name, SideEffect::None).doing(body));
    let [_, act] = &mut probes;
    act.spec.idempotency = Idempotency::NonIdempotent;
    act.marks = true;
    let tools = probes.clone().map(|probe| Arc::new(probe) as Arc<dyn Tool>);
    let toolbox = Arc::new(Toolbox::new(&tools)?);
    Ok((Runtime::new(store, toolbox, Policy::builtin(Overlay::On), world), probes))
}

/// The time in which one process carries to their ends the runs that another left behind: a third has a
/// model that was asked, a third a call that may run again, and a third one whose outcome nobody knows.
pub(super) async fn recovery(folder: &Path) -> Result<Vec<Figure>, Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let store: Arc<dyn Store> = Arc::new(place::disk(&folder.join("recovery.db")).await?);
    let (left, probes) = with_probes(Arc::clone(&store), Body::Hang, World::system())?;
    let mute = Mute::default();
    let n_at_work = || probes.iter().map(Probe::n_runs).sum::<usize>() + mute.0.load(Ordering::Relaxed);
    for name in ["answers", "looks", "acts"].into_iter().cycle().take(LEFT / AT_ONCE) {
        leave(&left, name, AT_ONCE, &n_at_work, &mute).await?;
    }
    store.flush().await?;
    let clock = Arc::new(Later(World::system().clock));
    let (back, _) = with_probes(Arc::clone(&store), Body::Succeed, World { clock, ..World::system() })?;
    let start = Instant::now();
    carry(&back, SLOTS).await?;
    store.flush().await?;
    let time = start.elapsed();
    ended(&*store).await?;
    Ok(vec![Figure { name: "recovery".to_owned(), nanos: super::nanos(time) }])
}

/// Begins so many runs, and drops them where their model, or their call, is at work.
async fn leave(
    runtime: &Runtime,
    name: &str,
    n_runs: usize,
    n_at_work: &dyn Fn() -> usize,
    mute: &Mute,
) -> Result<(), Box<dyn Error>> {
    let expected = n_at_work() + n_runs;
    let mut sessions = Vec::with_capacity(n_runs);
    for _ in 0..n_runs {
        sessions.push(place::session(runtime).await?);
    }
    let begun = async |session: &mut Session| {
        let model = model(name, 0)?;
        let provider: &dyn Provider = if name == mute.model() { mute } else { &*model };
        let cancellation = Cancellation::new();
        let surface = Surface { observer: &Silent, cancellation: &cancellation, judge: None };
        let end = runtime.run(session, RunRequest::typed("Go."), provider, surface).await?;
        Ok::<_, Box<dyn Error>>(end.status)
    };
    let hang = async {
        while n_at_work() < expected {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        ended = try_join_all(sessions.iter_mut().map(begun)) => {
            Err(format!("runs ended that should hang: {:?}", ended?).into())
        }
        () = hang => Ok(()),
    }
}

/// Carries to their ends all runs that can be, so many at once.
async fn carry(runtime: &Runtime, n_slots: usize) -> Result<(), RuntimeError> {
    let slots = Slots { interactive: 0, normal: n_slots, background: 0 };
    runtime.work(slots, &ByName(place::authority()), &Cancellation::new(), true).await
}

/// Whether no run is left that could go on.
async fn ended(store: &dyn Store) -> Result<(), Box<dyn Error>> {
    for status in [RunStatus::Queued, RunStatus::Running, RunStatus::WaitingForApproval, RunStatus::Failed] {
        let filter = RunFilter { status: Some(status), limit: 1, ..RunFilter::default() };
        if let Some(run) = store.runs(&filter).await?.pop() {
            return Err(format!("a run is {status}: {run:?}").into());
        }
    }
    Ok(())
}

/// Many runs at once, a model that costs nothing; and what they wrote, written again by as many callers to
/// the store alone. A figure is the time of all, divided by the runs.
pub(super) async fn many(folder: &Path) -> Result<Vec<Figure>, Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let kept = Arc::new(Around::plain(Arc::new(place::disk(&folder.join("kept.db")).await?)).keeping());
    let (before, _) = accepted(Arc::<Around>::clone(&kept), || kept.take()).await?;
    let during = by_session(kept.take());
    let ours: Arc<dyn Store> = Arc::new(place::disk(&folder.join("ours.db")).await?);
    let (_, time) = accepted(Arc::clone(&ours), Vec::new).await?;
    ended(&*ours).await?;
    let alone = place::disk(&folder.join("alone.db")).await?;
    for batch in &before {
        batch.again(&alone, true).await?;
    }
    let start = Instant::now();
    try_join_all(during.iter().map(|batches| in_order(&alone, batches, false))).await?;
    alone.flush().await?;
    let figure = |name: &str, time| Figure { name: name.to_owned(), nanos: super::each(time, MANY) };
    Ok(vec![figure("many", time), figure("many alone", start.elapsed())])
}

/// Accepts the runs, says that it did, and carries them out; gives the time of that.
async fn accepted(
    store: Arc<dyn Store>,
    said: impl Fn() -> Vec<Kept>,
) -> Result<(Vec<Kept>, Duration), Box<dyn Error>> {
    let runtime = place::runtime(Arc::clone(&store))?;
    for _ in 0..MANY {
        let mut session = place::session(&runtime).await?;
        let by = Answerer { provider: "scripted", model: "steps" };
        runtime.enqueue(&mut session, RunRequest::typed("Go."), by).await?;
    }
    store.flush().await?;
    let said = said();
    let start = Instant::now();
    carry(&runtime, MANY).await?;
    store.flush().await?;
    Ok((said, start.elapsed()))
}
