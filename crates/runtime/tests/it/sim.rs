//! Short runs with everything going wrong at once: a fixed set of seeds, and some that nobody has tried.

use std::hash::{BuildHasher as _, Hasher as _};

use mast_testkit::sim::{Tally, simulate};

/// Seeds that are tried each time.
const FIXED: u64 = 150;
/// Seeds that are tried once.
const FRESH: u64 = 50;

#[tokio::test]
async fn whatever_goes_wrong_the_journal_says_what_happened() {
    let chance = std::collections::hash_map::RandomState::new().build_hasher().finish();
    let fresh = (0..FRESH).map(|number| chance.wrapping_add(number));
    let mut sum = Tally::default();
    for seed in (0..FIXED).chain(fresh) {
        match simulate(seed).await {
            Ok(tally) => sum = sum.plus(tally),
            Err(broken) => panic!("{broken}\ntell it again: cargo xtask sim --seed {seed}"),
        }
    }
    mast_testkit::say(&format!("short runs with everything going wrong: {sum:?}"));
    assert!(sum.n_killed > FIXED / 2 && sum.n_effects > FIXED && sum.n_uncertain > 0, "{sum:?}");
    assert!(sum.n_asked > FIXED / 4 && sum.n_completed > FIXED / 2, "{sum:?}");
}
