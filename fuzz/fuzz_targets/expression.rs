//! Any text has a value that reads back to itself, or a fault. Nothing panics, nothing hangs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mast_tools::builtin::math::expression::calculate;

fuzz_target!(|text: &str| {
    if let Ok(answer) = calculate(text) {
        let again = calculate(&answer.result);
        assert!(again.is_ok_and(|again| again.exact && again.result == answer.result), "{text}");
    }
});
