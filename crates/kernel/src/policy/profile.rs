//! Profiles: rules that an operator writes, as TOML, with tests that must pass before the profile holds.
//!
//! A profile is plain data: rows over side effects, tools and servers; rules over resources; rules over
//! what was called before. It may loosen what [`loosest`] says and nothing else; everything else in it
//! can only tighten. An *admin* profile cannot loosen at all. Rejected: a language with conditions of
//! its own, since whoever reads a rule must know without running it what it does; and exceptions from
//! rules, since then the order of rules would matter. See `docs/spec/policy.md`.

mod fault;
mod history;
mod host;
mod index;
mod pattern;
mod read;
mod selector;
mod spelling;
mod table;
mod trial;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::{Overlay, Policy, RuleAt, Ruling, Surroundings};
use crate::canonical::Digest;
use crate::resource::Resource;
use crate::spec::SideEffect;
use index::Index;
use selector::{Rule, Seen, Tightening, Touched, server_of};
use trial::Trial;

pub use fault::{ProfileFault, ProfileRefused};
pub use history::History;
pub use trial::{NoRoster, Roster, Tested};

/// The profile that holds where nobody names another.
const BUILTIN: &str = include_str!("profile/default.toml");

/// What the built-in profile is called where its rules are told.
pub const BUILTIN_FILE: &str = "default.toml";

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The person's who runs Mast.
    User,
    /// The machine's: it can only tighten.
    Admin,
}

/// A profile in force: read, checked and tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    file: String,
    name: String,
    hash: Digest,
    rows: BTreeMap<SideEffect, Row>,
    tools: BTreeMap<String, Row>,
    servers: BTreeMap<String, Row>,
    rules: Vec<Rule>,
    index: Index,
    /// Tools, and the rule that names each.
    always_ask: BTreeMap<String, RuleAt>,
}

/// What is ruled of a side effect, a tool or a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) ruling: Ruling,
    pub(super) at: RuleAt,
    pub(super) why: Option<String>,
}

/// One rule of a profile, as a person is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Which rule it is, and where it stands.
    pub at: RuleAt,
    /// What it rules.
    pub ruling: Ruling,
    /// What it is about.
    pub what: String,
    /// Its own reason, where it gives one.
    pub why: Option<String>,
}

/// The loosest ruling that a user's profile may give to a side effect, where the matrix rules it
/// without a condition; `by_tool` where it names the exact tool. What the matrix allows on a condition
/// stays under that condition.
#[must_use]
pub const fn loosest(effect: SideEffect, by_tool: bool) -> Ruling {
    match effect {
        SideEffect::None
        | SideEffect::WorkspaceRead
        | SideEffect::WorkspaceWrite
        | SideEffect::NetworkRead
        | SideEffect::CodeExecution => Ruling::Allow,
        SideEffect::ExternalMessage
        | SideEffect::ExternalWrite
        | SideEffect::ExternalDelete
        | SideEffect::Publication
            if by_tool =>
        {
            Ruling::Allow
        }
        SideEffect::ExternalMessage
        | SideEffect::ExternalWrite
        | SideEffect::ExternalDelete
        | SideEffect::Publication
        | SideEffect::Financial
        | SideEffect::PackageInstall
        | SideEffect::SandboxNetwork => Ruling::Ask,
        SideEffect::CredentialAccess | SideEffect::HostAccess | SideEffect::Privileged => Ruling::Deny,
    }
}

/// A profile that was read and not tested. It decides nothing.
#[derive(Debug)]
pub struct Draft {
    profile: Profile,
    trials: Vec<Trial>,
    whose: Whose,
}

