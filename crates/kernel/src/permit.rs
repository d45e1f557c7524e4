//! The right to run one call once.
//!
//! A [`Permit`] holds all that a tool may act on: which tool, the canonical arguments, the resources.
//! Only [`crate::policy`] makes one, from a decision. [`claim`] is the only way from a permit to a
//! [`Claimed`] permit, which is what a tool's body takes, and it commits the claim first. Neither can
//! be copied, so neither can be used twice. Rejected: a token beside the arguments, which could be
//! paired with other arguments. See `docs/spec/gate.md`.

use crate::canonical::{Canonical, Digest};
use crate::id::CallId;
use crate::resource::Resource;

/// The right to run one call, not yet claimed.
#[derive(Debug)]
#[must_use = "a permit that is dropped runs nothing"]
pub struct Permit {
    call: CallId,
    tool: String,
    version: String,
    pin: Digest,
    arguments: Canonical,
    resources: Vec<Resource>,
    idempotency_key: Digest,
}

/// What a permit is made from. Building one of these gives no right to anything.
#[derive(Debug, Clone)]
pub(crate) struct Grounds {
    pub(crate) call: CallId,
    pub(crate) tool: String,
    pub(crate) version: String,
    pub(crate) pin: Digest,
    pub(crate) arguments: Canonical,
    pub(crate) resources: Vec<Resource>,
    pub(crate) idempotency_key: Digest,
}

impl Permit {
    /// Makes a permit. Only a decision may call this; a test counts the places.
    pub(crate) fn issue(grounds: Grounds) -> Self {
        let Grounds { call, tool, version, pin, arguments, resources, idempotency_key } = grounds;
        Self { call, tool, version, pin, arguments, resources, idempotency_key }
    }

    /// The call that may run.
    #[must_use]
    pub const fn call(&self) -> CallId {
        self.call
    }

    /// Registry name of the tool that may run.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Exact version of the tool that may run.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Definition pin of the tool that may run.
    #[must_use]
    pub const fn pin(&self) -> Digest {
        self.pin
    }

    /// The arguments that were judged, in their canonical form.
    #[must_use]
    pub const fn arguments(&self) -> &Canonical {
        &self.arguments
    }

    /// The resources that were judged.
    #[must_use]
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The key under which an outside service can tell a repetition.
    #[must_use]
    pub const fn idempotency_key(&self) -> Digest {
        self.idempotency_key
    }

    /// What is committed when this permit is claimed.
    #[must_use]
    pub fn claim_record(&self) -> ClaimRecord {
        ClaimRecord {
            call: self.call,
            idempotency_key: self.idempotency_key,
            argument_digest: self.arguments.digest(),
        }
    }
}

/// What a claim says; the store commits it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRecord {
    /// The call that is about to run.
    pub call: CallId,
    /// Its idempotency key.
    pub idempotency_key: Digest,
    /// Digest of the exact arguments that it will run with.
    pub argument_digest: Digest,
}

/// A claim that was not committed. Nothing may run.
#[derive(Debug, thiserror::Error)]
pub enum ClaimRefused {
    /// Somebody else runs it, or it ran.
    #[error("the call was claimed before")]
    Lost,
    /// What was to be committed is not this claim.
    #[error("the record to be committed is of another call")]
    Mismatch,
    /// The store did not answer well. Nothing may run.
    #[error("the store could not commit the claim")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Where claims are committed. Stores implement it; an embedder with a store of their own may.
pub trait ClaimLog {
    /// Commits the claim so that it survives a crash, before anything acts on it.
    ///
    /// # Errors
    ///
    /// [`ClaimRefused`]; then nothing was committed, or nobody can tell, and nothing may run.
    fn commit_claim(&self, record: &ClaimRecord) -> impl Future<Output = Result<(), ClaimRefused>> + Send;
}

/// Something that was claimed: the store has committed that it is about to be used.
#[derive(Debug)]
#[must_use = "what was claimed is running as far as the journal knows: run it, or settle it"]
pub struct Claimed<T> {
    inner: T,
}

impl<T> std::ops::Deref for Claimed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

/// Commits the claim and gives the right to run. The permit is used up either way.
///
/// # Errors
///
/// [`ClaimRefused`]; nothing may run.
pub async fn claim<L: ClaimLog>(log: &L, permit: Permit) -> Result<Claimed<Permit>, ClaimRefused> {
    log.commit_claim(&permit.claim_record()).await?;
    Ok(Claimed { inner: permit })
}
