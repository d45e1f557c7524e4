//! Puts a reply together from its pieces, tells the sink of each, and keeps the whole bounded.

use mast_kernel::canonical::Canonical;
use mast_kernel::limits;
use serde_json::Value;

use crate::contract::Sink;
use crate::error::ProviderError;
use crate::reply::{CallProposal, Reasoning, Stop, StreamEvent, Turn, Usage};
use crate::request::Request;

/// What a call costs beside its text, so that very many empty calls are bounded too.
const CALL_BYTES: usize = 64;

/// A reply that is not whole yet.
#[derive(Debug)]
pub(crate) struct Assembly {
    provider: &'static str,
    limit: usize,
    used: usize,
    text: String,
    reasoning: Vec<Reasoning>,
    calls: Vec<OpenCall>,
    ids: crate::request::FreshIds,
    /// What it costs, as far as it is known.
    pub(crate) usage: Usage,
    /// Why it ended, once it did.
    pub(crate) stop: Option<Stop>,
}

/// A call that is not whole yet.
#[derive(Debug, Default)]
pub(crate) struct OpenCall {
    /// The provider's id, if it gave one.
    pub(crate) id: Option<String>,
    /// The name so far.
    pub(crate) name: String,
    /// The arguments so far.
    pub(crate) arguments: String,
    is_told: bool,
}

impl Assembly {
    /// Nothing yet.
    pub(crate) fn new(provider: &'static str, request: &Request) -> Self {
        Self {
            provider,
            limit: limits::REPLY_BYTES_MAX,
            used: 0,
            text: String::new(),
            reasoning: Vec::new(),
            calls: Vec::new(),
            ids: request.fresh_ids(),
            usage: Usage::default(),
            stop: None,
        }
    }

    /// More of the text.
    pub(crate) fn text(&mut self, piece: &str, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        if !piece.is_empty() {
            self.count(piece.len())?;
            self.text.push_str(piece);
            sink.on_event(&StreamEvent::TextDelta(piece.to_owned()));
        }
        Ok(())
    }

    /// A block of thinking of its own; what [`Self::reasoning`] brings is added to it.
    pub(crate) fn open_reasoning(&mut self) {
        self.reasoning.push(Reasoning::default());
    }

    /// More of the last block of thinking, which is opened if there is none.
    pub(crate) fn reasoning(&mut self, piece: &str, sink: &mut dyn Sink) -> Result<(), ProviderError> {
        if piece.is_empty() {
            return Ok(());
        }
        self.count(piece.len())?;
        if self.reasoning.is_empty() {
            self.open_reasoning();
        }
        if let Some(last) = self.reasoning.last_mut() {
            last.text.push_str(piece);
        }
        sink.on_event(&StreamEvent::ReasoningDelta(piece.to_owned()));
        Ok(())
    }

    /// The provider's own block for the last block of thinking.
    pub(crate) fn seal(&mut self, block: &Value) -> Result<(), ProviderError> {
        self.count(block.to_string().len())?;
        // The block is stored as it is; one that has no canonical form could not be.
        if Canonical::of(block).is_err() {
            let what = "a block of thinking with a number or a nesting that cannot be kept".to_owned();
            return Err(ProviderError::Protocol { provider: self.provider.to_owned(), what });
        }
        let sealed = Reasoning::sealed(self.provider, "", block);
        if self.reasoning.is_empty() {
            self.open_reasoning();
        }
        if let Some(last) = self.reasoning.last_mut() {
            last.opaque = sealed.opaque;
        }
        Ok(())
    }

    /// A new call; its place.
    pub(crate) fn open_call(&mut self, id: Option<&str>, name: &str) -> Result<usize, ProviderError> {
        self.count(CALL_BYTES + name.len() + id.map_or(0, str::len))?;
        if self.calls.len() >= limits::REPLY_CALLS_MAX {
            let (provider, what) = (self.provider.to_owned(), "calls in one reply");
            return Err(ProviderError::TooLarge { provider, limit: limits::REPLY_CALLS_MAX, what });
        }
        let id = id.map(str::to_owned);
        self.calls.push(OpenCall { id, name: name.to_owned(), ..OpenCall::default() });
        Ok(self.calls.len() - 1)
    }

    /// The calls so far.
    pub(crate) fn calls(&self) -> &[OpenCall] {
        &self.calls
    }

