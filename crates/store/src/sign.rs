//! The key that signs heads, and the check of a signature.

use std::fmt;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use mast_kernel::canonical::Digest;
use mast_kernel::event::{Bytes, Head, Link};
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;

/// Signs heads. It never shows its secret half.
pub struct Signer {
    key: SigningKey,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("public", &self.public()).finish_non_exhaustive()
    }
}

/// Where the next head goes: its number, and the digest of the head before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeadLink {
    pub(crate) number: u64,
    pub(crate) digest: Digest,
}

impl Signer {
    /// The signer with this Ed25519 seed: 32 random bytes, kept in a file of mode 0600.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self { key: SigningKey::from_bytes(seed) }
    }

    /// The key that verifies.
    #[must_use]
    pub fn public(&self) -> Bytes<32> {
        Bytes::new(self.key.verifying_key().to_bytes())
    }

    /// Signs where a session's chain stands, as the head after `before`.
    pub(crate) fn sign(&self, before: HeadLink, session: SessionId, link: Link, at: Instant) -> Head {
        let mut head = Head {
            number: before.number.saturating_add(1),
            session,
            sequence: link.sequence,
            hash: link.hash,
            previous_head: before.digest,
            at,
            key: self.public(),
            signature: Bytes::new([0; 64]),
        };
        head.signature = Bytes::new(self.key.sign(&head.signed_bytes()).to_bytes());
        head
    }
}

/// Whether the signature of a head is by the key that it names.
#[must_use]
pub fn is_signed(head: &Head) -> bool {
    VerifyingKey::from_bytes(head.key.as_bytes()).is_ok_and(|key| {
        let signature = Signature::from_bytes(head.signature.as_bytes());
        key.verify_strict(&head.signed_bytes(), &signature).is_ok()
    })
}
