//! Sums, products, quotients and their like, each rounded once.
//!
//! `//` and `%` floor, as Python's integers do: the caller is a language model whose habit that is, and
//! whose arguments about remainders want them positive. Operands with exponents far apart never make
//! long numbers: what cannot be seen in fifty digits is replaced by a mark of the right sign, and a
//! remainder is taken from the residue of a power of ten.

use dashu_base::{BitTest as _, DivRem as _, DivRemEuclid as _, Sign, UnsignedAbs as _};
use dashu_int::{IBig, UBig};

use super::decimal::{Arithmetic, Decimal, PRECISION, n_digits_least, power_of_ten};
use super::fault::Reason;

/// Exponents so far apart that the smaller operand of a sum is less than one unit behind
/// [`MARK_DIGITS`] more digits of the greater one: 50 digits of its own and 55 of those.
const GAP_MAX: i64 = 120;
/// Digits put behind the greater operand to make place for a mark; more than [`PRECISION`].
const MARK_DIGITS: usize = 55;
/// Exponents so far apart that a quotient's rounding cannot depend on its last whole digit.
const LONG_GAP: i64 = 200;

/// To which whole multiple a value is brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Towards {
    /// The nearest, ties to even.
    Nearest,
    /// The one below.
    Floor,
    /// The one above.
    Ceiling,
}

impl Arithmetic {
    pub(super) fn add(&mut self, a: Decimal, b: Decimal) -> Result<Decimal, Reason> {
        if a.is_zero() {
            return Ok(b);
        }
        if b.is_zero() {
            return Ok(a);
        }
        if a.exponent == b.exponent {
            return self.settle(a.significand + b.significand, a.exponent, false);
        }
        let (high, low) = if a.exponent > b.exponent { (a, b) } else { (b, a) };
        let gap = high.exponent - low.exponent;
        if gap > GAP_MAX {
            let mark = low.significand.signum();
            let marked = high.significand * power_of_ten(MARK_DIGITS).as_ref() + mark;
            return self.settle(marked, high.exponent - 55, false);
        }
        let aligned = high.significand * power_of_ten(usize::try_from(gap).unwrap_or(0)).as_ref();
        self.settle(aligned + low.significand, low.exponent, false)
    }

    pub(super) fn subtract(&mut self, a: Decimal, b: Decimal) -> Result<Decimal, Reason> {
        self.add(a, b.negated())
    }

    pub(super) fn multiply(&mut self, a: &Decimal, b: &Decimal) -> Result<Decimal, Reason> {
        self.settle(&a.significand * &b.significand, a.exponent + b.exponent, false)
    }

    pub(super) fn divide(&mut self, a: Decimal, b: &Decimal) -> Result<Decimal, Reason> {
        if b.is_zero() {
            return Err(Reason::DivisionByZero);
        }
        if a.is_zero() {
            return Ok(a);
        }
        self.quotient(a.significand, &b.significand, a.exponent - b.exponent)
    }

    /// `a / b` × 10^`exponent` for whole numbers of any length, `b` not zero.
    pub(super) fn quotient(&mut self, a: IBig, b: &IBig, exponent: i64) -> Result<Decimal, Reason> {
        // The dividend is made so long that the quotient has more digits than are kept.
        let n_wanted = PRECISION + 2 + n_digits_least(b.bit_len());
        let n_zeros = n_wanted.saturating_sub(n_digits_least(a.bit_len()));
        let (quotient, remainder) = (a * power_of_ten(n_zeros).as_ref()).div_rem(b);
        let exponent = exponent - i64::try_from(n_zeros).unwrap_or(i64::MAX / 4);
        self.settle(quotient, exponent, !remainder.is_zero())
    }

    /// `floor(a / b)`.
    pub(super) fn floor_divide(&mut self, a: Decimal, b: &Decimal) -> Result<Decimal, Reason> {
        if b.is_zero() {
            return Err(Reason::DivisionByZero);
        }
        let gap = a.exponent - b.exponent;
        if gap > LONG_GAP {
            // The quotient has far more than fifty whole digits. Either it is whole, or what is dropped
            // from it is at least 10^-50 of a unit away from a half, and its fraction much less.
            return self.divide(a, b);
        }
        if gap < -LONG_GAP {
            let quotient =
                if a.is_zero() || a.is_negative() == b.is_negative() { IBig::ZERO } else { IBig::NEG_ONE };
            return self.settle(quotient, 0, false);
        }
        let (a, b) = aligned(a, b);
        self.settle(floor_div_rem(&a, &b).0, 0, false)
    }

