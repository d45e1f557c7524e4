//! Why an expression has no value: eight reasons, each with a code of its own.
//!
//! The model sees the reason's static message from the kernel's table; `detail` (where, and what stood
//! there) is for the operator only, because a message must not carry input. See
//! `docs/spec/calculate.md`.

/// The eight ways in which an expression can have no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// It does not follow the grammar.
    Syntax,
    /// A name that is neither a function nor a constant where it stands.
    UnknownName,
    /// A function with a wrong number of arguments.
    Arity,
    /// An argument for which the function has no value.
    Domain,
    /// A divisor is zero, or zero is raised to a negative power.
    DivisionByZero,
    /// A value is too large, or too small to keep.
    ResultOutOfRange,
    /// More characters or tokens than are read.
    ExpressionTooLong,
    /// Nested deeper than is read.
    ExpressionTooDeep,
}

impl Reason {
    /// Every reason, in the declared order.
    pub const ALL: [Self; 8] = [
        Self::Syntax,
        Self::UnknownName,
        Self::Arity,
        Self::Domain,
        Self::DivisionByZero,
        Self::ResultOutOfRange,
        Self::ExpressionTooLong,
        Self::ExpressionTooDeep,
    ];

    /// The full reason code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Syntax => "tool.invalid_arguments.syntax",
            Self::UnknownName => "tool.invalid_arguments.unknown_name",
            Self::Arity => "tool.invalid_arguments.arity",
            Self::Domain => "tool.invalid_arguments.domain",
            Self::DivisionByZero => "tool.invalid_arguments.division_by_zero",
            Self::ResultOutOfRange => "tool.invalid_arguments.result_out_of_range",
            Self::ExpressionTooLong => "tool.invalid_arguments.expression_too_long",
            Self::ExpressionTooDeep => "tool.invalid_arguments.expression_too_deep",
        }
    }
}

/// An expression without a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}", code = reason.code())]
pub struct Fault {
    /// Which of the eight reasons.
    pub reason: Reason,
    /// Where and what, for the operator's eyes only.
    pub detail: String,
}

impl Fault {
    /// The fault at `offset` bytes into `expression`; `what` says what was found there. The detail
    /// counts characters from 1, as a person does.
    pub(super) fn at(reason: Reason, expression: &str, offset: usize, what: &str) -> Self {
        let place = expression.char_indices().take_while(|(start, _)| *start < offset).count() + 1;
        Self { reason, detail: format!("character {place}: {what}") }
    }

    /// The full reason code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.reason.code()
    }
}
