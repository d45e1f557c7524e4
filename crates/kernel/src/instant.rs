//! A moment, in microseconds since 1970-01-01T00:00:00Z. The kernel compares moments and adds to them;
//! it never asks for the present one, which is always an argument.

use serde::{Deserialize, Serialize};

/// Microseconds since the epoch, UTC; negative before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instant(i64);

impl Instant {
    /// The moment so many microseconds after the epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The moment so many seconds later; the last one that can be written, if that is earlier.
    #[must_use]
    pub const fn plus_seconds(self, seconds: u32) -> Self {
        Self(self.0.saturating_add((seconds as i64).saturating_mul(1_000_000)))
    }

    /// Whole milliseconds from `earlier` to this moment; 0 if it is not earlier.
    #[must_use]
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0) / 1_000).unwrap_or(0)
    }
}
