//! A batch, made ready to be written: checked, folded onto the rows, and its events sealed into the
//! chain. Pure; both stores write exactly what comes out of it.

use mast_kernel::call::CallStatus;
use mast_kernel::event::{Event, EventBody, Link, NewEvent};
use mast_kernel::id::SessionId;
use mast_kernel::permit::ClaimRecord;
use serde_json::Value;

use crate::BATCH_EVENTS_MAX;
use crate::batch::Batch;
use crate::error::{Conflict, StoreError};
use crate::fold::{Delta, Moment, State, View, apply, held};
use crate::record::StoreIdentity;

/// Where a session stands, with what is not written yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standing {
    /// The end of its chain; none before its first event.
    pub(crate) link: Option<Link>,
    /// What is made and changed by batches that are to be written together.
    pub(crate) delta: Delta,
}

/// A batch that fits, and where the session stands once it is written.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) standing: Standing,
    pub(crate) events: Vec<Event>,
}

/// Makes a batch ready on top of `state` and `standing`.
///
/// # Errors
///
/// A refusal (see [`StoreError::is_refusal`]); then nothing has changed.
pub(crate) fn prepare(
    identity: &StoreIdentity,
    state: &State,
    standing: &Standing,
    batch: &Batch,
) -> Result<Prepared, StoreError> {
    if batch.events.len() > BATCH_EVENTS_MAX {
        return Err(StoreError::BatchTooLarge { n_events: batch.events.len(), max: BATCH_EVENTS_MAX });
    }
    let Standing { mut link, mut delta } = standing.clone();
    let mut view = View { id: batch.session, state, delta: &mut delta };
    if let Some(fence) = batch.fence {
        held(&view, fence).map_err(StoreError::Conflict)?;
    }
    let mut events = Vec::with_capacity(batch.events.len());
    for new in &batch.events {
        let new = NewEvent { at: view.moment(new.at), ..new.clone() };
        apply(&mut view, Moment { run: new.run, at: new.at }, &new.body).map_err(StoreError::Conflict)?;
        let before = match link {
            Some(link) => link,
            None => genesis(identity, batch.session, &new)?,
        };
        let event = Event::seal(&before, batch.session, &new)?;
        if event.payload.values().any(holds_nul) {
            return Err(StoreError::NulInText);
        }
        link = Some(event.link());
        events.push(event);
    }
    if let Some(claim) = &batch.claim {
        check_claim(&view, claim)?;
    }
    Ok(Prepared { standing: Standing { link, delta }, events })
}

/// Where the first event of a session goes on.
fn genesis(identity: &StoreIdentity, session: SessionId, first: &NewEvent) -> Result<Link, StoreError> {
    let EventBody::SessionCreated(told) = &first.body else {
        return Err(StoreError::NoSuchSession(session));
    };
    if told.store != identity.id {
        return Err(StoreError::OtherStore { said: told.store, this: identity.id });
    }
    Ok(Link::genesis(told.tenant, session, told.store))
}

/// Whether the batch claims what the permit is for.
fn check_claim(view: &View<'_>, claim: &ClaimRecord) -> Result<(), StoreError> {
    let row = view.call(claim.call).map_err(StoreError::Conflict)?;
    if row.status == CallStatus::Running && row.idempotency_key == Some(claim.idempotency_key) {
        return Ok(());
    }
    let what = format!("call {}", claim.call);
    Err(StoreError::Conflict(Conflict::Untrue { what, why: "the permit has another idempotency key" }))
}

/// Whether a text anywhere in the value holds a NUL.
fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_nul),
        Value::Object(members) => members.iter().any(|(key, value)| key.contains('\0') || holds_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
