//! Sessions: a conversation, whose it is, the tools that it pins, and what was said in it.

use mast_kernel::canonical::Digest;
use mast_kernel::event::{Actor, Event, EventBody, ItemKind, ItemRecord, Link, SessionCreated};
use mast_kernel::id::{CallId, ItemId, RunId, SessionId, StoreId};
use mast_kernel::name;
use mast_kernel::policy::Authority;
use mast_kernel::spec::SideEffect;
use mast_kernel::trust::Label;
use mast_provider::ToolOffer;
use mast_store::{Durability, READ_ROWS_MAX};
use serde::{Deserialize, Serialize};

use crate::context::{self, ContextItem, ItemBody};
use crate::envelope::EnvelopeKey;
use crate::error::RuntimeError;
use crate::run_loop::SoFar;
use crate::runtime::Runtime;
use crate::scribe::Scribe;

/// What is to be said of a new session.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Whose it is.
    pub authority: Authority,
    /// Where it begins, such as `cli`: a constant of the surface.
    pub surface: &'static str,
}

/// A conversation.
#[derive(Debug, Clone)]
pub struct Session {
    pub(crate) id: SessionId,
    pub(crate) store: StoreId,
    pub(crate) authority: Authority,
    pub(crate) catalogue: Vec<Pinned>,
    pub(crate) key: EnvelopeKey,
    pub(crate) items: Vec<ContextItem>,
    /// Place of the newest item; 0 before the first.
    pub(crate) last_place: u64,
}

impl Session {
    /// Which session.
    #[must_use]
    pub const fn id(&self) -> SessionId {
        self.id
    }

    /// Whose it is.
    #[must_use]
    pub const fn authority(&self) -> &Authority {
        &self.authority
    }
}

/// One tool as a session pins it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// Registry name.
    pub name: String,
    /// Exact version.
    pub version: String,
    /// Definition pin.
    pub pin: Digest,
}

/// What a session keeps for its whole life.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    tools: Vec<Pinned>,
    /// Hexadecimal digits of the key of its envelopes.
    envelope_key: mast_kernel::event::Salt,
}

impl Runtime {
    /// Begins a conversation. It pins the tools as they are declared now.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the store fails.
    pub async fn open_session(&self, new: NewSession) -> Result<Session, RuntimeError> {
        let identity = self.store().seal().identity;
        let id = SessionId::from_u128(self.world().ids.next_bits());
        let tools: Vec<Pinned> = self
            .toolbox()
            .registry()
            .latest()
            .map(|tool| Pinned {
                name: tool.spec.name.clone(),
                version: tool.spec.version.clone(),
                pin: tool.pin,
            })
            .collect();
        let salt = self.world().ids.salt();
        let catalogue = Catalogue { tools, envelope_key: mast_kernel::event::Salt::new(salt) };
        let mut scribe = Scribe::new(self.world(), id, None);
        let body = SessionCreated {
            tenant: new.authority.tenant,
            store: identity.id,
            principal: new.authority.principal,
            surface: new.surface.to_owned(),
            catalogue: scribe.content(&catalogue)?,
        };
        scribe.event(Actor::Principal, EventBody::SessionCreated(body));
        self.store().post(scribe.take(Durability::Normal));
        Ok(Session {
            id,
            store: identity.id,
            authority: new.authority,
            catalogue: catalogue.tools,
            key: EnvelopeKey::new(salt),
            items: Vec::new(),
            last_place: 0,
        })
    }

    /// Goes on in a conversation of this authority's.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NoSuchSession`] also where it belongs to somebody else; the others when what is
    /// stored cannot be read.
    pub async fn session(&self, id: SessionId, authority: Authority) -> Result<Session, RuntimeError> {
        let mut session = self.known_session(id, authority).await?;
        self.read_items(&mut session, None).await?;
        Ok(session)
    }

    /// The origin of whatever a model would propose next in a conversation of this authority's, once a person has
    /// typed to it.
    ///
    /// # Errors
    ///
    /// As [`Self::session`].
    pub async fn origin_in(&self, id: SessionId, authority: Authority) -> Result<Label, RuntimeError> {
        let session = self.session(id, authority).await?;
        let before = context::origin(&session.items, false);
        Ok(if session.items.is_empty() { Label::typed() } else { before })
    }

    /// A conversation of this authority's, as yet without what was said in it.
    pub(crate) async fn known_session(
        &self,
        id: SessionId,
        authority: Authority,
    ) -> Result<Session, RuntimeError> {
        let identity = self.store().seal().identity;
        let row = self
            .store()
            .session(id)
            .await?
            .filter(|row| row.tenant == authority.tenant && row.principal == authority.principal);
        let row = row.ok_or(RuntimeError::NoSuchSession(id))?;
        let catalogue: Catalogue = self.kept(id, &row.catalogue).await?;
        Ok(Session {
            id,
            store: identity.id,
            authority,
            catalogue: catalogue.tools,
            key: EnvelopeKey::new(*catalogue.envelope_key.as_bytes()),
            items: Vec::new(),
            last_place: 0,
        })
    }

