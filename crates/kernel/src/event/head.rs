//! Heads: signed statements of where a session's chain stood at some moment.
//!
//! A chain alone shows that events follow each other; whoever can write the file can also write the
//! whole chain anew, or leave out its end. A head is signed with a key that is not in the file, and a
//! person can keep its digest elsewhere. Heads form a chain of their own across the sessions of a store.

use serde::{Deserialize, Serialize};

use super::Bytes;
use crate::canonical::Digest;
use crate::id::{SessionId, StoreId};
use crate::instant::Instant;

/// What the signed bytes begin with.
const HEAD_TAG: &str = "mast.head.v1";
/// What the beginning of a store's chain of heads is made from.
const GENESIS_TAG: &str = "mast.heads.v1";
/// What the hash of a head is made from that says where a session was cut off.
const CUT_TAG: &[u8] = b"mast.cut.v1";

/// Where one session's chain stood, signed with Ed25519.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Its place among the heads of the store: 1, 2, 3 and so on.
    pub number: u64,
    /// The session.
    pub session: SessionId,
    /// The sequence of the session's last event at that moment.
    pub sequence: u64,
    /// The hash of that event.
    pub hash: Digest,
    /// The digest of the head before; of the first, see [`Head::genesis`].
    pub previous_head: Digest,
    /// When it was signed.
    pub at: Instant,
    /// The key that verifies the signature.
    pub key: Bytes<32>,
    /// The signature over [`Head::signed_bytes`].
    pub signature: Bytes<64>,
}

impl Head {
    /// What the first head of a store follows: it binds the chain of heads to the store, the moment it
    /// was made and the key that signs.
    #[must_use]
    pub fn genesis(store: StoreId, created_at: Instant, key: &Bytes<32>) -> Digest {
        Digest::of(&prefixed(&[
            GENESIS_TAG.to_owned(),
            store.to_string(),
            created_at.micros().to_string(),
            key.to_string(),
        ]))
    }

    /// The hash in a head that says that the session was cut off behind the event with this hash: nothing of it is
    /// there any more, and that is no loss.
    #[must_use]
    pub fn cut_behind(hash: &Digest) -> Digest {
        Digest::of_fields([CUT_TAG, hash.as_bytes().as_slice()])
    }

    /// The bytes that are signed: the fields but the signature, each as the text in which Mast shows it,
    /// preceded by its length as 8 bytes, most significant first.
    #[must_use]
    pub fn signed_bytes(&self) -> Vec<u8> {
        prefixed(&[
            HEAD_TAG.to_owned(),
            self.number.to_string(),
            self.session.to_string(),
            self.sequence.to_string(),
            self.hash.to_hex(),
            self.previous_head.to_hex(),
            self.at.micros().to_string(),
            self.key.to_string(),
        ])
    }

    /// What a person keeps elsewhere, and what the next head follows: SHA-256 of the signed bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.signed_bytes())
    }
}

/// The parts one after the other, each preceded by its length.
fn prefixed(parts: &[String]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}
