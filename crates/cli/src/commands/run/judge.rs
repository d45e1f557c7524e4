//! The person at the terminal who answers what a run asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use async_trait::async_trait;
use mast_kernel::event::Reach;
use mast_kernel::instant::Instant;
use mast_runtime::{Ask, Judge, SystemClock, Verdict};
use mast_tools::Clock as _;

use crate::output::ask::is_of_code;
use crate::output::hidden::Sight;
use crate::output::{Printer, Style, ask, line};
use crate::terminal::{ARMS_AFTER, Keys, Stroke, Terminal};

/// What was said: a verdict, and words with a no.
type Said = (Verdict, Option<String>);

/// Longest reason that is typed beside a no.
const WORDS_CHARS_MAX: usize = 500;

/// How long nothing may follow a key that counts.
const KEY_ALONE: Duration = Duration::from_millis(300);
/// How long nothing may follow a letter of a code.
const LETTER_ALONE: Duration = Duration::from_millis(20);
/// Tenths of a second of quiet after which a key is no part of a text any more.
const SETTLES_AFTER: u32 = 8;

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

/// Tells the thread at the terminal that nobody waits for it any more, and gives the terminal back at once:
/// the process may end before that thread has noticed.
struct Stop(Arc<AtomicBool>, Arc<Terminal>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.give_back();
    }
}

#[async_trait]
impl Judge for AtTerminal {
    async fn judge(&self, ask: &Ask) -> Option<Said> {
        let terminal = Arc::new(Terminal::take().ok()?);
        let stopped = Arc::new(AtomicBool::new(false));
        let _stop = Stop(Arc::clone(&stopped), Arc::clone(&terminal));
        let question =
            Question { at: self.clone(), ask: ask.clone(), stopped, is_whole: false, n_quiet: SETTLES_AFTER };
        tokio::task::spawn_blocking(move || question.put(&terminal).ok().flatten()).await.ok().flatten()
    }
}

/// One question, on the screen.
struct Question {
    at: AtTerminal,
    ask: Ask,
    stopped: Arc<AtomicBool>,
    is_whole: bool,
    /// For how many tenths of a second nothing came.
    n_quiet: u32,
}

/// What a key does.
enum Key {
    Yes(Reach),
    Grant(Reach),
    No,
    Details,
    Reveal,
    OfCode,
    Other,
}

