//! What a test has counted, for whoever reads the test run.

use std::io::Write as _;

/// Prints these lines past the test runner, which keeps to itself what a test that passes prints. They come
/// in one piece, however many tests run beside this one.
///
/// # Panics
///
/// When there is nobody to print for.
pub fn say(lines: &str) {
    std::io::stdout().write_all(format!("\n{lines}\n").as_bytes()).expect("somebody reads the test run");
}
