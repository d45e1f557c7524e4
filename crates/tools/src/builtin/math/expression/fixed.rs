//! Exponential and logarithm on fixed-point numbers: whole numbers that count units of 2^-`bits`.
//!
//! Every function here says by how many units its answer can be wrong; `elementary.rs` turns that into
//! an interval and accepts a rounding only if both its ends agree. Decimal fixed point was rejected,
//! since a shift costs a tenth of a division.

use std::sync::LazyLock;

use dashu_base::DivEuclid as _;
use dashu_int::{IBig, UBig};

use super::decimal::power_of_ten;

/// How often the argument of the series is halved, and its sum squared.
const N_HALVINGS: usize = 8;
/// Bits carried beyond those asked for. The sum of at most 300 terms is wrong by less than 2 units a
/// term; squaring [`N_HALVINGS`] times multiplies that by less than 2^8 × 3.4: below 2^20 in all.
const GUARD_BITS: usize = 24;
/// Bits of the natural logarithm of ten that are kept; more are computed when they are asked for.
const LN_10_BITS: usize = 640;

static LN_10: LazyLock<IBig> = LazyLock::new(|| compute_ln_10(LN_10_BITS));

/// ln 10, too small by less than 2 units.
pub(super) fn ln_10(bits: usize) -> IBig {
    if bits <= LN_10_BITS { &*LN_10 >> (LN_10_BITS - bits) } else { compute_ln_10(bits) }
}

/// ln 10 = 46 artanh(1/31) + 34 artanh(1/49) + 20 artanh(1/161), with enough bits more to be wrong by
/// less than a unit.
fn compute_ln_10(bits: usize) -> IBig {
    let wide = bits + GUARD_BITS;
    let sum = artanh_of_inverse(31, wide) * 46_u8
        + artanh_of_inverse(49, wide) * 34_u8
        + artanh_of_inverse(161, wide) * 20_u8;
    IBig::from(sum >> GUARD_BITS)
}

/// artanh(1/`n`): each term of the series is too small by less than 2 units.
fn artanh_of_inverse(n: u32, bits: usize) -> UBig {
    let mut power = (UBig::ONE << bits) / n;
    let mut sum = UBig::ZERO;
    let mut odd = 1_u32;
    while !power.is_zero() {
        sum += &power / odd;
        power /= n * n;
        odd += 2;
    }
    sum
}

/// `significand` × 10^`exponent` as a fixed-point number, at most 1 unit too small.
pub(super) fn from_decimal(significand: &IBig, exponent: i64, bits: usize) -> IBig {
    let unit = power_of_ten(usize::try_from(exponent.unsigned_abs()).unwrap_or(usize::MAX));
    if exponent >= 0 {
        (significand * unit.as_ref()) << bits
    } else {
        floor_div(significand << bits, unit.as_ref())
    }
}

/// The nearest fixed-point number to a float below 2^10.
pub(super) fn from_f64(value: f64, bits: usize) -> IBig {
    // Two steps keep 52 bits below those of the fraction's first 53, and no more is wanted.
    const STEP: usize = 52;
    let scaled = value * 2.0_f64.powi(52);
    let whole = IBig::try_from(scaled.round()).unwrap_or(IBig::ZERO);
    if bits >= STEP { whole << (bits - STEP) } else { whole >> (STEP - bits) }
}

fn floor_div(a: IBig, b: &UBig) -> IBig {
    a.div_euclid(IBig::from(b.clone()))
}

/// e^`x` for |x| <= 1.2, wrong by less than 2 units.
pub(super) fn exp(x: &IBig, bits: usize) -> IBig {
    let wide = bits + GUARD_BITS;
    let reduced = x << (GUARD_BITS - N_HALVINGS);
    let one = IBig::ONE << wide;
    let mut sum = &one + &reduced;
    let mut term = reduced.clone();
    let mut n = 2_u32;
    while !term.is_zero() {
        term = ((&term * &reduced) >> wide) / n;
        sum += &term;
        n += 1;
    }
    for _ in 0..N_HALVINGS {
        sum = (&sum * &sum) >> wide;
    }
    sum >> GUARD_BITS
}

/// ln(`m`) for 0.3 <= m <= 3.3, wrong by less than 32 units if `m` is wrong by at most 1. `near` is a
/// float near the answer; how near decides the time, not the answer.
pub(super) fn ln(m: &IBig, near: f64, bits: usize) -> IBig {
    // ln m = near + ln(m / e^near), and the second is 2 artanh of a tiny number.
    let near = from_f64(near, bits);
    let one = IBig::ONE << bits;
    let excess = (m << bits) / exp(&near, bits) - &one;
    let ratio = (&excess << bits) / ((one << 1_usize) + &excess);
    near + (artanh(&ratio, bits) << 1_usize)
}

/// artanh(`x`) for a small x, too near to zero by less than 2 units a term.
fn artanh(x: &IBig, bits: usize) -> IBig {
    let (sign, mut power) = x.clone().into_parts();
    let square = (&power * &power) >> bits;
    let mut sum = UBig::ZERO;
    let mut odd = 1_u32;
    while !power.is_zero() {
        sum += &power / odd;
        power = (&power * &square) >> bits;
        odd += 2;
    }
    IBig::from_parts(sign, sum)
}
