//! Short runs with everything going wrong at once: from a seed follow a script, the person's answers, the
//! faults of the store, the ends of processes, the jumps of the clock and the moods of the tools. Whatever
//! happens, what the journal says afterwards must be what happened, and no invariant may be broken.
//!
//! One seed is one story: a failure names its seed, and the seed tells the story again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::canonical::Digest;
use mast_kernel::event::Reach;
use mast_kernel::id::RunId;
use mast_kernel::run::RunStatus;
use mast_kernel::spec::{Idempotency, SideEffect};
use mast_runtime::{RunRequest, Verdict, World};
use mast_store::verify::{Wanted, verify};
use mast_store::{ApprovalFilter, CallFilter, CallRow, RunFilter, Store};
use mast_tools::Tool;

use crate::broken::{BrokenStore, Fault};
use crate::probe::{Body, Probe};
use crate::story::Story;
use crate::world::{CountedIds, ManualClock, START_MICROS, memory_store};

/// A text that stands in every argument and may stand in no event.
const CANARY: &str = "canary-7f3a";
/// How often a run is taken up before the person gives it up.
const TAKEN_UP_MAX: usize = 12;
/// Most writes of a process before it ends.
const WRITES_MAX: u64 = 24;

/// The classes of the tools, the names that they have here, and whether a person is asked.
const CLASSES: [(&str, Idempotency, SideEffect); 6] = [
    ("demo.look", Idempotency::ReadOnly, SideEffect::None),
    ("demo.set", Idempotency::Idempotent, SideEffect::None),
    ("demo.keyed", Idempotency::ConditionallyIdempotent, SideEffect::None),
    ("demo.once", Idempotency::NonIdempotent, SideEffect::None),
    ("demo.keyed_out", Idempotency::ConditionallyIdempotent, SideEffect::ExternalWrite),
    ("demo.once_out", Idempotency::NonIdempotent, SideEffect::ExternalWrite),
];

/// What happened in a story, for the sum of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Stories.
    pub n_stories: u64,
    /// Ends of processes.
    pub n_killed: u64,
    /// Failures of the store.
    pub n_store_faults: u64,
    /// Effects.
    pub n_effects: u64,
    /// Calls of which nobody knows.
    pub n_uncertain: u64,
    /// Questions to the person.
    pub n_asked: u64,
    /// Runs that answered.
    pub n_completed: u64,
}

impl Tally {
    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            n_stories: self.n_stories + other.n_stories,
            n_killed: self.n_killed + other.n_killed,
            n_store_faults: self.n_store_faults + other.n_store_faults,
            n_effects: self.n_effects + other.n_effects,
            n_uncertain: self.n_uncertain + other.n_uncertain,
            n_asked: self.n_asked + other.n_asked,
            n_completed: self.n_completed + other.n_completed,
        }
    }
}

/// Chance from a seed: SplitMix64.
#[derive(Debug)]
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// One story under way.
struct Sim {
    chance: Chance,
    clock: Arc<ManualClock>,
    ids: Arc<CountedIds>,
    probes: Vec<Probe>,
    script: Vec<String>,
    store: Arc<dyn Store>,
    succeeded: BTreeSet<String>,
    tally: Tally,
}

/// Tells one story.
///
/// # Errors
///
/// The invariant that was broken.
pub async fn simulate(seed: u64) -> Result<Tally, String> {
    Box::pin(simulate_on(seed, Arc::new(memory_store()))).await
}

/// The same on a store of the caller's, which must be empty.
///
/// # Errors
///
/// The invariant that was broken.
pub async fn simulate_on(seed: u64, store: Arc<dyn Store>) -> Result<Tally, String> {
    let mut sim = Sim::new(seed, store);
    Box::pin(sim.play()).await.map_err(|broken| format!("seed {seed}: {broken}"))?;
    sim.judge().await.map_err(|broken| format!("seed {seed}: {broken}"))?;
    Ok(sim.tally)
}

impl Sim {
    fn new(seed: u64, store: Arc<dyn Store>) -> Self {
        let mut chance = Chance(seed);
        let probes = CLASSES.map(|(name, class, side_effect)| {
            let mut probe = Probe::new(name, side_effect);
            probe.spec.idempotency = class;
            probe.spec.allow_parallel = class == Idempotency::ReadOnly;
            probe.marks = matches!(class, Idempotency::NonIdempotent | Idempotency::ConditionallyIdempotent);
            let body = match chance.below(12) {
                0 => Body::Panic,
                1 => Body::Fail,
                2 => Body::WrongResult,
                _ => Body::Succeed,
            };
            probe.doing(body)
        });
        let script = script(&mut chance);
        Self {
            chance,
            clock: Arc::new(ManualClock::new(START_MICROS)),
            ids: Arc::default(),
            probes: probes.to_vec(),
            script,
            store,
            succeeded: BTreeSet::new(),
            tally: Tally { n_stories: 1, ..Tally::default() },
        }
    }

