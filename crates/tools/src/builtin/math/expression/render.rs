//! How a number is written: positionally where that can be read, scientifically where it would be a
//! page of zeros.

use std::iter::repeat_n;

use dashu_base::{DivRem as _, UnsignedAbs as _};
use dashu_int::UBig;

use super::decimal::Decimal;

/// Numbers whose first digit is at most so many places from the point are written positionally.
const BAND: i64 = 25;
/// Decimal digits of one chunk, which a machine word takes.
const CHUNK_DIGITS: usize = 19;
const CHUNK: u64 = 10_u64.pow(19);

/// The text of a value: no zeros at the end of a fraction; outside of the band one digit before the
/// point, a small `e` and a signed exponent.
pub(super) fn render(value: &Decimal) -> String {
    if value.is_zero() {
        return "0".to_owned();
    }
    let digits = digits(value.significand.clone().unsigned_abs());
    let n_digits = i64::try_from(digits.len()).unwrap_or(i64::MAX / 4);
    let adjusted = value.exponent + n_digits - 1;
    let n_zeros = digits.bytes().rev().take_while(|digit| *digit == b'0').count();
    let digits = digits.get(..digits.len() - n_zeros).unwrap_or_default();
    let mut text = String::with_capacity(digits.len() + 30);
    if value.is_negative() {
        text.push('-');
    }
    if (-BAND..=BAND).contains(&adjusted) {
        positional(&mut text, digits, adjusted);
    } else {
        scientific(&mut text, digits, adjusted);
    }
    text
}

fn positional(text: &mut String, digits: &str, adjusted: i64) {
    let Ok(place) = usize::try_from(adjusted) else {
        text.push_str("0.");
        text.extend(repeat_n('0', usize::try_from(-adjusted - 1).unwrap_or(0)));
        text.push_str(digits);
        return;
    };
    match digits.split_at_checked(place + 1) {
        Some((whole, fraction)) => {
            text.push_str(whole);
            if !fraction.is_empty() {
                text.push('.');
                text.push_str(fraction);
            }
        }
        None => {
            text.push_str(digits);
            text.extend(repeat_n('0', place + 1 - digits.len()));
        }
    }
}

fn scientific(text: &mut String, digits: &str, adjusted: i64) {
    let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
    text.push_str(first);
    if !rest.is_empty() {
        text.push('.');
        text.push_str(rest);
    }
    text.push('e');
    text.push(if adjusted < 0 { '-' } else { '+' });
    text.push_str(&adjusted.unsigned_abs().to_string());
}

/// The decimal digits of a positive number. Its significand has about fifty, so it is split into chunks
/// of one word each; the general conversion of the library took three times as long.
fn digits(magnitude: UBig) -> String {
    let mut chunks = [0_u64; 3];
    let mut rest = magnitude;
    let mut n_chunks = 0;
    for chunk in &mut chunks {
        if let Ok(small) = u64::try_from(&rest)
            && small < CHUNK
        {
            *chunk = small;
            n_chunks += 1;
            rest = UBig::ZERO;
            break;
        }
        let (quotient, low) = rest.div_rem(CHUNK);
        (*chunk, rest) = (low, quotient);
        n_chunks += 1;
    }
    if !rest.is_zero() {
        // More than 57 digits: no value has them, but the answer would still be right.
        return rest.to_string()
            + &chunks.iter().rev().map(|chunk| format!("{chunk:019}")).collect::<String>();
    }
    let mut text = String::with_capacity(n_chunks * CHUNK_DIGITS);
    for chunk in chunks.iter().take(n_chunks).rev() {
        push_chunk(&mut text, *chunk);
    }
    text
}

/// Appends a chunk: the first one as it is, each further one with its leading zeros.
fn push_chunk(text: &mut String, chunk: u64) {
    let mut buffer = [b'0'; CHUNK_DIGITS];
    let mut rest = chunk;
    let mut n_digits = 0;
    for slot in buffer.iter_mut().rev() {
        if rest == 0 {
            break;
        }
        *slot = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        n_digits += 1;
    }
    let n_shown = if text.is_empty() { n_digits } else { CHUNK_DIGITS };
    let shown = buffer.get(CHUNK_DIGITS - n_shown..).unwrap_or_default();
    text.push_str(str::from_utf8(shown).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::IBig;
    use proptest::prelude::*;

    fn check(significand: &str, exponent: i64, expect: &str) {
        let value = Decimal { significand: significand.parse::<IBig>().unwrap(), exponent };
        assert_eq!(render(&value), expect);
    }

    #[test]
    fn the_band_is_positional_and_the_rest_scientific() {
        check("391", 0, "391");
        check("25000", -5, "0.25");
        check("-25", -1, "-2.5");
        check("12", 24, "12000000000000000000000000");
        check("12", 25, "1.2e+26");
        check("-1", -25, "-0.0000000000000000000000001");
        check("1", -26, "1e-26");
        check("100", -28, "1e-26");
        check(
            "12345678901234567890123456789012345678901234567890",
            -49,
            "1.234567890123456789012345678901234567890123456789",
        );
        check("0", 0, "0");
    }

    proptest! {
        #[test]
        fn digits_are_those_of_the_library(text in "[1-9][0-9]{0,80}") {
            prop_assert_eq!(digits(text.parse().unwrap()), text);
        }
    }
}