    /// Reads the conversation from the journal's chain, not from rows: who wrote an item, and where it
    /// stands, is believed only as far as the chain holds. On the way it takes in what is said of one run.
    pub(crate) async fn read_items(
        &self,
        session: &mut Session,
        run: Option<RunId>,
    ) -> Result<SoFar, RuntimeError> {
        let (id, tenant) = (session.id, session.authority.tenant);
        let fault = |what: &str| RuntimeError::Conversation { session: id, what: what.to_owned() };
        let mut link = Link::genesis(tenant, id, session.store);
        let mut so_far = SoFar::default();
        loop {
            let events = self.store().events(id, link.sequence, READ_ROWS_MAX).await?;
            let is_last = events.len() < READ_ROWS_MAX as usize;
            for event in events {
                let follows = event.sequence == link.sequence + 1 && event.previous == link.hash;
                if !follows || event.computed_hash().ok() != Some(event.hash) {
                    return Err(fault("its journal was changed; see `mast journal verify`"));
                }
                link = Link { sequence: event.sequence, hash: event.hash };
                if run.is_some() && event.run == run {
                    so_far.begins_at.get_or_insert(session.items.len());
                    so_far.take(&event);
                }
                let Some(record) = item_of(&event) else { continue };
                let body = self.kept(id, &record.content).await?;
                session.last_place = record.place;
                session.items.push(ContextItem { id: record.item, label: record.label, body });
            }
            if is_last {
                return Ok(so_far);
            }
        }
    }

    /// Reads a stored value back. Its commitment is checked: what was changed on disk is not believed.
    async fn kept<T: for<'de> Deserialize<'de>>(
        &self,
        session: SessionId,
        commitment: &Digest,
    ) -> Result<T, RuntimeError> {
        let fault = |what: &str| RuntimeError::Conversation { session, what: what.to_owned() };
        let row = self.store().content(commitment).await?.ok_or_else(|| fault("a part of it is missing"))?;
        if mast_kernel::event::commitment(&row.salt, &row.value) != *commitment {
            return Err(fault("a part of it was changed; see `mast journal verify`"));
        }
        T::deserialize(row.value.value()).map_err(|_| fault("a part of it is in a form that is not known"))
    }

    /// The tools of a session that are still declared as it pinned them, as a model is offered them; those on files
    /// only where there is a folder for them.
    pub(crate) fn offers(&self, session: &Session, has_workspace: bool) -> Vec<(String, ToolOffer)> {
        let registry = self.toolbox().registry();
        let pinned = session.catalogue.iter().filter_map(|pinned| {
            registry.get(&pinned.name, Some(&pinned.version)).filter(|tool| tool.pin == pinned.pin)
        });
        let is_there = |effect: SideEffect| {
            has_workspace || !matches!(effect, SideEffect::WorkspaceRead | SideEffect::WorkspaceWrite)
        };
        pinned
            .filter(|tool| is_there(tool.spec.side_effect))
            .map(|tool| {
                let offer = ToolOffer {
                    name: name::provider_safe(&tool.spec.name),
                    description: tool.spec.description.clone(),
                    input_schema: tool.spec.input_schema.clone(),
                };
                (tool.spec.name.clone(), offer)
            })
            .collect()
    }
}

/// The item that an event puts into the conversation.
fn item_of(event: &Event) -> Option<ItemRecord> {
    match event.body().ok()? {
        EventBody::UserMessageCreated(record)
        | EventBody::ContextItemAppended(record)
        | EventBody::AssistantMessageCompleted(record) => Some(record),
        _ => None,
    }
}

/// One more item of a conversation.
pub(crate) struct NewItem {
    pub(crate) id: ItemId,
    pub(crate) place: u64,
    pub(crate) kind: ItemKind,
    pub(crate) label: Label,
    pub(crate) call: Option<CallId>,
    /// Commitment to a value that begins with the fields of an [`ItemBody`].
    pub(crate) content: Digest,
}

impl NewItem {
    /// The payload that puts it on record.
    pub(crate) fn record(&self) -> ItemRecord {
        let Self { id, place, kind, label, call, content } = *self;
        ItemRecord { item: id, place, kind, label, call, content }
    }
}

/// The item that a body becomes in the context.
pub(crate) fn context_item(new: &NewItem, body: ItemBody) -> ContextItem {
    ContextItem { id: new.id, label: new.label, body }
}
