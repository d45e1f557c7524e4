//! Runs of many tool steps with a model that costs nothing, journal on disk: what the loop itself takes.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mast_kernel::run::RunStatus;
use mast_provider::{ProviderConfig, Script};
use mast_runtime::{RunRequest, Runtime, Silent, Surface};
use mast_tools::Cancellation;

use super::{Figure, place};

const RUNS: usize = 31;
const WARM_UP_RUNS: usize = 5;

/// The time of a run, divided by its tool steps; the beginning, the answer and the end count in.
pub(super) async fn measure(folder: &Path, n_steps: u32) -> Result<Vec<Figure>, Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let runtime = place::runtime(Arc::new(place::disk(&folder.join("steps.db")).await?))?;
    let script = script(n_steps)?;
    let mut times = Vec::new();
    for number in 0..WARM_UP_RUNS + RUNS {
        let time = timed(&runtime, &script, n_steps).await?;
        if number >= WARM_UP_RUNS {
            times.push(time / n_steps);
        }
    }
    Ok(vec![Figure::of("steps", times)])
}

/// A model that asks for the tool so many times, each time with other arguments, and then answers.
fn script(n_steps: u32) -> Result<Script, Box<dyn Error>> {
    let call =
        |number| format!("- calls: [{{tool: math.calculate, args: {{expression: \"{number} + 23\"}}}}]\n");
    let text = (1..=n_steps).map(call).collect::<String>() + "- text: done\n";
    Ok(Script::parse(&text)?)
}

async fn timed(runtime: &Runtime, script: &Script, n_steps: u32) -> Result<Duration, Box<dyn Error>> {
    let config = ProviderConfig { script: Some(script.clone()), ..ProviderConfig::default() };
    let model = mast_provider::build("scripted", &config)?;
    let cancellation = Cancellation::new();
    let surface = Surface { observer: &Silent, cancellation: &cancellation, judge: None };
    let request = RunRequest::typed("What is it?");
    let start = Instant::now();
    let mut session = place::session(runtime).await?;
    let end = runtime.run(&mut session, request, model.as_ref(), surface).await?;
    let time = start.elapsed();
    let is_whole = end.status == RunStatus::Completed && end.spent.tool_calls() == n_steps;
    if is_whole { Ok(time) } else { Err(format!("the run did not go to its end: {end:?}").into()) }
}
