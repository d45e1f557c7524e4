//! How a process holds the runs that it works on: with leases that it renews while it is alive, so that
//! others find the runs of one that is gone. See `docs/spec/recovery.md`.

use std::time::Duration;

use mast_kernel::id::RunId;
use mast_kernel::instant::Instant;
use mast_kernel::limits;
use mast_store::Lease;

use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// How often a lease is renewed: twice may fail before it is over.
const HEARTBEAT: Duration = Duration::from_secs(limits::LEASE_SECONDS as u64 / 3);

impl Runtime {
    /// Until when a lease lasts that is taken or renewed now.
    pub(crate) fn lease_end(&self) -> Instant {
        self.world().clock.now().plus_seconds(limits::LEASE_SECONDS)
    }

    /// Takes the lease of a run.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::AtWork`] while somebody else holds it, or the store fails.
    pub(crate) async fn hold(&self, run: RunId) -> Result<(), RuntimeError> {
        let now = self.world().clock.now();
        let lease = Lease { run, owner: self.owner().to_owned(), until: self.lease_end() };
        if self.store().take(&lease, now).await? {
            return Ok(());
        }
        let held = self.store().lease(run).await?.filter(|held| held.owner != lease.owner);
        let (owner, until) = held.map_or((String::new(), now), |held| (held.owner, held.until));
        Err(RuntimeError::AtWork { run, owner, until })
    }

    /// Renews the lease of a run for ever; ends only when it is lost.
    pub(crate) async fn keep(&self, run: RunId) -> RuntimeError {
        loop {
            tokio::time::sleep(HEARTBEAT).await;
            match self.hold(run).await {
                Ok(()) => {}
                Err(lost @ RuntimeError::AtWork { .. }) => return lost,
                // A store that cannot be written now may be later; if it stays so, the run's own commits fail.
                Err(error) => tracing::warn!(%run, %error, "the lease of a run could not be renewed"),
            }
        }
    }

    /// Gives the lease of a run back. One that cannot be given back is over soon.
    pub(crate) async fn let_go(&self, run: RunId) {
        if let Err(error) = self.store().release(run, self.owner()).await {
            tracing::debug!(%run, %error, "the lease of a run could not be given back");
        }
    }
}
