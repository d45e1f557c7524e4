//! How a number is written: positionally where that can be read, scientifically where it would be a
//! page of zeros.

use std::iter::repeat_n;

use dashu_base::{DivRem as _, UnsignedAbs as _};
use dashu_int::{IBig, UBig};

use super::decimal::Decimal;

/// Numbers whose first digit is at most so many places from the point are written positionally.
const BAND: i64 = 25;
/// Decimal digits of one chunk, which a machine word takes.
const CHUNK_DIGITS: usize = 19;
const CHUNK: u64 = 10_u64.pow(19);
/// Room for the digits of a settled value, which has fifty.
const BUFFER_DIGITS: usize = 3 * CHUNK_DIGITS;

/// The text of a value: no zeros at the end of a fraction; outside of the band one digit before the
/// point, a small `e` and a signed exponent.
pub(super) fn render(value: &Decimal) -> String {
    if value.is_zero() {
        return "0".to_owned();
    }
    let digits = Digits::of(&value.significand);
    let digits = digits.as_str();
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

/// The decimal digits of a positive number, in a buffer: fifty digits are three chunks of one word. The
/// general conversion of the library took three times as long.
struct Digits {
    buffer: [u8; BUFFER_DIGITS],
    start: usize,
}

impl Digits {
    fn of(significand: &IBig) -> Self {
        let mut digits = Self { buffer: [b'0'; BUFFER_DIGITS], start: BUFFER_DIGITS };
        let magnitude = significand.unsigned_abs();
        let mut wide = u128::try_from(&magnitude).unwrap_or_else(|_| digits.split_off_low(magnitude));
        loop {
            let (rest, chunk) = (wide / u128::from(CHUNK), wide % u128::from(CHUNK));
            let is_last = rest == 0;
            digits.push_front(u64::try_from(chunk).unwrap_or(0), if is_last { 1 } else { CHUNK_DIGITS });
            if is_last {
                return digits;
            }
            wide = rest;
        }
    }

    /// Writes the low digits of a long number and gives back the others.
    fn split_off_low(&mut self, magnitude: UBig) -> u128 {
        let (rest, low) = magnitude.div_rem(CHUNK);
        self.push_front(low, CHUNK_DIGITS);
        // A settled value has at most fifty digits, so 31 are left, and those fit.
        u128::try_from(&rest).unwrap_or(u128::MAX)
    }

    /// Writes the digits of `chunk` before what is there, at least `n_digits_least` of them.
    fn push_front(&mut self, chunk: u64, n_digits_least: usize) {
        let mut rest = chunk;
        let mut n_digits = 0;
        let free = self.buffer.get_mut(..self.start).unwrap_or_default();
        for slot in free.iter_mut().rev() {
            if rest == 0 && n_digits >= n_digits_least {
                break;
            }
            *slot = b'0' + u8::try_from(rest % 10).unwrap_or(0);
            rest /= 10;
            n_digits += 1;
        }
        self.start -= n_digits;
    }

    fn as_str(&self) -> &str {
        str::from_utf8(self.buffer.get(self.start..).unwrap_or_default()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        fn digits_are_those_of_the_library(text in "[1-9][0-9]{0,49}") {
            let digits = Digits::of(&text.parse().unwrap());
            prop_assert_eq!(digits.as_str(), text);
        }
    }
}
