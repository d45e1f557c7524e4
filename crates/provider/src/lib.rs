//! Model providers: a request becomes a stream of events and one completed turn. Nothing is run here.
//!
//! What cannot happen in this crate: a tool runs (there is no tool type to run), a provider sees a key
//! that is not its own (each is built from one [`ProviderConfig`]), or a key is printed ([`Secret`] has
//! no text form). A reply is a proposal; the runtime disposes of it.
//!
//! | module | the one idea |
//! |---|---|
//! | [`request`] | what a model is asked: items, tools under provider-safe names |
//! | [`reply`] | what it answers: events while it speaks, one [`Turn`] at the end |
//! | [`contract`] | the trait that each provider implements |
//! | [`error`] | why there is no turn, and whether asking again may help |
//! | [`config`] | what a provider is built from, and the shape of the list |
//! | `list` | the list itself: [`PROVIDERS`] |
//! | [`secret`] | a key that cannot print itself |
//! | [`pacing`] | waiting and chance, handed in |
//! | [`script`], [`scripted`] | replies written beforehand |
//! | [`offline`] | no model at all, and it says so |
//! | [`openai_chat`] | the chat completions protocol, as many servers speak it |
//! | [`anthropic`] | the Messages protocol |
//! | `http`, `stream`, `wire` | bytes: sent, cut into events, read by a decoder |
//! | `assembly` | a reply put together from pieces, and bounded |
//! | `retry` | asking again, as long as nothing was heard |
//! | `markup` | the runtime's own lines inside a user message |

pub mod anthropic;
mod assembly;
pub mod config;
pub mod contract;
pub mod error;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod fixture_items;
mod http;
mod list;
mod markup;
pub mod offline;
pub mod openai_chat;
pub mod pacing;
pub mod reply;
pub mod request;
mod retry;
pub mod script;
pub mod scripted;
pub mod secret;
mod stream;
mod wire;

pub use config::{BuildError, Entry, Need, ProviderConfig, TimeLimits};
pub use contract::{Discard, Provider, Sink};
pub use error::{ProviderError, TimeLimit};
pub use list::{PROVIDERS, build, entry, names};
pub use pacing::{Pacing, TimerPacing};
pub use reply::{CallProposal, Reasoning, Stop, StreamEvent, Turn, Usage};
pub use request::{Item, Request, ToolChoice, ToolOffer};
pub use script::{Script, ScriptFault};
pub use secret::Secret;
