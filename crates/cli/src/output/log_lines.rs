//! Log lines on stderr, with everything hidden made visible: a line may quote what a model wrote.

use std::io::Write;

use super::block;

/// Where the log goes.
pub(crate) struct LogLines;

impl Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // A line comes in one piece, so that no character is torn apart here. That nobody reads stderr is
        // not told further: the subscriber would say so on stderr, and break over it.
        drop(std::io::stderr().lock().write_all(block(&String::from_utf8_lossy(bytes)).as_bytes()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
