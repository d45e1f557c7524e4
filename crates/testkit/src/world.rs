//! Time and randomness that a test can predict.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use mast_kernel::id::StoreId;
use mast_kernel::instant::Instant;
use mast_runtime::{IdSource, World};
use mast_store::{MemoryStore, OpenOptions, SqliteStore, StoreIdentity, sign::Signer};
use mast_tools::Clock;

/// 2026-07-25T13:03:11.482913Z.
pub const START_MICROS: i64 = 1_784_984_591_482_913;

/// A clock that moves a millisecond each time somebody looks at it.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that begins here.
    #[must_use]
    pub const fn new(micros: i64) -> Self {
        Self(AtomicI64::new(micros))
    }

    /// Moves it by so many seconds, back where they are negative.
    pub fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        Instant::from_micros(self.0.fetch_add(1_000, Ordering::Relaxed))
    }
}

/// Ids 1, 2, 3 and so on; salts likewise.
#[derive(Debug, Default)]
pub struct CountedIds(AtomicU64);

impl IdSource for CountedIds {
    fn next_bits(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn salt(&self) -> [u8; 16] {
        self.next_bits().to_be_bytes()
    }
}

/// A world that is the same in every test.
#[must_use]
pub fn world() -> World {
    let clock = || Arc::new(ManualClock::new(START_MICROS));
    World { clock: clock(), tool_clock: clock(), ids: Arc::new(CountedIds::default()) }
}

/// What a store of this world is called.
#[must_use]
pub fn identity() -> StoreIdentity {
    StoreIdentity { id: StoreId::from_u128(1), created_at: Instant::from_micros(START_MICROS) }
}

/// Who signs its heads.
#[must_use]
pub fn signer() -> Signer {
    Signer::from_seed(&[7; 32])
}

/// A store of this world in a file, made now.
///
/// # Panics
///
/// When it cannot be made.
pub async fn file_store(path: &std::path::Path) -> SqliteStore {
    let options =
        OpenOptions { path: path.to_path_buf(), identity_if_new: identity(), signer: signer(), create: true };
    SqliteStore::open(options).await.expect("a store can be made")
}

/// An empty store of this world.
#[must_use]
pub fn memory_store() -> MemoryStore {
    MemoryStore::new(identity(), signer())
}
