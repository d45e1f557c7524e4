//! The one place of Mast that reads the clock and asks for randomness. Everything else is handed a
//! [`World`], so that a run can be repeated from what was recorded.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use mast_kernel::id::StoreId;
use mast_kernel::instant::Instant;
use mast_store::sign::Signer;
use mast_store::{MemoryStore, StoreIdentity};
use mast_tools::Clock;

/// Where ids and salts come from.
pub trait IdSource: Debug + Send + Sync {
    /// 128 bits for a new id: a UUIDv7, whose first 48 bits are the time in milliseconds.
    fn next_bits(&self) -> u128;

    /// A fresh salt for a commitment of the journal.
    fn salt(&self) -> [u8; 16];
}

/// The clock and the randomness that a runtime works with.
#[derive(Debug, Clone)]
pub struct World {
    /// The platform's time: what the journal and approvals go by.
    pub clock: Arc<dyn Clock>,
    /// The time that tools see; it may be fixed, and nothing is judged by it.
    pub tool_clock: Arc<dyn Clock>,
    /// Ids and salts.
    pub ids: Arc<dyn IdSource>,
}

impl World {
    /// The real one.
    #[must_use]
    pub fn system() -> Self {
        Self { clock: Arc::new(SystemClock), tool_clock: Arc::new(SystemClock), ids: Arc::new(SystemIds) }
    }

    /// An empty store in memory, with an id and a signing key of this world's.
    #[must_use]
    pub fn memory_store(&self) -> MemoryStore {
        let identity =
            StoreIdentity { id: StoreId::from_u128(self.ids.next_bits()), created_at: self.clock.now() };
        let (a, b) = (self.ids.salt(), self.ids.salt());
        let mut seed = [0; 32];
        seed.iter_mut().zip(a.into_iter().chain(b)).for_each(|(byte, random)| *byte = random);
        MemoryStore::new(identity, Signer::from_seed(&seed))
    }

    /// The same, but tools see this moment.
    #[must_use]
    pub fn with_tool_clock(self, now: Instant) -> Self {
        Self { tool_clock: Arc::new(FixedClock(now)), ..self }
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    fn now(&self) -> Instant {
        let micros = match std::time::SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros),
        };
        Instant::from_micros(micros)
    }
}

/// A clock that stands still.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Instant);

impl Clock for FixedClock {
    fn now(&self) -> Instant {
        self.0
    }
}

/// The machine's randomness.
#[derive(Debug, Clone, Copy)]
pub struct SystemIds;

impl SystemIds {
    /// Thirty-two random bytes, for a signing key.
    ///
    /// # Errors
    ///
    /// When the machine has no randomness to give.
    pub fn key() -> Result<[u8; 32], getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(bytes)
    }
}

impl IdSource for SystemIds {
    fn next_bits(&self) -> u128 {
        let millis = u64::try_from(SystemClock.now().micros() / 1_000).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(millis, &random()).into_uuid().as_u128()
    }

    fn salt(&self) -> [u8; 16] {
        random()
    }
}

/// Random bytes. A machine without any cannot make an id that nobody has, and cannot go on.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if getrandom::fill(&mut bytes).is_err() {
        std::process::abort();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_version_7_and_differ() {
        let (a, b) = (SystemIds.next_bits(), SystemIds.next_bits());
        assert_ne!(a, b);
        assert_eq!((a >> 76) & 0xf, 7);
        assert_eq!((a >> 62) & 0b11, 0b10);
    }
}
