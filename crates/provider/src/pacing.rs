//! Waiting and chance, handed in. A retry needs both, and neither may be ambient: with this port a
//! test has no real waits and a recorded run repeats.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;

/// Waiting and chance.
#[async_trait]
pub trait Pacing: Send + Sync + fmt::Debug {
    /// Returns after this long.
    async fn pause(&self, wait: Duration);

    /// A number that differs from call to call; only jitter depends on it.
    fn chance(&self) -> u64;
}

/// The timer of the async runtime, and a sequence of numbers from a seed that the caller chooses.
#[derive(Debug)]
pub struct TimerPacing {
    state: AtomicU64,
}

impl TimerPacing {
    /// A pacing whose jitter follows from `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: AtomicU64::new(seed) }
    }
}

#[async_trait]
impl Pacing for TimerPacing {
    async fn pause(&self, wait: Duration) {
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }

    fn chance(&self) -> u64 {
        // SplitMix64: one step of a counter, then a mix. It spreads retries and guards nothing.
        let step = self.state.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (step ^ (step >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
