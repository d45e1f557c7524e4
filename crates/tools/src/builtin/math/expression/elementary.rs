//! `exp`, `ln`, `log10` and the general power, correctly rounded to fifty digits.
//!
//! Each is computed in fixed point with a known bound on its error. If both ends of the interval round
//! to the same fifty digits, so does everything between them, and that is the answer. Otherwise it is
//! computed again with twice the bits. Should that never settle it, `dashu_float` is asked, which the
//! tests compare with: it is right, but ten to thirty times as slow.

use dashu_float::round::mode::HalfEven;
use dashu_float::{Context, FBig, Repr};
use dashu_int::IBig;

use super::decimal::{Arithmetic, Decimal, PRECISION, power_of_ten};
use super::fault::Reason;
use super::fixed;
use super::split::{Split, to_f64};

/// Bits of the first attempt, and of the last; each attempt has twice those of the one before.
pub(super) const BITS_FIRST: usize = 256;
const BITS_LAST: usize = 4_096;
/// Bits that errors may eat: an exponential is wrong by less than 2^17 units, and what is left over
/// makes the error less than one unit of an interval's last decimal digit.
const BITS_LOST: usize = 26;
/// Half the width of an interval, in units of its last decimal digit.
const RADIUS: u8 = 4;
/// Bits by which a logarithm must be better than what is made of it: 15 for the size of the largest
/// product that is in range, 7 for its own error, 2 to stay below one unit.
const BITS_FOR_PRODUCT: usize = 24;
/// An argument of `exp` beyond this is out of range: the last digit that can be kept has the exponent
/// -10,049, and 10^-10,050 is e^-23,141.
pub(super) const EXP_MAX: f64 = 23_150.0;
/// An argument of `exp` nearer to zero than this gives 1: the next value below 1 is 1e-50 away.
pub(super) const EXP_TINY: f64 = 1e-51;

/// A real number, known to be less than [`RADIUS`] units of `significand` away from `significand` ×
/// 10^`exponent`.
pub(super) struct Interval {
    significand: IBig,
    exponent: i64,
}

impl Interval {
    /// The interval around the fixed-point number `value`, with as many digits behind the point as
    /// `bits` bits are worth, and `n_zeros` more where the number begins with zeros.
    fn around(value: &IBig, value_bits: usize, bits: usize, n_zeros: usize) -> Self {
        // 1233 / 4096 is just below log10(2).
        let n_digits = (bits - BITS_LOST) * 1_233 / 4_096 + n_zeros;
        let significand = (value * power_of_ten(n_digits).as_ref()) >> value_bits;
        Self { significand, exponent: -i64::try_from(n_digits).unwrap_or(0) }
    }
}

impl Arithmetic {
    /// e to the power of `x`.
    pub(super) fn exp(&mut self, x: &Decimal) -> Result<Decimal, Reason> {
        if x.is_zero() {
            return Ok(Decimal::ONE);
        }
        self.exact = false;
        let near = to_f64(x);
        if near.abs() > EXP_MAX {
            return Err(Reason::ResultOutOfRange);
        }
        if near.abs() < EXP_TINY {
            return Ok(Decimal::ONE);
        }
        self.certain(BITS_FIRST, |bits| {
            exp_interval(&fixed::from_decimal(&x.significand, x.exponent, bits), near, bits)
        })
        .unwrap_or_else(|| self.exp_by_referee(x))
    }

    /// The natural logarithm of `x`.
    pub(super) fn ln(&mut self, x: &Decimal) -> Result<Decimal, Reason> {
        if x.is_zero() || x.is_negative() {
            return Err(Reason::Domain);
        }
        if x.is_one() {
            return Ok(Decimal::ZERO);
        }
        self.exact = false;
        let split = Split::of(x);
        let attempt = |bits| {
            let log = split.ln(bits);
            Interval::around(&log.value, log.bits, bits, split.n_zeros)
        };
        self.certain(BITS_FIRST, attempt).unwrap_or_else(|| self.ln_by_referee(x))
    }

