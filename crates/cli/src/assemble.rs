//! Builds what a verb needs, and nothing that it does not: `call`, `tools` and `journal` never make a
//! client for the network, and a schema is compiled when its tool is called.

pub(crate) mod beside;
pub(crate) mod folders;
mod model;
#[cfg(debug_assertions)]
mod mortal;
pub(crate) mod owner;
mod policy;
mod storage;

use std::sync::Arc;

use mast_kernel::id::{PrincipalId, TenantId};
use mast_kernel::policy::Authority;
use mast_kernel::scope;
use mast_runtime::{Runtime, World};
use mast_store::Store;
use mast_tools::Toolbox;

pub(crate) use model::{Chosen, Reason, choose, local_servers};
pub(crate) use policy::{Tools, drafts, policy};
pub(crate) use storage::{open_store, open_to_look, signer};

use crate::args::Global;
use crate::config::{Config, Environment, Flags, PRESETS, Paths, key_for};
use crate::error::CliError;
use crate::output::Printer;
use crate::output::hidden::{self, Sight};

/// What every verb starts from.
#[derive(Debug)]
pub(crate) struct Start {
    /// What holds for every verb.
    pub(crate) global: Global,
    /// Where everything is printed.
    pub(crate) printer: Printer,
    /// The variables that Mast knows.
    pub(crate) environment: Environment,
    /// Where the files are.
    pub(crate) paths: Paths,
}

impl Start {
    /// Finds the folders.
    ///
    /// # Errors
    ///
    /// [`CliError`] when there is no place for them.
    pub(crate) fn new(global: Global, printer: &Printer, environment: Environment) -> Result<Self, CliError> {
        let paths = Paths::find(global.config.as_deref(), global.data_dir.as_deref(), &environment)?;
        keep_keys_back(&paths, &environment);
        Ok(Self { global, printer: printer.clone(), environment, paths })
    }

    /// The settings in force.
    ///
    /// # Errors
    ///
    /// [`CliError`] with the first thing that is wrong with them.
    pub(crate) fn config(&self, flags: &Flags) -> Result<Config, CliError> {
        let mut flags = flags.clone();
        let profile = self.global.profile.as_ref().map(|path| path.to_string_lossy().into_owned());
        flags.extend(profile.map(|path| ("policy.profile", "--profile", path)));
        flags.extend(self.global.store.as_ref().map(|url| ("store.url", "--store", url.clone())));
        Ok(Config::load(&self.paths, &self.environment, &flags)?)
    }

    /// The address of the server that holds the journal; none where a file does.
    ///
    /// # Errors
    ///
    /// [`CliError`] with the first thing that is wrong with the settings.
    pub(crate) fn server(&self) -> Result<Option<String>, CliError> {
        Ok(self.config(&Flags::new())?.text("store.url").map(str::to_owned))
    }

    /// The clocks and the randomness of this start.
    pub(crate) fn world(&self) -> World {
        match self.global.fixed_clock {
            None => World::system(),
            Some(now) => World::system().with_tool_clock(now),
        }
    }
}

/// Runs a verb's work on one thread: nothing here computes beside something else.
///
/// # Errors
///
/// [`CliError`] of the work, or when the system has no resources for it.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let executor = executor()?;
    let done = executor.block_on(work);
    leave(executor);
    done
}

/// What runs asynchronous work.
///
/// # Errors
///
/// [`CliError`] when the system has no resources for it.
pub(crate) fn executor() -> Result<tokio::runtime::Runtime, CliError> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|source| CliError::Stream { what: "cannot start", source })
}

/// Lets the process end without closing the database. Closing it writes the log back into the database
/// and removes it, which costs every short command two syncs and gains nothing: what was committed is in
/// the log, and the next start goes on with it.
pub(crate) fn leave(executor: tokio::runtime::Runtime) {
    std::mem::forget(executor);
}

/// The person at this machine: all scopes of the platform, and no others.
pub(crate) fn local_authority() -> Authority {
    Authority {
        tenant: TenantId::from_u128(1),
        principal: PrincipalId::from_u128(1),
        scopes: scope::platform(),
    }
}

/// Keeps every stored key out of what is printed, as far as it can be read: verbs that use one tell why it cannot.
fn keep_keys_back(paths: &Paths, environment: &Environment) {
    let found = PRESETS.iter().filter_map(|preset| {
        let key = key_for(preset, paths, environment).ok().flatten();
        key.map(|(key, _)| (preset.name.to_owned(), key))
    });
    hidden::keep_back(found.collect());
}

/// What may be seen on a card: what looks secret only if it was asked for, and no stored key at all.
///
/// # Errors
///
/// [`CliError`] when a stored key cannot be read, and so cannot be kept back.
pub(crate) fn sight(start: &Start, is_revealed: bool) -> Result<Sight, CliError> {
    for preset in PRESETS {
        key_for(preset, &start.paths, &start.environment)?;
    }
    Ok(Sight { is_revealed })
}

/// The runtime over a store, with Mast's own tools.
///
/// # Errors
///
/// [`CliError`] when the tools cannot be registered.
pub(crate) fn runtime(start: &Start, config: &Config, store: Arc<dyn Store>) -> Result<Runtime, CliError> {
    #[cfg(debug_assertions)]
    let store = mortal::perhaps(store, start.environment.text("MAST_TEST_DIE"));
    let toolbox = Arc::new(Toolbox::builtin()?);
    let policy = policy(start, config, toolbox.as_ref())?;
    tracing::info!(policy = policy.version(), "these rules are in force");
    let runtime = Runtime::new(store, toolbox, policy, start.world())
        .with_owner(owner::name())
        .with_workspaces(Arc::new(folders::Folders::new(start)));
    Ok(match beside::Beside::here() {
        Ok(beside) => runtime.with_artifacts(Arc::new(beside)),
        // Files that nobody can look at count as not there.
        Err(error) => {
            tracing::warn!(%error, "the folder is gone in which mast was started");
            runtime
        }
    })
}
