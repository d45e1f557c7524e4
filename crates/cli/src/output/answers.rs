//! Results that come fast, a line of JSON each: written together while there is more to do, and sent
//! on before anything is waited for.

use std::io::{BufWriter, StdoutLock, Write as _};

use serde_json::Value;

use super::{json_line, stdout_failed};
use crate::error::CliError;

/// Bytes that are written together.
const BUFFER_BYTES: usize = 1 << 16;

/// Lines of JSON on stdout.
#[derive(Debug)]
pub(crate) struct Answers {
    out: BufWriter<StdoutLock<'static>>,
}

impl Answers {
    /// None yet.
    pub(super) fn new() -> Self {
        Self { out: BufWriter::with_capacity(BUFFER_BYTES, std::io::stdout().lock()) }
    }

    /// Adds one.
    ///
    /// # Errors
    ///
    /// [`CliError`] when it cannot be written, or when nobody reads it any more.
    pub(crate) fn add(&mut self, value: &Value) -> Result<(), CliError> {
        self.out.write_all(json_line(value).as_bytes()).map_err(stdout_failed)
    }

    /// Sends on what was added.
    ///
    /// # Errors
    ///
    /// As [`Self::add`].
    pub(crate) fn send(&mut self) -> Result<(), CliError> {
        self.out.flush().map_err(stdout_failed)
    }
}