    /// The decimal logarithm of `x`.
    pub(super) fn log10(&mut self, x: &Decimal) -> Result<Decimal, Reason> {
        if x.is_zero() || x.is_negative() {
            return Err(Reason::Domain);
        }
        let (significand, exponent) = x.stripped();
        if significand.is_one() {
            return self.settle(IBig::from(exponent), 0, false);
        }
        self.exact = false;
        let split = Split::of(x);
        let attempt = |bits| {
            let log = split.log10(bits);
            Interval::around(&log.value, log.bits, bits, split.n_zeros)
        };
        self.certain(BITS_FIRST, attempt).unwrap_or_else(|| self.log10_by_referee(x))
    }

    /// The answer of the first attempt, from `bits` bits on, whose interval rounds to one value; none if
    /// even the last one does not.
    pub(super) fn certain(
        &mut self,
        bits: usize,
        attempt: impl Fn(usize) -> Interval,
    ) -> Option<Result<Decimal, Reason>> {
        let doubled = std::iter::successors(Some(bits), |bits| Some(bits * 2));
        doubled.take_while(|bits| *bits <= BITS_LAST).find_map(|bits| self.agreed(attempt(bits)))
    }

    /// What every number in the interval rounds to, if that is one value.
    pub(super) fn agreed(&mut self, interval: Interval) -> Option<Result<Decimal, Reason>> {
        let low = self.settle(&interval.significand - RADIUS, interval.exponent, false);
        let high = self.settle(interval.significand + RADIUS, interval.exponent, false);
        match (low, high) {
            (Ok(low), Ok(high)) if low.exponent == high.exponent && low.significand == high.significand => {
                Some(Ok(low))
            }
            (Err(reason), Err(_)) => Some(Err(reason)),
            (Ok(_), _) | (Err(_), Ok(_)) => None,
        }
    }

    /// What `dashu_float` says `exp` is.
    fn exp_by_referee(&mut self, x: &Decimal) -> Result<Decimal, Reason> {
        self.referred(&CONTEXT.exp(&repr(x), None).map_err(|_| Reason::ResultOutOfRange)?.value())
    }

    /// What `dashu_float` says `ln` is.
    fn ln_by_referee(&mut self, x: &Decimal) -> Result<Decimal, Reason> {
        self.referred(&CONTEXT.ln(&repr(x), None).map_err(|_| Reason::ResultOutOfRange)?.value())
    }

    /// What `dashu_float` says `log10` is.
    fn log10_by_referee(&mut self, x: &Decimal) -> Result<Decimal, Reason> {
        self.referred(&CONTEXT.log10(&repr(x), None).map_err(|_| Reason::ResultOutOfRange)?.value())
    }

    /// What `dashu_float` says `a` to the power of `b` is.
    pub(super) fn power_by_referee(&mut self, a: &Decimal, b: &Decimal) -> Result<Decimal, Reason> {
        let power = CONTEXT.powf(&repr(a), &repr(b), None).map_err(|_| Reason::ResultOutOfRange)?;
        self.referred(&power.value())
    }

    fn referred(&mut self, value: &FBig<HalfEven, 10>) -> Result<Decimal, Reason> {
        let repr = value.repr();
        let exponent = i64::try_from(repr.exponent()).map_err(|_| Reason::ResultOutOfRange)?;
        self.settle(repr.significand().clone(), exponent, false)
    }
}

const CONTEXT: Context<HalfEven> = Context::new(PRECISION);

fn repr(value: &Decimal) -> Repr<10> {
    Repr::new(value.significand.clone(), isize::try_from(value.exponent).unwrap_or(0))
}

/// e to the power of `x`, a fixed-point number wrong by less than 4 units; `near` is a float near it.
pub(super) fn exp_interval(x: &IBig, near: f64, bits: usize) -> Interval {
    // e^x = 10^n × e^(x - n ln 10). What is left of x is at most ln(10) / 2 and wrong by less than
    // 4 + 2n, which is below 2^15, and its exponential by 3.2 times that and 2.
    let n = nearest_whole(near / std::f64::consts::LN_10);
    let rest = x - fixed::ln_10(bits) * n;
    let mut interval = Interval::around(&fixed::exp(&rest, bits), bits, bits, 0);
    interval.exponent += n;
    interval
}

