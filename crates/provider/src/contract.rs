//! The trait that each provider implements.
//!
//! Rejected: a provider that returns a stream of its own. A sink and one future are easier to write,
//! to bound and to cancel (drop the future), and a caller cannot forget to read to the end.

use std::fmt;

use async_trait::async_trait;
use mast_kernel::trust::Sensitivity;

use crate::error::ProviderError;
use crate::reply::{StreamEvent, Turn};
use crate::request::Request;

/// A source of replies.
#[async_trait]
pub trait Provider: Send + Sync + fmt::Debug {
    /// Its name in the configuration and in [`crate::PROVIDERS`].
    fn name(&self) -> &str;

    /// The model that answers when a request names none.
    fn model(&self) -> &str;

    /// The most sensitive text that it may be sent. SECRET never goes to a model.
    fn max_sensitivity(&self) -> Sensitivity {
        Sensitivity::Private
    }

    /// Asks once and returns the whole reply; `sink` hears of its parts meanwhile, and of the whole
    /// last. Dropping the future cancels the request. What a failed request sent to the sink is void.
    async fn complete(&self, request: &Request, sink: &mut dyn Sink) -> Result<Turn, ProviderError>;
}

/// Who listens while a model speaks. It is called between two reads of the network, so it must not
/// block.
pub trait Sink: Send {
    /// Takes one event.
    fn on_event(&mut self, event: &StreamEvent);
}

impl<F: FnMut(&StreamEvent) + Send> Sink for F {
    fn on_event(&mut self, event: &StreamEvent) {
        self(event);
    }
}

/// A sink for a caller who wants only the whole reply.
#[derive(Debug, Clone, Copy, Default)]
pub struct Discard;

impl Sink for Discard {
    fn on_event(&mut self, _: &StreamEvent) {}
}
