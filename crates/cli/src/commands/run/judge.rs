//! The person at the terminal who answers what a run asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;

use async_trait::async_trait;
use mast_kernel::event::Reach;
use mast_kernel::instant::Instant;
use mast_runtime::{Ask, Judge, SystemClock, Verdict};
use mast_tools::Clock as _;

use crate::output::hidden::Sight;
use crate::output::{Printer, Style, ask, line};
use crate::terminal::{ARMS_AFTER, Terminal};

/// What was said: a verdict, and words with a no.
type Said = (Verdict, Option<String>);

/// Longest reason that is typed beside a no.
const WORDS_CHARS_MAX: usize = 500;

/// Who answers at this terminal.
#[derive(Debug, Clone)]
pub(crate) struct AtTerminal {
    printer: Printer,
    sight: Sight,
}

impl AtTerminal {
    /// The person at the controlling terminal; none where there is no terminal to show a question on.
    pub(crate) fn there(printer: &Printer, sight: Sight) -> Option<Self> {
        let is_there = printer.is_terminal() && !printer.is_json() && Terminal::is_there();
        is_there.then(|| Self { printer: printer.clone(), sight })
    }
}

/// Tells the thread at the terminal that nobody waits for it any more.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[async_trait]
impl Judge for AtTerminal {
    async fn judge(&self, ask: &Ask) -> Option<Said> {
        let stopped = Arc::new(AtomicBool::new(false));
        let _stop = Stop(Arc::clone(&stopped));
        let question = Question { at: self.clone(), ask: ask.clone(), stopped, is_whole: false };
        tokio::task::spawn_blocking(move || question.put().ok().flatten()).await.ok().flatten()
    }
}

/// One question, on the screen.
struct Question {
    at: AtTerminal,
    ask: Ask,
    stopped: Arc<AtomicBool>,
    is_whole: bool,
}

/// What a key does.
enum Key {
    Yes(Reach),
    No,
    Details,
    Reveal,
    Other,
}

impl Question {
    /// Shows the question, and reads keys until one of them is a verdict. Nothing is chosen by Enter.
    fn put(mut self) -> std::io::Result<Option<Said>> {
        let mut terminal = Terminal::take()?;
        let mut is_partial = self.show();
        terminal.drain();
        sleep(ARMS_AFTER);
        terminal.drain();
        let mut typed = String::new();
        loop {
            if self.stopped.load(Ordering::Relaxed) || self.now() >= self.ask.expires_at {
                return Ok(None);
            }
            let Some(key) = terminal.key()? else { continue };
            typed.push(key);
            match self.meaning(key, &typed, is_partial) {
                Key::Yes(reach) => return Ok(Some(self.say("allowed", Verdict::Yes(reach), None))),
                Key::No => {
                    let words = self.words(&mut terminal)?;
                    return Ok(words.map(|words| self.say("denied", Verdict::No, words)));
                }
                Key::Details => {
                    self.is_whole = true;
                    is_partial = self.show();
                }
                Key::Reveal => {
                    self.at.sight.is_revealed = true;
                    is_partial = self.show();
                }
                Key::Other => {}
            }
        }
    }

    fn now(&self) -> Instant {
        SystemClock.now()
    }

    /// Prints the frame; whether a part of the action is not to be seen yet.
    fn show(&self) -> bool {
        let at = (self.now(), self.at.printer.width());
        let shown = ask::frame(&self.ask, &self.at.sight, self.is_whole, at);
        for text in &shown.lines {
            self.at.printer.note(&[(Style::Plain, text)]);
        }
        shown.is_partial
    }

    fn meaning(&self, key: char, typed: &str, is_partial: bool) -> Key {
        let reach = ask::reach(&self.ask);
        match (key, ask::code(&self.ask)) {
            ('n' | 'N', _) => Key::No,
            ('d' | 'D', _) => Key::Details,
            ('r' | 'R', _) => Key::Reveal,
            (_, Some(code)) if !is_partial && typed.ends_with(&code) => Key::Yes(Reach::Once),
            ('y' | 'Y', None) if !is_partial => Key::Yes(Reach::Once),
            ('t' | 'T', None) if !is_partial && reach >= Reach::Task => Key::Yes(Reach::Task),
            ('s' | 'S', None) if !is_partial && reach >= Reach::Session => Key::Yes(Reach::Session),
            _ => Key::Other,
        }
    }

    /// A word to the model, until Enter; none where the question was left meanwhile.
    fn words(&self, terminal: &mut Terminal) -> std::io::Result<Option<Option<String>>> {
        self.at.printer.question("  no · a word to the model (Enter for none): ");
        let mut words = String::new();
        loop {
            if self.stopped.load(Ordering::Relaxed) {
                return Ok(None);
            }
            match terminal.key()? {
                None => {}
                Some('\n' | '\r') => break,
                Some('\u{8}' | '\u{7f}') => {
                    words.pop();
                }
                Some(character) if words.chars().count() < WORDS_CHARS_MAX => {
                    words.push(character);
                    self.at.printer.question(&line(character.encode_utf8(&mut [0; 4])));
                }
                Some(_) => {}
            }
        }
        self.at.printer.note(&[]);
        let words = words.trim().to_owned();
        Ok(Some((!words.is_empty()).then_some(words)))
    }

    fn say(&self, word: &str, verdict: Verdict, words: Option<String>) -> Said {
        let style = if matches!(verdict, Verdict::No) { Style::Bad } else { Style::Good };
        let reach = match verdict {
            Verdict::Yes(Reach::Once) => " once",
            Verdict::Yes(Reach::Task) => " for this run",
            Verdict::Yes(Reach::Session) => " for this session",
            Verdict::No => "",
        };
        self.at.printer.note(&[(Style::Plain, "  "), (style, word), (Style::Plain, reach)]);
        (verdict, words)
    }
}