impl Draft {
    /// Reads the text of a profile; `file` is what it is called in every message.
    ///
    /// # Errors
    ///
    /// [`ProfileRefused`] with the first thing that is wrong, and its line.
    pub fn read(file: &str, text: &str, whose: Whose) -> Result<Self, ProfileRefused> {
        let (profile, trials) = read::read(file, text, whose)?;
        let allowed = |(_, row): &(&String, &Row)| row.ruling == Ruling::Allow;
        let always = |tool: &str| {
            profile.always_ask.contains_key(tool) || Profile::builtin().always_ask.contains_key(tool)
        };
        if let Some((tool, row)) = profile.tools.iter().filter(allowed).find(|(tool, _)| always(tool)) {
            let what = format!("tool {tool}, of which every call is asked about,");
            let fault = ProfileFault::Loosens { what, ruling: Ruling::Allow, at_most: Ruling::Ask };
            return Err(ProfileRefused { file: file.to_owned(), line: row.at.line, fault });
        }
        Ok(Self { profile, trials, whose })
    }

    /// The built-in profile, to run its tests.
    ///
    /// # Errors
    ///
    /// [`ProfileRefused`], were the file that is compiled in not a profile.
    pub fn builtin() -> Result<Self, ProfileRefused> {
        let (profile, trials) = read::read(BUILTIN_FILE, BUILTIN, Whose::User)?;
        Ok(Self { profile, trials, whose: Whose::User })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.profile.name
    }

    /// What its file is called.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.profile.file
    }

    /// Runs its tests, all of them.
    ///
    /// # Errors
    ///
    /// [`ProfileRefused`] when a test cannot be run.
    pub fn test(&self, roster: &dyn Roster) -> Result<Vec<Tested>, ProfileRefused> {
        let profile = self.profile.clone();
        let policy = match self.whose {
            Whose::User => Policy::new(Overlay::On, Some(profile), Vec::new()),
            Whose::Admin => Policy::new(Overlay::On, None, vec![profile]),
        };
        let run =
            |trial: &Trial| trial.run(&policy, roster).map_err(|fault| self.refuse(trial.line(), fault));
        self.trials.iter().map(run).collect()
    }

    /// The profile, if all its tests pass.
    ///
    /// # Errors
    ///
    /// [`ProfileRefused`] with the first test that fails.
    pub fn load(self, roster: &dyn Roster) -> Result<Profile, ProfileRefused> {
        match self.test(roster)?.into_iter().find(|tested| !tested.passed()) {
            None => Ok(self.profile),
            Some(Tested { name, line, expected, found }) => {
                Err(self.refuse(line, ProfileFault::TestFailed { name, expected, found }))
            }
        }
    }

    fn refuse(&self, line: usize, fault: ProfileFault) -> ProfileRefused {
        ProfileRefused { file: self.profile.file.clone(), line, fault }
    }
}

impl Profile {
    /// The built-in profile.
    #[must_use]
    pub fn builtin() -> Arc<Self> {
        static READ: LazyLock<Arc<Profile>> = LazyLock::new(|| {
            let read = read::read(BUILTIN_FILE, BUILTIN, Whose::User);
            Arc::new(read.map_or_else(|_| Profile::closed(), |(profile, _)| profile))
        });
        Arc::clone(&READ)
    }