/// `a` to the power of `b`, of the size e^`size`, where `a` is split as `split` says.
pub(super) fn power_interval(split: &Split, b: &Decimal, size: f64, bits: usize) -> Interval {
    let log = split.ln(bits + BITS_FOR_PRODUCT);
    let product = fixed::from_decimal(&(&log.value * &b.significand), b.exponent, 0);
    exp_interval(&(product >> (log.bits - bits)), size, bits)
}

fn nearest_whole(value: f64) -> i64 {
    IBig::try_from(value.round()).ok().and_then(|whole| i64::try_from(&whole).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What both ways say of one argument must be the same value.
    fn check(
        x: &Decimal,
        quick: impl Fn(&mut Arithmetic, &Decimal) -> Result<Decimal, Reason>,
        referee: impl Fn(&mut Arithmetic, &Decimal) -> Result<Decimal, Reason>,
    ) {
        let (ours, theirs) = (quick(&mut Arithmetic::new(), x), referee(&mut Arithmetic::new(), x));
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => assert!(ours.cmp(&theirs).is_eq(), "{x:?}: {ours:?} {theirs:?}"),
            (ours, theirs) => assert_eq!(ours.map(|_| ()), theirs.map(|_| ()), "{x:?}"),
        }
    }

    fn number(text: &str) -> Decimal {
        Arithmetic::new().literal(text).unwrap()
    }

    /// Positive numbers of any length and size, many of them next to 1.
    fn positive() -> impl Strategy<Value = String> {
        prop_oneof![
            "[1-9][0-9]{0,49}(e-?[0-9]{1,3})?",
            "1\\.0{0,45}[1-9]{1,3}",
            "0\\.9{1,45}[1-9]",
            "[1-9]e-?[0-9]{4}"
        ]
    }

    #[test]
    fn where_the_first_attempt_cannot_tell() {
        // One half of the last digit and 1.25e-99 more, so 256 bits are too few.
        let x = number("5e-50");
        let attempt =
            |bits| exp_interval(&fixed::from_decimal(&x.significand, x.exponent, bits), 5e-50, bits);
        assert!(Arithmetic::new().agreed(attempt(BITS_FIRST)).is_none());
        assert!(Arithmetic::new().agreed(attempt(2 * BITS_FIRST)).is_some());
        check(&x, Arithmetic::exp, Arithmetic::exp_by_referee);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn exp_is_that_of_the_referee(text in "[0-9]{0,4}[1-9](\\.[0-9]{1,44})?(e-[0-9]{1,2})?", is_negative in any::<bool>()) {
            let x = number(&text);
            let x = if is_negative { x.negated() } else { x };
            if to_f64(&x).abs() < EXP_MAX {
                check(&x, Arithmetic::exp, Arithmetic::exp_by_referee);
            }
        }

        #[test]
        fn the_logarithms_are_those_of_the_referee(text in positive()) {
            let x = number(&text);
            check(&x, Arithmetic::ln, Arithmetic::ln_by_referee);
            check(&x, Arithmetic::log10, Arithmetic::log10_by_referee);
        }

        #[test]
        fn a_power_is_that_of_the_referee(a in positive(), b in "[0-9]{0,2}\\.[0-9]{0,30}[1-9]", is_negative in any::<bool>()) {
            let b = number(&b);
            let b = if is_negative { b.negated() } else { b };
            let a = number(&a);
            if (Split::of(&a).estimate() * to_f64(&b)).abs() < 22_000.0 && !a.is_one() {
                check(&a, |arithmetic, a| arithmetic.power(a.clone(), &b), |arithmetic, a| arithmetic.power_by_referee(a, &b));
            }
        }
    }
}
