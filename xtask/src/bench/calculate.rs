//! Expressions, from text to text, beside CPython's `decimal`, which is written in C and does not have to
//! parse here.

use std::fs;

use serde_json::{Value, json};

use super::measured::Measured;
use super::programs;
use super::report::Row;
use crate::failed::Failed;
use crate::place;
use crate::process::Process;

const VECTORS: &str = "crates/tools/tests/vectors/calculate.jsonl";
const SHORT: &str = "short expressions";
/// Most operators of a short expression.
const OPERATORS_MAX: usize = 4;
const SHORT_BOUND: f64 = 1.0;
const SHORT_TIME: &str = "Ours reads the expression too, and the peer's literals are made beforehand. The time \
    is spread over tokens, tree, rounding and the two texts of the result; no part stands out.";
/// Operators between numbers of fifty digits, and functions of them, with their bounds.
const LONG: &str = "long operators";
const OPERATORS: [&str; 4] = ["+", "-", "*", "/"];
const OPERATORS_BOUND: f64 = 3.5;
const FUNCTIONS: [&str; 3] = ["exp", "ln", "log10"];
const FUNCTIONS_BOUND: f64 = 12.0;
/// Turns of both; each is short, so that both meet the same minute.
const TURNS: usize = 15;
/// Pairs of long numbers.
const PAIRS: u64 = 16;

/// One row for the short expressions, one for the operators, one a function.
pub(super) fn measure() -> Result<Vec<Row>, Failed> {
    let program = programs::measure()?;
    let path = format!("{}/cases.jsonl", programs::folder("calculate")?);
    let write = |cases: String| {
        fs::write(&path, cases).map_err(|source| Failed::Write { path: path.clone().into(), source })
    };
    let python = programs::python()?;
    let theirs = |verb| Process::program(&python).with(["xtask/bench/calculate.py", verb, &path]);
    write(cases()?.iter().map(|case| format!("{case}\n")).collect())?;
    write(theirs("keep").answer()?)?;
    let ours = Process::program(&program).with(["calculate", &path]);
    let theirs = theirs("time");
    let mut measured = (Measured::default(), Measured::default());
    for _ in 0..TURNS {
        measured.0.take(&ours)?;
        measured.1.take(&theirs)?;
    }
    let row = |line: String, group: &str, bound| {
        Ok(Row::beside(line, "CPython's decimal", measured.0.times(group, (&measured.1, group))?, bound))
    };
    let short = row("`calculate`, short expressions".to_owned(), SHORT, SHORT_BOUND)
        .map(|row| row.because(SHORT_TIME));
    let long = row("`calculate`, `+ - * /` of 50 digits".to_owned(), LONG, OPERATORS_BOUND);
    let functions = FUNCTIONS
        .iter()
        .map(|function| row(format!("`calculate`, `{function}` of 50 digits"), function, FUNCTIONS_BOUND));
    [short, long].into_iter().chain(functions).collect()
}

/// What both compute: a group and an expression each.
fn cases() -> Result<Vec<Value>, Failed> {
    let mut cases = Vec::new();
    for line in place::read(VECTORS)?.lines() {
        let fault = |what: String| Failed::File { file: VECTORS.to_owned(), what };
        let vector: Value = serde_json::from_str(line).map_err(|error| fault(error.to_string()))?;
        let has_value = vector.get("result").is_some_and(Value::is_string);
        let expression = vector.get("expression").and_then(Value::as_str).unwrap_or_default();
        if has_value && is_short(expression) {
            cases.push(json!({"group": SHORT, "expression": expression}));
        }
    }
    for pair in 0..PAIRS {
        let (one, other) = (long(2 * pair), long(2 * pair + 1));
        for operator in OPERATORS {
            cases.push(json!({"group": LONG, "expression": format!("{one} {operator} {other}")}));
        }
        for function in FUNCTIONS {
            cases.push(json!({"group": function, "expression": format!("{function}({one})")}));
        }
    }
    Ok(cases)
}

/// Whether an expression has few operators, the signs counted, and neither names nor powers.
fn is_short(expression: &str) -> bool {
    let words = expression.replace("//", "/");
    let is_plain = !expression.contains(['^', ',']) && !expression.contains("**");
    // The only letter of a number is the `e` before its exponent.
    let no_name = |(at, letter): (usize, char)| {
        let before = words.get(..at).and_then(|text| text.chars().next_back());
        !letter.is_ascii_alphabetic()
            || (letter.eq_ignore_ascii_case(&'e') && before.is_some_and(|before| before.is_ascii_digit()))
    };
    let is_exponent_sign = |at: usize| words.get(..at).is_some_and(|text| text.ends_with(['e', 'E']));
    let n_operators =
        words.match_indices(['+', '-', '*', '/', '%']).filter(|(at, _)| !is_exponent_sign(*at)).count();
    is_plain && words.char_indices().all(no_name) && n_operators <= OPERATORS_MAX
}

/// A number of fifty digits, one or two of them before the point; always the same for the same seed.
fn long(seed: u64) -> String {
    let mut state = seed;
    let mut digits = String::new();
    while digits.len() < 50 {
        // The constants of Knuth's MMIX; the high digits of a state are the good ones.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        digits.push(char::from(b'1' + u8::try_from((state >> 33) % 9).unwrap_or_default()));
    }
    digits.insert(if seed.is_multiple_of(2) { 1 } else { 2 }, '.');
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_is_four_operators_without_names_and_powers() {
        for short in ["17 * 23", "-1 - (2 // 3) % 4", "1e-5+2E+3", "(1)"] {
            assert!(is_short(short), "{short}");
        }
        for long in ["1+1+1+1+1+1", "2^3", "2 ** 3", "sqrt(4)", "pi", "2*e", "max(1,2)"] {
            assert!(!is_short(long), "{long}");
        }
    }

    #[test]
    fn long_numbers_have_fifty_digits_and_differ() {
        assert_eq!(long(0).len(), 51);
        assert_eq!(long(7), long(7));
        assert_ne!(long(0).replace('.', ""), long(1).replace('.', ""));
    }

    #[test]
    fn every_group_has_cases() {
        let cases = cases().unwrap();
        let n_of = |group: &str| cases.iter().filter(|case| case["group"] == group).count();
        assert!(n_of(SHORT) > 1_000, "{}", n_of(SHORT));
        assert_eq!(n_of(LONG), 64);
        assert!(FUNCTIONS.iter().all(|group| n_of(group) == 16));
    }
}
