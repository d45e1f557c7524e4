//! What `MAST_LOG` turns on: lines on stderr that tell how Mast works, for whoever looks for a fault.
//! Without it nothing is built and nothing costs anything. Only Mast's own lines are taken, since those
//! of a library may hold an address or a header. Rejected: a flag, which scripts would come to rely on,
//! and a file, which somebody would have to clear away. See `docs/spec/configuration.md`.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{ConfigError, Environment};
use crate::output::LogLines;

/// The variable that turns logs on.
const VARIABLE: &str = "MAST_LOG";

/// The beginning of the names of Mast's own crates.
const OWN: &str = "mast";

/// Turns logs on if the environment asks for them; the first line tells what is at work.
///
/// # Errors
///
/// [`ConfigError::BadValue`] when the variable is not a level.
pub(crate) fn begin(environment: &Environment) -> Result<(), ConfigError> {
    let Some(text) = environment.text(VARIABLE) else { return Ok(()) };
    let level = level(text).ok_or_else(|| ConfigError::BadValue {
        place: "environment".to_owned(),
        key: VARIABLE,
        expected: "one of: error, warn, info, debug, trace".to_owned(),
    })?;
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(|| LogLines);
    let taken = lines.with_filter(Targets::new().with_target(OWN, level));
    if tracing_subscriber::registry().with(taken).try_init().is_ok() {
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            zones = mast_tools::builtin::system::zone::database_version(),
            "mast begins"
        );
    }
    Ok(())
}

fn level(text: &str) -> Option<LevelFilter> {
    Some(match text {
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        _ => return None,
    })
}
