//! What the journal takes when several write to it: claims and outcomes, beside bare connections that write
//! the same rows.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use futures_util::future::try_join_all;
use mast_kernel::id::SessionId;
use mast_kernel::trust::Label;
use mast_runtime::{DirectCall, Disposition, Silent};
use mast_store::Store;
use sqlx::sqlite::SqliteSynchronous;

use super::around::{Around, Kept};
use super::bare::{Bare, Ready};
use super::{Figure, captured, place};

/// How many callers there are in the two lines.
pub(super) const CALLERS: [usize; 2] = [1, 8];
/// Calls of each caller.
pub(super) const CALLS: usize = 200;

/// What some callers wrote: each a conversation of its own, from which it calls one after the other.
pub(super) struct Written {
    /// What came before the calls.
    pub(super) before: Vec<Kept>,
    /// The calls of each caller.
    pub(super) calls: Vec<Vec<Kept>>,
    /// The same rows, as a bare connection writes them.
    rows: BTreeMap<String, Vec<Vec<Ready>>>,
}

/// Claims and outcomes on SQLite, each flushed, by one caller and by eight, and the same rows written by as
/// many bare connections. A figure is the time of all callers together, divided by the calls.
pub(super) async fn claims(folder: &Path) -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut figures = Vec::new();
    for n_callers in CALLERS {
        let folder = folder.join(n_callers.to_string());
        std::fs::create_dir_all(&folder)?;
        let written = Written::by(n_callers, &folder.join("captured.db")).await?;
        let store: Arc<dyn Store> = Arc::new(place::disk(&folder.join("ours.db")).await?);
        let ours = written.again(&*store).await?;
        let theirs = written.bare(&folder.join("bare.db")).await?;
        figures.push(Figure { name: format!("claims {n_callers}"), nanos: ours });
        figures.push(Figure { name: format!("claims {n_callers} bare"), nanos: theirs });
    }
    Ok(figures)
}

impl Written {
    /// Lets so many callers call, and takes down what they write.
    pub(super) async fn by(n_callers: usize, path: &Path) -> Result<Self, Box<dyn Error>> {
        let store: Arc<dyn Store> = Arc::new(place::disk(path).await?);
        let around = Arc::new(Around::flushed(store).keeping());
        let runtime = place::runtime(Arc::<Around>::clone(&around))?;
        let mut desks = Vec::with_capacity(n_callers);
        for _ in 0..n_callers {
            desks.push(runtime.desk(place::session(&runtime).await?, &Silent).await?);
        }
        runtime.store().flush().await?;
        let before = around.take();
        let log = captured::begin(path).await?;
        for desk in &desks {
            for number in 0..CALLS {
                let arguments = format!(r#"{{"expression":"{number} * 23"}}"#);
                let tool = "math.calculate".to_owned();
                let call = DirectCall { tool, arguments, origin: Label::typed(), tool_clock: None };
                match desk.call(call).await? {
                    Disposition::Settled(settled) if settled.outcome.is_none() => {}
                    other => return Err(format!("the call did not succeed: {other:?}").into()),
                }
            }
        }
        runtime.store().flush().await?;
        let mut rows = BTreeMap::<String, Vec<Vec<Ready>>>::new();
        for call in captured::end(log).await? {
            let session = call.first().and_then(captured::Transaction::session).unwrap_or_default();
            let call = call.iter().map(Ready::of).collect::<Result<_, _>>()?;
            rows.entry(session).or_default().push(call);
        }
        Ok(Self { before, calls: by_session(around.take()), rows })
    }

    /// Writes all of it to another store, each caller on its own, waiting for every commit; gives the
    /// nanoseconds of a call.
    pub(super) async fn again(&self, store: &dyn Store) -> Result<f64, Box<dyn Error>> {
        for batch in &self.before {
            batch.again(store, true).await?;
        }
        let start = Instant::now();
        try_join_all(self.calls.iter().map(|batches| in_order(store, batches, true))).await?;
        Ok(self.a_call(start))
    }

    /// Writes the same rows with bare connections, one a caller; gives the nanoseconds of a call.
    async fn bare(&self, path: &Path) -> Result<f64, Box<dyn Error>> {
        let mut connections = Vec::with_capacity(self.rows.len());
        let full = SqliteSynchronous::Full;
        let mut first = Bare::open(path, full).await?;
        for calls in self.rows.values() {
            connections.push((Bare::connect(path, full).await?, calls));
        }
        let start = Instant::now();
        try_join_all(connections.iter_mut().map(|(bare, calls)| bare.calls(calls))).await?;
        let time = self.a_call(start);
        let (n_rows, expected) = (first.n_rows().await?, 7 * self.n_calls());
        if usize::try_from(n_rows) != Ok(expected) {
            return Err(format!("the bare connections wrote {n_rows} rows, not {expected}").into());
        }
        Ok(time)
    }

    fn n_calls(&self) -> usize {
        self.calls.len() * CALLS
    }

    fn a_call(&self, start: Instant) -> f64 {
        super::each(start.elapsed(), self.n_calls())
    }
}

/// Batches by the session that they belong to, in their order.
pub(super) fn by_session(batches: Vec<Kept>) -> Vec<Vec<Kept>> {
    let mut sessions = BTreeMap::<SessionId, Vec<Kept>>::new();
    for batch in batches {
        sessions.entry(batch.session()).or_default().push(batch);
    }
    sessions.into_values().collect()
}

/// Commits the batches of one caller.
pub(super) async fn in_order(store: &dyn Store, batches: &[Kept], waits: bool) -> Result<(), Box<dyn Error>> {
    for batch in batches {
        batch.again(store, waits).await?;
    }
    Ok(())
}
