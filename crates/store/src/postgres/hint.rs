//! Hints that there may be work: a commit that queues a run or settles a question tells everybody who
//! listens. A hint may be missed (a connection is lost, nobody listens yet), so nothing relies on one:
//! whoever waits looks by itself too.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::postgres::{PgListener, PgPool};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// How the channel is called on which it is told.
const CHANNEL: &str = "mast";
/// How long whoever lost the connection waits before it listens again.
const PAUSE: Duration = Duration::from_secs(1);

/// Whoever waits, and the task that listens for them; it is begun by the first.
#[derive(Debug, Default)]
pub(super) struct Hints {
    waiting: Arc<Notify>,
    listening: OnceLock<AbortHandle>,
}

impl Hints {
    /// Waits for the next hint.
    pub(super) async fn next(&self, pool: &PgPool) {
        let hint = self.waiting.notified();
        self.listening
            .get_or_init(|| tokio::spawn(listen(pool.clone(), Arc::clone(&self.waiting))).abort_handle());
        hint.await;
    }
}

impl Drop for Hints {
    fn drop(&mut self) {
        if let Some(listening) = self.listening.get() {
            listening.abort();
        }
    }
}

async fn listen(pool: PgPool, waiting: Arc<Notify>) {
    loop {
        if let Err(error) = listen_while_connected(&pool, &waiting).await {
            tracing::debug!(%error, "nobody hints at work for a moment");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn listen_while_connected(pool: &PgPool, waiting: &Notify) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    // Somebody may have told something before anybody listened.
    waiting.notify_waiters();
    while listener.try_recv().await?.is_some() {
        waiting.notify_waiters();
    }
    Ok(())
}
