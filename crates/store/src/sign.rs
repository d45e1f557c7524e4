//! The key that signs heads, and the check of a signature.

use std::fmt;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use mast_kernel::canonical::Digest;
use mast_kernel::event::{Bytes, Head, Link};
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;

use crate::record::StoreIdentity;

/// Signs heads. It never shows its secret half.
pub struct Signer {
    key: SigningKey,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("public", &self.public()).finish_non_exhaustive()
    }
}

/// What a store says of itself, signed: which one it is, when it was made, and the key of its heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// Which store.
    pub identity: StoreIdentity,
    /// The key that signs its heads.
    pub key: Bytes<32>,
    /// The signature over the digest that the first head follows ([`Head::genesis`]).
    pub signature: Bytes<64>,
}

impl Seal {
    /// The seal of a new store.
    #[must_use]
    pub fn new(identity: StoreIdentity, signer: &Signer) -> Self {
        let key = signer.public();
        let genesis = Head::genesis(identity.id, identity.created_at, &key);
        let signature = Bytes::new(signer.key.sign(genesis.as_bytes()).to_bytes());
        Self { identity, key, signature }
    }

    /// What the first head of this store follows.
    #[must_use]
    pub fn genesis(&self) -> Digest {
        Head::genesis(self.identity.id, self.identity.created_at, &self.key)
    }

    /// Whether the signature is by the key that it names.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        is_by(&self.key, self.genesis().as_bytes(), &self.signature)
    }
}

/// Where the next head goes: its number, and the digest of the head before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeadLink {
    pub(crate) number: u64,
    pub(crate) digest: Digest,
}

impl HeadLink {
    /// After the last head of a store, if it has any.
    pub(crate) fn after(seal: &Seal, last: Option<&Head>) -> Self {
        last.map_or_else(
            || Self { number: 0, digest: seal.genesis() },
            |last| Self { number: last.number, digest: last.digest() },
        )
    }
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

    /// Signs these bytes, which begin with what they are.
    pub(crate) fn sign_bytes(&self, bytes: &[u8]) -> Bytes<64> {
        Bytes::new(self.key.sign(bytes).to_bytes())
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
    is_by(&head.key, &head.signed_bytes(), &head.signature)
}

/// Whether a signature over these bytes is by this key.
pub(crate) fn is_by(key: &Bytes<32>, bytes: &[u8], signature: &Bytes<64>) -> bool {
    VerifyingKey::from_bytes(key.as_bytes())
        .is_ok_and(|key| key.verify_strict(bytes, &Signature::from_bytes(signature.as_bytes())).is_ok())
}
