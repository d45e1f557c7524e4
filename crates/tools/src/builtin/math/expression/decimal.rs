//! The numbers of the calculator: a whole significand times a power of ten, and the one function that
//! rounds.
//!
//! `dashu_float::FBig` was measured and is three times as slow on sums and products, since it strips
//! trailing zeros after every operation; it still decides what the functions cannot decide by
//! themselves. Here an operation computes exactly, or to more digits than are kept and a mark that
//! something follows them, and hands both to [`Arithmetic::settle`].

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::LazyLock;

use dashu_base::{Abs as _, BitTest as _, DivRem as _, Sign, UnsignedAbs as _};
use dashu_int::{IBig, UBig};

use super::fault::Reason;

/// Significant digits that are kept.
pub(super) const PRECISION: usize = 50;
/// Largest adjusted exponent (that of the first digit) of a result.
pub(super) const EXPONENT_MAX: i64 = 10_000;
/// Smallest adjusted exponent at which all digits can be kept. Below it a result must be exact.
const EXPONENT_MIN: i64 = -EXPONENT_MAX;
/// The exponent of the last digit that can be kept at all.
const EXPONENT_TINY: i64 = EXPONENT_MIN - 49;
/// A significand of so many bits has at most [`PRECISION`] digits: 2^166 < 10^50.
const BITS_SURE: usize = 166;
/// With such exponents no significand of [`BITS_SURE`] bits can be out of range.
const EXPONENT_SURE: i64 = 9_900;
/// How many powers of ten are kept at hand.
const N_POWERS: usize = 256;

static POWERS: LazyLock<Vec<UBig>> = LazyLock::new(|| {
    std::iter::successors(Some(UBig::ONE), |power| Some(power * 10_u8)).take(N_POWERS).collect()
});

/// 10 to the `n`.
pub(super) fn power_of_ten(n: usize) -> Cow<'static, UBig> {
    match POWERS.get(n) {
        Some(power) => Cow::Borrowed(power),
        None => Cow::Owned(UBig::from(10_u8).pow(n)),
    }
}

/// How many decimal digits `magnitude` has; 1 for zero.
pub(super) fn n_digits(magnitude: &UBig) -> usize {
    if let Ok(small) = u128::try_from(magnitude) {
        return small.checked_ilog10().map_or(1, |log| log as usize + 1);
    }
    let least = n_digits_least(magnitude.bit_len());
    least + usize::from(*magnitude >= *power_of_ten(least))
}

/// The fewest digits that a number of so many bits can have; at most one less than it has.
pub(super) const fn n_digits_least(n_bits: usize) -> usize {
    // 1233 / 4096 is just below log10(2); over the sizes met here it is off by less than one digit.
    match n_bits {
        0 | 1 => 1,
        _ => ((n_bits - 1) * 1233) / 4096 + 1,
    }
}

/// `significand` × 10^`exponent`, with at most [`PRECISION`] digits. Trailing zeros may be there or not;
/// zero has the exponent 0 and no sign.
#[derive(Debug, Clone)]
pub(super) struct Decimal {
    pub(super) significand: IBig,
    pub(super) exponent: i64,
}

impl Decimal {
    pub(super) const ZERO: Self = Self { significand: IBig::ZERO, exponent: 0 };
    pub(super) const ONE: Self = Self { significand: IBig::ONE, exponent: 0 };

    pub(super) fn is_zero(&self) -> bool {
        self.significand.is_zero()
    }

    pub(super) fn is_negative(&self) -> bool {
        self.significand.sign() == Sign::Negative && !self.is_zero()
    }

    pub(super) fn is_one(&self) -> bool {
        self.cmp(&Self::ONE) == Ordering::Equal
    }

    /// The exponent of the first digit: 2 for 391.
    pub(super) fn adjusted(&self) -> i64 {
        let n_digits = n_digits(&self.significand.as_ubig_abs());
        self.exponent + i64::try_from(n_digits).unwrap_or(i64::MAX) - 1
    }

    pub(super) fn negated(self) -> Self {
        Self { significand: -self.significand, exponent: self.exponent }
    }

