//! Showing an event in part: some fields with their values, the others as digests, and the chain still
//! holds for whoever has nothing else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chain::{event_hash, field_digest, field_salt};
use super::{Event, Salt};
use crate::canonical::{Digest, NotCanonical};

/// Fields that are shown whatever is asked: without them nobody can tell which event this is.
const ALWAYS_SHOWN: [&str; 5] = ["sequence", "session", "at", "type", "version"];

/// One field of an event that is shown in part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Field {
    /// It is shown; the salt lets anybody compute its digest.
    Shown {
        /// Name, as the chain has it: payload fields begin with `payload.`.
        name: String,
        /// The salt of this field alone.
        salt: Salt,
        /// Its value.
        value: Value,
    },
    /// It is withheld.
    Withheld {
        /// Name, as the chain has it.
        name: String,
        /// Its digest.
        digest: Digest,
    },
}

/// An event of which some fields are withheld.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disclosure {
    /// The hash of the event before.
    pub previous: Digest,
    /// Every field, in the order of the chain.
    pub fields: Vec<Field>,
    /// The hash of the event.
    pub hash: Digest,
}

impl Disclosure {
    /// The event with only those fields shown that `shows` wants, and those that are always shown.
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] where a value of the payload has no canonical form.
    pub fn of(event: &Event, shows: impl Fn(&str) -> bool) -> Result<Self, NotCanonical> {
        let fields = event
            .fields()
            .into_iter()
            .map(|(name, value)| {
                let salt = field_salt(&event.salt, &name);
                if ALWAYS_SHOWN.contains(&name.as_str()) || shows(&name) {
                    return Ok(Field::Shown { name, salt, value });
                }
                let digest = field_digest(&salt, &name, &value)?;
                Ok(Field::Withheld { name, digest })
            })
            .collect::<Result<Vec<_>, NotCanonical>>()?;
        Ok(Self { previous: event.previous, fields, hash: event.hash })
    }

    /// The hash that follows from what is shown and what is withheld.
    ///
    /// # Errors
    ///
    /// [`NotCanonical`] where a shown value has no canonical form.
    pub fn computed_hash(&self) -> Result<Digest, NotCanonical> {
        let digests = self
            .fields
            .iter()
            .map(|field| match field {
                Field::Shown { name, salt, value } => Ok((name.as_str(), field_digest(salt, name, value)?)),
                Field::Withheld { name, digest } => Ok((name.as_str(), *digest)),
            })
            .collect::<Result<Vec<_>, NotCanonical>>()?;
        Ok(event_hash(&self.previous, &digests))
    }

    /// What is shown, by name.
    #[must_use]
    pub fn shown(&self) -> BTreeMap<&str, &Value> {
        self.fields
            .iter()
            .filter_map(|field| match field {
                Field::Shown { name, value, .. } => Some((name.as_str(), value)),
                Field::Withheld { .. } => None,
            })
            .collect()
    }
}
