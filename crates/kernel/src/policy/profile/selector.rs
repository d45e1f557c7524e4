//! Which calls a rule is about.

use std::collections::BTreeSet;

use super::pattern::{CommandPattern, HostPattern, PathPattern, host_name, segments};
use crate::policy::{Past, Ruling};
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
#[derive(Debug)]
pub(super) enum Touched<'a> {
    Path {
        segments: Vec<String>,
        write: bool,
    },
    Host(String),
    Command {
        words: &'a [String],
        /// The words that may be paths.
        paths: Vec<Vec<String>>,
    },
}

impl<'a> Touched<'a> {
    /// The resource; none if no pattern speaks of its kind.
    pub(super) fn of(resource: &'a Resource) -> Option<Self> {
        match resource {
            Resource::Path { path, write } | Resource::Redirect { path, write } => {
                Some(Self::Path { segments: segments(path), write: *write })
            }
            Resource::Host { host, handle: _ } => Some(Self::Host(host_name(host))),
            Resource::Command { words, exact: _ } => {
                Some(Self::Command { words, paths: path_words(words).map(segments).collect() })
            }
            Resource::Record { system: _, record: _ } => None,
        }
    }
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
        self.fits(call.tool, call.side_effect)
            && (!self.has_patterns() || call.touched.iter().any(|touched| self.covers(touched)))
    }

    /// Whether this earlier call is meant. A session has many of them, so most are told apart by a glance.
    pub(super) fn meant(&self, past: &Past) -> bool {
        let covers = |resource| Touched::of(resource).is_some_and(|touched| self.covers(&touched));
        self.fits(&past.tool, past.side_effect)
            && (!self.has_patterns()
                || past.resources.iter().any(|resource| self.may_cover(resource) && covers(resource)))
    }

    /// Whether what is said of the tool holds.
    fn fits(&self, tool: &str, side_effect: SideEffect) -> bool {
        (self.tools.is_empty() || self.tools.contains(tool))
            && (self.servers.is_empty()
                || server_of(tool).is_some_and(|server| self.servers.contains(server)))
            && (self.effects.is_empty() || self.effects.contains(&side_effect))
    }

    fn covers(&self, touched: &Touched<'_>) -> bool {
        let covers_path = |path: &[String]| self.paths.iter().any(|pattern| pattern.covers(path));
        match touched {
            Touched::Path { segments, write } => {
                self.write.is_none_or(|wanted| wanted == *write) && covers_path(segments)
            }
            Touched::Host(host) => self.hosts.iter().any(|pattern| pattern.covers(host)),
            Touched::Command { words, paths } => {
                self.commands.iter().any(|pattern| pattern.covers(words))
                    || paths.iter().any(|path| covers_path(path))
            }
        }
    }

    /// False only where it surely does not cover a resource.
    fn may_cover(&self, resource: &Resource) -> bool {
        let may_cover_path = |path: &str| self.paths.iter().any(|pattern| pattern.may_cover(path));
        match resource {
            Resource::Path { path, write: _ } | Resource::Redirect { path, write: _ } => may_cover_path(path),
            Resource::Host { host: _, handle: _ } => !self.hosts.is_empty(),
            Resource::Command { words, exact: _ } => {
                !self.commands.is_empty() || path_words(words).any(may_cover_path)
            }
            Resource::Record { system: _, record: _ } => false,
        }
    }
}

/// The words of a command that may be paths. What a program does with them is not known, so that they
/// count as read and as written.
pub(super) fn path_words(words: &[String]) -> impl Iterator<Item = &str> {
    words.iter().filter_map(|word| match word.strip_prefix('-') {
        Some(option) => option.split_once('=').map(|(_, value)| value),
        None => Some(word.as_str()),
    })
}

/// A rule on calls, or, with `after`, on calls that follow another one in the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) line: usize,
    pub(super) meant: Selector,
    pub(super) after: Option<Selector>,
    pub(super) ruling: Ruling,
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
