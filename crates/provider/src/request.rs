//! What a model is asked. A request is whole: no provider keeps a conversation on its side, so that
//! everything that could have shaped a reply is here to be labelled.
//!
//! Rejected: one message type per provider in the runtime. The items are Mast's own, each provider
//! converts them at its edge, and its tests show that the conversion can be undone. See
//! `docs/spec/providers.md`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reply::Turn;

/// One question to a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// The model's name as its provider knows it; empty for the provider's own.
    pub model: String,
    /// The system text. It is the same for every request of a session, so that servers can cache it.
    pub system: String,
    /// The conversation, oldest first.
    pub items: Vec<Item>,
    /// The tools on offer, in a fixed order.
    pub tools: Vec<ToolOffer>,
    /// Whether the model may propose calls.
    pub tool_choice: ToolChoice,
    /// Most tokens of the reply; the provider's default where none is given.
    pub max_output_tokens: Option<u32>,
}

/// Whether the model may propose calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// It decides.
    #[default]
    Auto,
    /// It must answer in words. The tools stay listed, since the prefix of a prompt should not change.
    None,
}

/// One tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolOffer {
    /// The provider-safe name: letters, digits and underscores, at most 64.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// One item of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Item {
    /// What the person said, or what was handed in with it.
    User {
        /// The text.
        text: String,
    },
    /// What the model said.
    Assistant(Turn),
    /// The outcome of one call of the turn before.
    ToolResult {
        /// The provider's id of the call.
        call_id: String,
        /// The text that the model reads.
        content: String,
        /// Whether the call did not succeed.
        is_error: bool,
    },
    /// A line of Mast's own, such as the local date; it stands where it is, never in the prefix.
    System {
        /// The text.
        text: String,
    },
}

impl Item {
    /// What the person said.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// The outcome of a call.
    #[must_use]
    pub fn result(call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::ToolResult { call_id: call_id.into(), content: content.into(), is_error: false }
    }

    /// The outcome of a call that did not succeed.
    #[must_use]
    pub fn failed(call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::ToolResult { call_id: call_id.into(), content: content.into(), is_error: true }
    }
}

impl Request {
    /// Whether a tool of this provider-safe name is offered.
    #[must_use]
    pub fn offers(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// Ids for the calls of the reply, where the provider gives none: `call_0`, `call_1` and so on,
    /// each new in this conversation.
    #[must_use]
    pub(crate) fn fresh_ids(&self) -> FreshIds {
        let number = |id: &str| id.strip_prefix("call_").and_then(|digits| digits.parse::<u64>().ok());
        let used = self.items.iter().filter_map(|item| match item {
            Item::Assistant(turn) => turn.calls.iter().filter_map(|call| number(&call.id)).max(),
            Item::User { .. } | Item::ToolResult { .. } | Item::System { .. } => None,
        });
        FreshIds { next: used.max().map_or(0, |last| last.saturating_add(1)), taken: BTreeSet::new() }
    }
}

/// Gives each call of one reply an id of its own.
#[derive(Debug)]
pub(crate) struct FreshIds {
    next: u64,
    taken: BTreeSet<String>,
}

impl FreshIds {
    /// The id that the provider gave, if it gave one and this reply does not have it yet; else a new
    /// one. Some servers give every call the same id.
    pub(crate) fn take(&mut self, given: Option<&str>) -> String {
        if let Some(id) = given.filter(|id| !id.is_empty())
            && self.taken.insert(id.to_owned())
        {
            return id.to_owned();
        }
        loop {
            let id = format!("call_{}", self.next);
            self.next = self.next.saturating_add(1);
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}
