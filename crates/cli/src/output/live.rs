//! What a person sees while a run is at work: a line for each call, and on a terminal a spinner that
//! tells what is waited for. A surface only: nothing here reaches a decision.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use mast_kernel::id::CallId;
use mast_kernel::message::OutcomeStatus;
use mast_kernel::policy::Ruling;
use mast_runtime::{Observer, Progress};

use super::layout::{call_line, millis};
use super::{Printer, Style, line};
use crate::names::did_you_mean;

/// The code of a call to a tool that is not there.
const UNKNOWN_TOOL: &str = "policy.matrix.unknown_tool";

/// How often the spinner turns.
const TICK: Duration = Duration::from_millis(120);

/// Prints the lines of a run.
#[derive(Debug)]
pub(crate) struct Live<'p> {
    printer: &'p Printer,
    spinner: ProgressBar,
    decided: Mutex<BTreeMap<CallId, Decided>>,
    tally: Mutex<Tally>,
    asked: Mutex<BTreeSet<CallId>>,
    /// What is said while an answer is waited for.
    waits_for: &'static str,
    /// The names of the tools, for a name that none has.
    tools: Vec<String>,
}

/// How the calls of a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    /// All that ended.
    pub(crate) n_ended: u64,
    /// Of them, those that did not succeed and were not denied.
    pub(crate) n_failed: u64,
    /// Of them, those that were denied.
    pub(crate) n_denied: u64,
    /// Calls that a person was asked about, or had said yes to before.
    pub(crate) n_asked: u64,
}

impl Tally {
    fn add(&mut self, status: OutcomeStatus) {
        self.n_ended += 1;
        match status {
            OutcomeStatus::Succeeded => {}
            OutcomeStatus::Denied => self.n_denied += 1,
            OutcomeStatus::Failed | OutcomeStatus::Unavailable | OutcomeStatus::Uncertain => {
                self.n_failed += 1;
            }
        }
    }
}

/// What is remembered of a call until it ends.
#[derive(Debug, Clone)]
struct Decided {
    tool: String,
    summary: String,
    ruling: Ruling,
    why: &'static str,
}

impl<'p> Live<'p> {
    /// Prints to this printer, and says meanwhile what is waited for.
    pub(crate) fn new(printer: &'p Printer, waits_for: &'static str, tools: Vec<String>) -> Self {
        let spinner = if printer.is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("  {spinner} {wide_msg}") {
            spinner.set_style(style);
        }
        let (decided, tally, asked) = Default::default();
        Self { printer, spinner, decided, tally, asked, waits_for, tools }
    }

    /// Takes the spinner away.
    pub(crate) fn end(&self) {
        self.spinner.finish_and_clear();
    }

    /// How the calls ended so far.
    pub(crate) fn tally(&self) -> Tally {
        let n_asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).len() as u64;
        Tally { n_asked, ..*self.tally.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    fn asked(&self, call: CallId) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(call);
    }

    fn wait_for(&self, what: &str) {
        if self.printer.is_terminal() {
            if self.spinner.is_finished() {
                self.spinner.reset();
            }
            self.spinner.set_message(line(what));
            self.spinner.enable_steady_tick(TICK);
        }
    }

    fn say(&self, parts: &[(Style, String)]) {
        let spans: Vec<_> = parts.iter().map(|(style, text)| (*style, text.as_str())).collect();
        self.spinner.suspend(|| self.printer.note(&spans));
    }

    fn decided(&self, call: CallId, decided: Decided) {
        match decided.ruling {
            Ruling::Allow => self.wait_for(&format!("{} {}", decided.tool, decided.summary)),
            Ruling::Ask => self.say(&call_parts(&decided, "", self.printer.width())),
            Ruling::Deny => {}
        }
        self.decided.lock().unwrap_or_else(PoisonError::into_inner).insert(call, decided);
    }

