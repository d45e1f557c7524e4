//! A positive number as a power of ten times a number near 1, which is how its logarithm is taken.

use dashu_int::IBig;

use super::decimal::{Decimal, power_of_ten};
use super::fixed;

/// A leading factor up to this stands as it is; a greater one is divided by ten. Then the logarithm of
/// the factor is small, and a number near 1 on either side has no power of ten.
const FACTOR_MAX: f64 = 3.17;

/// `significand` × 10^`exponent`, which lies between 0.31 and 3.2, times 10^`n_tens`.
pub(super) struct Split {
    significand: IBig,
    exponent: i64,
    n_tens: i64,
    /// The natural logarithm of the factor, with all the digits of a float even next to 1.
    near: f64,
    /// With how many zeros behind the point the logarithm begins, about; 0 where there is a power of
    /// ten.
    pub(super) n_zeros: usize,
}

/// A fixed-point number.
pub(super) struct Fixed {
    pub(super) value: IBig,
    pub(super) bits: usize,
}

impl Split {
    /// Splits `x`, which is positive.
    pub(super) fn of(x: &Decimal) -> Self {
        let adjusted = x.adjusted();
        let leading = Decimal { significand: x.significand.clone(), exponent: x.exponent - adjusted };
        let n_tens = if to_f64(&leading) > FACTOR_MAX { adjusted + 1 } else { adjusted };
        let exponent = x.exponent - n_tens;
        // The factor is below ten, so its exponent is not positive.
        let one = power_of_ten(usize::try_from(-exponent).unwrap_or(0));
        let above_1 = Decimal { significand: &x.significand - one.as_ref(), exponent };
        let near = to_f64(&above_1).ln_1p();
        let n_zeros = if n_tens == 0 { usize::try_from(-above_1.adjusted()).unwrap_or(0) } else { 0 };
        Self { significand: x.significand.clone(), exponent, n_tens, near, n_zeros }
    }

    /// The natural logarithm of the whole number as a float.
    pub(super) fn estimate(&self) -> f64 {
        self.near + self.n_tens as f64 * std::f64::consts::LN_10
    }

    /// The natural logarithm with a relative error below 2^(7 - `bits`).
    ///
    /// With a power of ten its absolute error is below 2^15 units (twice `n_tens`, and 32), and it is
    /// greater than 1. Without one the error is below 32 units, and it begins after `n_zeros` zeros.
    pub(super) fn ln(&self, bits: usize) -> Fixed {
        let bits = self.widened(bits);
        let value = self.ln_of_factor(bits) + fixed::ln_10(bits) * self.n_tens;
        Fixed { value, bits }
    }

    /// The decimal logarithm, no less exact.
    pub(super) fn log10(&self, bits: usize) -> Fixed {
        let bits = self.widened(bits);
        let of_factor = (self.ln_of_factor(bits) << bits) / fixed::ln_10(bits);
        Fixed { value: of_factor + (IBig::from(self.n_tens) << bits), bits }
    }

    /// Eight bits for the error, and four for each zero: 10 is less than 2^4.
    const fn widened(&self, bits: usize) -> usize {
        bits + 8 + 4 * self.n_zeros
    }

    fn ln_of_factor(&self, bits: usize) -> IBig {
        fixed::ln(&fixed::from_decimal(&self.significand, self.exponent, bits), self.near, bits)
    }
}

/// The value as a float: 0 or infinite where it is too small or too great for one.
pub(super) fn to_f64(value: &Decimal) -> f64 {
    let exponent = i32::try_from(value.exponent).unwrap_or(i32::MAX);
    value.significand.to_f64().value() * 10.0_f64.powi(exponent)
}
