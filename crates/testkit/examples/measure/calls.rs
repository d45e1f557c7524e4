//! Calls through all steps of the gate, one after the other in one session, as `mast call --stdin` makes
//! them.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mast_kernel::limits::OPEN_ASKS_MAX;
use mast_kernel::trust::Label;
use mast_runtime::{Desk, DirectCall, Disposition, Runtime, Silent};
use mast_store::Store;
use sqlx::sqlite::SqliteSynchronous;

use super::around::Around;
use super::bare::{Bare, Ready};
use super::{Figure, captured, place};

const PRODUCT: (&str, &str) = ("math.calculate", r#"{"expression":"17 * 23"}"#);
const MESSAGE: (&str, &str) = ("demo.external_write", r#"{"destination":"ops","content":"ready"}"#);

const WARM_UP_CALLS: usize = 50;
const CALLS_IN_MEMORY: usize = 3_000;
const CALLS: usize = WARM_UP_CALLS + 400;

/// A pair that is measured in turns.
struct Pair {
    name: &'static str,
    call: (&'static str, &'static str),
    /// Whether every commit is flushed, even if the call does not ask for it.
    flushed: bool,
    /// What the bare connection does at a commit.
    synchronous: SqliteSynchronous,
    /// Transactions and rows of one call: a figure for others would be a figure for something else.
    n_transactions: usize,
    n_rows: usize,
    /// Calls that one desk takes.
    calls_a_desk: usize,
}

const PAIRS: &[Pair] = &[
    Pair {
        name: "pure",
        call: PRODUCT,
        flushed: false,
        synchronous: SqliteSynchronous::Normal,
        n_transactions: 2,
        n_rows: 7,
        calls_a_desk: CALLS,
    },
    Pair {
        name: "flushed",
        call: PRODUCT,
        flushed: true,
        synchronous: SqliteSynchronous::Full,
        n_transactions: 2,
        n_rows: 7,
        calls_a_desk: CALLS,
    },
    Pair {
        name: "asking",
        call: MESSAGE,
        flushed: false,
        synchronous: SqliteSynchronous::Full,
        n_transactions: 1,
        n_rows: 7,
        calls_a_desk: OPEN_ASKS_MAX,
    },
];

/// A pure call, journal in memory.
pub(super) async fn in_memory() -> Result<Vec<Figure>, Box<dyn Error>> {
    let runtime = place::runtime(Arc::new(place::memory()))?;
    let desk = runtime.desk(place::session(&runtime).await?, &Silent).await?;
    let mut times = Vec::with_capacity(CALLS_IN_MEMORY);
    for _ in 0..WARM_UP_CALLS {
        timed(&desk, PRODUCT).await?;
    }
    for _ in 0..CALLS_IN_MEMORY {
        times.push(timed(&desk, PRODUCT).await?);
    }
    Ok(vec![Figure::of("memory", times)])
}

/// Calls with the journal on disk, and beside each the same statements alone.
pub(super) async fn on_disk(folder: &Path) -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut figures = Vec::new();
    for pair in PAIRS {
        let folder = folder.join(pair.name);
        std::fs::create_dir_all(&folder)?;
        figures.extend(pair.measure(&folder).await?);
    }
    Ok(figures)
}

impl Pair {
    async fn measure(&self, folder: &Path) -> Result<[Figure; 2], Box<dyn Error>> {
        let statements = self.capture(&folder.join("captured.db")).await?;
        let store = self.store(&folder.join("ours.db")).await?;
        let mut bare = Bare::open(&folder.join("bare.db"), self.synchronous).await?;
        let runtime = place::runtime(store)?;
        let desks = self.desks(&runtime).await?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for (number, transactions) in statements.iter().enumerate() {
            let one = timed(self.desk(&desks, number)?, self.call).await?;
            let start = Instant::now();
            bare.call(transactions).await?;
            let other = start.elapsed();
            if number >= WARM_UP_CALLS {
                ours.push(one);
                theirs.push(other);
            }
        }
        let (n_rows, expected) = (bare.n_rows().await?, statements.len() * self.n_rows);
        if usize::try_from(n_rows) != Ok(expected) {
            return Err(format!("the bare loop wrote {n_rows} rows, not {expected}").into());
        }
        let name = self.name;
        Ok([Figure::of(name, ours), Figure::of(&format!("{name} bare"), theirs)])
    }

    /// Desks for all calls, on record: a run may only have so many open questions.
    async fn desks<'a>(&self, runtime: &'a Runtime) -> Result<Vec<Desk<'a>>, Box<dyn Error>> {
        let session = place::session(runtime).await?;
        let n_desks = CALLS.div_ceil(self.calls_a_desk);
        let mut desks = Vec::with_capacity(n_desks);
        for _ in 0..n_desks {
            desks.push(runtime.desk(session.clone(), &Silent).await?);
        }
        runtime.store().flush().await?;
        Ok(desks)
    }

    fn desk<'a, 'b>(&self, desks: &'a [Desk<'b>], number: usize) -> Result<&'a Desk<'b>, Box<dyn Error>> {
        desks.get(number / self.calls_a_desk).ok_or_else(|| "there is a desk for every call".into())
    }

    async fn store(&self, path: &Path) -> Result<Arc<dyn Store>, Box<dyn Error>> {
        let store: Arc<dyn Store> = Arc::new(place::disk(path).await?);
        Ok(if self.flushed { Arc::new(Around::flushed(store)) } else { store })
    }

    /// What as many calls write.
    async fn capture(&self, path: &Path) -> Result<Vec<Vec<Ready>>, Box<dyn Error>> {
        let runtime = place::runtime(self.store(path).await?)?;
        let desks = self.desks(&runtime).await?;
        let log = captured::begin(path).await?;
        for number in 0..CALLS {
            timed(self.desk(&desks, number)?, self.call).await?;
        }
        runtime.store().flush().await?;
        let calls = captured::end(log).await?;
        match calls.iter().find(|call| call.len() != self.n_transactions) {
            Some(other) => Err(format!("a {} call took {} transactions", self.name, other.len()).into()),
            None => {
                Ok(calls.iter().map(|call| call.iter().map(Ready::of).collect()).collect::<Result<_, _>>()?)
            }
        }
    }
}

/// How long one call takes. It must succeed, or ask.
async fn timed(desk: &Desk<'_>, (tool, arguments): (&str, &str)) -> Result<Duration, Box<dyn Error>> {
    let call = DirectCall {
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
        origin: Label::typed(),
        tool_clock: None,
    };
    let start = Instant::now();
    let disposition = desk.call(call).await?;
    let time = start.elapsed();
    match disposition {
        Disposition::Settled(settled) => match settled.outcome {
            None => Ok(time),
            Some(outcome) => Err(format!("the call did not succeed: {outcome:?}").into()),
        },
        Disposition::Asked(_) => Ok(time),
    }
}
