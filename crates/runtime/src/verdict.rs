//! Verdicts: a person's yes or no to a question, and grants taken back.
//!
//! A verdict is a row of the journal before anything follows from it, and it is given once: of two at the
//! same moment the store takes one. What a surface shows is never read back; what was sealed is. See
//! `docs/spec/approvals.md`.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::canonical::{Canonical, Digest};
use mast_kernel::event::{
    Actor, ApprovalInvalidated, ApprovalResolved, EventBody, GrantCreated, GrantExpired, GrantRevoked, Reach,
};
use mast_kernel::grant::{Grant, GrantStatus, GrantTerms};
use mast_kernel::id::{ApprovalId, GrantId, SessionId};
use mast_kernel::instant::Instant;
use mast_kernel::limits;
use mast_kernel::policy::Authority;
use mast_kernel::scope::Scope;
use mast_store::{ApprovalRow, Batch, Durability, GrantFilter, GrantRow, StoreError};
use serde_json::Value;

use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::scribe::Scribe;

/// What a person says of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may be done, and so far the yes reaches.
    Yes(Reach),
    /// It may not be done.
    No,
}

/// One answer to one question.
#[derive(Debug, Clone)]
pub struct Answer<'a> {
    /// Which question.
    pub approval: ApprovalId,
    /// What is said.
    pub verdict: Verdict,
    /// Words for the model, with a no.
    pub words: Option<&'a str>,
    /// Who says it. It must hold `approval.resolve`.
    pub by: &'a Authority,
}

/// An answer that was not taken.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    /// There is no such question of this principal's.
    #[error("there is no approval {0} of yours")]
    NoSuchApproval(ApprovalId),
    /// There is no such grant of this principal's.
    #[error("there is no grant {0} of yours")]
    NoSuchGrant(GrantId),
    /// Whoever answers may not.
    #[error("the scope approval.resolve is needed to answer")]
    NotAllowed,
    /// It was answered before, and otherwise, or it is over.
    #[error("{approval} is {status} already")]
    Settled {
        /// The question.
        approval: ApprovalId,
        /// Where it stands.
        status: ApprovalStatus,
    },
    /// The grant is over.
    #[error("{grant} is {status} already")]
    GrantOver {
        /// The grant.
        grant: GrantId,
        /// Where it stands.
        status: GrantStatus,
    },
    /// Its time is over; that is now on record.
    #[error("{0} has expired, so nothing is done")]
    Expired(ApprovalId),
    /// It does not hold any more; that is now on record.
    #[error("{approval} does not hold any more: {}", sentence(.code))]
    Void {
        /// The question.
        approval: ApprovalId,
        /// The reason code.
        code: &'static str,
    },
    /// A yes to this question may not reach so far.
    #[error("a yes to {approval} reaches {most} at most")]
    TooFar {
        /// The question.
        approval: ApprovalId,
        /// The furthest that it may reach.
        most: Reach,
    },
    /// The words are too long.
    #[error("the words to the model have more than {} bytes", limits::WORDS_BYTES_MAX)]
    WordsTooLong,
    /// The runtime could not go on.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

impl From<StoreError> for NotTaken {
    fn from(error: StoreError) -> Self {
        Self::Runtime(error.into())
    }
}

/// The clock shows a moment that is long over, going by what is on record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WentBack;

/// Why nothing that is timed holds then.
pub(crate) const CLOCK: &str = "approval.void.clock";

fn sentence(code: &str) -> &'static str {
    mast_kernel::message::lookup(code).map_or("", |entry| entry.message)
}

