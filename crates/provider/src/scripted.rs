//! `scripted`: replays a script (see [`crate::script`]). It is for tests and demonstrations: what the
//! "model" says is written beforehand, everything after it is real.
//!
//! Each request takes the next turn, failed ones too, so a script can show a failure and what follows.
//! Rejected: choosing the turn by counting the replies in the request. A turn that fails leaves no
//! reply behind and would be chosen for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use mast_kernel::name::provider_safe;
use mast_kernel::trust::Sensitivity;

use crate::config::{BuildError, Entry, Need, ProviderConfig};
use crate::contract::{Provider, Sink};
use crate::error::ProviderError;
use crate::pacing::Pacing;
use crate::reply::{CallProposal, Reasoning, Stop, StreamEvent, Turn};
use crate::request::{Item, Request};
use crate::script::{Expect, Script, ScriptTurn};

/// Its name.
pub(crate) const NAME: &str = "scripted";

/// Its line in the list.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    about: "replays a written script of replies; for tests and demonstrations",
    needs: &[Need::Script],
    key_variable: None,
    default_base_url: None,
    default_model: NAME,
    build: |config| Ok(Arc::new(Scripted::new(config)?)),
};

/// Replays a script.
#[derive(Debug)]
pub struct Scripted {
    script: Script,
    next: AtomicUsize,
    model: String,
    max_sensitivity: Sensitivity,
    pacing: Arc<dyn Pacing>,
}

impl Scripted {
    /// Takes the script, its start, the model's name and the pacing of a configuration.
    ///
    /// # Errors
    /// There is no script.
    pub fn new(config: &ProviderConfig) -> Result<Self, BuildError> {
        let missing = BuildError::Missing { provider: NAME, what: "a script: `--script FILE`" };
        Ok(Self {
            script: config.script.clone().ok_or(missing)?,
            next: AtomicUsize::new(config.script_start),
            model: config.model.clone().unwrap_or_else(|| NAME.to_owned()),
            max_sensitivity: config.max_sensitivity,
            pacing: Arc::clone(&config.pacing),
        })
    }

    /// How many turns were asked for, those before its start included.
    #[must_use]
    pub fn n_used(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Provider for Scripted {
    fn name(&self) -> &str {
        NAME
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn max_sensitivity(&self) -> Sensitivity {
        self.max_sensitivity
    }

    async fn complete(&self, request: &Request, sink: &mut dyn Sink) -> Result<Turn, ProviderError> {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        let exhausted = ProviderError::ScriptExhausted { turns: self.script.turns.len() };
        let scripted = self.script.turns.get(place).ok_or(exhausted)?;
        self.pacing.pause(scripted.delay).await;
        if let Some(expect) = &scripted.expect {
            expect.check(request).map_err(|(expected, found)| ProviderError::ScriptExpectation {
                turn: place + 1,
                line: scripted.line,
                expected,
                found,
            })?;
        }
        if let Some(error) = &scripted.error {
            let end = scripted.text.floor_char_boundary(error.after_bytes);
            if let Some(said) = scripted.text.get(..end).filter(|said| !said.is_empty()) {
                sink.on_event(&StreamEvent::TextDelta(said.to_owned()));
            }
            return Err(error.to_error());
        }
        Ok(turn_of(scripted, request).deliver(sink))
    }
}

fn turn_of(scripted: &ScriptTurn, request: &Request) -> Turn {
    let mut ids = request.fresh_ids();
    let calls: Vec<CallProposal> = scripted
        .calls
        .iter()
        .map(|call| CallProposal {
            id: ids.take(call.id.as_deref()),
            name: as_a_model_writes(&call.tool, request),
            arguments: call.arguments.clone(),
        })
        .collect();
    let natural = if calls.is_empty() { Stop::End } else { Stop::ToolCalls };
    Turn {
        text: scripted.text.clone(),
        reasoning: scripted
            .reasoning
            .iter()
            .map(|text| Reasoning { text: text.clone(), opaque: None })
            .collect(),
        calls,
        usage: scripted.usage,
        stop: scripted.stop.clone().unwrap_or(natural),
    }
}

/// The provider-safe name where that tool is offered; else the name as the script has it, which the
/// gate then refuses as it would refuse a model.
fn as_a_model_writes(tool: &str, request: &Request) -> String {
    let safe = provider_safe(tool);
    if request.offers(&safe) { safe } else { tool.to_owned() }
}

impl Expect {
    /// Checks the request; what was expected and what was found, where they differ.
    fn check(&self, request: &Request) -> Result<(), (String, String)> {
        // The runtime's own line, which comes last in every request, is not what a script waits for.
        let last = request.items.iter().rfind(|item| !matches!(item, Item::System { .. }));
        let (text, is_error) = match last {
            Some(Item::User { text } | Item::System { text }) => (text.as_str(), None),
            Some(Item::Assistant(turn)) => (turn.text.as_str(), None),
            Some(Item::ToolResult { content, is_error, .. }) => (content.as_str(), Some(*is_error)),
            None => ("", None),
        };
        let seen = || format!("`{}`", shorten(text));
        for part in &self.contains.0 {
            if !text.contains(part) {
                return Err((format!("`{part}` in the last item"), seen()));
            }
        }
        for part in &self.lacks.0 {
            if text.contains(part) {
                return Err((format!("no `{part}` in the last item"), seen()));
            }
        }
        if self.is_error.is_some() && self.is_error != is_error {
            let wanted =
                if self.is_error == Some(true) { "a result that reports an error" } else { "a result" };
            return Err((wanted.to_owned(), seen()));
        }
        for tool in &self.offers.0 {
            if !request.offers(&provider_safe(tool)) {
                return Err((
                    format!("the tool `{tool}` on offer"),
                    format!("{} tools", request.tools.len()),
                ));
            }
        }
        Ok(())
    }
}

fn shorten(text: &str) -> String {
    const SHOWN_CHARS: usize = 200;
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
