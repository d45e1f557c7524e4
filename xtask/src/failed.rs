//! What can go wrong in a chore. Each text says what was attempted and, where it is not plain, what
//! to do next.

use std::io;
use std::path::PathBuf;

/// Why a chore did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    /// The program could not be started at all.
    #[error("could not start `{command}`: {source}")]
    Start { command: String, source: io::Error },
    /// The program ran, and said no.
    #[error("`{command}` failed ({how})")]
    Ended { command: String, how: String },
    /// The program's answer is not what it should be.
    #[error("`{command}` answered something unexpected: {what}")]
    Answer { command: String, what: String },
    /// A file could not be read.
    #[error("could not read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A file could not be written.
    #[error("could not write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// A file that a person wrote does not say what it should.
    #[error("{file}: {what}")]
    File { file: String, what: String },
    /// Programs that the tests use are not there, and cannot be brought.
    #[error("the tests need {missing}; install it first (on Debian: apt-get install {packages})")]
    Missing { missing: String, packages: String },
    /// The chore ran to its end and found faults, which it has printed.
    #[error("{what}")]
    Found { what: String },
    /// There is nothing of this name.
    #[error("there is no {kind} named `{name}`; there is: {}", if known.is_empty() { "none" } else { known })]
    Unknown { kind: &'static str, name: String, known: String },
}
