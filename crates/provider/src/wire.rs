//! What the HTTP providers share: a decoder of their pieces, and the reading of an answer through it.

use mast_kernel::limits;
use serde_json::Value;

use crate::contract::Sink;
use crate::error::ProviderError;
use crate::http::Answer;
use crate::reply::Turn;
use crate::stream::{SseDecoder, SseEvent, SseFault};

/// Reads the pieces of one reply in one provider's protocol. It knows no network, so that recorded
/// streams can be run through it.
pub(crate) trait Decoder: Sized + Send {
    /// The provider's name.
    fn provider(&self) -> &'static str;

    /// Takes one event of a stream.
    fn event(&mut self, event: &SseEvent, sink: &mut dyn Sink) -> Result<(), ProviderError>;

    /// Takes a reply that came as one JSON body.
    fn body(&mut self, body: &Value, sink: &mut dyn Sink) -> Result<(), ProviderError>;

    /// How far the reply is.
    fn progress(&self) -> Progress;

    /// The turn.
    fn finish(self, sink: &mut dyn Sink) -> Turn;
}

/// How far a reply is. The declared order is the order in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Progress {
    /// More must come.
    Open,
    /// It says why it ended; its usage may still come.
    Whole,
    /// The protocol's last event came: nothing more is to be read.
    Ended,
}

/// Reads a whole answer.
pub(crate) async fn receive(
    mut answer: Answer<'_>,
    mut decoder: impl Decoder,
    sink: &mut dyn Sink,
) -> Result<Turn, ProviderError> {
    if !answer.is_event_stream() {
        let body = answer.json().await?;
        decoder.body(&body, sink)?;
        return Ok(decoder.finish(sink));
    }
    let mut stream = Reading::new(decoder);
    loop {
        match answer.chunk().await {
            Ok(Some(bytes)) => stream.push(bytes.as_ref(), sink)?,
            Ok(None) => break,
            // Some servers leave the connection open, or break it, after the last word.
            Err(_) if stream.decoder.progress() >= Progress::Whole => break,
            Err(failure) => return Err(failure),
        }
        if stream.decoder.progress() == Progress::Ended {
            break;
        }
    }
    stream.finish(sink)
}

/// The bytes of a stream on their way through a decoder.
pub(crate) struct Reading<D> {
    lines: SseDecoder,
    decoder: D,
}

impl<D: Decoder> Reading<D> {
    pub(crate) fn new(decoder: D) -> Self {
        Self { lines: SseDecoder::new(limits::REPLY_BYTES_MAX), decoder }
    }

    /// Takes the next bytes. What follows the last event is passed over.
    pub(crate) fn push(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), ProviderError> {
        let mut events = Vec::new();
        let provider = self.decoder.provider().to_owned();
        self.lines.push(bytes, &mut events).map_err(|fault| match fault {
            SseFault::TooLarge => {
                ProviderError::TooLarge { provider, limit: limits::REPLY_BYTES_MAX, what: "one event" }
            }
            SseFault::NotText => {
                ProviderError::Protocol { provider, what: "a line of the stream is not UTF-8".to_owned() }
            }
        })?;
        for event in events {
            if self.decoder.progress() < Progress::Ended {
                self.decoder.event(&event, sink)?;
            }
        }
        Ok(())
    }

    /// The turn, if the reply is whole.
    pub(crate) fn finish(mut self, sink: &mut dyn Sink) -> Result<Turn, ProviderError> {
        if let Some(last) = self.lines.finish().filter(|_| self.decoder.progress() < Progress::Ended) {
            // The last event lacks its blank line: whole if it reads as JSON, else cut.
            if last.data.trim() == DONE || is_json(&last.data) {
                self.decoder.event(&last, sink)?;
            }
        }
        if self.decoder.progress() >= Progress::Whole {
            return Ok(self.decoder.finish(sink));
        }
        let provider = self.decoder.provider().to_owned();
        Err(ProviderError::CutShort { provider, what: "the stream ended early".to_owned() })
    }
}

/// What chat completions streams end with.
pub(crate) const DONE: &str = "[DONE]";

/// Whether the text is one JSON value.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Arguments as a JSON object, for protocols and templates that read them. What is no object is
/// wrapped: a model sent it once, and servers refuse a conversation that repeats it.
pub(crate) fn arguments_object(raw: &str) -> Value {
    match serde_json::from_str(raw) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        _ => serde_json::json!({ MALFORMED: raw }),
    }
}

/// The key under which malformed arguments are repeated to a model.
pub(crate) const MALFORMED: &str = "malformed_arguments";