    /// A process over this store whose model has said so much already.
    fn process(&self, store: Arc<dyn Store>, n_said: usize) -> Story {
        let world =
            World { clock: self.clock.clone(), tool_clock: self.clock.clone(), ids: self.ids.clone() };
        let mut tools = mast_tools::builtin::all();
        tools.extend(self.probes.iter().map(|probe| Arc::new(probe.clone()) as Arc<dyn Tool>));
        let script: String = self.script.iter().skip(n_said).map(String::as_str).collect();
        let script = if script.is_empty() { "- text: That is all.\n".to_owned() } else { script };
        Story::in_world(&script, &tools, store, world)
    }

    /// A store that fails, or whose process ends, at some write; or neither.
    fn broken(&mut self) -> Arc<BrokenStore> {
        let at = usize::try_from(self.chance.below(WRITES_MAX)).unwrap_or(usize::MAX);
        let (fault, at) = match self.chance.below(8) {
            0 | 1 => (Fault::Gone, at),
            2 | 3 => (Fault::GoneAfter, at),
            4 => (Fault::Error, at),
            5 => (Fault::LateLie, at),
            _ => (Fault::Gone, usize::MAX - 1),
        };
        Arc::new(BrokenStore::over(self.store.clone(), fault, at))
    }

    /// The run, from its first message until it has ended or is given up.
    async fn play(&mut self) -> Result<(), String> {
        let broken = self.broken();
        let story = self.process(broken.clone(), 0);
        let begins = async {
            let mut session = story.session().await;
            story.goes_on(&mut session, RunRequest::typed(format!("Go. {CANARY}"))).await.map(|_| ())
        };
        Box::pin(self.watch(&broken, begins)).await;
        for _ in 0..TAKEN_UP_MAX {
            self.remember().await?;
            let Some(run) = self.run().await? else { return Ok(()) };
            if run.1.is_ended() {
                self.tally.n_completed += u64::from(run.1 == RunStatus::Completed);
                return Ok(());
            }
            self.between().await?;
            Box::pin(self.take_up(run.0)).await?;
        }
        Ok(())
    }

    /// Lets a process work until it is done, fails, or is gone.
    async fn watch<E>(&mut self, broken: &BrokenStore, work: impl Future<Output = Result<(), E>>) {
        let (is_gone, failed) = tokio::select! {
            biased;
            () = broken.gone() => (true, false),
            ended = work => (false, ended.is_err()),
        };
        self.tally.n_killed += u64::from(is_gone);
        self.tally.n_store_faults += u64::from(failed);
    }

    async fn run(&self) -> Result<Option<(RunId, RunStatus)>, String> {
        let runs = self.store.runs(&RunFilter::default()).await.map_err(|error| error.to_string())?;
        Ok(runs.first().map(|run| (run.id, run.status)))
    }

    /// What passes between two processes: time, and the person's answers.
    async fn between(&mut self) -> Result<(), String> {
        self.clock.advance(match self.chance.below(10) {
            0 => 4_000,
            1 => -3,
            _ => 60,
        });
        let person = self.process(self.store.clone(), 0);
        let open = ApprovalFilter { status: Some(ApprovalStatus::Pending), ..ApprovalFilter::default() };
        let open = self.store.approvals(&open).await.map_err(|error| error.to_string())?;
        for row in open {
            self.tally.n_asked += 1;
            let verdict = match self.chance.below(8) {
                0 => continue,
                1 => Verdict::No,
                2 => Verdict::Yes(Reach::Session),
                _ => Verdict::Yes(Reach::Once),
            };
            // A question that closed meanwhile, or may not reach so far, takes no answer.
            let _untaken = person.answers(row.id, verdict, None).await;
            if self.chance.one_in(4) {
                let _twice = person.answers(row.id, Verdict::Yes(Reach::Once), None).await;
            }
        }
        Ok(())
    }

    /// Another process goes on; now and then two at once.
    async fn take_up(&mut self, run: RunId) -> Result<(), String> {
        let reader = self.process(self.store.clone(), 0);
        let row = self.store.run(run).await.map_err(|error| error.to_string())?.ok_or("the run is lost")?;
        let n_said = reader.runtime.n_replies(&row).await.map_err(|error| error.to_string())?;
        let n_said = usize::try_from(n_said).unwrap_or(usize::MAX);
        let broken = self.broken();
        let story = self.process(broken.clone(), n_said);
        if self.chance.one_in(4) {
            let rival = self.process(self.store.clone(), n_said);
            let both = async {
                let (one, other) = tokio::join!(story.resumes(run), rival.resumes(run));
                one.and(other).map(|_| ())
            };
            Box::pin(self.watch(&broken, both)).await;
        } else {
            Box::pin(self.watch(&broken, async { story.resumes(run).await.map(|_| ()) })).await;
        }
        Ok(())
    }

    /// Nothing that was acknowledged may be lost.
    async fn remember(&mut self) -> Result<(), String> {
        let filter = CallFilter { status: Some(CallStatus::Succeeded), ..CallFilter::default() };
        let rows = self.store.calls(&filter).await.map_err(|error| error.to_string())?;
        let now: BTreeSet<String> = rows.into_iter().map(|row| row.id.to_string()).collect();
        let lost: Vec<_> = self.succeeded.difference(&now).cloned().collect();
        self.succeeded.extend(now);
        if lost.is_empty() { Ok(()) } else { Err(format!("these succeeded and are lost: {lost:?}")) }
    }

