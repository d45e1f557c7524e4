//! How a database comes to have its tables: numbered steps, each recorded in the database with its digest
//! and text, so that one that was changed by something else is refused rather than misread.

use std::collections::BTreeMap;
use std::path::Path;

use mast_kernel::canonical::Digest;
use mast_kernel::instant::Instant;

use crate::error::StoreError;
use crate::record::StoreIdentity;
use crate::sign::Seal;

/// The steps of one kind of database, and what they make.
#[derive(Debug)]
pub(crate) struct Steps {
    /// Their texts, in order; the first has number 1. A step that was released never changes.
    pub(crate) texts: &'static [&'static str],
    /// SHA-256 over everything that the steps make, as the database itself tells it, and nothing beside: a
    /// trigger could let a commit be nothing.
    pub(crate) made: &'static str,
}

/// What a database records and has: a number and two texts. Number 0 is what the store says of itself, by
/// name; 1 and more are steps, with digest and text; -1 is what there really is, by name.
pub(crate) type Recorded = Vec<(i64, String, String)>;

/// What makes a database record a step.
pub(crate) const RECORD_STEP: &str = "INSERT INTO schema_steps (version, sha256, sql) VALUES ($1, $2, $3)";
/// What makes a database record which store it is.
pub(crate) const RECORD_META: &str = "INSERT INTO meta (name, value) VALUES ('store', $1), \
     ('created_at', $2), ('key', $3), ('signature', $4)";

/// The values of [`RECORD_META`].
pub(crate) fn meta(seal: &Seal) -> [String; 4] {
    [
        seal.identity.id.to_string(),
        seal.identity.created_at.micros().to_string(),
        seal.key.to_string(),
        seal.signature.to_string(),
    ]
}

impl Steps {
    /// Each step with its number.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (i64, &'static str)> {
        (1_i64..).zip(self.texts.iter().copied())
    }

    /// How many steps of this version's a database has not seen, if those that it has are this version's.
    pub(crate) fn n_behind(&self, recorded: &Recorded) -> usize {
        let texts: Vec<&String> =
            recorded.iter().filter(|(number, ..)| *number > 0).map(|(_, _, text)| text).collect();
        let is_beginning =
            !texts.is_empty() && texts.iter().zip(self.texts).all(|(text, step)| text.as_str() == *step);
        if is_beginning { self.texts.len().saturating_sub(texts.len()) } else { 0 }
    }

    /// Compares what a database records with what this version would have written; which store it is.
    pub(crate) fn check(&self, recorded: Recorded, place: &Path) -> Result<Seal, StoreError> {
        let damaged = || StoreError::Damaged(place.to_path_buf());
        let (mut meta, mut made, mut steps) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for (number, one, other) in recorded {
            match number {
                -1 => {
                    made.insert(one, other);
                }
                0 => {
                    meta.insert(one, other);
                }
                version => steps.push((version, one, other)),
            }
        }
        let known = i64::try_from(self.texts.len()).unwrap_or(i64::MAX);
        if let Some((found, ..)) = steps.iter().max().filter(|(version, ..)| *version > known) {
            return Err(StoreError::LaterSchema { path: place.to_path_buf(), found: *found, known });
        }
        for (version, text) in self.numbered() {
            let expected = (version, Digest::of(text.as_bytes()).to_hex(), text.to_owned());
            if !steps.contains(&expected) {
                return Err(StoreError::OtherSchema { path: place.to_path_buf(), version });
            }
        }
        let made = made.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]);
        let made = Digest::of_fields(made).to_hex();
        if made != self.made {
            tracing::debug!(made, "the tables are not as they were made");
            return Err(StoreError::OtherSchema { path: place.to_path_buf(), version: known });
        }
        seal_of(&meta).ok_or_else(damaged)
    }
}

/// What the store says of itself, in its one spelling.
fn seal_of(meta: &BTreeMap<String, String>) -> Option<Seal> {
    let identity = StoreIdentity {
        id: meta.get("store")?.parse().ok()?,
        created_at: Instant::from_micros(meta.get("created_at")?.parse().ok()?),
    };
    let (key, signature) = (meta.get("key")?.parse().ok()?, meta.get("signature")?.parse().ok()?);
    let seal = Seal { identity, key, signature };
    let is_one_spelling = identity.id.to_string() == *meta.get("store")?
        && identity.created_at.micros().to_string() == *meta.get("created_at")?;
    is_one_spelling.then_some(seal)
}