    /// More of a call's name. Once its arguments have begun, the name stands.
    pub(crate) fn call_name(&mut self, place: usize, piece: &str) -> Result<(), ProviderError> {
        self.count(piece.len())?;
        if let Some(call) = self.calls.get_mut(place).filter(|call| !call.is_told) {
            call.name.push_str(piece);
        }
        Ok(())
    }

    /// A call's id, where it comes late.
    pub(crate) fn call_id(&mut self, place: usize, id: &str) -> Result<(), ProviderError> {
        self.count(id.len())?;
        if let Some(call) = self.calls.get_mut(place) {
            call.id.get_or_insert_with(|| id.to_owned());
        }
        Ok(())
    }

    /// More of a call's arguments.
    pub(crate) fn arguments(
        &mut self,
        place: usize,
        piece: &str,
        sink: &mut dyn Sink,
    ) -> Result<(), ProviderError> {
        if piece.is_empty() {
            return Ok(());
        }
        self.count(piece.len())?;
        if let Some(call) = self.calls.get_mut(place) {
            call.tell(place, sink);
            call.arguments.push_str(piece);
            sink.on_event(&StreamEvent::ArgumentsDelta { index: place, text: piece.to_owned() });
        }
        Ok(())
    }

    /// The whole reply.
    pub(crate) fn finish(mut self, sink: &mut dyn Sink) -> Turn {
        let mut calls = Vec::with_capacity(self.calls.len());
        for (place, mut call) in self.calls.into_iter().enumerate() {
            call.tell(place, sink);
            let id = self.ids.take(call.id.as_deref());
            calls.push(CallProposal { id, name: call.name, arguments: call.arguments });
        }
        // Some servers end every reply with "stop".
        let stop = match self.stop {
            None | Some(Stop::End) if !calls.is_empty() => Stop::ToolCalls,
            stop => stop.unwrap_or_default(),
        };
        let turn = Turn { text: self.text, reasoning: self.reasoning, calls, usage: self.usage, stop };
        sink.on_event(&StreamEvent::Done(turn.clone()));
        turn
    }

    /// Counts what is kept, here or in a decoder.
    pub(crate) fn count(&mut self, bytes: usize) -> Result<(), ProviderError> {
        self.used = self.used.saturating_add(bytes);
        if self.used > self.limit {
            return Err(ProviderError::TooLarge {
                provider: self.provider.to_owned(),
                limit: self.limit,
                what: "text, thinking and arguments together",
            });
        }
        Ok(())
    }
}

impl OpenCall {
    fn tell(&mut self, index: usize, sink: &mut dyn Sink) {
        if !std::mem::replace(&mut self.is_told, true) {
            sink.on_event(&StreamEvent::CallStarted { index, name: self.name.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Discard;

    fn with_room_for(limit: usize) -> Assembly {
        Assembly { limit, ..Assembly::new("test", &Request::default()) }
    }

    #[test]
    fn a_reply_is_bounded_in_all_its_parts() {
        let mut whole = with_room_for(10);
        assert!(whole.text("12345", &mut Discard).is_ok());
        assert!(whole.reasoning("12345", &mut Discard).is_ok(), "exactly at the bound");
        assert!(whole.text("1", &mut Discard).is_err(), "one byte more");
        let mut calls = with_room_for(CALL_BYTES + 4);
        let place = calls.open_call(None, "t").unwrap();
        assert!(calls.arguments(place, "{ }", &mut Discard).is_ok());
        assert!(calls.arguments(place, " ", &mut Discard).is_err());
        assert!(with_room_for(CALL_BYTES - 1).open_call(None, "").is_err(), "empty calls count");
        assert_eq!(Assembly::new("test", &Request::default()).limit, limits::REPLY_BYTES_MAX);
    }

    #[test]
    fn each_call_gets_an_id_of_its_own() {
        let mut assembly = with_room_for(10_000);
        for id in [Some("a"), None, Some("a"), Some("")] {
            assembly.open_call(id, "t").unwrap();
        }
        let turn = assembly.finish(&mut Discard);
        let ids: Vec<&str> = turn.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["a", "call_0", "call_1", "call_2"]);
        assert_eq!(turn.stop, Stop::ToolCalls);
    }
}
