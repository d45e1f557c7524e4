//! Arithmetic in words: `17 multiplied by 23` becomes `17 * 23`. Nothing is computed here; the
//! calculator does that. A text counts as arithmetic only if every word of it is understood, since an
//! expression made of half a sentence would answer a question that nobody asked.

use mast_kernel::limits;

/// What the words stand for, longer phrases first where one begins with another.
const PHRASES: &[(&str, &str)] = &[
    ("raised to the power of", "^"),
    ("to the power of", "^"),
    ("multiplied by", "*"),
    ("divided by", "/"),
    ("the square root of", "sqrt"),
    ("square root of", "sqrt"),
    ("the result of", ""),
    ("percent of", "percent"),
    ("per cent of", "percent"),
    ("% of", "percent"),
    ("plus", "+"),
    ("minus", "-"),
    ("times", "*"),
    ("over", "/"),
    ("modulo", "%"),
    ("mod", "%"),
    ("squared", "^ 2"),
    ("cubed", "^ 3"),
];

/// What the calculator knows by name.
const NAMES: &[&str] =
    &["abs", "ceil", "exp", "floor", "ln", "log10", "max", "min", "round", "sqrt", "pi", "e"];

/// The expression for the calculator, if the whole of `text` (in lower case) is arithmetic with at least
/// one operation in it.
pub(super) fn expression(text: &str) -> Option<String> {
    if text.len() > limits::EXPRESSION_CHARS_MAX {
        return None;
    }
    let mut out: Vec<String> = Vec::new();
    let mut rest = text.trim_start();
    let mut has_operation = false;
    let mut has_operand = false;
    let mut pending_root = false;
    while !rest.is_empty() {
        let (token, after) = token(rest)?;
        rest = after.trim_start();
        match token.as_str() {
            "" => {}
            "percent" => {
                // Of the number before it only, so that `5 + 10 percent of 50` is 10 in the hundred.
                let number = out.pop()?;
                out.push(format!("({number} / 100) *"));
                has_operation = true;
            }
            "sqrt" if !rest.starts_with('(') => {
                pending_root = true;
                has_operation = true;
            }
            other => {
                let is_operand =
                    other.starts_with(|first: char| first.is_ascii_digit()) || NAMES.contains(&other);
                has_operand |= is_operand;
                has_operation |= is_operation(other) || (NAMES.contains(&other) && rest.starts_with('('));
                if std::mem::take(&mut pending_root) {
                    if !is_operand {
                        return None;
                    }
                    out.push(format!("sqrt({other})"));
                } else {
                    out.push(token);
                }
            }
        }
    }
    let whole = has_operation && has_operand && !pending_root;
    whole.then(|| tidy(&out.join(" ")))
}

fn is_operation(token: &str) -> bool {
    matches!(token, "+" | "-" | "*" | "/" | "//" | "%" | "^" | "**" | "^ 2" | "^ 3")
}

/// The first token, and what follows it.
fn token(text: &str) -> Option<(String, &str)> {
    for (phrase, meaning) in PHRASES {
        if let Some(after) = text.strip_prefix(phrase)
            && !(phrase.ends_with(char::is_alphabetic) && after.starts_with(char::is_alphanumeric))
        {
            return Some(((*meaning).to_owned(), after));
        }
    }
    let first = text.chars().next()?;
    if first.is_ascii_digit() || first == '.' {
        return number(text);
    }
    if first.is_ascii_alphabetic() {
        let end = text.find(|other: char| !other.is_ascii_alphanumeric()).unwrap_or(text.len());
        let (word, after) = text.split_at_checked(end)?;
        return match word {
            "x" => Some(("*".to_owned(), after)),
            _ => NAMES.contains(&word).then(|| (word.to_owned(), after)),
        };
    }
    for double in ["**", "//"] {
        if let Some(after) = text.strip_prefix(double) {
            return Some((double.to_owned(), after));
        }
    }
    let sign = match first {
        '×' | '·' | '∙' => "*",
        '÷' => "/",
        '−' | '–' => "-",
        '√' => "sqrt",
        '+' => "+",
        '-' => "-",
        '*' => "*",
        '/' => "/",
        '%' => "%",
        '^' => "^",
        '(' => "(",
        ')' => ")",
        ',' => ",",
        _ => return None,
    };
    Some((sign.to_owned(), text.get(first.len_utf8()..)?))
}

/// A number with its fraction and exponent; commas between groups of three digits are dropped.
fn number(text: &str) -> Option<(String, &str)> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let group = |at: usize| {
        bytes.get(at) == Some(&b',') && digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4)
    };
    let exponent = |at: usize| {
        let signed = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        bytes.get(at) == Some(&b'e') && digit(at + 1 + signed)
    };
    let mut end = 0;
    loop {
        if digit(end) || bytes.get(end) == Some(&b'.') || group(end) {
            end += 1;
        } else if exponent(end) {
            end += 2;
        } else {
            break;
        }
    }
    let (written, after) = text.split_at_checked(end)?;
    Some((written.replace(',', ""), after))
}

/// No blanks inside parentheses or before a comma.
fn tidy(expression: &str) -> String {
    let mut out = expression.replace("( ", "(").replace(" )", ")").replace(" ,", ",");
    for name in NAMES {
        out = out.replace(&format!("{name} ("), &format!("{name}("));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(expression(text).as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn words_become_an_expression() {
        check("17 multiplied by 23", "17 * 23");
        check("17 * 23", "17 * 23");
        check("17 x 23", "17 * 23");
        check("17×23", "17 * 23");
        check("2^10", "2 ^ 10");
        check("2 to the power of 10", "2 ^ 10");
        check("7 squared plus 1", "7 ^ 2 + 1");
        check("1,234,567 minus 1.5", "1234567 - 1.5");
        check("15 percent of 80", "(15 / 100) * 80");
        check("15% of 80", "(15 / 100) * 80");
        check("17 % 5", "17 % 5");
        check("the square root of 2", "sqrt(2)");
        check("square root of 2 plus 3", "sqrt(2) + 3");
        check("square root of (2 + 3)", "sqrt(2 + 3)");
        check("max(1, 2) over 3", "max(1, 2) / 3");
        check("1e3 + 2.5e-3", "1e3 + 2.5e-3");
        check("-4 * (3 + pi)", "- 4 * (3 + pi)");
        check("10 divided by 4", "10 / 4");
        check("17 *", "17 *"); // The calculator says what is wrong with it.
    }

    #[test]
    fn what_is_not_arithmetic_is_left_alone() {
        for text in [
            "",
            "17",
            "the weather",
            "2 apples plus 3",
            "plus",
            "pi",
            "square root of",
            "e",
            "overtime 3",
            "percent of 3",
            "3 timesheets 4",
        ] {
            assert_eq!(expression(text), None, "{text}");
        }
        assert_eq!(expression(&"1+".repeat(513)), None, "longer than the calculator takes");
    }

    proptest! {
        #[test]
        fn an_expression_holds_only_what_the_calculator_reads(text in "\\PC{0,60}") {
            if let Some(made) = expression(&text.to_lowercase()) {
                prop_assert!(made.is_ascii(), "{made}");
                prop_assert!(made.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()));
            }
        }

        #[test]
        fn a_plain_expression_stays_itself(a in 0_u32..10_000, b in 0_u32..10_000, op in "[-+*/%^]") {
            prop_assert_eq!(expression(&format!("{a}{op}{b}")), Some(format!("{a} {op} {b}")));
        }
    }
}
