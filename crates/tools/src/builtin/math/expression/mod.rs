//! The calculator's language: text in, fifty correctly rounded digits out.
//!
//! Pure and total: every text has a value or one of eight faults, within bounds that do not depend on
//! who calls. Nothing of the language is borrowed (an allow list over another language's grammar grows
//! when that grammar does). Source: `docs/spec/calculate.md`.
//!
//! | module | the one idea |
//! |---|---|
//! | `token` | characters to tokens |
//! | `parse` | tokens to a value, with the depth bound and the order of faults |
//! | `name` | the functions and constants there are |
//! | `evaluate` | which operation an operator or a function is |
//! | `decimal` | the numbers, and the one function that rounds |
//! | `literal`, `render` | numbers from text and to text |
//! | `arithmetic`, `power`, `elementary` | the operations |
//! | `split`, `fixed` | what `elementary` is computed with |
//! | `fault` | why there is no value |

mod arithmetic;
mod decimal;
mod elementary;
mod evaluate;
mod fault;
mod fixed;
mod literal;
mod name;
mod parse;
mod power;
mod render;
mod split;
mod token;

pub use fault::{Fault, Reason};

/// The value of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// At most fifty significant digits, as `docs/spec/calculate.md` says they are written.
    pub result: String,
    /// Whether nothing was rounded on the way.
    pub exact: bool,
}

/// Computes `expression`.
///
/// # Errors
///
/// One of eight [`Reason`]s. Faults are looked for in this order: the length, the tokens, the syntax and
/// depth, the names and numbers of arguments, and then the evaluation from left to right.
pub fn calculate(expression: &str) -> Result<Answer, Fault> {
    let (value, exact) = parse::evaluate(expression)?;
    Ok(Answer { result: render::render(&value), exact })
}
