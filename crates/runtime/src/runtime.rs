//! A runtime: a store, tools, a policy and a world, put together. Surfaces hold one and ask it to open
//! sessions, to run, and to pass single calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mast_kernel::policy::{Policy, Surroundings};
use mast_store::Store;
use mast_tools::Toolbox;

use crate::clock::World;
use crate::completion::{Artifacts, Verifier};
use crate::hands::Workspaces;
use crate::review::Reviewer;

/// How many there are in this process, so that no two hold a run under one name.
static N_RUNTIMES: AtomicU64 = AtomicU64::new(0);

/// What runs and calls are carried out with. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Runtime {
    store: Arc<dyn Store>,
    toolbox: Arc<Toolbox>,
    policy: Arc<Policy>,
    world: World,
    surroundings: Arc<Surroundings>,
    reviewer: Option<Arc<dyn Reviewer>>,
    artifacts: Option<Arc<dyn Artifacts>>,
    verifier: Option<Arc<dyn Verifier>>,
    workspaces: Option<Arc<dyn Workspaces>>,
    owner: Arc<str>,
}

impl Runtime {
    /// A runtime of these parts.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, toolbox: Arc<Toolbox>, policy: Policy, world: World) -> Self {
        let number = N_RUNTIMES.fetch_add(1, Ordering::Relaxed);
        let owner = format!("process {} runtime {number}", std::process::id()).into();
        let (policy, surroundings) = (Arc::new(policy), Arc::default());
        let (reviewer, artifacts, verifier, workspaces) = (None, None, None, None);
        Self { store, toolbox, policy, world, surroundings, reviewer, artifacts, verifier, workspaces, owner }
    }

    /// The same, with these facts around every call: the workspace, the hosts, the isolation in force.
    #[must_use]
    pub fn with_surroundings(self, surroundings: Surroundings) -> Self {
        Self { surroundings: Arc::new(surroundings), ..self }
    }

    /// The same, with somebody who looks at calls that are allowed.
    #[must_use]
    pub fn with_reviewer(self, reviewer: Arc<dyn Reviewer>) -> Self {
        Self { reviewer: Some(reviewer), ..self }
    }

    /// The same, with somebody who looks at the files that a run is required to make.
    #[must_use]
    pub fn with_artifacts(self, artifacts: Arc<dyn Artifacts>) -> Self {
        Self { artifacts: Some(artifacts), ..self }
    }

    /// The same, with somebody who can run a command on a frozen copy of what a run made.
    #[must_use]
    pub fn with_verifier(self, verifier: Arc<dyn Verifier>) -> Self {
        Self { verifier: Some(verifier), ..self }
    }

    /// The same, with somebody who opens the folders of runs.
    #[must_use]
    pub fn with_workspaces(self, workspaces: Arc<dyn Workspaces>) -> Self {
        Self { workspaces: Some(workspaces), ..self }
    }

    /// The same, under a name for its leases by which others can tell whether this process is still there.
    /// Without one it is named after the process, which is enough on one machine; where several share a
    /// store, each needs a name that no other has.
    #[must_use]
    pub fn with_owner(self, owner: impl Into<Arc<str>>) -> Self {
        Self { owner: owner.into(), ..self }
    }

    /// The same store, tools and world, under other rules.
    #[must_use]
    pub fn under(self, policy: Policy) -> Self {
        Self { policy: Arc::new(policy), ..self }
    }

    /// Under which name it holds the runs that it works on.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Where everything is written down.
    #[must_use]
    pub const fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The tools.
    #[must_use]
    pub fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// The rules.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What stands around every call.
    #[must_use]
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// Who looks at calls that are allowed, if anybody does.
    pub(crate) fn reviewer(&self) -> Option<&dyn Reviewer> {
        self.reviewer.as_deref()
    }

    /// Whether somebody here can run a command on a frozen copy of what a run made.
    #[must_use]
    pub fn can_verify(&self) -> bool {
        self.verifier.is_some()
    }

    /// Who looks at required files, if anybody can.
    pub(crate) fn artifacts(&self) -> Option<&dyn Artifacts> {
        self.artifacts.as_deref()
    }

    /// Who opens the folders of runs, if anybody can.
    pub(crate) fn workspaces(&self) -> Option<&dyn Workspaces> {
        self.workspaces.as_deref()
    }

    /// Who runs required commands, if anybody can.
    pub(crate) fn verifier(&self) -> Option<&dyn Verifier> {
        self.verifier.as_deref()
    }

    /// The clock and the randomness.
    #[must_use]
    pub const fn world(&self) -> &World {
        &self.world
    }
}
