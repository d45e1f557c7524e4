//! Asking again. A request is sent again only while nothing of a reply was seen, because what a sink
//! has heard cannot be taken back, and only for failures that may pass.
//!
//! A provider that asks for a longer pause than [`PAUSE_MAX`] is not asked again at all: coming back
//! earlier than told would be rude and useless, and waiting longer is for the person to decide.

use std::time::Duration;

use async_trait::async_trait;

use crate::contract::{Provider, Sink};
use crate::error::{ProviderError, TimeLimit};
use crate::pacing::Pacing;
use crate::reply::{StreamEvent, Turn};
use crate::request::Request;

/// How often a request is sent at most.
pub(crate) const ATTEMPTS_MAX: u32 = 3;
/// The longest pause that a provider may ask for.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(60);
/// The pause after the first failure, before jitter; it doubles with each further one.
const PAUSE_FIRST: Duration = Duration::from_millis(500);

/// One attempt at a request.
#[async_trait]
pub(crate) trait Attempt: Provider {
    /// Asks once.
    async fn attempt(&self, request: &Request, sink: &mut dyn Sink) -> Result<Turn, ProviderError>;
}

/// The times that bound all attempts together.
pub(crate) struct Patience<'a> {
    pub(crate) pacing: &'a dyn Pacing,
    pub(crate) endpoint: &'a str,
    pub(crate) total: Duration,
}

/// Asks until there is a turn, a failure that stays, or no time left.
pub(crate) async fn complete(
    provider: &dyn Attempt,
    patience: Patience<'_>,
    request: &Request,
    sink: &mut dyn Sink,
) -> Result<Turn, ProviderError> {
    let all = attempts(provider, patience.pacing, request, sink);
    tokio::time::timeout(patience.total, all).await.unwrap_or_else(|_| {
        let endpoint = patience.endpoint.to_owned();
        Err(ProviderError::Timeout { endpoint, limit: TimeLimit::Total, after: patience.total })
    })
}

async fn attempts(
    provider: &dyn Attempt,
    pacing: &dyn Pacing,
    request: &Request,
    sink: &mut dyn Sink,
) -> Result<Turn, ProviderError> {
    let mut n_failed = 0;
    loop {
        let mut watched = Watched { sink: &mut *sink, has_heard: false };
        let failure = match provider.attempt(request, &mut watched).await {
            Ok(turn) => return Ok(turn),
            Err(failure) => failure,
        };
        n_failed += 1;
        let asked_too_much = failure.retry_after().is_some_and(|wait| wait > PAUSE_MAX);
        if watched.has_heard || !failure.retryable() || asked_too_much || n_failed >= ATTEMPTS_MAX {
            return Err(failure);
        }
        let wait = failure.retry_after().unwrap_or_else(|| backoff(n_failed, pacing.chance()));
        tracing::debug!(provider = provider.name(), code = failure.code(), ?wait, "asking again");
        pacing.pause(wait).await;
    }
}

/// Between a half and the whole of the doubled pause.
fn backoff(n_failed: u32, chance: u64) -> Duration {
    let whole = PAUSE_FIRST.saturating_mul(1 << n_failed.saturating_sub(1).min(6));
    let half = whole / 2;
    let spread = u64::try_from(half.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
    half + Duration::from_millis(chance % spread)
}

/// A sink that knows whether anything was said.
struct Watched<'a> {
    sink: &'a mut dyn Sink,
    has_heard: bool,
}

impl Sink for Watched<'_> {
    fn on_event(&mut self, event: &StreamEvent) {
        self.has_heard = true;
        self.sink.on_event(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_pause_grows_and_stays_in_its_bounds(n_failed in 1_u32..40, chance in any::<u64>()) {
            let wait = backoff(n_failed, chance);
            let whole = Duration::from_millis(500) * (1 << (n_failed - 1).min(6));
            prop_assert!(wait >= whole / 2 && wait <= whole);
        }
    }

    #[test]
    fn the_first_two_pauses() {
        assert_eq!(backoff(1, 0), Duration::from_millis(250));
        assert_eq!(backoff(2, 0), Duration::from_millis(500));
        assert_eq!(backoff(2, 500), Duration::from_secs(1));
    }
}
