//! The calculator against 4,000 expressions whose answers were made elsewhere, against the whole-number
//! operators, and against whatever a generator thinks of.

use std::time::{Duration, Instant};

use mast_tools::builtin::math::expression::{Answer, Fault, Reason, calculate};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    expression: String,
    result: Option<String>,
    result_exact: Option<bool>,
    error: Option<String>,
}

#[test]
fn every_expression_has_the_expected_answer() {
    let text = include_str!("../vectors/calculate.jsonl");
    let mut n_vectors = 0;
    for line in text.lines() {
        let vector: Vector = serde_json::from_str(line).unwrap();
        let found = match calculate(&vector.expression) {
            Ok(Answer { result, exact }) => (Some(result), Some(exact), None),
            Err(fault) => (None, None, Some(fault.code().to_owned())),
        };
        let error = vector.error.map(|detail| format!("tool.invalid_arguments.{detail}"));
        assert_eq!(found, (vector.result, vector.result_exact, error), "{}", vector.expression);
        n_vectors += 1;
    }
    assert_eq!(n_vectors, 4_000);
}

/// The time that an expression takes at best: of three tries the quickest, because other tests run at
/// the same time.
fn shortest(expression: &str) -> (Result<Answer, Fault>, Duration) {
    let tries = (0..3).map(|_| {
        let start = Instant::now();
        (calculate(expression), start.elapsed())
    });
    tries.min_by_key(|(_, time)| *time).unwrap()
}

#[test]
fn gate_builtin_bounds_latency() {
    let nested = format!("{}1{}", "(".repeat(33), ")".repeat(33));
    for (expression, reason) in [
        ("9**9**9".to_owned(), Reason::ResultOutOfRange),
        ("9^9^9".to_owned(), Reason::ResultOutOfRange),
        ("1".repeat(1025), Reason::ExpressionTooLong),
        (nested, Reason::ExpressionTooDeep),
    ] {
        let (found, time) = shortest(&expression);
        assert_eq!(found.unwrap_err().reason, reason, "{expression}");
        assert!(time < Duration::from_millis(50), "{expression}: {time:?}");
    }
}

#[test]
fn no_expression_takes_long() {
    let repeated = |text: &str, n: usize| vec![text; n].join("+");
    for expression in [
        repeated("e^e", 128),
        repeated("log10(3)", 102),
        repeated("1.0000000000000000000000000000000000001^.5".replace("^.", "^0.").as_str(), 24),
        repeated("exp(1e-49)", 90),
        repeated("ln(1.0000000000000000000000000000000000000000000000001)", 18),
        repeated("1e9999//7e-9999", 60),
        repeated("1e9999%7e-9999", 60),
        repeated("7e-9999%-1e9999", 60),
        repeated("3^2000", 140),
        repeated("1e-9999^0.5", 80),
        repeated("9.99^9999.9", 80),
        format!("sqrt({})", "7".repeat(1018)),
        format!("0.{}", "3".repeat(1022)),
        format!("1{}", "^1.1".repeat(255)),
        format!("exp(1e9999){}", "+1".repeat(250)),
    ] {
        let (_, time) = shortest(&expression);
        assert!(time < Duration::from_millis(250), "{expression}: {time:?}");
    }
}

#[test]
fn gate_builtin_int_differential() {
    let signed = [7_i64, 2, 1, 0, 3, 12, 100_000_007, 999_999_999_999];
    let all = signed.iter().flat_map(|n| [*n, -n]);
    for (a, b) in all.clone().flat_map(|a| all.clone().map(move |b| (a, b))).filter(|(_, b)| *b != 0) {
        assert_eq!(value(&format!("{a} // {b}")), floor_div(a, b).to_string());
        assert_eq!(value(&format!("{a} % {b}")), (a - b * floor_div(a, b)).to_string());
    }
}

/// What Python's `//` does with whole numbers.
fn floor_div(a: i64, b: i64) -> i64 {
    let quotient = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

fn value(expression: &str) -> String {
    calculate(expression).unwrap().result
}

/// Text that looks like an expression, and often is one.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[0-9]{1,3}",
        "[0-9]{1,60}\\.[0-9]{1,9}",
        "[0-9]{1,2}[eE][+-]?[0-9]{1,5}",
        "pi|e|x|[a-z_]{1,5}",
    ];
    leaf.prop_recursive(6, 64, 3, |inner| {
        let operator = "[ ]?(\\+|-|\\*|/|//|%|\\^|\\*\\*)[ ]?";
        let name = "abs|ceil|exp|floor|ln|log10|max|min|round|sqrt|sin";
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, operator, b)| format!("{a}{operator}{b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("-{a}")),
            (name, inner.clone()).prop_map(|(name, a)| format!("{name}({a})")),
            (name, inner.clone(), inner).prop_map(|(name, a, b)| format!("{name}({a},{b})")),
        ]
    })
}

/// Every answer is a number that the language itself can read back to the same answer, and every fault
/// is one of the eight.
fn check_total(expression: &str) -> Result<(), TestCaseError> {
    let (found, time) = shortest(expression);
    prop_assert!(time < Duration::from_secs(2), "{:?}", time);
    match found {
        Ok(Answer { result, .. }) => {
            let digits = result.trim_start_matches('-').split('e').next().unwrap_or_default();
            let n_digits = digits.replace('.', "").trim_start_matches('0').trim_end_matches('0').len();
            prop_assert!(n_digits <= 50, "{}", result);
            let again = calculate(&result).map(|answer| (answer.result, answer.exact));
            prop_assert_eq!(again, Ok((result, true)));
        }
        Err(fault) => {
            prop_assert!(Reason::ALL.contains(&fault.reason));
            prop_assert!(fault.detail.starts_with("character "));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn gate_builtin_parser_property(expression in expression()) {
        check_total(&expression)?;
    }

    #[test]
    fn any_text_has_a_value_or_a_fault(expression in any::<String>()) {
        check_total(&expression)?;
    }

    #[test]
    fn any_row_of_tokens_has_a_value_or_a_fault(
        tokens in prop::collection::vec("[0-9]|1e9|pi|ln|max|\\*\\*|//|[-+*/%^(),. ]", 0..60)
    ) {
        check_total(&tokens.concat())?;
    }

    #[test]
    fn sums_and_products_of_whole_numbers_are_exact(a in any::<i64>(), b in any::<i64>()) {
        let (long_a, long_b) = (i128::from(a), i128::from(b));
        for (operator, expected) in [("+", long_a + long_b), ("-", long_a - long_b)] {
            let answer = calculate(&format!("({a} {operator} ({b})) // 1")).unwrap();
            prop_assert!(answer.exact);
            prop_assert_eq!(answer.result, expected.to_string());
        }
        // Split, because a product of such size is written with an exponent.
        let product = long_a * long_b;
        let answer = calculate(&format!("({a} * ({b})) % 1000000000000")).unwrap();
        prop_assert!(answer.exact);
        prop_assert_eq!(answer.result, product.rem_euclid(1_000_000_000_000).to_string());
    }

    #[test]
    fn a_quotient_and_its_remainder_make_the_dividend(a in any::<i32>(), b in any::<i32>(), places in 0..9_usize) {
        prop_assume!(b != 0);
        let a = format!("{a}e-{places}");
        let sum = calculate(&format!("({b}) * (({a}) // ({b})) + ({a}) % ({b}) - ({a})")).unwrap();
        prop_assert_eq!((sum.result.as_str(), sum.exact), ("0", true));
    }
}
