//! Which rules are in force: the profile, the machine's own profiles, and the version that names them
//! all. See `docs/spec/policy.md`.

use std::sync::Arc;

use super::profile::{Profile, Told};
use super::{Overlay, Policy, hardline, matrix};
use crate::canonical::Digest;
use crate::resource::Resource;
use crate::spec::SideEffect;

/// Where the rule stands that a finding comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    /// Which file of the policy: 0 is the profile, from 1 on the admin profiles. See [`Policy::files`].
    pub file: usize,
    /// Which rule.
    pub rule: RuleAt,
}

/// A rule: where it stands in its file, and what it says. It is known by what it says: another rule on the same
/// line is another one, and the same rule further down is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleAt {
    /// The line, counted from 1.
    pub line: usize,
    /// Digest of what it says, its reason left out.
    pub digest: Digest,
}

/// A call that ran earlier in the session, as rules about sequences see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// Registry name of the tool.
    pub tool: String,
    /// What the tool may do.
    pub side_effect: SideEffect,
    /// What the call touched.
    pub resources: Vec<Resource>,
}

impl Policy {
    /// The built-in profile or another one, and the machine's own profiles, which only tighten.
    #[must_use]
    pub fn new(overlay: Overlay, profile: Option<Profile>, admins: Vec<Profile>) -> Self {
        let profile = profile.map_or_else(Profile::builtin, Arc::new);
        let name = profile.name().to_owned();
        let files: Vec<_> = std::iter::once(profile).chain(admins.into_iter().map(Arc::new)).collect();
        let matrix = matrix::text();
        let hashes = files.iter().map(|file| file.hash());
        let fields: Vec<_> = std::iter::once(Digest::of(matrix.as_bytes())).chain(hashes).collect();
        let rules = Digest::of_fields(fields.iter().map(|digest| digest.as_bytes().as_slice())).to_hex();
        let rules: String = rules.chars().take(12).collect();
        let hardline: String = Digest::of(hardline::text().as_bytes()).to_hex().chars().take(8).collect();
        let off = if overlay == Overlay::Off { "-overlay-off" } else { "" };
        Self { overlay, version: format!("{name}{off}@{rules}+h{hardline}"), files }
    }

    /// The files whose rules are in force: the profile, and after it the admin profiles.
    pub fn files(&self) -> impl Iterator<Item = &Profile> {
        self.files.iter().map(AsRef::as_ref)
    }

    /// The file that a finding's rule stands in, and the rule in words.
    #[must_use]
    pub fn told(&self, at: At) -> Option<(&str, Told)> {
        let profile = self.files.get(at.file)?;
        Some((profile.file(), profile.told().into_iter().find(|told| told.at == at.rule)?))
    }

    /// Whether a rule looks at the calls that ran before.
    #[must_use]
    pub fn looks_back(&self) -> bool {
        self.files().any(Profile::looks_back)
    }

    /// Whether every single call of this tool is asked about, so that no yes reaches further than one.
    #[must_use]
    pub fn always_asks(&self, tool: &str) -> bool {
        let here = |profile: &Profile| profile.always_asks(tool).is_some();
        here(&Profile::builtin()) || self.files().any(here)
    }
}
