//! The controlling terminal, for verdicts: it is opened by its own name, so that nothing that is piped in
//! can answer, and what was typed before a question was shown is thrown away.
//!
//! Rejected: stdin. Whoever writes what is piped in would give the verdict.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::time::Duration;

use rustix::termios::{LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios};

/// How long a question must have been on the screen before a key counts.
pub(crate) const ARMS_AFTER: Duration = Duration::from_millis(500);

/// The controlling terminal, with keys instead of lines while this lives.
#[derive(Debug)]
pub(crate) struct Terminal {
    tty: File,
    before: Termios,
}

impl Terminal {
    /// Whether there is a controlling terminal at all.
    pub(crate) fn is_there() -> bool {
        Self::file().is_ok()
    }

    fn file() -> std::io::Result<File> {
        OpenOptions::new().read(true).write(true).open("/dev/tty")
    }

    /// Takes the terminal: keys come one by one and are not echoed; Ctrl-C still stops.
    ///
    /// # Errors
    ///
    /// When there is none, or it is none that can be asked.
    pub(crate) fn take() -> std::io::Result<Self> {
        let tty = Self::file()?;
        let before = rustix::termios::tcgetattr(&tty)?;
        let mut keys = before.clone();
        keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        // A read gives what is there within a tenth of a second, so that a stop is noticed.
        keys.special_codes[SpecialCodeIndex::VMIN] = 0;
        keys.special_codes[SpecialCodeIndex::VTIME] = 1;
        rustix::termios::tcsetattr(&tty, OptionalActions::Now, &keys)?;
        Ok(Self { tty, before })
    }

    /// Throws away what was typed so far.
    pub(crate) fn drain(&self) {
        // A terminal that cannot forget is asked all the same: its keys come before the question was
        // armed and are read away.
        if rustix::termios::tcflush(&self.tty, QueueSelector::IFlush).is_err() {
            tracing::debug!("the terminal cannot forget what was typed");
        }
    }

    /// The next character, if one comes within a tenth of a second.
    ///
    /// # Errors
    ///
    /// When the terminal is gone.
    pub(crate) fn key(&mut self) -> std::io::Result<Option<char>> {
        let mut byte = [0];
        if self.tty.read(&mut byte)? == 0 {
            return Ok(None);
        }
        let [first] = byte;
        let n_more = match first {
            0xc2..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0..=0xf4 => 3,
            _ => 0,
        };
        let mut bytes = vec![first];
        for _ in 0..n_more {
            if self.tty.read(&mut byte)? == 1 {
                bytes.extend(byte);
            }
        }
        Ok(String::from_utf8_lossy(&bytes).chars().next())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Whoever took the terminal away has taken its modes away too.
        if rustix::termios::tcsetattr(&self.tty, OptionalActions::Now, &self.before).is_err() {
            tracing::debug!("the terminal keeps its keys");
        }
    }
}
