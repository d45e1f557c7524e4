//! Numbers as they are written in an expression.

use dashu_int::{IBig, UBig};

use super::decimal::{Arithmetic, Decimal, power_of_ten};
use super::fault::Reason;

/// Digits that fit a `u128` in any case.
const CHUNK_DIGITS: usize = 38;
/// Exponents beyond this are out of range with any significand that an expression can hold.
const EXPONENT_WRITTEN_MAX: i64 = 1_000_000;

impl Arithmetic {
    /// The value of `text`, which is `digit+ ["." digit+] [("e" | "E") ["+" | "-"] digit+]`.
    pub(super) fn literal(&mut self, text: &str) -> Result<Decimal, Reason> {
        let mut significand = UBig::ZERO;
        let mut chunk = 0_u128;
        let mut n_chunk = 0;
        let mut n_fraction = 0_i64;
        let mut is_fraction = false;
        let mut bytes = text.bytes();
        let mut exponent = 0;
        for byte in bytes.by_ref() {
            match byte {
                b'0'..=b'9' => {
                    if n_chunk == CHUNK_DIGITS {
                        significand = significand * power_of_ten(n_chunk).as_ref() + chunk;
                        (chunk, n_chunk) = (0, 0);
                    }
                    chunk = chunk * 10 + u128::from(byte - b'0');
                    n_chunk += 1;
                    n_fraction += i64::from(is_fraction);
                }
                b'.' => is_fraction = true,
                _ => {
                    exponent = written_exponent(bytes);
                    break;
                }
            }
        }
        let significand = if significand.is_zero() {
            IBig::from(chunk)
        } else {
            IBig::from(significand * power_of_ten(n_chunk).as_ref() + chunk)
        };
        self.settle(significand, exponent - n_fraction, false)
    }
}

/// The exponent behind the `e`; a far too long one only as far as it matters.
fn written_exponent(text: impl Iterator<Item = u8>) -> i64 {
    let mut exponent = 0_i64;
    let mut is_negative = false;
    for byte in text {
        match byte {
            b'-' => is_negative = true,
            b'0'..=b'9' => exponent = (exponent * 10 + i64::from(byte - b'0')).min(EXPONENT_WRITTEN_MAX),
            _ => {}
        }
    }
    if is_negative { -exponent } else { exponent }
}
