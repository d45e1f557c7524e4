//! Which calls a rule is about.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::host::{self, HostPattern};
use super::pattern::{CommandPattern, PathPattern};
use super::spelling::{Readings, parts, program_name, same_word};
use crate::policy::{RuleAt, Ruling};
use crate::resource::Resource;
use crate::spec::SideEffect;

/// What rules see of the call that is judged, prepared once for all of them.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    pub(super) tool: &'a str,
    pub(super) side_effect: SideEffect,
    pub(super) touched: Vec<Touched<'a>>,
}

/// A resource, split as patterns compare it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Touched<'a> {
    Path {
        path: Readings<'a>,
        write: bool,
    },
    /// A host, in all its readings.
    Host(Vec<Cow<'a, str>>),
    Command {
        words: Vec<Cow<'a, str>>,
        /// What of the words may be a path. What a program does with it is not known, so that it counts
        /// as read and as written.
        paths: Vec<Readings<'a>>,
    },
}

impl<'a> Touched<'a> {
    /// The resource; none if no pattern speaks of its kind.
    pub(super) fn of(resource: &'a Resource) -> Option<Self> {
        match resource {
            Resource::Path { path, write } | Resource::Redirect { path, write } => {
                Some(Self::Path { path: Readings::of(path), write: *write })
            }
            Resource::Host { host, handle: _ } => Some(Self::Host(host::readings(host))),
            Resource::Command { words, exact: _ } => {
                let paths = words.iter().flat_map(|word| parts(word)).map(Readings::of).collect();
                Some(Self::Command { words: compared(words), paths })
            }
            Resource::Record { system: _, record: _ } => None,
        }
    }

    /// The same on its own feet.
    pub(super) fn into_owned(self) -> Touched<'static> {
        let own = |texts: Vec<Cow<'_, str>>| -> Vec<Cow<'static, str>> {
            texts.into_iter().map(|text| Cow::Owned(text.into_owned())).collect()
        };
        match self {
            Self::Path { path, write } => Touched::Path { path: path.into_owned(), write },
            Self::Host(readings) => Touched::Host(own(readings)),
            Self::Command { words, paths } => {
                let paths = paths.into_iter().map(Readings::into_owned).collect();
                Touched::Command { words: own(words), paths }
            }
        }
    }

    /// Everything in it that may be a path.
    pub(super) fn paths(&self) -> &[Readings<'a>] {
        match self {
            Self::Path { path, write: _ } => std::slice::from_ref(path),
            Self::Host(_) => &[],
            Self::Command { words: _, paths } => paths,
        }
    }
}

/// The words of a command as patterns compare them.
pub(super) fn compared(words: &[String]) -> Vec<Cow<'_, str>> {
    let program = words.first().map(|word| program_name(word));
    program.into_iter().chain(words.iter().skip(1).map(|word| same_word(word))).collect()
}

/// The server that a tool is from, if it is from one: the middle of `mcp.{server}.{tool}`.
pub(super) fn server_of(tool: &str) -> Option<&str> {
    tool.strip_prefix("mcp.")?.split('.').next()
}

/// Which calls are meant. What is said of the tool must hold in full: one of the tools, one of the
/// servers, one of the side effects. Of the resources one is enough.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selector {
    pub(super) tools: BTreeSet<String>,
    pub(super) servers: BTreeSet<String>,
    pub(super) effects: BTreeSet<SideEffect>,
    pub(super) paths: Vec<PathPattern>,
    pub(super) hosts: Vec<HostPattern>,
    pub(super) commands: Vec<CommandPattern>,
    /// Of paths: only those that would be changed (`true`), only those that would not (`false`).
    pub(super) write: Option<bool>,
}

impl Selector {
    /// Whether it says nothing at all, and so would mean every call.
    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.servers.is_empty() && self.effects.is_empty() && !self.has_patterns()
    }

    /// Whether it speaks of resources.
    pub(super) fn has_patterns(&self) -> bool {
        !(self.paths.is_empty() && self.hosts.is_empty() && self.commands.is_empty())
    }

    /// Whether this call is meant.
    pub(super) fn means(&self, call: &Seen<'_>) -> bool {
        self.means_parts(call.tool, call.side_effect, &call.touched)
    }

    /// The same of a call in its parts.
    pub(super) fn means_parts(&self, tool: &str, side_effect: SideEffect, touched: &[Touched<'_>]) -> bool {
        self.fits(tool, side_effect)
            && (!self.has_patterns() || touched.iter().any(|touched| self.covers(touched)))
    }

    /// Whether what is said of the tool holds.
    fn fits(&self, tool: &str, side_effect: SideEffect) -> bool {
        (self.tools.is_empty() || self.tools.contains(tool))
            && (self.servers.is_empty()
                || server_of(tool).is_some_and(|server| self.servers.contains(server)))
            && (self.effects.is_empty() || self.effects.contains(&side_effect))
    }

    fn covers(&self, touched: &Touched<'_>) -> bool {
        let covers_path = |path: &Readings<'_>| {
            self.paths.iter().any(|pattern| path.each().any(|reading| pattern.covers(reading)))
        };
        match touched {
            Touched::Path { path, write } => {
                self.write.is_none_or(|wanted| wanted == *write) && covers_path(path)
            }
            Touched::Host(readings) => {
                self.hosts.iter().any(|pattern| readings.iter().any(|host| pattern.covers(host)))
            }
            Touched::Command { words, paths } => {
                self.commands.iter().any(|pattern| pattern.covers(words)) || paths.iter().any(covers_path)
            }
        }
    }
}

/// What a rule may rule. There is no word for allowing: what a rule means is compared in every spelling
/// that somebody takes for the same, and a yes must never reach what only looks alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tightening {
    /// A person must be asked.
    Ask,
    /// It must not run.
    Deny,
}

impl From<Tightening> for Ruling {
    fn from(tightening: Tightening) -> Self {
        match tightening {
            Tightening::Ask => Self::Ask,
            Tightening::Deny => Self::Deny,
        }
    }
}

/// A rule on calls, or, with `after`, on calls that follow another one in the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) at: RuleAt,
    pub(super) meant: Selector,
    pub(super) after: Option<Selector>,
    pub(super) ruling: Tightening,
    pub(super) why: Option<String>,
}

impl Rule {
    /// What it is about, in a few words.
    pub(super) fn told(&self) -> String {
        match &self.after {
            None => self.meant.told(),
            Some(after) => format!("{}, after {}", self.meant.told(), after.told()),
        }
    }
}

impl Selector {
    fn told(&self) -> String {
        let mut parts = Vec::new();
        let mut tell = |what: &str, items: Vec<String>| {
            if !items.is_empty() {
                parts.push(format!("{what} {}", items.join(", ")));
            }
        };
        tell("tool", self.tools.iter().cloned().collect());
        tell("server", self.servers.iter().cloned().collect());
        tell("effect", self.effects.iter().map(ToString::to_string).collect());
        let path = match self.write {
            None => "path",
            Some(true) => "written path",
            Some(false) => "read path",
        };
        tell(path, self.paths.iter().map(|path| path.as_str().to_owned()).collect());
        tell("host", self.hosts.iter().map(ToString::to_string).collect());
        tell("command", self.commands.iter().map(|words| format!("\"{words}\"")).collect());
        parts.join(" · ")
    }
}
