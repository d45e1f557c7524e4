//! The canonical form: whatever is read is written once, and what is written reads back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mast_kernel::canonical::{Canonical, match_digest, parse_strict};

fuzz_target!(|text: &str| {
    let Ok(value) = parse_strict(text) else { return };
    let Ok(canonical) = Canonical::of(&value) else { return };
    let again = Canonical::from_text(canonical.as_str()).expect("a canonical form is one");
    assert_eq!(again, canonical);
    assert_eq!(Canonical::of(&canonical.value()).expect("its value has one"), canonical);
    match_digest(&value).expect("whatever has a canonical form has a match hash");
});