    /// Whether what the journal says is what happened.
    async fn judge(&mut self) -> Result<(), String> {
        self.remember().await?;
        let failed = |error: mast_store::StoreError| error.to_string();
        let report = verify(self.store.as_ref(), Wanted::default()).await.map_err(failed)?;
        if !report.findings.is_empty() {
            return Err(format!("the journal is not sound: {:?}", report.findings));
        }
        let calls = self.store.calls(&CallFilter::default()).await.map_err(failed)?;
        let mut effects: BTreeMap<Digest, u64> = BTreeMap::new();
        for key in self.probes.iter().flat_map(Probe::effects) {
            *effects.entry(key).or_default() += 1;
            self.tally.n_effects += 1;
        }
        let known: BTreeSet<Digest> = calls.iter().filter_map(|row| row.idempotency_key).collect();
        if let Some(stray) = effects.keys().find(|key| !known.contains(*key)) {
            return Err(format!("an effect that no call is on record for: {stray}"));
        }
        for row in &calls {
            self.judge_call(row, &effects)?;
        }
        self.judge_events().await
    }

    fn judge_call(&mut self, row: &CallRow, effects: &BTreeMap<Digest, u64>) -> Result<(), String> {
        let Some(declared) = &row.declared else { return Ok(()) };
        let Some(probe) = self.probes.iter().find(|probe| probe.spec.name == declared.tool) else {
            return Ok(());
        };
        let n_times = row.idempotency_key.and_then(|key| effects.get(&key)).copied().unwrap_or(0);
        let broken = |what: &str| Err(format!("{what}: {n_times} effects of {row:?}"));
        if n_times > 0 && row.started_at.is_none() {
            return broken("an effect without a claim");
        }
        if n_times > 1 && probe.spec.idempotency == Idempotency::NonIdempotent {
            return broken("an effect that must not be repeated was");
        }
        let was_allowed = row.approval_consumed || row.approval.is_none();
        if n_times > 0 && probe.spec.side_effect == SideEffect::ExternalWrite && !was_allowed {
            return broken("an effect without a yes");
        }
        match row.status {
            CallStatus::Succeeded if n_times == 0 => broken("it is said to have happened"),
            CallStatus::Denied if n_times > 0 => broken("it is said to have been refused"),
            CallStatus::Uncertain => {
                self.tally.n_uncertain += 1;
                let is_in_doubt = declared.idempotency.may_have_acted(row.effect_sent_at.is_some());
                if is_in_doubt { Ok(()) } else { broken("it cannot have happened") }
            }
            _ => Ok(()),
        }
    }

    /// What must be so of the events: no argument stands in one, a yes is used once, a run ends once.
    async fn judge_events(&self) -> Result<(), String> {
        let Some(run) = self.store.runs(&RunFilter::default()).await.ok().and_then(|mut runs| runs.pop())
        else {
            return Ok(());
        };
        let mut after = 0;
        let (mut used, mut n_ends) = (BTreeMap::<String, u32>::new(), 0);
        loop {
            let page = self.store.events(run.session, after, 0).await.map_err(|error| error.to_string())?;
            let Some(last) = page.last() else { break };
            after = last.sequence;
            for event in &page {
                let mut text = String::new();
                let _written = write!(text, "{:?}", event.payload);
                if text.contains(CANARY) {
                    return Err(format!("an argument stands in an event: {text}"));
                }
                if event.kind == "approval.consumed" {
                    let approval = event.payload.get("approval").map(ToString::to_string).unwrap_or_default();
                    *used.entry(approval).or_default() += 1;
                }
                n_ends += u32::from(matches!(&*event.kind, "run.completed" | "run.failed" | "run.cancelled"));
            }
        }
        if let Some((approval, n_times)) = used.iter().find(|(_, n_times)| **n_times > 1) {
            return Err(format!("the yes {approval} was used {n_times} times"));
        }
        if n_ends > 1 { Err(format!("the run ended {n_ends} times")) } else { Ok(()) }
    }
}

/// What the model says: some replies with calls, and an answer.
fn script(chance: &mut Chance) -> Vec<String> {
    let mut turns = Vec::new();
    for step in 0..=chance.below(3) {
        let calls: Vec<String> = (0..=chance.below(3))
            .map(|place| {
                let class = usize::try_from(chance.below(CLASSES.len() as u64 + 1)).unwrap_or_default();
                match CLASSES.get(class) {
                    Some((name, ..)) => {
                        format!("{{tool: {name}, args: {{text: \"{CANARY} {step} {place}\"}}}}")
                    }
                    None => "{tool: math.calculate, args: {expression: \"17*23\"}}".to_owned(),
                }
            })
            .collect();
        turns.push(format!("- calls: [{}]\n", calls.join(", ")));
    }
    turns.push("- text: Done.\n".to_owned());
    turns
}
