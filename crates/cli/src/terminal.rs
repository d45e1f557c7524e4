//! The controlling terminal, for verdicts: it is opened by its own name, so that nothing that is piped in
//! can answer, and what was typed before a question was shown is thrown away. A key counts only by itself:
//! what is typed or pasted as a text is meant for somebody else.
//!
//! Rejected: stdin. Whoever writes what is piped in would give the verdict. And a timer for pastes alone:
//! terminals mark what is pasted, and those that do not hand it over at once.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use rustix::termios::{LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios};

/// How long a question must have been on the screen before a key counts.
pub(crate) const ARMS_AFTER: Duration = Duration::from_millis(500);

/// How often it is looked whether something follows a key.
const LOOKS_EVERY: Duration = Duration::from_millis(10);
/// Most reads of a text that is typed or pasted before it is looked again whether to go on.
const READS_MAX: usize = 20;
/// What turns the marking of pasted text on, and off.
const PASTE_MARKS: (&[u8], &[u8]) = (b"\x1b[?2004h", b"\x1b[?2004l");
/// The marks before and behind what is pasted.
const PASTED: (&[u8], &[u8]) = (b"\x1b[200~", b"\x1b[201~");

/// The controlling terminal, with keys instead of lines until it is given back.
#[derive(Debug)]
pub(crate) struct Terminal {
    tty: File,
    before: Termios,
    is_given_back: AtomicBool,
}

impl Terminal {
    /// Whether there is a controlling terminal at all.
    pub(crate) fn is_there() -> bool {
        Self::file().is_ok()
    }

    fn file() -> std::io::Result<File> {
        OpenOptions::new().read(true).write(true).open("/dev/tty")
    }

    /// Takes the terminal: keys come one by one and are not echoed, what is pasted is marked; Ctrl-C still
    /// stops.
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
        // From here on it is given back whatever happens.
        let taken = Self { tty, before, is_given_back: AtomicBool::new(false) };
        rustix::termios::tcsetattr(&taken.tty, OptionalActions::Now, &keys)?;
        (&taken.tty).write_all(PASTE_MARKS.0)?;
        Ok(taken)
    }

    /// Gives the terminal back as it was, once: afterwards it may be another question's.
    pub(crate) fn give_back(&self) {
        if self.is_given_back.swap(true, Ordering::Relaxed) {
            return;
        }
        // Whoever took the terminal away has taken its modes away too.
        let unmarked = (&self.tty).write_all(PASTE_MARKS.1);
        let restored = rustix::termios::tcsetattr(&self.tty, OptionalActions::Now, &self.before);
        if unmarked.is_err() || restored.is_err() {
            tracing::debug!("the terminal keeps its keys");
        }
    }

    /// Throws away what was typed so far.
    pub(crate) fn drain(&self) {
        // A terminal that cannot forget is asked all the same: its keys come before the question was
        // armed and are read away.
        if rustix::termios::tcflush(&self.tty, QueueSelector::IFlush).is_err() {
            tracing::debug!("the terminal cannot forget what was typed");
        }
    }

    /// What is there within a tenth of a second; nothing if nothing comes.
    fn read(&self) -> std::io::Result<Vec<u8>> {
        let mut bytes = [0; 1_024];
        let n_read = (&self.tty).read(&mut bytes)?;
        Ok(bytes.get(..n_read).unwrap_or_default().to_vec())
    }

    /// Whether nothing comes for so long.
    fn is_quiet_for(&self, quiet: Duration) -> std::io::Result<bool> {
        let mut waited = Duration::ZERO;
        while waited < quiet {
            if rustix::io::ioctl_fionread(&self.tty)? > 0 {
                return Ok(false);
            }
            sleep(LOOKS_EVERY);
            waited += LOOKS_EVERY;
        }
        Ok(rustix::io::ioctl_fionread(&self.tty)? == 0)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// What came from the terminal at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// One key by itself.
    Key(char),
    /// Several in a row: a text that is typed or pasted, or a key that sends several (an arrow).
    Several,
}

