//! What a model answers: events while it speaks, and one [`Turn`] when it is done. A turn is stored
//! as it is, and sent back in later requests of the same run.
//!
//! Arguments stay the raw text that was sent. Whether they are JSON, and whether they fit the schema,
//! is for the gate to say: a provider that repaired them would decide what runs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contract::Sink;

/// One completed reply.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Turn {
    /// What it says.
    #[serde(default)]
    pub text: String,
    /// What it thought before, as far as the provider shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<Reasoning>,
    /// The calls it proposes, in the order in which it wrote them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallProposal>,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
    /// Why it ended.
    #[serde(default)]
    pub stop: Stop,
}

impl Turn {
    /// A turn of words alone.
    #[must_use]
    pub fn of_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Tells `sink` of a reply that is whole already, as if it had just been spoken.
    pub(crate) fn deliver(self, sink: &mut dyn Sink) -> Self {
        for part in self.reasoning.iter().filter(|part| !part.text.is_empty()) {
            sink.on_event(&StreamEvent::ReasoningDelta(part.text.clone()));
        }
        if !self.text.is_empty() {
            sink.on_event(&StreamEvent::TextDelta(self.text.clone()));
        }
        for (index, call) in self.calls.iter().enumerate() {
            sink.on_event(&StreamEvent::CallStarted { index, name: call.name.clone() });
            if !call.arguments.is_empty() {
                sink.on_event(&StreamEvent::ArgumentsDelta { index, text: call.arguments.clone() });
            }
        }
        sink.on_event(&StreamEvent::Done(self.clone()));
        self
    }

    /// Whether it neither says nor proposes anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.calls.is_empty()
    }
}

/// A block of thinking.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reasoning {
    /// The readable part; empty where the provider sends only a sealed one.
    pub text: String,
    /// The provider's block as it came, tagged by the provider's name (see [`Reasoning::sealed_by`]).
    /// It goes back untouched, and to that provider alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
}

impl Reasoning {
    /// A block that `provider` wants back as it was.
    #[must_use]
    pub fn sealed(provider: &str, text: impl Into<String>, block: &Value) -> Self {
        let opaque = serde_json::json!({ "provider": provider, "block": block });
        Self { text: text.into(), opaque: Some(opaque) }
    }

    /// The block, if `provider` made it.
    #[must_use]
    pub fn sealed_by(&self, provider: &str) -> Option<&Value> {
        let opaque = self.opaque.as_ref()?;
        (opaque.get("provider")?.as_str()? == provider).then(|| opaque.get("block")).flatten()
    }
}

/// One call that the model would like to make.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallProposal {
    /// The provider's id, or one of Mast's own (`call_0`) where it gave none. Unique within a turn.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments, as raw text exactly as sent.
    pub arguments: String,
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It was finished.
    #[default]
    End,
    /// It waits for the outcome of its calls.
    ToolCalls,
    /// It ran out of tokens; the last call may be cut.
    Length,
    /// The provider held back what it would have said.
    Filtered,
    /// Another reason, in the provider's word.
    Other(String),
}

/// What a reply cost; what the provider does not say is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt, those from a cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens of the reply, thinking included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens of the prompt that came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Price in millionths of a US dollar, only where the provider itself says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
}

/// What happens while a model speaks.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// More of what it says.
    TextDelta(String),
    /// More of what it thinks.
    ReasoningDelta(String),
    /// A call begins.
    CallStarted {
        /// Its place among the calls of this turn.
        index: usize,
        /// The tool's name as the model wrote it.
        name: String,
    },
    /// More of a call's arguments.
    ArgumentsDelta {
        /// The call's place.
        index: usize,
        /// A piece of the raw text.
        text: String,
    },
    /// The whole reply. It is the last event, and there is one exactly when the request succeeded.
    Done(Turn),
}
