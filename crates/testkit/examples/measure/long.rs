//! A long conversation, journal on disk: checking it, and going on with a run in it.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use mast_kernel::trust::Label;
use mast_runtime::{Answerer, DirectCall, Disposition, Resumption, RunRequest, Silent, Surface};
use mast_store::verify::{Wanted, verify};
use mast_store::{READ_ROWS_MAX, Store};
use mast_tools::Cancellation;

use super::crowd::model;
use super::{Figure, each, nanos, place};

/// Events of the conversation.
const EVENTS: u64 = 100_000;

/// The time of an event that is checked, and that of opening the conversation and carrying its newest run
/// to its end.
pub(super) async fn measure(folder: &Path) -> Result<Vec<Figure>, Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let store: Arc<dyn Store> = Arc::new(place::disk(&folder.join("long.db")).await?);
    let runtime = place::runtime(Arc::clone(&store))?;
    let mut session = place::session(&runtime).await?;
    let mut n_events = 0;
    while n_events < EVENTS {
        let desk = runtime.desk(session.clone(), &Silent).await?;
        for number in 0..500 {
            let arguments = format!(r#"{{"expression":"{number} * 23"}}"#);
            let tool = "math.calculate".to_owned();
            let call = DirectCall { tool, arguments, origin: Label::typed(), tool_clock: None };
            if !matches!(desk.call(call).await?, Disposition::Settled(_)) {
                return Err("a call did not settle".into());
            }
        }
        desk.close(500).await?;
        store.flush().await?;
        while let Some(last) = store.events(session.id(), n_events, READ_ROWS_MAX).await?.pop() {
            n_events = last.sequence;
        }
    }
    let by = Answerer { provider: "scripted", model: "answers" };
    session = runtime.session(session.id(), place::authority()).await?;
    let run = runtime.enqueue(&mut session, RunRequest::typed("Go."), by).await?;
    store.flush().await?;
    let start = Instant::now();
    let report = verify(&*store, Wanted::default()).await?;
    let checked = start.elapsed();
    if !report.is_sound() {
        return Err(format!("the journal does not hold: {:?}", report.findings).into());
    }
    let n_checked = usize::try_from(report.n_events)?;
    let (provider, cancellation) = (model("answers", 0)?, Cancellation::new());
    let surface = Surface { observer: &Silent, cancellation: &cancellation, judge: None };
    let what = Resumption { run, instructions: None, date_line: None };
    let start = Instant::now();
    runtime.resume(what, place::authority(), &*provider, surface).await?;
    let went_on = start.elapsed();
    Ok(vec![
        Figure { name: "verify".to_owned(), nanos: each(checked, n_checked) },
        Figure { name: "go on".to_owned(), nanos: nanos(went_on) },
    ])
}