impl Runtime {
    /// Takes a person's answer, and puts it on record. The same answer twice is taken once and is no
    /// error; another one than before is refused.
    ///
    /// # Errors
    ///
    /// [`NotTaken`]; then nothing that was asked may be done because of this answer.
    pub async fn answer(&self, answer: &Answer<'_>) -> Result<ApprovalRow, NotTaken> {
        if answer.words.is_some_and(|words| words.len() > limits::WORDS_BYTES_MAX) {
            return Err(NotTaken::WordsTooLong);
        }
        let row = self.open_question(answer).await?;
        if let Some(same) = settled(&row, answer.verdict) {
            return same;
        }
        let now = self.answering_time(&row).await?;
        let sealed = self.sealed_fields(&row).await?;
        if let Verdict::Yes(reach) = answer.verdict
            && reach > row.reach
        {
            return Err(NotTaken::TooFar { approval: row.id, most: row.reach });
        }
        let batch = self.verdict_batch(&row, answer, &sealed, now)?;
        match self.store().commit(batch).await {
            Ok(_) => {}
            // Somebody was faster. What they said counts.
            Err(error) if error.is_refusal() => {}
            Err(error) => return Err(error.into()),
        }
        let row = self.open_question(answer).await?;
        settled(&row, answer.verdict)
            .unwrap_or(Err(NotTaken::Settled { approval: row.id, status: row.status }))
    }

    async fn open_question(&self, answer: &Answer<'_>) -> Result<ApprovalRow, NotTaken> {
        let by = answer.by;
        if !Scope::parse("approval.resolve").is_some_and(|scope| by.scopes.contains(&scope)) {
            return Err(NotTaken::NotAllowed);
        }
        let foreign = || NotTaken::NoSuchApproval(answer.approval);
        let row = self.store().approval(answer.approval).await?.ok_or_else(foreign)?;
        if self.is_owner(row.session, by).await? { Ok(row) } else { Err(foreign()) }
    }

    async fn is_owner(&self, session: SessionId, by: &Authority) -> Result<bool, StoreError> {
        let session = self.store().session(session).await?;
        Ok(session.is_some_and(|session| session.tenant == by.tenant && session.principal == by.principal))
    }

    fn verdict_batch(
        &self,
        row: &ApprovalRow,
        answer: &Answer<'_>,
        sealed: &Value,
        now: Instant,
    ) -> Result<Batch, NotTaken> {
        let mut scribe = Scribe::new(self.world(), row.session, Some(row.run)).not_before(now);
        let words = match answer.words {
            Some(words) => Some(scribe.content(&words).map_err(RuntimeError::from)?),
            None => None,
        };
        let (status, reach) = match answer.verdict {
            Verdict::Yes(reach) => (ApprovalStatus::Approved, Some(reach)),
            Verdict::No => (ApprovalStatus::Denied, None),
        };
        let resolved_by = Some(answer.by.principal);
        let body = ApprovalResolved { approval: row.id, status, reach, resolved_by, words };
        scribe.event(Actor::Principal, EventBody::ApprovalResolved(body));
        if let Some(reach) = reach.filter(|reach| *reach != Reach::Once) {
            let void = NotTaken::Void { approval: row.id, code: "approval.void.seal" };
            let terms = GrantTerms::of(sealed, reach, now).ok_or(void)?;
            let value = serde_json::to_value(&terms).unwrap_or_default();
            let body = GrantCreated {
                grant: GrantId::from_u128(self.world().ids.next_bits()),
                approval: row.id,
                reach,
                tool: terms.tool.name.clone(),
                seal: Canonical::of(&value).map_err(RuntimeError::from)?.digest(),
                sealed: scribe.value(&value).map_err(RuntimeError::from)?,
                expires_at: terms.expires_at,
                uses_max: limits::GRANT_USES_MAX,
            };
            scribe.event(Actor::Principal, EventBody::GrantCreated(body));
        }
        Ok(scribe.take(Durability::Full))
    }

