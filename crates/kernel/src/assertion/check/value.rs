//! Assertions about numbers.

use super::{Entry, Record, Support};
use crate::assertion::find::plain;
use crate::spec::SideEffect;
use serde_json::Value;

/// A value was calculated. A sum that is written out is held against the calculation of that sum alone; a
/// sum that was not calculated may be known, and nobody says that it was.
pub(super) fn calculated(record: &Record<'_>, subject: Option<&str>) -> Support {
    if let Some((sum, claimed)) = subject.and_then(|subject| subject.split_once('=')) {
        let is_it = |entry: &Entry<'_>| text(entry, "expression").is_some_and(|known| plain(&known) == sum);
        return match record.done(is_it) {
            Some(entry) if result(entry).is_some_and(|result| is_same(claimed, &result)) => entry.supported(),
            Some(entry) => {
                Support::Unsupported { why: format!("{} gave another result", entry.receipt.tool) }
            }
            None => Support::NotCheckable { why: "this sum was not calculated here".to_owned() },
        };
    }
    let is_it = |entry: &Entry<'_>| entry.receipt.side_effect == SideEffect::None && result(entry).is_some();
    let fits = |entry: &Entry<'_>| {
        subject.is_none_or(|claimed| result(entry).is_some_and(|result| is_same(claimed, &result)))
    };
    let prints = |entry: &Entry<'_>| {
        let output = entry.output();
        let mut words = output.split(|letter: char| letter.is_whitespace());
        entry.is_program() && subject.is_some_and(|claimed| words.any(|word| is_same(claimed, word)))
    };
    match record.done(|entry| is_it(entry) && fits(entry) || prints(entry)) {
        Some(entry) => entry.supported(),
        None if record.done(is_it).is_some() => {
            Support::Unsupported { why: "no calculation of this run gave it".to_owned() }
        }
        None => record.unsupported("calculated anything", is_it, true),
    }
}

fn text(entry: &Entry<'_>, key: &str) -> Option<String> {
    match entry.receipt.facts.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn result(entry: &Entry<'_>) -> Option<String> {
    text(entry, "result").or_else(|| text(entry, "value"))
}

/// Whether a number is the result, as it stands or rounded, in the spelling of either half of Europe.
fn is_same(claimed: &str, result: &str) -> bool {
    let Ok(result) = plain(result).parse::<f64>() else { return false };
    let claimed = plain(claimed);
    let claimed = claimed.trim_end_matches(['%', '.', ',']);
    let spellings = [claimed.replace(',', ""), claimed.replace('.', "").replace(',', ".")];
    spellings.iter().any(|spelling| {
        let n_places = spelling.split_once('.').map_or(0, |(_, places)| places.len());
        let Ok(n_places) = i32::try_from(n_places) else { return false };
        let half = 0.5 / 10_f64.powi(n_places);
        spelling.parse::<f64>().is_ok_and(|number| (number - result).abs() <= half)
    })
}