    pub(super) fn magnitude(self) -> Self {
        Self { significand: self.significand.abs(), exponent: self.exponent }
    }

    /// The significand without trailing zeros, and its exponent.
    pub(super) fn stripped(&self) -> (IBig, i64) {
        let mut significand = self.significand.clone();
        let mut exponent = self.exponent;
        let ten = IBig::from(10);
        while !significand.is_zero() {
            let (quotient, digit) = (&significand).div_rem(&ten);
            if !digit.is_zero() {
                break;
            }
            significand = quotient;
            exponent += 1;
        }
        (significand, exponent)
    }

    /// The value as a whole number, if it is one and so small that it fits.
    pub(super) fn to_i64(&self) -> Option<i64> {
        let (significand, exponent) = self.stripped();
        let n_zeros = u32::try_from(exponent).ok()?;
        i64::try_from(&significand).ok()?.checked_mul(10_i64.checked_pow(n_zeros)?)
    }

    /// Which of two values is greater; spellings of one value are equal.
    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        if self.exponent == other.exponent {
            return self.significand.cmp(&other.significand);
        }
        let by_sign = self.significand.signum().cmp(&other.significand.signum());
        if by_sign.is_ne() || self.is_zero() {
            return by_sign;
        }
        let by_size = self.adjusted().cmp(&other.adjusted());
        if by_size.is_ne() {
            return if self.is_negative() { by_size.reverse() } else { by_size };
        }
        // The first digits stand at the same place, so the exponents are at most fifty apart.
        match usize::try_from(self.exponent - other.exponent) {
            Ok(gap) => (&self.significand * power_of_ten(gap).as_ref()).cmp(&other.significand),
            Err(_) => other.cmp(self).reverse(),
        }
    }
}

/// The magnitude of a signed number without a copy where that is possible.
trait AsMagnitude {
    fn as_ubig_abs(&self) -> Cow<'_, UBig>;
}

impl AsMagnitude for IBig {
    fn as_ubig_abs(&self) -> Cow<'_, UBig> {
        self.as_ubig().map_or_else(|| Cow::Owned(self.unsigned_abs()), Cow::Borrowed)
    }
}

/// The arithmetic of one expression. It remembers whether anything was rounded.
#[derive(Debug)]
pub(super) struct Arithmetic {
    /// Whether every step so far was exact.
    pub(super) exact: bool,
}

impl Arithmetic {
    pub(super) const fn new() -> Self {
        Self { exact: true }
    }

    /// Makes a value of `significand` × 10^`exponent`: rounds half to even where there are too many
    /// digits, and checks the range. `follows` says that the exact value lies a little farther from zero
    /// than what is given; the significand must then have more than [`PRECISION`] digits.
    pub(super) fn settle(
        &mut self,
        significand: IBig,
        exponent: i64,
        follows: bool,
    ) -> Result<Decimal, Reason> {
        let is_short = significand.bit_len() <= BITS_SURE;
        if is_short && !follows && exponent.unsigned_abs() <= EXPONENT_SURE.unsigned_abs() {
            let exponent = if significand.is_zero() { 0 } else { exponent };
            return Ok(Decimal { significand, exponent });
        }
        self.settle_slowly(significand, exponent, follows)
    }

    fn settle_slowly(&mut self, significand: IBig, exponent: i64, follows: bool) -> Result<Decimal, Reason> {
        let (sign, magnitude) = significand.into_parts();
        if magnitude.is_zero() {
            return Ok(Decimal::ZERO);
        }
        let n_digits = n_digits(&magnitude);
        let adjusted = exponent + i64::try_from(n_digits).unwrap_or(i64::MAX / 4) - 1;
        let n_dropped = n_digits.saturating_sub(PRECISION);
        let (rounded, exponent, lost) = round_off(magnitude, exponent, n_dropped, follows);
        self.exact &= !lost;
        let settled = Decimal { significand: IBig::from_parts(sign, rounded), exponent };
        let is_too_small = adjusted < EXPONENT_MIN && (lost || settled.stripped().1 < EXPONENT_TINY);
        if is_too_small || settled.adjusted() > EXPONENT_MAX {
            return Err(Reason::ResultOutOfRange);
        }
        Ok(settled)
    }
}

