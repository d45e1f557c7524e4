//! Finds the few rules that can be about a call, so that a profile of hundreds costs no more than one of
//! ten: each rule stands under every word by which a call that it means must show itself.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::host::Hosts;
use super::pattern::Mark;
use super::selector::{Rule, Seen, Selector, Touched, server_of};
use super::spelling::Readings;
use crate::spec::SideEffect;

/// Places of rules, by what shows itself in a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Index {
    tools: Words,
    servers: Words,
    programs: Words,
    /// Exact hosts, and names below which every host is meant.
    hosts: Words,
    first_segments: Words,
    /// Names of segments, and what follows their last dot, for path patterns that begin with a wildcard.
    names: Words,
    endings: Words,
    /// Rules with a path pattern that any path may match.
    any_path: Vec<usize>,
    /// Rules about every host.
    any_host: Vec<usize>,
    effects: BTreeMap<SideEffect, Vec<usize>>,
}

pub(super) type Places = BTreeMap<String, Vec<usize>>;

/// Places of rules by word. Nearly every word of a call is in none of them, and a few bits tell so sooner
/// than the comparison of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Words {
    places: Places,
    /// One bit for each mark of a word, as many as a power of two has.
    bits: Vec<u64>,
}

/// Bits for each word: one other word in sixteen passes.
const BITS_A_WORD: usize = 16;

impl Words {
    fn put(&mut self, word: &str, at: usize) {
        self.places.entry(word.to_owned()).or_default().push(at);
        let n_bits = (self.places.len() * BITS_A_WORD).next_power_of_two().max(64);
        if n_bits > self.bits.len() * 64 {
            self.bits = vec![0; n_bits / 64];
            let marks: Vec<u64> = self.places.keys().map(|word| mark(word)).collect();
            marks.into_iter().for_each(|mark| self.set(mark));
        } else {
            self.set(mark(word));
        }
    }

    fn set(&mut self, mark: u64) {
        let (at, bit) = self.bit(mark);
        self.bits.get_mut(at).into_iter().for_each(|bits| *bits |= bit);
    }

    /// In which of the numbers a mark stands, and where in it.
    fn bit(&self, mark: u64) -> (usize, u64) {
        let at = usize::try_from(mark >> 6).unwrap_or_default() & self.bits.len().wrapping_sub(1);
        (at, 1 << (mark & 63))
    }

    fn take(&self, word: &str, found: &mut Vec<usize>) {
        let has = |(at, bit): (usize, u64)| self.bits.get(at).is_some_and(|bits| bits & bit != 0);
        if !self.bits.is_empty() && has(self.bit(mark(word))) {
            found.extend(self.places.get(word).into_iter().flatten().copied());
        }
    }
}

/// A number that two words rarely share (FNV-1a, and its high bits mixed into the low ones).
fn mark(word: &str) -> u64 {
    let mark = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |mark, byte| {
        (mark ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    mark ^ mark >> 32
}

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
        let put = |words: &mut Words, word: &str| words.put(word, at);
        if !meant.tools.is_empty() {
            meant.tools.iter().for_each(|tool| put(&mut self.tools, tool));
        } else if meant.has_patterns() {
            for path in &meant.paths {
                match (path.first(), path.mark()) {
                    (Some(first), _) => put(&mut self.first_segments, first),
                    (None, Some(Mark::Name(name))) => put(&mut self.names, name),
                    (None, Some(Mark::Ending(ending))) => put(&mut self.endings, ending),
                    (None, None) => self.any_path.push(at),
                }
            }
            for host in &meant.hosts {
                match host.hosts() {
                    Hosts::Any => self.any_host.push(at),
                    Hosts::Exact(names) | Hosts::Below(names) => {
                        names.iter().for_each(|name| put(&mut self.hosts, name));
                    }
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
    pub(super) fn candidates(&self, call: &Seen<'_>) -> Vec<usize> {
        let mut found = Vec::new();
        self.tools.take(call.tool, &mut found);
        if let Some(server) = server_of(call.tool) {
            self.servers.take(server, &mut found);
        }
        found.extend(self.effects.get(&call.side_effect).into_iter().flatten().copied());
        for touched in &call.touched {
            for path in touched.paths().iter().flat_map(Readings::each) {
                self.of_path(path, &mut found);
            }
            match touched {
                Touched::Path { path: _, write: _ } => {}
                Touched::Host(readings) => readings.iter().for_each(|host| self.of_host(host, &mut found)),
                Touched::Command { words, paths: _ } => {
                    words.first().into_iter().for_each(|name| self.programs.take(name, &mut found));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn of_path(&self, path: &[Cow<'_, str>], found: &mut Vec<usize>) {
        found.extend_from_slice(&self.any_path);
        if let Some(first) = path.first() {
            self.first_segments.take(first, found);
        }
        for segment in path {
            self.names.take(segment, found);
            if let Some((_, ending)) = segment.rsplit_once('.') {
                self.endings.take(ending, found);
            }
        }
    }

    fn of_host(&self, host: &str, found: &mut Vec<usize>) {
        found.extend_from_slice(&self.any_host);
        let mut name = Some(host);
        while let Some(here) = name {
            self.hosts.take(here, found);
            name = here.split_once('.').map(|(_, above)| above);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Draft, NoRoster, Whose};
    use super::*;
    use crate::resource::Resource;

    /// The index may only leave out rules that do not mean a call.
    #[test]
    fn whatever_a_rule_means_is_found() {
        let patterns = ["a", "a/**", "**/b", "**/*.pem", "**/.env*", "*a/x", "/etc", "**", "c*/d.*"];
        let rules: String = patterns
            .iter()
            .map(|pattern| format!("[[rules]]\npaths = [\"{pattern}\"]\nruling = \"deny\"\n"))
            .collect();
        let draft = Draft::read("x.toml", &format!("name = \"x\"\n{rules}"), Whose::User).unwrap();
        let profile = draft.load(&NoRoster).unwrap();
        let names = ["a", "b", "B.PEM", ".env.local", "xa", "x", "etc", "cc", "d.e"];
        let mut n_meant = 0;
        for first in names {
            for second in names {
                for path in [first.to_owned(), format!("{first}/{second}"), format!("/{first}/./{second}/z")]
                {
                    let by_path = Resource::Path { path: path.clone(), write: false };
                    let by_word = Resource::Command { words: vec!["cat".into(), path], exact: true };
                    for resource in [by_path, by_word] {
                        let touched = Touched::of(&resource).into_iter().collect();
                        let call = Seen { tool: "app.x", side_effect: SideEffect::None, touched };
                        let found = profile.index.candidates(&call);
                        let meant =
                            profile.rules.iter().enumerate().filter(|(_, rule)| rule.meant.means(&call));
                        let missed = meant.clone().find(|(at, _)| !found.contains(at));
                        assert!(missed.is_none(), "{resource:?} {missed:?}");
                        n_meant += meant.count();
                    }
                }
            }
        }
        assert!(n_meant > 500, "{n_meant}");
    }
}
