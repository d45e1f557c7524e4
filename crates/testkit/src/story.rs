//! A story: what the user said, what the model proposed, what Mast decided, and what the journal holds.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mast_kernel::event::Event;
use mast_kernel::id::{ApprovalId, PrincipalId, RunId, TenantId};
use mast_kernel::policy::{Authority, Overlay, Policy};
use mast_kernel::scope;
use mast_provider::{Provider, ProviderConfig, ProviderError, Request, Script, Sink, Turn};
use mast_runtime::{
    Answer, NewSession, NotTaken, Resumption, RunEnd, RunRequest, Runtime, RuntimeError, Session, Silent,
    Surface, Verdict, World,
};
use mast_store::Store;
use mast_tools::{Cancellation, Tool, Toolbox};
use serde_json::Value;

use crate::world::{memory_store, world};

/// A world, its tools, and a scripted model.
#[derive(Debug)]
pub struct Story {
    /// What carries it out.
    pub runtime: Runtime,
    /// Whose sessions these are.
    pub authority: Authority,
    /// The model.
    pub model: Listening,
}

/// What was told of one run.
#[derive(Debug)]
pub struct Told {
    /// How it ended.
    pub end: RunEnd,
    /// The events of the session, a line each.
    pub journal: String,
}

impl Story {
    /// A story with Mast's own tools and this script of the model.
    ///
    /// # Panics
    ///
    /// When the script cannot be read.
    #[must_use]
    pub fn new(script: &str) -> Self {
        Self::with(script, &mast_tools::builtin::all(), Arc::new(memory_store()))
    }

    /// A story with these tools, in this store.
    ///
    /// # Panics
    ///
    /// When the script cannot be read, or the tools are refused.
    #[must_use]
    pub fn with(script: &str, tools: &[Arc<dyn Tool>], store: Arc<dyn Store>) -> Self {
        Self::in_world(script, tools, store, world())
    }

    /// The same in a world of the test's own.
    ///
    /// # Panics
    ///
    /// When the script cannot be read, or the tools are refused.
    #[must_use]
    pub fn in_world(script: &str, tools: &[Arc<dyn Tool>], store: Arc<dyn Store>, world: World) -> Self {
        let script = Script::parse(script).expect("the script of the story can be read");
        let config = ProviderConfig { script: Some(script), ..ProviderConfig::default() };
        let inner = mast_provider::build("scripted", &config).expect("the scripted provider can be built");
        let toolbox = Toolbox::new(tools).expect("the tools of the story are registered");
        let runtime = Runtime::new(store, Arc::new(toolbox), Policy::builtin(Overlay::On), world);
        let authority = Authority {
            tenant: TenantId::from_u128(1),
            principal: PrincipalId::from_u128(1),
            scopes: scope::platform(),
        };
        Self { runtime, authority, model: Listening { inner, requests: Mutex::default() } }
    }

    /// Opens a session of the story's principal.
    ///
    /// # Panics
    ///
    /// When the store does not let it.
    pub async fn session(&self) -> Session {
        let new = NewSession { authority: self.authority.clone(), surface: "test" };
        self.runtime.open_session(new).await.expect("a session can be opened")
    }

    /// The user says this in a new session.
    ///
    /// # Panics
    ///
    /// When the runtime fails.
    pub async fn says(&self, text: &str) -> Told {
        self.asks(RunRequest::typed(text)).await
    }

    /// The user asks this in a new session.
    ///
    /// # Panics
    ///
    /// When the runtime fails.
    pub async fn asks(&self, request: RunRequest) -> Told {
        let mut session = self.session().await;
        self.goes_on(&mut session, request).await.expect("the run is carried out")
    }

    /// The user asks this in that session.
    ///
    /// # Errors
    ///
    /// When the runtime fails.
    pub async fn goes_on(&self, session: &mut Session, request: RunRequest) -> Result<Told, RuntimeError> {
        let cancellation = Cancellation::new();
        let surface = Surface { observer: &Silent, cancellation: &cancellation, judge: None };
        let end = self.runtime.run(session, request, &self.model, surface).await?;
        let events = self.runtime.store().events(session.id(), 0, 0).await?;
        Ok(Told { end, journal: events.iter().map(line).collect() })
    }
}

impl Story {
    /// The story's principal answers a question.
    ///
    /// # Errors
    ///
    /// When the answer is not taken.
    pub async fn answers(
        &self,
        approval: ApprovalId,
        verdict: Verdict,
        words: Option<&str>,
    ) -> Result<(), NotTaken> {
        let answer = Answer { approval, verdict, words, by: &self.authority };
        self.runtime.answer(&answer).await.map(|_| ())
    }

    /// A run that waits goes on, as if in another process.
    ///
    /// # Errors
    ///
    /// When the runtime fails, or the run does not wait.
    pub async fn resumes(&self, run: RunId) -> Result<Told, RuntimeError> {
        let cancellation = Cancellation::new();
        let surface = Surface { observer: &Silent, cancellation: &cancellation, judge: None };
        let what = Resumption { run, instructions: None, date_line: None };
        let end = self.runtime.resume(what, self.authority.clone(), &self.model, surface).await?;
        let row = self.runtime.store().run(run).await?.ok_or(RuntimeError::NoSuchRun(run))?;
        let events = self.runtime.store().events(row.session, 0, 0).await?;
        Ok(Told { end, journal: events.iter().map(line).collect() })
    }
}

impl Told {
    /// The types of the journal's events, in order.
    #[must_use]
    pub fn kinds(&self) -> Vec<&str> {
        self.journal.lines().filter_map(|line| line.split_whitespace().nth(1)).collect()
    }
}

/// A model that keeps what it was asked.
#[derive(Debug)]
pub struct Listening {
    inner: Arc<dyn Provider>,
    requests: Mutex<Vec<Request>>,
}

impl Listening {
    /// Every request so far.
    ///
    /// # Panics
    ///
    /// When a test panicked while it was asked.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("nobody panicked here").clone()
    }
}

#[async_trait]
impl Provider for Listening {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn model(&self) -> &str {
        self.inner.model()
    }

    async fn complete(&self, request: &Request, sink: &mut dyn Sink) -> Result<Turn, ProviderError> {
        self.requests.lock().expect("nobody panicked here").push(request.clone());
        self.inner.complete(request, sink).await
    }
}

/// One event as a line: sequence, type, and the payload without digests and ids.
#[must_use]
pub fn line(event: &Event) -> String {
    let left_out: BTreeSet<&str> = ["tenant", "store", "principal", "version", "source", "pin"].into();
    let mut words = vec![format!("{:>3} {}", event.sequence, event.kind)];
    for (name, value) in &event.payload {
        flatten(name, value, &left_out, &mut words);
    }
    words.join(" ") + "\n"
}

fn flatten(name: &str, value: &Value, left_out: &BTreeSet<&str>, words: &mut Vec<String>) {
    match value {
        _ if left_out.contains(name) => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                flatten(name, value, left_out, words);
            }
        }
        Value::String(text) if text.len() == 64 => {}
        Value::String(text) => words.push(format!("{name}={}", short(text))),
        other => words.push(format!("{name}={other}")),
    }
}

/// Ids as their kind and their last digits.
fn short(text: &str) -> String {
    match text.split_once('_') {
        Some((kind, digits)) if digits.len() == 26 => {
            format!("{kind}:{}", digits.trim_start_matches('0'))
        }
        _ => text.to_owned(),
    }
}
