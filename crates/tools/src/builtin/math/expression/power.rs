//! Powers. An integral power is exact where fifty digits hold it and correctly rounded elsewhere; a
//! fractional one is correctly rounded and always called inexact.

use dashu_base::{BitTest as _, Gcd as _, UnsignedAbs as _};
use dashu_int::IBig;

use super::decimal::{Arithmetic, Decimal, n_digits, power_of_ten};
use super::elementary::{BITS_FIRST, EXP_MAX, EXP_TINY, power_interval};
use super::fault::Reason;
use super::split::{Split, to_f64};

/// An integral power with at most so many digits is computed whole. One that fifty digits hold, or that
/// lies in the middle between two values, has at most 221, so the others can be approached.
const WHOLE_DIGITS_MAX: u64 = 1_000;
/// Largest root that can make a fractional power lie in the middle between two values: a significand of
/// fifty digits that is no power of ten is no perfect power beyond 2^166.
const ROOT_MAX: usize = 166;

impl Arithmetic {
    /// `a` to the power of `b`.
    pub(super) fn power(&mut self, a: Decimal, b: &Decimal) -> Result<Decimal, Reason> {
        if b.is_zero() {
            return if a.is_zero() { Err(Reason::Domain) } else { Ok(Decimal::ONE) };
        }
        if a.is_zero() {
            return if b.is_negative() { Err(Reason::DivisionByZero) } else { Ok(a) };
        }
        let (significand, exponent) = b.stripped();
        if a.is_negative() && exponent < 0 {
            return Err(Reason::Domain);
        }
        let is_odd = exponent == 0 && significand.bit(0);
        let is_negated = a.is_negative() && is_odd;
        let power = self.power_of_positive(&a.magnitude(), &Decimal { significand, exponent })?;
        Ok(if is_negated { power.negated() } else { power })
    }

    /// The same for a positive `a`, and `b` without trailing zeros.
    fn power_of_positive(&mut self, a: &Decimal, b: &Decimal) -> Result<Decimal, Reason> {
        let is_integral = b.exponent >= 0;
        if a.is_one() {
            self.exact &= is_integral;
            return Ok(Decimal::ONE);
        }
        let split = Split::of(a);
        let size = split.estimate() * to_f64(b);
        if size.abs() > EXP_MAX {
            return Err(Reason::ResultOutOfRange);
        }
        if let Some(whole) = b.to_i64().and_then(|n| self.whole_power(a, n)) {
            return whole;
        }
        self.exact = false;
        if size.abs() < EXP_TINY {
            return Ok(Decimal::ONE);
        }
        let attempt = |bits| power_interval(&split, b, size, bits);
        if let Some(result) = self.agreed(attempt(BITS_FIRST)) {
            return result;
        }
        if let Some(result) = self.power_of_root(a, b) {
            return result;
        }
        self.certain(2 * BITS_FIRST, attempt).unwrap_or_else(|| self.power_by_referee(a, b))
    }

    /// `a` to the power of `n` from all its digits, if there are not too many.
    fn whole_power(&mut self, a: &Decimal, n: i64) -> Option<Result<Decimal, Reason>> {
        let (significand, exponent) = a.stripped();
        let significand = significand.unsigned_abs();
        let exponent = exponent.checked_mul(n)?;
        if significand.is_one() {
            return Some(self.settle(IBig::ONE, exponent, false));
        }
        let times = n.unsigned_abs();
        let n_digits_max = times.checked_mul(u64::try_from(n_digits(&significand)).ok()?)?;
        if n_digits_max > WHOLE_DIGITS_MAX {
            return None;
        }
        let whole = IBig::from(significand.pow(usize::try_from(times).ok()?));
        Some(if n > 0 {
            self.settle(whole, exponent, false)
        } else {
            self.quotient(IBig::ONE, &whole, exponent)
        })
    }