    /// `a - b * floor(a / b)`, which has the sign of `b`.
    pub(super) fn modulo(&mut self, a: Decimal, b: &Decimal) -> Result<Decimal, Reason> {
        if b.is_zero() {
            return Err(Reason::DivisionByZero);
        }
        let gap = a.exponent - b.exponent;
        if gap > LONG_GAP {
            let modulus = b.significand.clone().unsigned_abs();
            let power = residue_of_power_of_ten(gap.unsigned_abs(), &modulus);
            return self.settle(floor_div_rem(&(a.significand * power), &b.significand).1, b.exponent, false);
        }
        if gap < -LONG_GAP {
            let is_reduced = a.is_zero() || a.is_negative() == b.is_negative();
            return if is_reduced { Ok(a) } else { self.add(a, b.clone()) };
        }
        let exponent = a.exponent.min(b.exponent);
        let (a, b) = aligned(a, b);
        self.settle(floor_div_rem(&a, &b).1, exponent, false)
    }

    /// `a` as a whole multiple of 10^`-n_places`. Dropping digits on request is no loss of exactness.
    pub(super) fn at_places(
        &mut self,
        a: Decimal,
        n_places: i64,
        towards: Towards,
    ) -> Result<Decimal, Reason> {
        let Ok(n_dropped @ 1..) = usize::try_from(-n_places - a.exponent) else {
            return Ok(a);
        };
        // Of a value much below the wanted place only the sign matters.
        let unit = power_of_ten(n_dropped.min(PRECISION + 2));
        let (mut kept, dropped) = a.significand.div_rem_euclid(IBig::from(unit.as_ref().clone()));
        let is_up = match towards {
            Towards::Floor => false,
            Towards::Ceiling => !dropped.is_zero(),
            Towards::Nearest => match (dropped << 1_usize).cmp(unit.as_ref()) {
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Greater => true,
                std::cmp::Ordering::Equal => kept.bit(0),
            },
        };
        if is_up {
            kept += IBig::ONE;
        }
        self.settle(kept, -n_places, false)
    }

    /// The square root of `a`.
    pub(super) fn square_root(&mut self, a: &Decimal) -> Result<Decimal, Reason> {
        if a.is_negative() {
            return Err(Reason::Domain);
        }
        if a.is_zero() {
            return Ok(Decimal::ZERO);
        }
        // Twice the digits that the root shall have, and an even exponent.
        let n_zeros = (2 * PRECISION + 4).saturating_sub(n_digits_least(a.significand.bit_len()));
        let is_odd = (a.exponent - i64::try_from(n_zeros).unwrap_or(0)).rem_euclid(2) == 1;
        let n_zeros = n_zeros + usize::from(is_odd);
        let radicand = a.significand.clone().unsigned_abs() * power_of_ten(n_zeros).as_ref();
        let (root, rest) = dashu_base::SquareRootRem::sqrt_rem(&radicand);
        let exponent = (a.exponent - i64::try_from(n_zeros).unwrap_or(0)) / 2;
        self.settle(IBig::from(root), exponent, !rest.is_zero())
    }
}

/// Both significands over the smaller of the two exponents.
fn aligned(a: Decimal, b: &Decimal) -> (IBig, IBig) {
    let gap = a.exponent - b.exponent;
    let unit = power_of_ten(usize::try_from(gap.unsigned_abs()).unwrap_or(0));
    if gap >= 0 {
        (a.significand * unit.as_ref(), b.significand.clone())
    } else {
        (a.significand, &b.significand * unit.as_ref())
    }
}

/// Quotient rounded down, and the remainder, which has the sign of `b`.
fn floor_div_rem(a: &IBig, b: &IBig) -> (IBig, IBig) {
    let (quotient, remainder) = a.div_rem(b);
    if remainder.is_zero() || (remainder.sign() == Sign::Negative) == (b.sign() == Sign::Negative) {
        (quotient, remainder)
    } else {
        (quotient - IBig::ONE, remainder + b)
    }
}

/// 10^`n` modulo `modulus`, by squaring.
fn residue_of_power_of_ten(n: u64, modulus: &UBig) -> UBig {
    let mut residue = UBig::ONE % modulus;
    for place in (0..u64::BITS - n.leading_zeros()).rev() {
        residue = &residue * &residue % modulus;
        if (n >> place) & 1 == 1 {
            residue = residue * 10_u8 % modulus;
        }
    }
    residue
}