    /// What would hold if the file that is compiled in were not a profile: nothing may be done.
    fn closed() -> Self {
        let closed =
            Row { ruling: Ruling::Deny, at: RuleAt { line: 1, digest: Digest::of(b"closed") }, why: None };
        Self {
            file: BUILTIN_FILE.to_owned(),
            name: "closed".to_owned(),
            hash: Digest::of(b"closed"),
            rows: SideEffect::ALL.iter().map(|effect| (*effect, closed.clone())).collect(),
            tools: BTreeMap::new(),
            servers: BTreeMap::new(),
            rules: Vec::new(),
            index: Index::default(),
            always_ask: BTreeMap::new(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its file is called.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// What decides in it, in one number: layout, comments and tests do not count.
    #[must_use]
    pub const fn hash(&self) -> Digest {
        self.hash
    }

    /// What it rules of a side effect as a whole, and the line.
    #[must_use]
    pub fn row(&self, effect: SideEffect) -> Option<(Ruling, usize)> {
        self.rows.get(&effect).map(|row| (row.ruling, row.at.line))
    }

    /// The tools of which every call is asked about, each with its line.
    pub fn always_ask(&self) -> impl Iterator<Item = (&str, usize)> {
        self.always_ask.iter().map(|(tool, at)| (tool.as_str(), at.line))
    }

    /// Everything that it says, in the order of its lines.
    #[must_use]
    pub fn told(&self) -> Vec<Told> {
        let of =
            |what: String, row: &Row| Told { at: row.at, ruling: row.ruling, what, why: row.why.clone() };
        let mut told: Vec<Told> =
            self.rows.iter().map(|(effect, row)| of(format!("effect {effect}"), row)).collect();
        told.extend(self.tools.iter().map(|(tool, row)| of(format!("tool {tool}"), row)));
        told.extend(self.servers.iter().map(|(server, row)| of(format!("server {server}"), row)));
        told.extend(self.rules.iter().map(|rule| Told {
            at: rule.at,
            ruling: rule.ruling.into(),
            what: rule.told(),
            why: rule.why.clone(),
        }));
        let mut asked: BTreeMap<RuleAt, Vec<&str>> = BTreeMap::new();
        for (tool, at) in &self.always_ask {
            asked.entry(*at).or_default().push(tool);
        }
        told.extend(asked.into_iter().map(|(at, tools)| Told {
            at,
            ruling: Ruling::Ask,
            what: format!("every call of {}", tools.join(", ")),
            why: None,
        }));
        told.sort_by_key(|told| told.at.line);
        told
    }

    /// The row that speaks of this tool: its own, else its server's, else its side effect's; and
    /// whether it is its own.
    pub(super) fn row_of(&self, tool: &str, effect: SideEffect) -> Option<(&Row, bool)> {
        if let Some(row) = self.tools.get(tool) {
            return Some((row, true));
        }
        let of_server = server_of(tool).and_then(|server| self.servers.get(server));
        of_server.or_else(|| self.rows.get(&effect)).map(|row| (row, false))
    }

    /// Every row that speaks of this tool.
    pub(super) fn rows_of<'a>(&'a self, tool: &'a str, effect: SideEffect) -> impl Iterator<Item = &'a Row> {
        let of_server = server_of(tool).and_then(|server| self.servers.get(server));
        self.tools.get(tool).into_iter().chain(of_server).chain(self.rows.get(&effect))
    }

    /// The rule that wants every call of this tool asked about.
    pub(super) fn always_asks(&self, tool: &str) -> Option<RuleAt> {
        self.always_ask.get(tool).copied()
    }

    /// Whether one of its rules is about a sequence of calls.
    pub(super) fn looks_back(&self) -> bool {
        self.rules.iter().any(|rule| rule.after.is_some())
    }

    /// The strictest rule that means this call, the first of several.
    pub(super) fn strictest(
        &self,
        tool: &str,
        side_effect: SideEffect,
        resources: &[Resource],
        around: &Surroundings,
    ) -> Option<(Ruling, RuleAt)> {
        if self.rules.is_empty() {
            return None;
        }
        let call = Seen { tool, side_effect, touched: resources.iter().filter_map(Touched::of).collect() };
        let rules = self.index.candidates(&call).into_iter().filter_map(|at| self.rules.get(at));
        let follows = |rule: &Rule| rule.after.as_ref().is_none_or(|after| around.history.has(after));
        let mut strictest: Option<(Tightening, RuleAt)> = None;
        for rule in rules.filter(|rule| rule.meant.means(&call)) {
            if strictest.is_none_or(|(ruling, _)| ruling < rule.ruling) && follows(rule) {
                strictest = Some((rule.ruling, rule.at));
            }
        }
        strictest.map(|(ruling, at)| (ruling.into(), at))
    }
}