    /// `a` to the power of a fraction, if `a` has the root that the fraction asks for and the power of
    /// that root has few digits. Only such a power can lie exactly in the middle between two values,
    /// where no interval would ever settle it.
    fn power_of_root(&mut self, a: &Decimal, b: &Decimal) -> Option<Result<Decimal, Reason>> {
        let denominator = power_of_ten(usize::try_from(b.exponent.checked_neg()?).ok()?);
        let common = (&b.significand).gcd(denominator.as_ref());
        let n = i64::try_from(&b.significand / &common).ok()?;
        let degree =
            usize::try_from(denominator.as_ref() / common).ok().filter(|degree| *degree <= ROOT_MAX)?;
        let (significand, exponent) = a.stripped();
        let degree_signed = i64::try_from(degree).ok()?;
        let n_moved = exponent.rem_euclid(degree_signed);
        let radicand = significand.unsigned_abs() * power_of_ten(usize::try_from(n_moved).ok()?).as_ref();
        let root = radicand.nth_root(degree);
        if root.pow(degree) != radicand {
            return None;
        }
        let exponent = (exponent - n_moved) / degree_signed;
        self.whole_power(&Decimal { significand: IBig::from(root), exponent }, n)
    }
}

#[cfg(test)]
mod tests {
    use super::super::render::render;
    use super::*;

    fn check(a: &str, b: &str, expect: Result<(&str, bool), Reason>) {
        let mut arithmetic = Arithmetic::new();
        let signed = |text: &str| {
            let value = Arithmetic::new().literal(text.trim_start_matches('-')).unwrap();
            if text.starts_with('-') { value.negated() } else { value }
        };
        let found = arithmetic.power(signed(a), &signed(b)).map(|power| (render(&power), arithmetic.exact));
        assert_eq!(found, expect.map(|(power, exact)| (power.to_owned(), exact)), "{a}^{b}");
    }

    #[test]
    fn integral_powers_are_exact_where_fifty_digits_hold_them() {
        check("2", "166", Ok(("9.3536104789177786765035829293842113257979682750464e+49", true)));
        check("2", "167", Ok(("1.8707220957835557353007165858768422651595936550093e+50", false)));
        check("2", "-10", Ok(("0.0009765625", true)));
        check("-2", "3", Ok(("-8", true)));
        check("10", "10000", Ok(("1e+10000", true)));
        check("-1", "1e9999", Ok(("1", true)));
        check("-1", "100000000000000000000000000000000000000000000000001", Ok(("1", true)));
        check("-1", "10000000000000000000000000000000000000000000000001", Ok(("-1", true)));
        check("10", "10001", Err(Reason::ResultOutOfRange));
        check("10", "-10049", Ok(("1e-10049", true)));
        check("10", "-10050", Err(Reason::ResultOutOfRange));
    }

    #[test]
    fn what_has_no_value() {
        check("0", "0", Err(Reason::Domain));
        check("0", "-1", Err(Reason::DivisionByZero));
        check("0", "0.5", Ok(("0", true)));
        check("-8", "0.5", Err(Reason::Domain));
        check("9", "1e9999", Err(Reason::ResultOutOfRange));
        check("0.1", "1e9999", Err(Reason::ResultOutOfRange));
    }

    #[test]
    fn a_power_in_the_middle_between_two_values_goes_to_the_even_one() {
        // (5 × 10^16 + 5)^3 and (5 × 10^16 + 15)^3 have 51 digits and end in 5.
        let cube_of_5 = "1.2500000000000003750000000000000375000000000000012e+50";
        let cube_of_15 = "1.2500000000000011250000000000003375000000000000338e+50";
        check("2500000000000000500000000000000025", "1.5", Ok((cube_of_5, false)));
        check("2500000000000001500000000000000225", "1.5", Ok((cube_of_15, false)));
        check("0.2500000000000000500000000000000025", "0.5", Ok(("0.50000000000000005", false)));
        // 1.25e-99 below the middle, which the first attempt cannot see.
        check("1.0000000000000000000000000000000000000000000000001", "0.5", Ok(("1", false)));
    }

    #[test]
    fn a_fraction_is_never_called_exact() {
        check("4", "0.5", Ok(("2", false)));
        check("1", "0.3", Ok(("1", false)));
        check("2", "1e-9999", Ok(("1", false)));
    }
}