    fn ended(&self, call: CallId, end: &End<'_>) {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).add(end.status);
        let known = self.decided.lock().unwrap_or_else(PoisonError::into_inner).remove(&call);
        let undecided =
            || Decided { tool: end.tool.to_owned(), summary: String::new(), ruling: Ruling::Deny, why: "" };
        let known = known.unwrap_or_else(undecided);
        if end.status == OutcomeStatus::Succeeded {
            self.say(&call_parts(&known, &millis(end.millis), self.printer.width()));
            return;
        }
        self.say(&call_parts(&known, "", self.printer.width()));
        let code = end.reason_code.unwrap_or_default();
        let why = mast_kernel::message::lookup(code).map_or("", |entry| entry.message);
        let near = || did_you_mean(end.tool, self.tools.iter().map(String::as_str));
        let meant = (code == UNKNOWN_TOOL).then(near).flatten();
        // What helps comes first where the line may be cut.
        let said = match meant {
            Some(meant) => format!("    {} · {meant} · {code} · {why}", end.status),
            None => format!("    {} · {code} · {why}", end.status),
        };
        self.say(&[(Style::Bad, super::layout::cut(&line(&said), self.printer.width()))]);
    }
}

/// How a call ended.
struct End<'a> {
    tool: &'a str,
    status: OutcomeStatus,
    reason_code: Option<&'a str>,
    millis: u64,
}

impl Observer for Live<'_> {
    fn observe(&self, progress: &Progress) {
        match progress {
            Progress::ModelStarted { .. } => self.wait_for(self.waits_for),
            Progress::CallDecided { call, tool, summary, ruling, why, is_answered } => {
                if *is_answered {
                    self.asked(*call);
                }
                let (tool, summary) = (line(tool), line(summary));
                self.decided(*call, Decided { tool, summary, ruling: *ruling, why });
            }
            Progress::CallEnded { call, tool, status, reason_code, millis } => {
                let (reason_code, millis) = (reason_code.as_deref(), *millis);
                self.ended(*call, &End { tool: &line(tool), status: *status, reason_code, millis });
            }
            Progress::RunEnded { .. } => self.end(),
            // A question needs the screen for itself.
            Progress::Asked(ask) => {
                self.asked(ask.call);
                self.end();
            }
            Progress::RunStarted { .. } | Progress::ModelEnded { .. } => {}
        }
    }
}

fn call_parts(decided: &Decided, took: &str, width: usize) -> Vec<(Style, String)> {
    let (word, style) = match decided.ruling {
        Ruling::Allow => ("allowed", Style::Good),
        Ruling::Ask => ("asks", Style::Warn),
        Ruling::Deny => ("not run", Style::Bad),
    };
    let judged = if decided.why.is_empty() { word.to_owned() } else { format!("{word} · {}", decided.why) };
    let whole = call_line(&decided.tool, &decided.summary, &judged, took, width);
    match whole.rfind(word).and_then(|at| whole.split_at_checked(at)) {
        Some((before, after)) => {
            let (word, rest) = after.split_at_checked(word.len()).unwrap_or((after, ""));
            vec![(Style::Plain, before.to_owned()), (style, word.to_owned()), (Style::Plain, rest.to_owned())]
        }
        None => vec![(Style::Plain, whole)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decision_is_what_is_coloured() {
        let decided = Decided {
            tool: "math.calculate".to_owned(),
            summary: "allowed".to_owned(),
            ruling: Ruling::Allow,
            why: "pure computation",
        };
        let parts = call_parts(&decided, "1 ms", 80);
        let coloured: Vec<_> = parts.iter().filter(|(style, _)| *style != Style::Plain).collect();
        assert_eq!(coloured, [&(Style::Good, "allowed".to_owned())]);
        let whole: String = parts.into_iter().map(|(_, text)| text).collect();
        assert!(whole.ends_with("allowed · pure computation    1 ms"), "{whole}");
    }
}