/// Drops the last `n_dropped` digits, to the nearest, ties to even; says also whether anything but zeros
/// was lost.
pub(super) fn round_off(
    magnitude: UBig,
    exponent: i64,
    n_dropped: usize,
    follows: bool,
) -> (UBig, i64, bool) {
    if n_dropped == 0 {
        return (magnitude, exponent, follows);
    }
    let unit = power_of_ten(n_dropped);
    let (mut kept, dropped) = magnitude.div_rem(unit.as_ref());
    let lost = follows || !dropped.is_zero();
    let is_up = match (dropped << 1_usize).cmp(unit.as_ref()) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => follows || kept.bit(0),
    };
    let exponent = exponent + i64::try_from(n_dropped).unwrap_or(i64::MAX / 4);
    if is_up {
        kept += UBig::ONE;
        if kept == *power_of_ten(PRECISION) {
            return (power_of_ten(PRECISION - 1).into_owned(), exponent + 1, lost);
        }
    }
    (kept, exponent, lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settle(significand: &str, exponent: i64, follows: bool) -> Result<(String, i64, bool), Reason> {
        let mut arithmetic = Arithmetic::new();
        let settled = arithmetic.settle(significand.parse().unwrap(), exponent, follows)?;
        Ok((settled.significand.to_string(), settled.exponent, arithmetic.exact))
    }

    #[test]
    fn ties_go_to_even_unless_something_follows() {
        let fifty = "1".repeat(49) + "2";
        assert_eq!(settle(&(fifty.clone() + "5"), 0, false), Ok((fifty.clone(), 1, false)));
        assert_eq!(settle(&(fifty.clone() + "5"), 0, true), Ok(("1".repeat(49) + "3", 1, false)));
        assert_eq!(settle(&(fifty.clone() + "0"), 0, false), Ok((fifty.clone(), 1, true)));
        assert_eq!(
            settle(&("-".to_owned() + &fifty + "51"), 0, false),
            Ok(("-".to_owned() + &"1".repeat(49) + "3", 2, false))
        );
        assert_eq!(settle(&"9".repeat(51), 0, false), Ok(("1".to_owned() + &"0".repeat(49), 2, false)));
    }

    #[test]
    fn the_range_at_its_ends() {
        assert!(settle("1", 10_000, false).is_ok());
        assert_eq!(settle("1", 10_001, false), Err(Reason::ResultOutOfRange));
        assert_eq!(
            settle(&"9".repeat(51), 9_950, false),
            Err(Reason::ResultOutOfRange),
            "rounds up to the bound"
        );
        assert!(settle(&"9".repeat(50), 9_951, false).is_ok());
        assert!(settle("1", -10_049, false).is_ok(), "small and exact");
        assert!(settle("10", -10_050, false).is_ok());
        assert_eq!(settle("1", -10_050, false), Err(Reason::ResultOutOfRange));
        assert_eq!(
            settle(&"1".repeat(51), -10_051, false),
            Err(Reason::ResultOutOfRange),
            "small and rounded"
        );
        assert_eq!(settle("0", 99_999, false), Ok(("0".to_owned(), 0, true)));
    }

    proptest! {
        #[test]
        fn digits_are_counted(text in "[1-9][0-9]{0,300}") {
            prop_assert_eq!(n_digits(&text.parse().unwrap()), text.len());
        }

        #[test]
        fn comparing_is_that_of_the_whole_numbers(a in any::<i64>(), b in any::<i64>(), n in 0..60_usize) {
            let long = Decimal { significand: IBig::from(a), exponent: 0 };
            let padded = Decimal { significand: IBig::from(b) * power_of_ten(n).as_ref(), exponent: -i64::try_from(n).unwrap() };
            prop_assert_eq!(long.cmp(&padded), a.cmp(&b));
            prop_assert_eq!(padded.cmp(&long), b.cmp(&a));
        }
    }
}
