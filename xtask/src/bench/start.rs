//! How long one call takes that does nothing but start, calculate and end, and how much memory it holds:
//! what a person feels at every `mast call`, and what a script pays for each line.
//!
//! The peer is CPython running one print of the same product. Both are started in turns by a small script
//! that waits for each with the call that also tells its memory.

use std::fs;

use serde_json::json;

use super::measured::Measured;
use super::programs;
use super::report::{Amount, MIB, MILLIS, Row};
use crate::failed::Failed;
use crate::process::Process;

/// Starts of each in one round.
const STARTS: &str = "21";
const ROUNDS: usize = 3;

const WALL_MAX: f64 = 12.0 * MILLIS;
const START_TIME: &str = "The largest parts are opening the database and preparing its statements, about 1 ms for \
    the one schema that is compiled, and the changes between the thread of the verb and that of the \
    database. The `dist` profile, which links everything as one, starts faster and takes much longer to \
    build.";
const MEMORY_MAX: f64 = 20.0 * MIB;
const BINARY_MAX: f64 = 40.0 * MIB;

/// The time and the memory of a process, and the size of its file.
pub(super) fn measure() -> Result<Vec<Row>, Failed> {
    let (binary, python, folder) = (programs::mast()?, programs::python()?, programs::folder("start")?);
    let data = format!("{folder}/data");
    let call = ["--data-dir", &data, "call", "math.calculate", r#"{"expression":"17 * 23"}"#];
    let ours: Vec<&str> = std::iter::once(binary.as_str()).chain(call).collect();
    let commands = json!({"mast": ours, "python": [python.as_str(), "-c", "print(17*23)"]});
    let starts = Process::program(&python).with(["-I", "-S", "xtask/bench/starts.py", STARTS]);
    let starts = starts.with([commands.to_string().as_str()]);
    let measured = Measured::in_rounds(ROUNDS, || Ok(vec![starts.clone()]))?;
    let times = measured.times("mast", (&measured, "python"))?;
    let failed = |source| Failed::Read { path: binary.clone().into(), source };
    let size = fs::metadata(&binary).map_err(failed)?.len();
    Ok(vec![
        Row::at_most("cold `mast call math.calculate`, journal on disk", times.ours, WALL_MAX)
            .and("python3 -c", times)
            .because(START_TIME),
        Row::at_most("its memory at most", measured.memory("mast")?, MEMORY_MAX),
        Row::at_most("the released binary", bytes(size), BINARY_MAX),
    ])
}

/// The size of a file. Up to 2^52 bytes it is exact.
#[expect(clippy::cast_precision_loss, reason = "a file of four petabytes is none of ours")]
const fn bytes(size: u64) -> Amount {
    Amount::Bytes(size as f64)
}