/// Reads the keys of a terminal.
#[derive(Debug)]
pub(crate) struct Keys<'t> {
    terminal: &'t Terminal,
    paste: Paste,
    /// Whether what comes next still belongs to what was too much to be read at a time.
    is_amid: bool,
}

impl<'t> Keys<'t> {
    /// Reads this terminal.
    pub(crate) fn of(terminal: &'t Terminal) -> Self {
        Self { terminal, paste: Paste::default(), is_amid: false }
    }

    /// What comes within a tenth of a second. A key is one only if nothing follows it for as long as `quiet` says
    /// of it; else everything that follows it is read away.
    ///
    /// # Errors
    ///
    /// When the terminal is gone.
    pub(crate) fn stroke(&mut self, quiet: impl Fn(char) -> Duration) -> std::io::Result<Option<Stroke>> {
        let mut bytes = self.terminal.read()?;
        if bytes.is_empty() {
            self.is_amid = false;
            return Ok(None);
        }
        let is_own = !self.is_amid && !self.paste.is_open();
        if let Some(key) = only(&bytes)
            && is_own
            && self.terminal.is_quiet_for(quiet(key))?
        {
            return Ok(Some(Stroke::Key(key)));
        }
        self.is_amid = true;
        for _ in 0..READS_MAX {
            self.paste.reads(&bytes);
            bytes = self.terminal.read()?;
            if bytes.is_empty() {
                self.is_amid = false;
                break;
            }
        }
        self.paste.reads(&bytes);
        Ok(Some(Stroke::Several))
    }

    /// What is typed or pasted within a tenth of a second, as words: a line break only where it was typed.
    ///
    /// # Errors
    ///
    /// When the terminal is gone.
    pub(crate) fn words(&mut self) -> std::io::Result<String> {
        let bytes = self.terminal.read()?;
        let was_pasting = self.paste.is_open();
        self.paste.reads(&bytes);
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        let is_pasted = was_pasting || text.contains("\u{1b}[200~") || text.contains("\u{1b}[201~");
        if is_pasted {
            text = text.replace("\u{1b}[200~", "").replace("\u{1b}[201~", "").replace(['\r', '\n'], " ");
        } else if text.starts_with('\u{1b}') {
            // An arrow, or another key that is no letter.
            text.clear();
        }
        Ok(text)
    }
}

/// The one character that these bytes are.
fn only(bytes: &[u8]) -> Option<char> {
    let mut characters = std::str::from_utf8(bytes).ok()?.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// Whether what is read stands between the marks of pasted text.
#[derive(Debug, Default)]
struct Paste {
    is_open: bool,
    /// The end of what was read, since a mark may come in two pieces.
    tail: Vec<u8>,
}

impl Paste {
    const fn is_open(&self) -> bool {
        self.is_open
    }

    fn reads(&mut self, bytes: &[u8]) {
        self.tail.extend(bytes);
        let (start, end) = PASTED;
        for window in self.tail.windows(start.len()) {
            if window == start {
                self.is_open = true;
            } else if window == end {
                self.is_open = false;
            }
        }
        let n_old = self.tail.len().saturating_sub(start.len() - 1);
        self.tail.drain(..n_old);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_is_open_until_its_end_mark_in_whatever_pieces_it_comes() {
        let whole = b"a\x1b[200~y\nyes\x1b[201~y";
        for n_bytes in 1..whole.len() {
            let mut paste = Paste::default();
            let (mut seen, mut opened) = (Vec::<u8>::new(), false);
            for piece in whole.chunks(n_bytes) {
                paste.reads(piece);
                seen.extend(piece);
                opened |= paste.is_open();
                let is_inside = seen.len() >= 7 && seen.len() < whole.len() - 1;
                assert_eq!(paste.is_open(), is_inside, "{n_bytes}: {}", seen.len());
            }
            assert!(opened || n_bytes > 12, "{n_bytes}");
        }
    }

    #[test]
    fn one_character_is_a_key_and_nothing_else_is() {
        assert_eq!((only(b"y"), only("é".as_bytes()), only(b"\x1b")), (Some('y'), Some('é'), Some('\u{1b}')));
        assert_eq!((only(b"yy"), only(b"\x1b[A"), only(b"\xff"), only(b"")), (None, None, None, None));
    }
}