    /// The time by which an answer to a question is judged. A clock that went back, or a time that is over,
    /// settles the question.
    async fn answering_time(&self, row: &ApprovalRow) -> Result<Instant, NotTaken> {
        let now = match self.judging_time(row.session).await? {
            Ok(now) => now,
            Err(WentBack) => return Err(self.void(row, CLOCK, self.world().clock.now()).await?),
        };
        if now >= row.expires_at {
            self.expire(row, now).await?;
            return Err(NotTaken::Expired(row.id));
        }
        Ok(now)
    }

    /// Whether a question is still open, or has just been settled because its time is over or cannot be told.
    pub(crate) async fn is_open_still(
        &self,
        row: &ApprovalRow,
        now: Result<Instant, WentBack>,
    ) -> Result<bool, StoreError> {
        match now {
            Ok(now) if now < row.expires_at => return Ok(true),
            Ok(now) => self.expire(row, now).await?,
            Err(WentBack) => drop(self.void(row, CLOCK, self.world().clock.now()).await?),
        }
        Ok(false)
    }

    /// The time by which whatever is timed in a session is judged: approvals and grants. It is never before what
    /// is on record; a clock that went back by more than moments is no time to judge by at all.
    pub(crate) async fn judging_time(
        &self,
        session: SessionId,
    ) -> Result<Result<Instant, WentBack>, StoreError> {
        let (now, last) = (self.world().clock.now(), self.store().last_moment(session).await?);
        Ok(match last {
            Some(last) if now.plus_seconds(limits::CLOCK_BACK_SECONDS) < last => Err(WentBack),
            last => Ok(last.map_or(now, |last| now.max(last))),
        })
    }

    /// Puts on record that nobody answered in time.
    async fn expire(&self, row: &ApprovalRow, now: Instant) -> Result<(), StoreError> {
        let mut scribe = Scribe::new(self.world(), row.session, Some(row.run)).not_before(now);
        let (status, nobody) = (ApprovalStatus::Expired, None);
        let body =
            ApprovalResolved { approval: row.id, status, reach: None, resolved_by: nobody, words: None };
        scribe.event(Actor::Platform, EventBody::ApprovalResolved(body));
        self.settle_question(scribe.take(Durability::Full)).await
    }

    async fn void(
        &self,
        row: &ApprovalRow,
        code: &'static str,
        now: Instant,
    ) -> Result<NotTaken, StoreError> {
        let mut scribe = Scribe::new(self.world(), row.session, Some(row.run)).not_before(now);
        let body = ApprovalInvalidated { approval: row.id, call: row.call, reason_code: code.to_owned() };
        scribe.event(Actor::Platform, EventBody::ApprovalInvalidated(body));
        self.settle_question(scribe.take(Durability::Full)).await?;
        Ok(NotTaken::Void { approval: row.id, code })
    }

