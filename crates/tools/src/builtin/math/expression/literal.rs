//! Numbers as they are written in an expression.

use dashu_int::{IBig, UBig};

use super::decimal::{Arithmetic, Decimal};
use super::fault::Reason;

/// Digits that fit a `u64` in any case, and a `u128`.
const CHUNK_DIGITS: u32 = 19;
const WIDE_DIGITS: u32 = 38;
/// Exponents beyond this are out of range with any significand that an expression can hold.
const EXPONENT_WRITTEN_MAX: i64 = 1_000_000;

impl Arithmetic {
    /// The value of `text`, which is `digit+ ["." digit+] [("e" | "E") ["+" | "-"] digit+]`.
    pub(super) fn literal(&mut self, text: &str) -> Result<Decimal, Reason> {
        let mut significand = Significand::default();
        let (mut chunk, mut n_chunk) = (0_u64, 0_u32);
        let (mut n_fraction, mut n_per_digit) = (0_i64, 0_i64);
        let mut exponent = 0;
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            match byte {
                b'0'..=b'9' => {
                    chunk = chunk * 10 + u64::from(byte - b'0');
                    n_chunk += 1;
                    n_fraction += n_per_digit;
                    if n_chunk == CHUNK_DIGITS {
                        significand.append(chunk, n_chunk);
                        (chunk, n_chunk) = (0, 0);
                    }
                }
                b'.' => n_per_digit = 1,
                _ => {
                    exponent = written_exponent(bytes);
                    break;
                }
            }
        }
        significand.append(chunk, n_chunk);
        self.settle(significand.whole(), exponent - n_fraction, false)
    }
}

/// Digits read so far. Nearly all numbers are short, so a long one is only made when there is one.
#[derive(Default)]
struct Significand {
    wide: u128,
    n_wide: u32,
    long: Option<UBig>,
}

impl Significand {
    /// Appends the `n_digits` digits of `chunk`.
    fn append(&mut self, chunk: u64, n_digits: u32) {
        let unit = 10_u64.pow(n_digits);
        if let Some(long) = &mut self.long {
            *long *= unit;
            *long += chunk;
        } else if self.n_wide + n_digits <= WIDE_DIGITS {
            self.wide = self.wide * u128::from(unit) + u128::from(chunk);
            self.n_wide += n_digits;
        } else {
            self.long = Some(UBig::from(self.wide) * unit + chunk);
        }
    }

    fn whole(self) -> IBig {
        self.long.map_or_else(|| IBig::from(self.wide), IBig::from)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digits_are_read_as_the_library_reads_them(text in "[0-9]{1,50}") {
            let read = Arithmetic::new().literal(&text).unwrap();
            prop_assert_eq!(read.significand, text.parse::<IBig>().unwrap());
        }

        #[test]
        fn the_point_and_the_exponent_only_move(whole in "[1-9][0-9]{0,9}", fraction in "[0-9]{1,9}", exponent in -999..999_i64) {
            let read = Arithmetic::new().literal(&format!("{whole}.{fraction}E{exponent:+}")).unwrap();
            prop_assert_eq!(read.significand, format!("{whole}{fraction}").parse::<IBig>().unwrap());
            prop_assert_eq!(read.exponent, exponent - i64::try_from(fraction.len()).unwrap());
        }
    }
}
