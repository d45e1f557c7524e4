//! Numbers by value. The text of a JSON number is taken apart into a sign, digits and a power of ten,
//! and put together again in one way; nothing is computed in binary, so nothing is rounded.

use crate::limits;

/// Smallest power of ten of the first digit that is written without an exponent.
const POSITIONAL_MIN: i64 = -7;
/// Largest power of ten of the first digit that is written without an exponent.
const POSITIONAL_MAX: i64 = 20;

/// Why a number has no canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberFault {
    /// It is a zero with a minus sign.
    NegativeZero,
    /// Its exponent is beyond [`limits::NUMBER_EXPONENT_MAX`].
    Exponent,
    /// It is not a JSON number.
    Malformed,
}

/// A JSON number's text, taken apart: the value is `digits` × 10^`exponent`.
struct Parts {
    negative: bool,
    digits: String,
    exponent: i64,
}

/// Digits of the longest whole number that is certainly written without an exponent.
const PLAIN_DIGITS_MAX: usize = 21;

/// Whether a text is its own canonical form at a glance, as that of almost every number is: a whole number
/// of few digits, without a sign and without a zero in front.
pub(super) fn is_plain(text: &str) -> bool {
    let is_short = text.len() == 1 || (text.len() <= PLAIN_DIGITS_MAX && !text.starts_with('0'));
    is_short && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The one spelling of the number that `text` spells.
///
/// Plain digits where the first significant digit stands for 10^-7 up to 10^20; otherwise one digit, the
/// rest after a point, and a signed exponent: `1e+21`, `1.5e-8`.
pub(super) fn canonical(text: &str) -> Result<String, NumberFault> {
    let Parts { negative, digits, exponent } = take_apart(text)?;
    if digits.is_empty() {
        return if negative { Err(NumberFault::NegativeZero) } else { Ok("0".to_owned()) };
    }
    let n_digits = i64::try_from(digits.len()).map_err(|_| NumberFault::Exponent)?;
    let adjusted = exponent.saturating_add(n_digits - 1);
    if adjusted.abs() > limits::NUMBER_EXPONENT_MAX {
        return Err(NumberFault::Exponent);
    }
    let body = if (POSITIONAL_MIN..=POSITIONAL_MAX).contains(&adjusted) {
        positional(&digits, adjusted)
    } else {
        scientific(&digits, adjusted)
    };
    Ok(if negative { format!("-{body}") } else { body })
}

/// Splits a number into its sign, its significant digits and a power of ten. A zero has no digits.
fn take_apart(text: &str) -> Result<Parts, NumberFault> {
    let (negative, magnitude) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = match magnitude.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (magnitude, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return Err(NumberFault::Malformed);
    }
    let joined = format!("{whole}{fraction}");
    let without_tail = joined.trim_end_matches('0');
    let digits = without_tail.trim_start_matches('0').to_owned();
    if digits.is_empty() {
        return Ok(Parts { negative, digits, exponent: 0 });
    }
    let n_dropped = i64::try_from(joined.len() - without_tail.len()).map_err(|_| NumberFault::Exponent)?;
    let n_fraction = i64::try_from(fraction.len()).map_err(|_| NumberFault::Exponent)?;
    let written = exponent.map_or(Ok(0), read_exponent)?;
    Ok(Parts { negative, digits, exponent: written.saturating_add(n_dropped - n_fraction) })
}

/// Reads the part after the `e`; one that does not fit is far beyond the bound in any case.
fn read_exponent(text: &str) -> Result<i64, NumberFault> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, text.trim_start_matches('-')),
        Some(b'+') => (false, text.trim_start_matches('+')),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NumberFault::Malformed);
    }
    let value: i64 = digits.parse().map_err(|_| NumberFault::Exponent)?;
    Ok(if negative { -value } else { value })
}

/// Writes the digits around a point, with zeros where they do not reach it.
fn positional(digits: &str, adjusted: i64) -> String {
    let Ok(before_point) = usize::try_from(adjusted + 1) else {
        let n_zeros = usize::try_from(-adjusted - 1).unwrap_or(0);
        return format!("0.{}{digits}", "0".repeat(n_zeros));
    };
    if before_point == 0 {
        return format!("0.{digits}");
    }
    match digits.split_at_checked(before_point) {
        Some((whole, "")) => whole.to_owned(),
        Some((whole, fraction)) => format!("{whole}.{fraction}"),
        None => format!("{digits}{}", "0".repeat(before_point.saturating_sub(digits.len()))),
    }
}

/// Writes one digit, the others after a point, and a signed exponent.
fn scientific(digits: &str, adjusted: i64) -> String {
    match digits.split_at_checked(1) {
        Some((first, rest)) if !rest.is_empty() => format!("{first}.{rest}e{adjusted:+}"),
        _ => format!("{digits}e{adjusted:+}"),
    }
}
