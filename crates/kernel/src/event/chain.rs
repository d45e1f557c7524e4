//! The hash chain of a session.
//!
//! The hash of an event covers the hash before it and, for each of its fields, a *digest* that is salted
//! per field. So an event can be shown with some of its fields replaced by their digests, and the chain
//! still holds (see [`Disclosure`]). Every digest here is over length-prefixed parts, see
//! [`Digest::of_fields`], so that no byte can move from one part to the next.

use serde_json::Value;

use super::{Event, EventFault, NewEvent, Salt};
use crate::canonical::{self, Canonical, Digest, FieldHasher, NotCanonical};
use crate::id::{SessionId, StoreId, TenantId};

/// What the parts of each kind of digest begin with.
const EVENT_TAG: &[u8] = b"mast.event.v1";
const SALT_TAG: &[u8] = b"mast.salt.v1";
const GENESIS_TAG: &[u8] = b"mast.chain.v1";
const CONTENT_TAG: &[u8] = b"mast.content.v1";

/// What the names of payload fields are prefixed with in the chain.
const PAYLOAD_PREFIX: &str = "payload.";

/// The end of a chain: where the next event goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The sequence of the last event; 0 before the first.
    pub sequence: u64,
    /// The hash of the last event; before the first, the session's genesis.
    pub hash: Digest,
}

impl Link {
    /// The beginning of a session's chain. It binds the session to its tenant and to this one store, so
    /// that the events of one session cannot stand for those of another.
    #[must_use]
    pub fn genesis(tenant: TenantId, session: SessionId, store: StoreId) -> Self {
        let parts = [tenant.to_string(), session.to_string(), store.to_string()];
        let parts = std::iter::once(GENESIS_TAG).chain(parts.iter().map(String::as_bytes));
        Self { sequence: 0, hash: Digest::of_fields(parts) }
    }
}

/// The commitment to a value that stands in a content row: it tells nothing about the value without the
/// salt, and fits no other value.
#[must_use]
pub fn commitment(salt: &Salt, value: &Canonical) -> Digest {
    Digest::of_fields([CONTENT_TAG, salt.as_bytes().as_slice(), value.as_bytes()])
}

/// The salt of one field, so that one can be given away without the others.
pub(super) fn field_salt(salt: &Salt, name: &str) -> Salt {
    let whole = Digest::of_fields([SALT_TAG, salt.as_bytes().as_slice(), name.as_bytes()]);
    let mut first = [0_u8; 16];
    for (to, from) in first.iter_mut().zip(whole.as_bytes()) {
        *to = *from;
    }
    Salt::new(first)
}

/// The digest of one field.
pub(super) fn field_digest(field_salt: &Salt, name: &str, value: &Value) -> Result<Digest, NotCanonical> {
    let canonical = Canonical::of(value)?;
    Ok(text_digest(field_salt, name, canonical.as_str()))
}

/// The digest of one field, from the canonical text of its value.
fn text_digest(field_salt: &Salt, name: &str, text: &str) -> Digest {
    Digest::of_fields([field_salt.as_bytes().as_slice(), name.as_bytes(), text.as_bytes()])
}

/// The hash of an event from the digests of its fields, in their fixed order.
pub(super) fn event_hash(previous: &Digest, fields: &[(&str, Digest)]) -> Digest {
    let mut chain = Chain::after(previous);
    fields.iter().for_each(|(name, digest)| chain.take(name, digest));
    chain.end()
}

/// The hash of an event, field by field.
struct Chain(FieldHasher);

impl Chain {
    fn after(previous: &Digest) -> Self {
        let mut hasher = FieldHasher::default();
        hasher.take(EVENT_TAG);
        hasher.take(previous.as_bytes());
        Self(hasher)
    }

    fn take(&mut self, name: &str, digest: &Digest) {
        self.0.take(name.as_bytes());
        self.0.take(digest.as_bytes());
    }

    fn end(self) -> Digest {
        self.0.end()
    }
}

impl Event {
    /// The next event after `link`.
    ///
    /// # Errors
    ///
    /// [`EventFault`] where the payload cannot be written.
    pub fn seal(link: &Link, session: SessionId, new: &NewEvent) -> Result<Self, EventFault> {
        let mut event = Self {
            sequence: link.sequence.saturating_add(1),
            session,
            run: new.run,
            actor: new.actor,
            at: new.at,
            kind: new.body.kind().to_owned(),
            version: new.body.version(),
            payload: new.body.payload()?,
            salt: new.salt,
            previous: link.hash,
            hash: link.hash,
        };
        event.hash = event.computed_hash()?;
        Ok(event)
    }

    /// The hash that this event ought to have.
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] where a value of its payload has no canonical form.
    pub fn computed_hash(&self) -> Result<Digest, NotCanonical> {
        let mut chain = Chain::after(&self.previous);
        let mut take = |name: &str, text: &str| {
            chain.take(name, &text_digest(&field_salt(&self.salt, name), name, text));
        };
        for (name, text) in self.envelope() {
            take(name, &text);
        }
        // A call is four events of a dozen fields: one name and one text serve for all of them.
        let (mut name, mut text) = (PAYLOAD_PREFIX.to_owned(), String::new());
        for (key, value) in self.sorted_payload() {
            name.truncate(PAYLOAD_PREFIX.len());
            name.push_str(key);
            text.clear();
            canonical::write_to(value, &mut text)?;
            take(&name, &text);
        }
        Ok(chain.end())
    }

    /// The end of the chain when this is its last event.
    #[must_use]
    pub const fn link(&self) -> Link {
        Link { sequence: self.sequence, hash: self.hash }
    }

    /// Every field that the hash covers, in the fixed order: the envelope, then the payload's by name.
    pub(super) fn fields(&self) -> Vec<(String, Value)> {
        // The texts are JSON: this module writes them.
        let value = |text: String| serde_json::from_str(&text).unwrap_or_default();
        let envelope = self.envelope().into_iter().map(|(name, text)| (name.to_owned(), value(text)));
        let payload = self.sorted_payload().into_iter();
        envelope
            .chain(payload.map(|(key, value)| (format!("{PAYLOAD_PREFIX}{key}"), value.clone())))
            .collect()
    }

    /// The fields that every event has, each with the canonical text of its value.
    fn envelope(&self) -> [(&'static str, String); 7] {
        let quoted = |text: &str| ["\"", text, "\""].concat();
        [
            ("sequence", self.sequence.to_string()),
            ("session", quoted(&self.session.to_string())),
            ("run", self.run.map_or_else(|| "null".to_owned(), |run| quoted(&run.to_string()))),
            ("actor", quoted(self.actor.as_str())),
            ("at", self.at.micros().to_string()),
            // The type of an event that was read back is whatever stood there.
            ("type", canonical::of_text(&self.kind)),
            ("version", self.version.to_string()),
        ]
    }

    fn sorted_payload(&self) -> Vec<(&String, &Value)> {
        let mut payload: Vec<(&String, &Value)> = self.payload.iter().collect();
        payload.sort_unstable_by_key(|(name, _)| *name);
        payload
    }
}
