//! What a loop takes for one tool step when model and tool cost nothing, beside two agent libraries.

use super::measured::{Measured, ROUNDS};
use super::programs;
use super::report::Row;
use crate::failed::Failed;
use crate::process::Process;

/// Tool steps of one run.
const STEPS: &str = "20";
/// Name of each peer's figure, and its script.
const PEERS: [(&str, &str); 2] =
    [("langgraph", "xtask/bench/langgraph_steps.py"), ("pydantic-ai", "xtask/bench/pydantic_ai_steps.py")];
const BOUND: f64 = 0.1;
const STEP_TIME: &str = "The bound was set when the faster peer took about 4 ms; it takes less now. The rest is \
    the journal, which the peers do not have: a step writes some 26 pages of the database's log and waits \
    for two commits, the claim before the tool and its outcome behind it. With the database on a memory \
    disk a step took 0.7 to 0.9 ms. Not waiting for the two commits would win about 0.5 ms, and give up \
    that a result is on record before the model reads it.";

/// One row a peer; the bound must hold beside the faster one, so it is asked of both.
pub(super) fn measure() -> Result<Vec<Row>, Failed> {
    let (ours, python) = (programs::measure()?, programs::python_with_peers()?);
    let measured = Measured::in_rounds(ROUNDS, || {
        let ours = Process::program(&ours).with(["steps", &programs::folder("step")?, STEPS]);
        let peer = |script| {
            // Without its own files of bytecode, and without a word to anybody.
            let python = Process::program(&python).variable("PYTHONDONTWRITEBYTECODE", "1");
            python.variable("LANGSMITH_TRACING", "false").with([script, STEPS])
        };
        Ok(std::iter::once(ours).chain(PEERS.map(|(_, script)| peer(script))).collect())
    })?;
    let row = |(name, _)| {
        let line = "a tool step of the run loop, journal on disk";
        Ok(Row::beside(line, name, measured.times("steps", (&measured, name))?, BOUND).because(STEP_TIME))
    };
    PEERS.into_iter().map(row).collect()
}
