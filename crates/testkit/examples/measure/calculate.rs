//! Expressions, from text to text, in the groups that the caller made.

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use mast_tools::builtin::math::expression::calculate;
use serde_json::Value;

use super::{Figure, median, nanos};

/// How long one group is measured, and how often at least.
const BUDGET: Duration = Duration::from_millis(60);
const PASSES_MIN: usize = 5;

/// One figure a group: the time of one expression of it.
pub(super) fn measure(cases: &Path) -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in std::fs::read_to_string(cases)?.lines() {
        let case: Value = serde_json::from_str(line)?;
        let word = |key: &str| case.get(key).and_then(Value::as_str).map(str::to_owned);
        let (group, expression) = word("group").zip(word("expression")).ok_or("a case has two texts")?;
        calculate(&expression).map_err(|fault| format!("{expression}: {fault:?}"))?;
        groups.entry(group).or_default().push(expression);
    }
    Ok(groups.into_iter().map(|(name, expressions)| group(name, &expressions)).collect())
}

fn group(name: String, expressions: &[String]) -> Figure {
    let mut times = Vec::new();
    let began = Instant::now();
    while times.len() <= PASSES_MIN || began.elapsed() < BUDGET {
        let start = Instant::now();
        for expression in expressions {
            drop(black_box(calculate(black_box(expression))));
        }
        times.push(start.elapsed());
    }
    // The first pass fills the caches.
    times.swap_remove(0);
    let n_expressions = u32::try_from(expressions.len()).unwrap_or(u32::MAX);
    Figure { name, nanos: nanos(median(times)) / f64::from(n_expressions) }
}
