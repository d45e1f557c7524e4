//! Which calls a rule is about.

use std::collections::BTreeSet;

use super::pattern::{CommandPattern, HostPattern, PathPattern, host_name, segments};
use crate::policy::Ruling;
use crate::resource::Resource;
use crate::spec::SideEffect;

/// What a rule sees of a call, be it the one that is judged or an earlier one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) tool: &'a str,
    pub(super) side_effect: SideEffect,
    pub(super) resources: &'a [Resource],
}

impl<'a> Seen<'a> {
    /// The server that the tool is from, if it is from one: the middle of `mcp.{server}.{tool}`.
    pub(super) fn server(&self) -> Option<&'a str> {
        self.tool.strip_prefix("mcp.")?.split('.').next()
    }
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
        let named = |set: &BTreeSet<String>, name: Option<&str>| {
            set.is_empty() || name.is_some_and(|name| set.contains(name))
        };
        named(&self.tools, Some(call.tool))
            && named(&self.servers, call.server())
            && (self.effects.is_empty() || self.effects.contains(&call.side_effect))
            && (!self.has_patterns() || call.resources.iter().any(|resource| self.covers(resource)))
    }

    fn covers(&self, resource: &Resource) -> bool {
        match resource {
            Resource::Path { path, write } | Resource::Redirect { path, write } => {
                self.write.is_none_or(|wanted| wanted == *write) && self.covers_path(path)
            }
            Resource::Host { host, handle: _ } => {
                let host = host_name(host);
                self.hosts.iter().any(|pattern| pattern.covers(&host))
            }
            Resource::Command { words, exact: _ } => {
                self.commands.iter().any(|pattern| pattern.covers(words))
                    || path_words(words).any(|word| self.covers_path(word))
            }
            Resource::Record { system: _, record: _ } => false,
        }
    }

    fn covers_path(&self, path: &str) -> bool {
        if self.paths.is_empty() {
            return false;
        }
        let path = segments(path);
        self.paths.iter().any(|pattern| pattern.covers(&path))
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