impl Question {
    /// Shows the question, and reads keys until one of them is a verdict. Nothing is chosen by Enter.
    fn put(mut self, terminal: &Terminal) -> std::io::Result<Option<Said>> {
        let mut is_partial = self.show();
        arm(terminal);
        let mut keys = Keys::of(terminal);
        let mut typed = String::new();
        while !self.is_over() {
            let key = match keys.stroke(|key| self.quiet(key))? {
                None => {
                    self.n_quiet = self.n_quiet.saturating_add(1);
                    continue;
                }
                Some(Stroke::Several) => None,
                Some(Stroke::Key(key)) => Some(key),
            };
            if key.is_none_or(|key| !is_of_code(key)) {
                typed.clear();
            }
            typed.extend(key);
            match key.map_or(Key::Other, |key| self.meaning(key, &typed, is_partial)) {
                Key::OfCode => self.n_quiet = 0,
                Key::Yes(reach) => return Ok(Some(self.say("allowed", Verdict::Yes(reach), None))),
                Key::Grant(reach) => {
                    if self.is_confirmed(reach, terminal, &mut keys)? {
                        return Ok(Some(self.say("allowed", Verdict::Yes(reach), None)));
                    }
                    self.n_quiet = 0;
                    if !self.is_over() {
                        is_partial = self.show();
                    }
                }
                Key::No => {
                    let words = self.words(&mut keys)?;
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
                Key::Other => self.ignore(is_partial),
            }
        }
        Ok(None)
    }

    fn now(&self) -> Instant {
        SystemClock.now()
    }

    /// Whether nobody waits for an answer any more, or the time for one is over.
    fn is_over(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.now() >= self.ask.expires_at
    }

    /// How long nothing may follow this key. The letters of a code are typed in a row, though not as fast
    /// as they are pasted.
    fn quiet(&self, key: char) -> Duration {
        let is_code = ask::code(&self.ask).is_some() && is_of_code(key);
        if is_code { LETTER_ALONE } else { KEY_ALONE }
    }

    /// Says that something was no verdict: once, and not for each letter of a text.
    fn ignore(&mut self, is_partial: bool) {
        if self.n_quiet >= SETTLES_AFTER {
            let said = match ask::code(&self.ask) {
                _ if is_partial => "  not taken: see all of it first (d, r)",
                Some(_) => "  not taken: type the four letters",
                None => "  not taken: press one key by itself",
            };
            self.at.printer.note(&[(Style::Dim, said)]);
        }
        self.n_quiet = 0;
    }

    /// Prints the frame; whether a part of the action is not to be seen yet.
    fn show(&self) -> bool {
        let at = (self.now(), self.at.printer.card_width());
        let shown = ask::frame(&self.ask, self.at.sight, self.is_whole, at);
        for text in &shown.lines {
            self.at.printer.note(&[(Style::Plain, text)]);
        }
        shown.is_partial
    }

    fn meaning(&self, key: char, typed: &str, is_partial: bool) -> Key {
        let reach = ask::reach(&self.ask);
        let code = ask::code(&self.ask);
        // A key amid other keys is a letter of a text.
        if self.n_quiet < SETTLES_AFTER && !(code.is_some() && is_of_code(key)) {
            return Key::Other;
        }
        match (key, code) {
            ('n' | 'N', _) => Key::No,
            ('d' | 'D', _) => Key::Details,
            ('r' | 'R', _) => Key::Reveal,
            (_, Some(code)) if !is_partial && typed.ends_with(&code) => Key::Yes(Reach::Once),
            (key, Some(_)) if !is_partial && is_of_code(key) => Key::OfCode,
            ('y' | 'Y', None) if !is_partial => Key::Yes(Reach::Once),
            ('t' | 'T', None) if !is_partial && reach >= Reach::Task => Key::Grant(Reach::Task),
            ('s' | 'S', None) if !is_partial && reach >= Reach::Session => Key::Grant(Reach::Session),
            _ => Key::Other,
        }
    }

    /// Shows what a yes that reaches so far would let through, and asks for it once more.
    fn is_confirmed(&self, reach: Reach, terminal: &Terminal, keys: &mut Keys<'_>) -> std::io::Result<bool> {
        for text in ask::grant_lines(&self.ask, reach, self.at.printer.card_width()) {
            self.at.printer.note(&[(Style::Plain, &text)]);
        }
        arm(terminal);
        while !self.is_over() {
            if let Some(stroke) = keys.stroke(|_| KEY_ALONE)? {
                let is_yes = matches!(stroke, Stroke::Key('y' | 'Y'));
                if !is_yes {
                    self.at.printer.note(&[(Style::Dim, "  nothing is granted; back to the question")]);
                }
                return Ok(is_yes);
            }
        }
        Ok(false)
    }

    /// A word to the model, until Enter; none where the question was left meanwhile.
    fn words(&self, keys: &mut Keys<'_>) -> std::io::Result<Option<Option<String>>> {
        self.at.printer.question("  no · a word to the model (Enter for none): ");
        let mut words = String::new();
        let mut is_done = false;
        while !is_done {
            if self.stopped.load(Ordering::Relaxed) {
                return Ok(None);
            }
            for character in keys.words()?.chars() {
                match character {
                    '\n' | '\r' => is_done = true,
                    '\u{8}' | '\u{7f}' => {
                        words.pop();
                    }
                    other if other.is_control() || is_done => {}
                    other if words.chars().count() < WORDS_CHARS_MAX => {
                        words.push(other);
                        self.at.printer.question(&line(other.encode_utf8(&mut [0; 4])));
                    }
                    _ => {}
                }
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

/// Lets a question be read: whatever is typed meanwhile was meant for something else.
fn arm(terminal: &Terminal) {
    terminal.drain();
    sleep(ARMS_AFTER);
    terminal.drain();
}
