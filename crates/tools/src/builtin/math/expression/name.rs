//! The only names there are: ten functions and two constants. There is no trigonometry, because whether
//! `sin(90)` means degrees cannot be told from the answer.

/// A function of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Ceil,
    Exp,
    Floor,
    Ln,
    Log10,
    Max,
    Min,
    Round,
    Sqrt,
}

impl Function {
    pub(super) fn named(text: &str) -> Option<Self> {
        Some(match text {
            "abs" => Self::Abs,
            "ceil" => Self::Ceil,
            "exp" => Self::Exp,
            "floor" => Self::Floor,
            "ln" => Self::Ln,
            "log10" => Self::Log10,
            "max" => Self::Max,
            "min" => Self::Min,
            "round" => Self::Round,
            "sqrt" => Self::Sqrt,
            _ => return None,
        })
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Ceil => "ceil",
            Self::Exp => "exp",
            Self::Floor => "floor",
            Self::Ln => "ln",
            Self::Log10 => "log10",
            Self::Max => "max",
            Self::Min => "min",
            Self::Round => "round",
            Self::Sqrt => "sqrt",
        }
    }

    /// Whether the function may be given so many arguments.
    pub(super) const fn takes(self, n_arguments: usize) -> bool {
        match self {
            Self::Abs | Self::Ceil | Self::Exp | Self::Floor | Self::Ln | Self::Log10 | Self::Sqrt => {
                n_arguments == 1
            }
            Self::Round => n_arguments == 1 || n_arguments == 2,
            Self::Max | Self::Min => n_arguments >= 1,
        }
    }
}

/// A constant of the language. Its digits are ten more than are kept, so that the last one kept is
/// rounded and not cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Constant {
    Pi,
    E,
}

impl Constant {
    pub(super) fn named(text: &str) -> Option<Self> {
        match text {
            "pi" => Some(Self::Pi),
            "e" => Some(Self::E),
            _ => None,
        }
    }

    /// Sixty significant digits.
    pub(super) const fn digits(self) -> &'static str {
        match self {
            Self::Pi => "3.14159265358979323846264338327950288419716939937510582097494",
            Self::E => "2.71828182845904523536028747135266249775724709369995957496696",
        }
    }
}
