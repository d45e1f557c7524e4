//! From a program to a value, on a stack.

use super::arithmetic::Towards;
use super::decimal::{Arithmetic, Decimal};
use super::fault::{Fault, Reason};
use super::name::Function;
use super::parse::{Action, Binary, Step};

/// Decimal places that `round` may be asked for, on either side of the point.
const PLACES_MAX: i64 = 50;

/// The value of `program`, which was made from `expression`, and whether it is exact.
pub(super) fn evaluate(expression: &str, program: &[Step]) -> Result<(Decimal, bool), Fault> {
    let mut arithmetic = Arithmetic::new();
    let mut stack = Stack(Vec::with_capacity(program.len() / 2 + 1));
    for step in program {
        let value = match step.action {
            Action::Number(end) => arithmetic.literal(expression.get(step.place..end).unwrap_or_default()),
            Action::Constant(constant) => arithmetic.literal(constant.digits()),
            Action::Negate => Ok(stack.pop().negated()),
            Action::Binary(operator) => {
                let right = stack.pop();
                let left = stack.pop();
                binary(&mut arithmetic, operator, left, right)
            }
            Action::Call(function, n_arguments) => {
                let arguments = stack.take(n_arguments);
                call(&mut arithmetic, function, arguments)
            }
        };
        match value {
            Ok(value) => stack.0.push(value),
            Err(reason) => return Err(fault(expression, step, reason)),
        }
    }
    Ok((stack.pop(), arithmetic.exact))
}

/// The values that wait for their operator. A program never takes more than it has pushed; zero stands
/// in where it would.
struct Stack(Vec<Decimal>);

impl Stack {
    fn pop(&mut self) -> Decimal {
        self.0.pop().unwrap_or(Decimal::ZERO)
    }

    fn take(&mut self, n: usize) -> Vec<Decimal> {
        self.0.split_off(self.0.len().saturating_sub(n))
    }
}

fn binary(arithmetic: &mut Arithmetic, operator: Binary, a: Decimal, b: Decimal) -> Result<Decimal, Reason> {
    match operator {
        Binary::Add => arithmetic.add(a, b),
        Binary::Subtract => arithmetic.subtract(a, b),
        Binary::Multiply => arithmetic.multiply(&a, &b),
        Binary::Divide => arithmetic.divide(a, &b),
        Binary::FloorDivide => arithmetic.floor_divide(a, &b),
        Binary::Modulo => arithmetic.modulo(a, &b),
        Binary::Power => arithmetic.power(a, &b),
    }
}

fn call(arithmetic: &mut Arithmetic, function: Function, arguments: Vec<Decimal>) -> Result<Decimal, Reason> {
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

fn fault(expression: &str, step: &Step, reason: Reason) -> Fault {
    let what = match step.action {
        Action::Number(_) => "this number".to_owned(),
        Action::Constant(_) => "this constant".to_owned(),
        Action::Negate => "this sign".to_owned(),
        Action::Binary(operator) => format!("operands of {operator:?}").to_lowercase(),
        Action::Call(function, _) => format!("arguments of {}", function.as_str()),
    };
    Fault::at(reason, expression, step.place, &what)
}
