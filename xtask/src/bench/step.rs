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
        Ok(Row::beside(line, name, measured.times("steps", (&measured, name))?, BOUND))
    };
    PEERS.into_iter().map(row).collect()
}
