//! Measures what a person pays for Mast, from inside one process. `cargo xtask bench` builds it with
//! optimisation, runs it in turns with its peers, and compares.
//!
//! | command | what it times |
//! |---|---|
//! | `measure calculate CASES` | expressions, from text to text |
//! | `measure memory` | a call through the gate, journal in memory |
//! | `measure disk FOLDER` | calls through the gate, journal on disk, in turns with the bare statements |
//! | `measure steps FOLDER N` | a run of so many tool steps, journal on disk |
//! | `measure claims FOLDER` | claims of one caller and of eight, in turns with bare connections |
//! | `measure recovery FOLDER` | carrying ten thousand runs to their ends that a process left behind |
//! | `measure many FOLDER` | five hundred runs at once, and what they wrote, written by the store alone |
//! | `measure judge` | decisions, commands of shell texts, a prompt |
//!
//! Each prints one JSON object a line: a name and the median in nanoseconds. The clock and the randomness
//! are the machine's, because a person pays for those too.
//!
//! Rejected: criterion for these. It measures one thing after the other, and on a machine that others use
//! only figures that were taken in turns can be divided by each other.

mod around;
mod bare;
mod calculate;
mod calls;
mod captured;
mod crowd;
mod judge;
mod ledger;
mod place;
mod steps;

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

/// What one thing cost, at the median.
#[derive(Debug)]
struct Figure {
    name: String,
    nanos: f64,
}

impl Figure {
    /// The median of what was seen.
    fn of(name: &str, times: Vec<Duration>) -> Self {
        Self { name: name.to_owned(), nanos: nanos(median(times)) }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // The product's own verbs run on one thread too.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let figures = match words.as_slice() {
        ["calculate", cases] => calculate::measure(Path::new(cases))?,
        ["memory"] => runtime.block_on(calls::in_memory())?,
        ["disk", folder] => runtime.block_on(calls::on_disk(Path::new(folder)))?,
        ["steps", folder, n_steps] => {
            runtime.block_on(steps::measure(Path::new(folder), n_steps.parse()?))?
        }
        ["claims", folder] => runtime.block_on(ledger::claims(Path::new(folder)))?,
        ["recovery", folder] => runtime.block_on(crowd::recovery(Path::new(folder)))?,
        ["many", folder] => runtime.block_on(crowd::many(Path::new(folder)))?,
        ["judge"] => judge::measure()?,
        _ => {
            let usage = "usage: measure calculate CASES | memory | judge | steps FOLDER N | \
                         disk FOLDER | claims FOLDER | recovery FOLDER | many FOLDER";
            return Err(usage.into());
        }
    };
    let mut answer = std::io::stdout().lock();
    for Figure { name, nanos } in figures {
        writeln!(answer, "{}", json!({ "name": name, "nanos": nanos }))?;
    }
    Ok(())
}

/// The middle of several times; zero for none.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The part of a time that each of so many took, in nanoseconds.
fn each(time: Duration, n: usize) -> f64 {
    nanos(time / u32::try_from(n.max(1)).unwrap_or(u32::MAX))
}

/// A time as a number that can be divided.
fn nanos(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}
