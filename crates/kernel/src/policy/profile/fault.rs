//! Why a profile was not taken, with its place in the file and what would be right there.

use crate::policy::Ruling;

/// A profile that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file} line {line}: {fault}")]
pub struct ProfileRefused {
    /// What the file is called.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub fault: ProfileFault,
}

/// What is wrong with a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileFault {
    /// It is not TOML.
    #[error("this is not TOML ({what})")]
    Syntax {
        /// What the parser says.
        what: String,
    },
    /// It has a key that is none.
    #[error("unknown key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
        /// The keys that stand in its place.
        known: Vec<&'static str>,
    },
    /// A key that must be there is not.
    #[error("`{key}` is missing")]
    Missing {
        /// The key, or the keys of which one is needed.
        key: &'static str,
    },
    /// A value is not what its key takes.
    #[error("`{key}` has a value that it cannot have")]
    BadValue {
        /// The key.
        key: String,
        /// What it takes.
        expected: String,
    },
    /// The same thing is ruled twice.
    #[error("{what} is ruled on line {earlier} already")]
    Twice {
        /// What.
        what: String,
        /// The line of the first.
        earlier: usize,
    },
    /// It would loosen what it may not.
    #[error("{what} cannot be made `{ruling}`")]
    Loosens {
        /// What.
        what: String,
        /// What was wanted.
        ruling: Ruling,
        /// How loose it may become.
        at_most: Ruling,
    },
    /// It is larger than any profile.
    #[error("more than {max} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        max: usize,
    },
    /// A test names a tool that is not here and does not say what it does.
    #[error("the tool {tool} of this test is not known here")]
    UnknownTool {
        /// The tool.
        tool: String,
    },
    /// A test has arguments that its tool does not take.
    #[error("the tool {tool} does not take the arguments of this test")]
    Arguments {
        /// The tool.
        tool: String,
    },
    /// One of its own tests fails.
    #[error("the test {name:?} expects {expected} and gets {found}")]
    TestFailed {
        /// The test.
        name: String,
        /// What it expects.
        expected: Ruling,
        /// What is decided.
        found: Ruling,
    },
}

impl ProfileRefused {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.fault {
            ProfileFault::Syntax { .. } => "correct the line".to_owned(),
            ProfileFault::UnknownKey { known, .. } => format!("known here: {}", known.join(", ")),
            ProfileFault::Missing { .. } => "add it".to_owned(),
            ProfileFault::BadValue { expected, .. } => format!("it takes {expected}"),
            ProfileFault::Twice { .. } => "keep one of them".to_owned(),
            ProfileFault::Loosens { at_most: Ruling::Ask, .. } => {
                "it can be given `ask` or `deny`".to_owned()
            }
            ProfileFault::Loosens { at_most: Ruling::Deny, .. } => "it is always denied".to_owned(),
            ProfileFault::Loosens { at_most: Ruling::Allow, .. } => String::new(),
            ProfileFault::TooMany { .. } => "leave some out".to_owned(),
            ProfileFault::UnknownTool { .. } => "say what it does: effect = \"external_write\"".to_owned(),
            ProfileFault::Arguments { tool } => format!("see: mast tools show {tool}"),
            ProfileFault::TestFailed { .. } => {
                "correct the test or the rules; all tests: mast policy test FILE".to_owned()
            }
        }
    }
}
