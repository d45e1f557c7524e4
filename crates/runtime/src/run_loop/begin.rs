//! How a run begins: its terms are fixed, and its message is put on record.

use mast_kernel::budget::Spent;
use mast_kernel::event::{Actor, EventBody, ItemKind, RunSetup};
use mast_kernel::id::{ItemId, RunId};
use mast_kernel::limits;
use mast_kernel::policy::{Overlay, narrowed_mode};
use mast_kernel::run::{Mode, TurnContract};
use mast_kernel::trust::Label;
use mast_provider::Provider;
use mast_store::Durability;

use super::{At, RunRequest, Said, Standing, Surface, Terms, Work};
use crate::bus::Progress;
use crate::context::{ItemBody, Prefix};
use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::scribe::Scribe;
use crate::session::{NewItem, Session, context_item};

/// Who answers in a run.
#[derive(Debug, Clone, Copy)]
pub struct Answerer<'a> {
    /// Which provider.
    pub provider: &'a str,
    /// Which model.
    pub model: &'a str,
}

impl Runtime {
    /// Accepts a run and leaves it to whoever takes it up: see [`Runtime::resume`] and `mast worker`.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the store fails or the request cannot be accepted.
    pub async fn enqueue(
        &self,
        session: &mut Session,
        request: RunRequest,
        by: Answerer<'_>,
    ) -> Result<RunId, RuntimeError> {
        self.retire_waiting(session.id()).await?;
        let required = self.looked_before(request.required, request.workspace.as_deref()).await?;
        let request = RunRequest { required, ..request };
        let run = RunId::from_u128(self.world().ids.next_bits());
        let (mut scribe, ..) = accept(self, session, (run, request), by)?;
        self.store().commit(scribe.take(Durability::Full)).await?;
        Ok(run)
    }
}

impl<'a> Work<'a> {
    /// Fixes the terms, and writes the message and the beginning.
    pub(super) fn begin(
        runtime: &'a Runtime,
        session: &'a mut Session,
        asked: (RunId, RunRequest),
        provider: &'a dyn Provider,
        surface: Surface<'a>,
    ) -> Result<Self, RuntimeError> {
        let run = asked.0;
        let by = Answerer { provider: provider.name(), model: provider.model() };
        let (mut scribe, terms, setup) = accept(runtime, session, asked, by)?;
        scribe.event(Actor::Platform, EventBody::RunStarted(setup));
        runtime.store().post(scribe.take(Durability::Normal));
        let (provider_name, model) = (provider.name().to_owned(), provider.model().to_owned());
        surface.observer.observe(&Progress::RunStarted { run, provider: provider_name, model });
        let spent = Spent::nothing(terms.contract.budget);
        let (usage, breaker, person) = Default::default();
        let at = At { run, standing: Standing::AtWork, epoch: 0, so_far: None };
        Ok(Self { runtime, provider, surface, session, at, terms, spent, usage, breaker, person })
    }
}

/// The message and the run, to be written, and what is fixed for the whole of it.
fn accept<'a>(
    runtime: &'a Runtime,
    session: &mut Session,
    (run, request): (RunId, RunRequest),
    by: Answerer<'_>,
) -> Result<(Scribe<'a>, Terms, RunSetup), RuntimeError> {
    let found = request.prompt.iter().map(|said| said.text.len()).sum();
    if found > limits::PROMPT_BYTES_MAX {
        return Err(RuntimeError::PromptTooLong { found, max: limits::PROMPT_BYTES_MAX });
    }
    let mut scribe = Scribe::new(runtime.world(), session.id(), Some(run));
    for said in &request.prompt {
        say(&mut scribe, session, ItemId::from_u128(runtime.world().ids.next_bits()), said)?;
    }
    let priority = request.priority;
    let terms = terms(runtime, session, request)?;
    let setup = RunSetup {
        provider: by.provider.to_owned(),
        model: by.model.to_owned(),
        mode: terms.contract.mode,
        policy_version: runtime.policy().version().to_owned(),
        overlay: runtime.policy().overlay() == Overlay::On,
        contract: scribe.content(&terms.contract)?,
        priority,
    };
    scribe.event(Actor::Principal, EventBody::RunQueued(setup.clone()));
    Ok((scribe, terms, setup))
}

/// Puts one part of the message on record.
fn say(scribe: &mut Scribe<'_>, session: &mut Session, id: ItemId, said: &Said) -> Result<(), RuntimeError> {
    let body = ItemBody::Said { text: said.text.clone() };
    let content = scribe.content(&body)?;
    session.last_place += 1;
    let (place, label) = (session.last_place, said.label);
    let new = NewItem { id, place, kind: ItemKind::User, label, call: None, content };
    scribe.event(Actor::Principal, EventBody::UserMessageCreated(new.record()));
    session.items.push(context_item(&new, body));
    Ok(())
}

/// What is fixed for the whole run. A tool that is asked for and not there is the caller's mistake.
fn terms(runtime: &Runtime, session: &Session, request: RunRequest) -> Result<Terms, RuntimeError> {
    let workspace = runtime.workspace(request.workspace.as_deref())?;
    let surroundings = runtime.surroundings_with(workspace.as_ref());
    let mut offers = runtime.offers(session, surroundings.workspace);
    if let Some(wanted) = &request.tools {
        let missing = wanted.iter().find(|name| !offers.iter().any(|(offered, _)| offered == *name));
        if let Some(missing) = missing {
            return Err(RuntimeError::NoSuchTool(missing.clone()));
        }
        offers.retain(|(name, _)| wanted.contains(name));
    }
    let mode = narrowest(&request);
    if mode == Mode::NoTools {
        offers.clear();
    }
    let mut contract = TurnContract {
        tools: offers.iter().map(|(name, _)| name.clone()).collect(),
        mode,
        approval_mode: request.approval_mode,
        budget: request.budget,
        required: request.required,
        workspace: request.workspace,
    };
    if mode == Mode::Plan {
        let registry = runtime.toolbox().registry();
        contract.tools.retain(|name| {
            registry.get(name, None).is_some_and(|tool| mast_kernel::policy::is_offered_in_plan(&tool.spec))
        });
        offers.retain(|(name, _)| contract.tools.contains(name));
    }
    let prefix =
        Prefix::new(request.instructions.as_deref(), offers.into_iter().map(|(_, offer)| offer).collect());
    Ok(Terms {
        contract,
        prefix,
        has_instructions: request.instructions.is_some(),
        date_line: request.date_line,
        surroundings,
        workspace,
    })
}

/// The mode that was asked for, or the narrower one that the person's own words ask for.
fn narrowest(request: &RunRequest) -> Mode {
    let typed = request.prompt.iter().filter(|said| said.label == Label::typed());
    typed.filter_map(|said| narrowed_mode(&said.text)).fold(request.mode, Mode::max)
}