    /// Commits what ends a question; that somebody else has ended it already is as good.
    async fn settle_question(&self, batch: Batch) -> Result<(), StoreError> {
        match self.store().commit(batch).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_refusal() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The fields that a question was sealed over. They are believed only with their commitment and seal,
    /// and only if what is shown is what was sealed as shown.
    async fn sealed_fields(&self, row: &ApprovalRow) -> Result<Value, NotTaken> {
        let fields = self.committed(&row.sealed).await?;
        let card = self.committed(&row.card).await?;
        let seal =
            fields.as_ref().and_then(|fields| Canonical::of(fields).ok()).map(|fields| fields.digest());
        let shown =
            card.as_ref().and_then(|card| Canonical::of(card).ok()).map(|card| card.digest().to_hex());
        let sealed_shown =
            fields.as_ref().and_then(|fields| fields.get("shown")?.as_str().map(str::to_owned));
        match fields {
            Some(fields) if seal == Some(row.seal) && shown.is_some() && shown == sealed_shown => Ok(fields),
            _ => Err(self.void(row, "approval.void.seal", row.requested_at).await?),
        }
    }

    /// A value of the journal, if it is the one that was committed to.
    pub(crate) async fn committed(&self, commitment: &Digest) -> Result<Option<Value>, StoreError> {
        let row = self.store().content(commitment).await?;
        let row = row.filter(|row| mast_kernel::event::commitment(&row.salt, &row.value) == *commitment);
        Ok(row.map(|row| row.value.value()))
    }

    /// The grants in force in a session, and the time to hold them against. A clock that went back ends them.
    pub(crate) async fn grants_now(&self, session: SessionId) -> Result<(Vec<Grant>, Instant), StoreError> {
        let grants = self.grants_of(session).await?;
        let wall = self.world().clock.now();
        if grants.is_empty() {
            return Ok((grants, wall));
        }
        if let Ok(now) = self.judging_time(session).await? {
            return Ok((grants, now));
        }
        for grant in grants {
            let mut scribe = Scribe::new(self.world(), session, None);
            scribe.event(Actor::Platform, EventBody::GrantExpired(GrantExpired { grant: grant.id }));
            self.settle_question(scribe.take(Durability::Full)).await?;
        }
        Ok((Vec::new(), wall))
    }

    /// The grants in force in a session that this version of Mast made.
    pub(crate) async fn grants_of(&self, session: SessionId) -> Result<Vec<Grant>, StoreError> {
        let limit = u32::try_from(limits::GRANTS_MAX).unwrap_or(u32::MAX);
        let status = Some(GrantStatus::Active);
        let filter = GrantFilter { session: Some(session), status, limit, ..GrantFilter::default() };
        let mut grants = Vec::new();
        for row in self.store().grants(&filter).await? {
            let Some(value) = self.committed(&row.sealed).await? else { continue };
            let is_sealed = Canonical::of(&value).is_ok_and(|value| value.digest() == row.seal);
            let terms = serde_json::from_value::<GrantTerms>(value).ok();
            let terms = terms.filter(|terms| is_sealed && terms.agent_version == crate::AGENT_VERSION);
            let (id, n_uses, uses_max) = (row.id, row.n_uses, row.uses_max);
            grants.extend(terms.map(|terms| Grant { id, terms, n_uses, uses_max }));
        }
        Ok(grants)
    }

    /// Takes a grant back. What it allowed before stays done.
    ///
    /// # Errors
    ///
    /// [`NotTaken`] where there is no such grant, or it is over.
    pub async fn revoke(&self, grant: GrantId, by: &Authority) -> Result<GrantRow, NotTaken> {
        let row = self.store().grant(grant).await?.ok_or(NotTaken::NoSuchGrant(grant))?;
        if !self.is_owner(row.session, by).await? {
            return Err(NotTaken::NoSuchGrant(grant));
        }
        if row.status != GrantStatus::Active {
            return Err(NotTaken::GrantOver { grant, status: row.status });
        }
        let mut scribe = Scribe::new(self.world(), row.session, Some(row.run));
        let body = match self.world().clock.now() >= row.expires_at {
            true => EventBody::GrantExpired(GrantExpired { grant }),
            false => EventBody::GrantRevoked(GrantRevoked { grant, revoked_by: by.principal }),
        };
        scribe.event(Actor::Principal, body);
        self.settle_question(scribe.take(Durability::Full)).await?;
        self.store().grant(grant).await?.ok_or(NotTaken::NoSuchGrant(grant))
    }
}

/// Whether the question is settled, and as the answer says; none while it is open.
fn settled(row: &ApprovalRow, verdict: Verdict) -> Option<Result<ApprovalRow, NotTaken>> {
    let is_same = match (row.status, verdict) {
        (ApprovalStatus::Pending, _) => return None,
        (ApprovalStatus::Approved | ApprovalStatus::Consumed, Verdict::Yes(reach)) => {
            row.granted == Some(reach)
        }
        (ApprovalStatus::Denied, Verdict::No) => true,
        _ => false,
    };
    Some(if is_same {
        Ok(row.clone())
    } else {
        Err(NotTaken::Settled { approval: row.id, status: row.status })
    })
}
