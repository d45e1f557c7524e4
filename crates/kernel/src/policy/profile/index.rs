//! Finds the few rules that can be about a call, so that a profile of hundreds costs no more than one of
//! ten: each rule stands under every word by which a call that it means must show itself.

use std::collections::{BTreeMap, BTreeSet};

use super::pattern::{HostPattern, host_name, program_name, segments};
use super::selector::{Rule, Seen, Selector, path_words};
use crate::resource::Resource;
use crate::spec::SideEffect;

/// Places of rules, by what shows itself in a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Index {
    tools: Places,
    servers: Places,
    programs: Places,
    /// Exact hosts, and names below which every host is meant.
    hosts: Places,
    first_segments: Places,
    /// Rules with a path pattern that begins with a wildcard.
    any_path: Vec<usize>,
    /// Rules about every host.
    any_host: Vec<usize>,
    effects: BTreeMap<SideEffect, Vec<usize>>,
}

type Places = BTreeMap<String, Vec<usize>>;

impl Index {
    /// The index of these rules.
    pub(super) fn of(rules: &[Rule]) -> Self {
        let mut index = Self::default();
        for (at, rule) in rules.iter().enumerate() {
            index.add(at, &rule.meant);
        }
        index
    }

    /// Puts a rule under one kind of word, the most telling: a call that it means has one of them.
    fn add(&mut self, at: usize, meant: &Selector) {
        let put = |places: &mut Places, word: &str| places.entry(word.to_owned()).or_default().push(at);
        if !meant.tools.is_empty() {
            meant.tools.iter().for_each(|tool| put(&mut self.tools, tool));
        } else if meant.has_patterns() {
            for path in &meant.paths {
                match path.first() {
                    Some(first) => put(&mut self.first_segments, first),
                    None => self.any_path.push(at),
                }
            }
            for host in &meant.hosts {
                match host {
                    HostPattern::Any => self.any_host.push(at),
                    HostPattern::Exact(name) | HostPattern::Below(name) => put(&mut self.hosts, name),
                }
            }
            meant.commands.iter().for_each(|command| put(&mut self.programs, command.program()));
        } else if !meant.servers.is_empty() {
            meant.servers.iter().for_each(|server| put(&mut self.servers, server));
        } else {
            for effect in &meant.effects {
                self.effects.entry(*effect).or_default().push(at);
            }
        }
    }

    /// The places of the rules that may mean this call, in the order of the file.
    pub(super) fn candidates(&self, call: &Seen<'_>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        take(&mut found, &self.tools, call.tool);
        if let Some(server) = call.server() {
            take(&mut found, &self.servers, server);
        }
        found.extend(self.effects.get(&call.side_effect).into_iter().flatten().copied());
        for resource in call.resources {
            match resource {
                Resource::Path { path, write: _ } | Resource::Redirect { path, write: _ } => {
                    self.of_path(path, &mut found);
                }
                Resource::Host { host, handle: _ } => self.of_host(&host_name(host), &mut found),
                Resource::Command { words, exact: _ } => {
                    if let Some(program) = words.first() {
                        take(&mut found, &self.programs, program_name(program));
                    }
                    path_words(words).for_each(|word| self.of_path(word, &mut found));
                }
                Resource::Record { system: _, record: _ } => {}
            }
        }
        found
    }

    fn of_path(&self, path: &str, found: &mut BTreeSet<usize>) {
        found.extend(self.any_path.iter().copied());
        if !self.first_segments.is_empty()
            && let Some(first) = segments(path).first()
        {
            take(found, &self.first_segments, first);
        }
    }

    fn of_host(&self, host: &str, found: &mut BTreeSet<usize>) {
        found.extend(self.any_host.iter().copied());
        let mut name = Some(host);
        while let Some(here) = name {
            take(found, &self.hosts, here);
            name = here.split_once('.').map(|(_, above)| above);
        }
    }
}

fn take(found: &mut BTreeSet<usize>, places: &Places, word: &str) {
    found.extend(places.get(word).into_iter().flatten().copied());
}
