//! Settles a call of which nobody could say whether it happened: a person says it, or its tool looks.
//! See `docs/spec/recovery.md`.

use mast_kernel::call::CallStatus;
use mast_kernel::event::{Actor, CallReconciled, EventBody, ItemKind, Reconciled, ReconciledBy};
use mast_kernel::id::{CallId, ItemId};
use mast_kernel::policy::Authority;
use mast_kernel::trust::Label;
use mast_store::{Batch, CallRow, Durability};
use mast_tools::Probed;
use serde_json::Value;

use crate::context::ItemBody;
use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::scribe::Scribe;
use crate::session::NewItem;

/// How often it is tried while somebody else writes into the conversation.
const ATTEMPTS_MAX: u32 = 8;

/// Why a call was not reconciled.
#[derive(Debug, thiserror::Error)]
pub enum NotReconciled {
    /// There is no such call of this principal's.
    #[error("there is no call {0} of yours")]
    NoSuchCall(CallId),
    /// Its outcome is known, or it is not settled yet.
    #[error("the outcome of {call} is not in doubt: it is {status}")]
    NotInDoubt {
        /// The call.
        call: CallId,
        /// Where it is.
        status: CallStatus,
    },
    /// Its tool cannot look.
    #[error("{0} cannot look whether it happened")]
    NoProbe(String),
    /// Its tool looked and cannot tell.
    #[error("{tool} looked and cannot tell: {why}")]
    CannotTell {
        /// The tool.
        tool: String,
        /// Why not.
        why: String,
    },
    /// The runtime cannot go on.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

impl From<mast_store::StoreError> for NotReconciled {
    fn from(error: mast_store::StoreError) -> Self {
        Self::Runtime(error.into())
    }
}

impl Runtime {
    /// A person says what became of a call whose outcome was unknown. The model is told with the next
    /// request of the conversation.
    ///
    /// # Errors
    ///
    /// [`NotReconciled`]; then nothing has changed.
    pub async fn reconcile(
        &self,
        call: CallId,
        verdict: Reconciled,
        by: &Authority,
    ) -> Result<CallRow, NotReconciled> {
        self.reconciled(call, (verdict, ReconciledBy::Person), by).await
    }

    /// Has the tool of a call look whether it happened.
    ///
    /// # Errors
    ///
    /// [`NotReconciled`], also where the tool cannot tell; then nothing has changed.
    pub async fn probe(&self, call: CallId, by: &Authority) -> Result<CallRow, NotReconciled> {
        let row = self.doubtful(call, by).await?;
        let declared = row.declared.as_ref();
        let name = declared.map_or_else(|| "unknown".to_owned(), |declared| declared.tool.clone());
        let no_probe = || NotReconciled::NoProbe(name.clone());
        // Another version may act in another place than the one that was called.
        let tool = declared.and_then(|declared| {
            let found = self.toolbox().registry().get(&declared.tool, Some(&declared.version))?;
            let body = self.toolbox().body(&declared.tool, &declared.version)?;
            (found.pin == declared.pin).then_some((found, body))
        });
        let (registered, body) = tool.ok_or_else(no_probe)?;
        let asked = self.committed(&row.arguments).await?.unwrap_or_default();
        let text = |name: &str| asked.get(name).and_then(Value::as_str).unwrap_or_default();
        let (_, arguments) = crate::gate::reached(self, text("name"), text("arguments"));
        let arguments = registered.arguments(arguments).map_err(|_| no_probe())?;
        let key = row.idempotency_key.ok_or_else(no_probe)?;
        match body.probe(&arguments.value(), key).await {
            Probed::Happened => self.reconciled(call, (Reconciled::Happened, ReconciledBy::Probe), by).await,
            Probed::DidNot => self.reconciled(call, (Reconciled::DidNot, ReconciledBy::Probe), by).await,
            Probed::CannotTell(why) => Err(NotReconciled::CannotTell { tool: name, why }),
            Probed::NoProbe => Err(no_probe()),
        }
    }

    async fn doubtful(&self, call: CallId, by: &Authority) -> Result<CallRow, NotReconciled> {
        let missing = NotReconciled::NoSuchCall(call);
        let Some(row) = self.store().call(call).await? else { return Err(missing) };
        let session = self.store().session(row.session).await?;
        if !session.is_some_and(|session| session.tenant == by.tenant && session.principal == by.principal) {
            return Err(missing);
        }
        if row.status == CallStatus::Uncertain {
            return Ok(row);
        }
        Err(NotReconciled::NotInDoubt { call, status: row.status })
    }

    /// Puts it on record, unless somebody else did meanwhile.
    async fn reconciled(
        &self,
        call: CallId,
        said: (Reconciled, ReconciledBy),
        by: &Authority,
    ) -> Result<CallRow, NotReconciled> {
        let mut attempts = 0;
        loop {
            let row = self.doubtful(call, by).await?;
            let batch = self.reconciliation(&row, said, by).await?;
            match self.store().commit(batch).await {
                Ok(_) => break,
                // Somebody else wrote into the conversation, or said it first.
                Err(error) if error.is_refusal() && attempts < ATTEMPTS_MAX => attempts += 1,
                Err(error) => return Err(error.into()),
            }
        }
        let settled = self.store().call(call).await?;
        settled.ok_or(NotReconciled::NoSuchCall(call))
    }

    async fn reconciliation(
        &self,
        row: &CallRow,
        (verdict, found_by): (Reconciled, ReconciledBy),
        by: &Authority,
    ) -> Result<Batch, NotReconciled> {
        let mut scribe = Scribe::new(self.world(), row.session, Some(row.run));
        let told = CallReconciled { call: row.id, verdict, found_by, principal: by.principal };
        scribe.event(Actor::Principal, EventBody::CallReconciled(told));
        let tool = row.declared.as_ref().map_or("unknown", |declared| declared.tool.as_str());
        let happened = match verdict {
            Reconciled::Happened => "did happen",
            Reconciled::DidNot => "did not happen",
        };
        let text = format!("The call of {tool} whose outcome was unknown {happened}.");
        let content = scribe.content(&ItemBody::Said { text }).map_err(RuntimeError::from)?;
        let place = self.last_place(row.session).await? + 1;
        let id = ItemId::from_u128(self.world().ids.next_bits());
        let (label, kind) = (Label::platform(), ItemKind::System);
        let item = NewItem { id, place, kind, label, call: Some(row.id), content };
        scribe.event(Actor::Platform, EventBody::ContextItemAppended(item.record()));
        Ok(scribe.take(Durability::Full))
    }

    /// The greatest place of an item of the session.
    async fn last_place(&self, session: mast_kernel::id::SessionId) -> Result<u64, NotReconciled> {
        let mut last = 0;
        loop {
            let items = self.store().items(session, last, 0).await?;
            match items.last() {
                Some(item) => last = item.place,
                None => return Ok(last),
            }
        }
    }
}
