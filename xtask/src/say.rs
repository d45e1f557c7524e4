//! The one place of this program that prints: what was asked for on stdout, the rest on stderr.

use crate::failed::Failed;

/// A line of the answer.
#[expect(clippy::print_stdout, reason = "the one function of this program that writes to stdout")]
pub(crate) fn line(text: &str) {
    println!("{text}");
}

/// A heading before a part of the work.
#[expect(clippy::print_stderr, reason = "progress goes to stderr, so that stdout holds answers only")]
pub(crate) fn heading(text: &str) {
    eprintln!("── {text}");
}

/// Why the chore failed.
#[expect(clippy::print_stderr, reason = "the one function of this program that reports its failure")]
pub(crate) fn failure(failed: &Failed) {
    eprintln!("xtask: {failed}");
}
