//! The trait that every tool implements, builtin or an embedder's.

use std::fmt::Debug;

use async_trait::async_trait;
use mast_kernel::canonical::Digest;
use mast_kernel::message::FailureKind;
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::resource::Resource;
use mast_kernel::spec::ToolSpec;
use mast_kernel::trust::Label;
use serde_json::Value;

use crate::capability::Context;

/// Something that a model can ask for by name.
#[async_trait]
pub trait Tool: Debug + Send + Sync {
    /// The full declaration; everything that is said about the tool is derived from it.
    fn spec(&self) -> ToolSpec;

    /// What a call with these arguments would touch. Pure: it parses, and looks at nothing. The
    /// arguments have passed the input schema.
    ///
    /// # Errors
    ///
    /// [`Failure`] of kind INVALID_ARGUMENTS, when the arguments name nothing that could be touched.
    fn resources(&self, arguments: &Value) -> Result<Vec<Resource>, Failure> {
        let _ = arguments;
        Ok(Vec::new())
    }

    /// Does the work. All that it acts on is in the permit, which the store has committed as claimed.
    ///
    /// A tool that can leave a mark on the world calls [`Context::mark_effect_sent`] directly before
    /// its first outward byte.
    ///
    /// # Errors
    ///
    /// [`Failure`], the tool's own: a denied, unknown or unavailable outcome is not a tool's to say.
    async fn run(&self, permit: Claimed<Permit>, context: &Context) -> Result<Output, Failure>;

    /// Looks at the world whether a call with these arguments and this idempotency key happened, and
    /// changes nothing. It is asked when nobody knows the outcome of a call, and a person wants it settled.
    async fn probe(&self, arguments: &Value, key: Digest) -> Probed {
        let _ = (arguments, key);
        Probed::NoProbe
    }

    /// The manual page, in Markdown: for a builtin what its own file opens with, see [`opening_of`].
    fn manual(&self) -> String {
        String::new()
    }
}

/// What a look at the world says of a call whose outcome is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probed {
    /// Its effect is there.
    Happened,
    /// Its effect is not there, and will not come.
    DidNot,
    /// The tool looked and cannot tell; why.
    CannotTell(String),
    /// The tool has no way to look.
    NoProbe,
}

/// What a source file opens with: the text of its `//!` comment.
#[must_use]
pub fn opening_of(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n")
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// What a model reads.
    pub content: String,
    /// The structured result; it must fit the output schema.
    pub structured: Value,
    /// A label worse than the declared one, where the tool knows of it. It can never be better.
    pub label: Option<Label>,
}

impl Output {
    /// A result with the declared label.
    #[must_use]
    pub fn new(content: impl Into<String>, structured: Value) -> Self {
        Self { content: content.into(), structured, label: None }
    }
}

/// A tool's own failure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// The full reason code, such as `tool.invalid_arguments.syntax`. It has an entry in
    /// [`mast_kernel::message`], which is all that the model reads of it.
    pub code: &'static str,
    /// What the operator needs and the model does not get.
    pub detail: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Text from outside, word for word; it is shown only inside an envelope.
    pub external_text: Option<String>,
}

impl Failure {
    /// A failure that is a property of the arguments: the same call fails the same way.
    #[must_use]
    pub fn invalid_arguments(code: &'static str, detail: impl Into<String>) -> Self {
        let kind = FailureKind::InvalidArguments;
        Self { kind, code, detail: detail.into(), retryable: false, external_text: None }
    }

    /// A fault of the tool itself.
    #[must_use]
    pub fn internal(detail: impl Into<String>) -> Self {
        let (kind, code) = (FailureKind::Internal, "tool.internal.fault");
        Self { kind, code, detail: detail.into(), retryable: false, external_text: None }
    }
}
