//! What stands beside an answer: what is missing, and what on record supports its words.

use mast_kernel::assertion::{Checked, Support};
use mast_kernel::completion::Reason;
use mast_kernel::message::lookup;
use mast_kernel::run::Completion;
use mast_runtime::{Report, RunEnd};
use serde_json::{Value, json};

use crate::output::layout::cut;
use crate::output::{Style, line};

/// Columns of an assertion's words, and of a receipt's.
const WORDS_COLUMNS: usize = 60;
const STATEMENT_COLUMNS: usize = 100;

/// How a run that answered is called, which says no more than what is on record.
pub(super) fn word(end: &RunEnd) -> (Style, String) {
    let is_required = end.report.as_ref().is_some_and(|report| report.is_required);
    let is_doubted =
        end.report.as_ref().is_some_and(|report| !report.reasons.is_empty() || report.marked.is_some());
    match end.completion {
        Some(Completion::Incomplete) => (Style::Bad, "incomplete".to_owned()),
        Some(Completion::Unverified) if is_required || is_doubted => {
            (Style::Warn, "done, unverified".to_owned())
        }
        Some(end @ (Completion::Verified | Completion::Satisfied)) => (Style::Good, format!("done, {end}")),
        _ => (Style::Good, "done".to_owned()),
    }
}

/// A line for each reason why the end is worth no more, and for each assertion of the answer.
pub(crate) fn lines(report: &Report) -> Vec<(Style, String)> {
    let reasons = report.reasons.iter().map(|reason| (Style::Warn, of_reason(reason)));
    reasons.chain(report.assertions.iter().map(of_assertion)).collect()
}

/// `report.md · A required file is not there. (run.file_missing)`
pub(crate) fn of_reason(reason: &Reason) -> String {
    let sentence = lookup(&reason.code).map_or("", |entry| entry.message);
    let about = reason.about.as_deref().map(|about| format!("{} · ", cut(&line(about), WORDS_COLUMNS)));
    let list =
        if reason.list.is_empty() { String::new() } else { format!(" {}", line(&reason.list.join(", "))) };
    format!("{}{sentence}{list} ({})", about.unwrap_or_default(), reason.code)
}

/// `on record · file_written report.md · workspace.write_text gave …`
pub(crate) fn of_assertion(checked: &Checked) -> (Style, String) {
    let subject = checked.assertion.subject.as_deref().map(|subject| format!(" {}", line(subject)));
    let what = cut(&format!("{}{}", checked.assertion.kind, subject.unwrap_or_default()), WORDS_COLUMNS);
    let (style, word, why) = match &checked.support {
        Support::Supported { statement, .. } => (Style::Dim, "on record", statement),
        Support::Unsupported { why } => (Style::Warn, "not on record", why),
        Support::NotCheckable { why } => (Style::Dim, "cannot be checked", why),
    };
    (style, format!("{word} · {what} · {}", cut(&line(why), STATEMENT_COLUMNS)))
}

/// The report in the last line of `--json`.
pub(super) fn as_json(report: &Report) -> Value {
    json!({
        "reasons": report.reasons,
        "assertions": report.assertions,
        "marked": report.marked,
        "files": report.files,
        "checks": report.checks,
    })
}
