//! A journal as a file of lines, for somebody who has nothing but the public key: no value, no salt of one,
//! and of each event the fields that its exporter shows. What stands where is in `docs/spec/journal.md`.
//!
//! | line | what it holds |
//! |---|---|
//! | first | which store it is of, and the store's seal |
//! | heads | all heads of the store, since they follow each other |
//! | events | the events of each session, in order, each as a [`Disclosure`] |
//! | last | how many lines there are, and a signature over the digest of all lines before |
//!
//! The heads come first, so that whoever checks needs to remember only them.

mod check;
mod write;

use mast_kernel::canonical::Digest;
use mast_kernel::event::{Bytes, Disclosure, Head};
use mast_kernel::id::StoreId;
use mast_kernel::instant::Instant;
use serde::{Deserialize, Serialize};

use crate::sign::{Seal, Signer};

pub use check::{Checking, NotAnExport, check};
pub use write::{Failed, Shown, write};

/// The version of this format.
pub const VERSION: u32 = 1;
/// The longest line that is read, in bytes: an event is far shorter.
const LINE_BYTES_MAX: u64 = 4 << 20;
/// What the signed bytes begin with.
const EXPORT_TAG: &[u8] = b"mast.export.v1";

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    /// The first.
    MastJournal(First),
    /// A head of the store.
    Head(Head),
    /// An event.
    Event(Disclosure),
    /// The last.
    End(Last),
}

/// The first line: which store it is of.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct First {
    version: u32,
    store: StoreId,
    created_at: Instant,
    key: Bytes<32>,
    signature: Bytes<64>,
}

/// The last line.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Last {
    sessions: u64,
    heads: u64,
    events: u64,
    signature: Bytes<64>,
}

impl First {
    const fn of(seal: &Seal) -> Self {
        let Seal { identity, key, signature } = *seal;
        Self { version: VERSION, store: identity.id, created_at: identity.created_at, key, signature }
    }

    const fn seal(&self) -> Seal {
        let identity = crate::record::StoreIdentity { id: self.store, created_at: self.created_at };
        Seal { identity, key: self.key, signature: self.signature }
    }
}

impl Last {
    /// The last line after lines of this digest.
    fn signed(counts: [u64; 3], lines: Digest, signer: &Signer) -> Self {
        let [sessions, heads, events] = counts;
        Self { sessions, heads, events, signature: signer.sign_bytes(&signed_bytes(counts, lines)) }
    }

    fn is_signed(&self, lines: Digest, key: &Bytes<32>) -> bool {
        let counts = [self.sessions, self.heads, self.events];
        crate::sign::is_by(key, &signed_bytes(counts, lines), &self.signature)
    }
}

/// What the last line signs: how much there is, and the digest of every byte before.
fn signed_bytes(counts: [u64; 3], lines: Digest) -> Vec<u8> {
    let mut bytes = EXPORT_TAG.to_vec();
    counts.iter().for_each(|count| bytes.extend(count.to_be_bytes()));
    bytes.extend(lines.as_bytes());
    bytes
}
