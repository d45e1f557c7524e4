//! Measures what a person pays for Mast, from inside one process. `cargo xtask bench` builds it with
//! optimisation, runs it in turns with its peers, and compares.
//!
//! | command | what it times |
//! |---|---|
//! | `measure calculate CASES` | expressions, from text to text |
//! | `measure memory` | a call through the gate, journal in memory |
//! | `measure disk FOLDER` | calls through the gate, journal on disk, in turns with the bare statements |
//! | `measure steps FOLDER N` | a run of so many tool steps, journal on disk |
//! | `measure judge` | decisions, commands of shell texts, a prompt |
//!
//! Each prints one JSON object a line: a name and the median in nanoseconds. The clock and the randomness
//! are the machine's, because a person pays for those too.
//!
//! Rejected: criterion for these. It measures one thing after the other, and on a machine that others use
//! only figures that were taken in turns can be divided by each other.

mod bare;
mod calculate;
mod calls;
mod captured;
mod flushed;
mod judge;
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
        ["judge"] => judge::measure()?,
        _ => {
            let usage = "usage: measure calculate CASES | memory | disk FOLDER | steps FOLDER N | judge";
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

/// A time as a number that can be divided.
fn nanos(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}
