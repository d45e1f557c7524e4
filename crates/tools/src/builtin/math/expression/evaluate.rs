//! What operators and functions do to values.

use super::arithmetic::Towards;
use super::decimal::{Arithmetic, Decimal};
use super::fault::Reason;
use super::name::Function;

/// Decimal places that `round` may be asked for, on either side of the point.
const PLACES_MAX: i64 = 50;

/// An operator that stands between its operands and groups from the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
}

impl Binary {
    /// The name of its result, for the operator's detail of a fault.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Add => "sum",
            Self::Subtract => "difference",
            Self::Multiply => "product",
            Self::Divide => "quotient",
            Self::FloorDivide => "floored quotient",
            Self::Modulo => "remainder",
        }
    }
}

/// The result of an operator.
pub(super) fn apply(
    arithmetic: &mut Arithmetic,
    operator: Binary,
    a: Decimal,
    b: Decimal,
) -> Result<Decimal, Reason> {
    match operator {
        Binary::Add => arithmetic.add(a, b),
        Binary::Subtract => arithmetic.subtract(a, b),
        Binary::Multiply => arithmetic.multiply(&a, &b),
        Binary::Divide => arithmetic.divide(a, &b),
        Binary::FloorDivide => arithmetic.floor_divide(a, &b),
        Binary::Modulo => arithmetic.modulo(a, &b),
    }
}

/// The result of a function; it takes as many arguments as it is given.
pub(super) fn call(
    arithmetic: &mut Arithmetic,
    function: Function,
    arguments: Vec<Decimal>,
) -> Result<Decimal, Reason> {
    let mut arguments = arguments.into_iter();
    let first = arguments.next().unwrap_or(Decimal::ZERO);
    match function {
        Function::Abs => Ok(first.magnitude()),
        Function::Ceil => arithmetic.at_places(first, 0, Towards::Ceiling),
        Function::Floor => arithmetic.at_places(first, 0, Towards::Floor),
        Function::Round => {
            let n_places = arguments.next().map_or(Some(0), |places| places.to_i64());
            let n_places = n_places.filter(|n| n.abs() <= PLACES_MAX).ok_or(Reason::Domain)?;
            arithmetic.at_places(first, n_places, Towards::Nearest)
        }
        Function::Exp => arithmetic.exp(&first),
        Function::Ln => arithmetic.ln(&first),
        Function::Log10 => arithmetic.log10(&first),
        Function::Sqrt => arithmetic.square_root(&first),
        Function::Max => {
            Ok(arguments.fold(first, |best, next| if next.cmp(&best).is_gt() { next } else { best }))
        }
        Function::Min => {
            Ok(arguments.fold(first, |best, next| if next.cmp(&best).is_lt() { next } else { best }))
        }
    }
}
