//! Labels: how far a text may be believed ([`Trust`]) and how far it may travel ([`Sensitivity`]).
//!
//! A label says who the author of a text was, never what the text says about itself. Labels join by
//! the worse value on each axis, and nothing in this module can raise one. See `docs/spec/trust.md`.

use serde::{Deserialize, Serialize};

/// How far text may be believed, most first. The declared order is the rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Mast's own words: the system text and policy.
    Platform,
    /// What the operator configured: the agent's instructions, accepted tool definitions.
    TrustedConfiguration,
    /// What an authenticated person typed into this session.
    User,
    /// What one of Mast's own tools computed.
    InternalTool,
    /// What was remembered from earlier sessions.
    Memory,
    /// What was taken from a collection of documents.
    Knowledge,
    /// Everything else: pages, mail, files of unknown origin, programs' output.
    ExternalUntrusted,
}

impl Trust {
    /// Every member, most trusted first.
    pub const ALL: [Self; 7] = [
        Self::Platform,
        Self::TrustedConfiguration,
        Self::User,
        Self::InternalTool,
        Self::Memory,
        Self::Knowledge,
        Self::ExternalUntrusted,
    ];

    /// The less trusted of two.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        self.max(other)
    }

    /// Whether an origin of this trust is *tainted*: text that nobody vouches for may have shaped what
    /// follows from it.
    #[must_use]
    pub fn is_tainted(self) -> bool {
        self >= Self::Knowledge
    }

    /// Whether text of this trust is shown to a model inside an envelope.
    #[must_use]
    pub fn is_enveloped(self) -> bool {
        self >= Self::Memory
    }

    /// The wire form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::TrustedConfiguration => "trusted_configuration",
            Self::User => "user",
            Self::InternalTool => "internal_tool",
            Self::Memory => "memory",
            Self::Knowledge => "knowledge",
            Self::ExternalUntrusted => "external_untrusted",
        }
    }
}

/// How far text may travel, most freely first. The declared order is the rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sensitivity {
    /// Anybody may have it.
    Public,
    /// It belongs to the person; it does not leave without being asked for.
    Private,
    /// A credential. It never reaches a model.
    Secret,
}

impl Sensitivity {
    /// Every member, most freely travelling first.
    pub const ALL: [Self; 3] = [Self::Public, Self::Private, Self::Secret];

    /// The more sensitive of two.
    #[must_use]
    pub fn most(self, other: Self) -> Self {
        self.max(other)
    }

    /// The wire form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
            Self::Secret => "secret",
        }
    }
}

/// Where a text came from: a closed set, because it is shown to the model as Mast's own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// Mast's system text.
    System,
    /// The agent's configured instructions.
    Instructions,
    /// Typed by the person.
    Typed,
    /// Piped in, uploaded, or expanded from a file.
    Piped,
    /// Sent by a caller whose context Mast did not build.
    Caller,
    /// Written by a model.
    Model,
    /// The result of a tool.
    Tool,
}

impl SourceKind {
    /// The wire form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Instructions => "instructions",
            Self::Typed => "typed",
            Self::Piped => "piped",
            Self::Caller => "caller",
            Self::Model => "model",
            Self::Tool => "tool",
        }
    }
}

/// What is known of a text: its trust, its sensitivity and where it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Label {
    /// How far it may be believed.
    pub trust: Trust,
    /// How far it may travel.
    pub sensitivity: Sensitivity,
    /// Where it came from; of a join, where its least trusted part came from.
    pub source: SourceKind,
}

impl Label {
    /// A label.
    #[must_use]
    pub const fn new(trust: Trust, sensitivity: Sensitivity, source: SourceKind) -> Self {
        Self { trust, sensitivity, source }
    }

    /// What Mast itself says.
    #[must_use]
    pub const fn platform() -> Self {
        Self::new(Trust::Platform, Sensitivity::Public, SourceKind::System)
    }

    /// What an authenticated person typed. It is PUBLIC: they chose to say it, and a search that they
    /// ask for must be able to carry their words. What they point at (files, mail) is PRIVATE.
    #[must_use]
    pub const fn typed() -> Self {
        Self::new(Trust::User, Sensitivity::Public, SourceKind::Typed)
    }

    /// What was piped in: nobody says who wrote it.
    #[must_use]
    pub const fn piped() -> Self {
        Self::new(Trust::ExternalUntrusted, Sensitivity::Private, SourceKind::Piped)
    }

    /// The label of something made from both: least trust, highest sensitivity.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        let source = if other.trust > self.trust { other.source } else { self.source };
        Self {
            trust: self.trust.least(other.trust),
            sensitivity: self.sensitivity.most(other.sensitivity),
            source,
        }
    }

    /// This label, or the claimed one where it is worse: a result may only lower its trust and raise
    /// its sensitivity.
    #[must_use]
    pub fn clamp(self, claimed: Option<Self>) -> Self {
        claimed.map_or(self, |claimed| Self { source: self.source, ..self.join(claimed) })
    }

    /// Whether neither axis is worse than the other label's.
    #[must_use]
    pub fn is_no_worse_than(self, other: Self) -> bool {
        self.trust <= other.trust && self.sensitivity <= other.sensitivity
    }

    /// The label of everything together; of nothing, Mast's own.
    #[must_use]
    pub fn join_all(labels: impl IntoIterator<Item = Self>) -> Self {
        labels.into_iter().fold(Self::platform(), Self::join)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn label() -> impl Strategy<Value = Label> {
        (0..7_usize, 0..3_usize).prop_map(|(trust, sensitivity)| {
            Label::new(Trust::ALL[trust], Sensitivity::ALL[sensitivity], SourceKind::Tool)
        })
    }

    #[test]
    fn the_order_is_the_rank() {
        assert!(Trust::ALL.is_sorted());
        assert!(Sensitivity::ALL.is_sorted());
        assert_eq!(Trust::Memory.least(Trust::User), Trust::Memory);
        let tainted: Vec<_> = Trust::ALL.into_iter().filter(|trust| trust.is_tainted()).collect();
        assert_eq!(tainted, [Trust::Knowledge, Trust::ExternalUntrusted]);
    }

    #[test]
    fn the_wire_form_is_what_serde_writes() {
        for trust in Trust::ALL {
            assert_eq!(serde_json::to_value(trust).unwrap(), trust.as_str());
        }
        for sensitivity in Sensitivity::ALL {
            assert_eq!(serde_json::to_value(sensitivity).unwrap(), sensitivity.as_str());
        }
    }

    #[test]
    fn a_join_names_the_source_of_its_worse_half() {
        let joined = Label::typed().join(Label::piped());
        assert_eq!(joined, Label::piped());
        assert_eq!(Label::piped().join(Label::typed()), Label::piped());
    }

    proptest! {
        #[test]
        fn a_join_is_never_better_than_its_parts(a in label(), b in label(), c in label()) {
            let joined = a.join(b);
            prop_assert!(joined.trust >= a.trust && joined.trust >= b.trust);
            prop_assert!(joined.sensitivity >= a.sensitivity && joined.sensitivity >= b.sensitivity);
            prop_assert_eq!(a.join(b).join(c), a.join(b.join(c)));
            prop_assert_eq!(a.join(b), b.join(a));
            prop_assert_eq!(a.clamp(Some(b)), a.join(b));
            prop_assert_eq!(a.clamp(None), a);
        }
    }
}
