//! What ran before in a session, put in order once, so that no rule and no command has to look through all
//! of it again. It knows no rules: the same history serves every profile.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::index::Places;
use super::pattern::{Mark, PathPattern};
use super::selector::{Selector, Touched, server_of};
use super::spelling::Readings;
use crate::policy::Past;
use crate::spec::SideEffect;

/// The calls of a session that ran before, as rules about sequences look them up. Copies share one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History(Arc<Calls>);

/// The calls, and the places of those that show a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Calls {
    calls: Vec<Call>,
    tools: Places,
    servers: Places,
    effects: BTreeMap<SideEffect, Vec<usize>>,
    programs: Places,
    /// With which name a path begins, which names are in it, and what follows the last dot of each.
    first_segments: Places,
    names: Places,
    endings: Places,
    /// Calls that touch a path, and calls that touch a host.
    with_path: Vec<usize>,
    with_host: Vec<usize>,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    tool: String,
    side_effect: SideEffect,
    touched: Vec<Touched<'static>>,
}

impl History {
    /// Whether nothing ran before.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.calls.is_empty()
    }

    /// How many calls ran before.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.calls.len()
    }

    /// The same with one more call after the others.
    #[must_use]
    pub fn and(&self, past: &Past) -> Self {
        let mut calls = Arc::clone(&self.0);
        Arc::make_mut(&mut calls).add(past);
        Self(calls)
    }

    /// Whether one of the calls is meant.
    pub(super) fn has(&self, meant: &Selector) -> bool {
        let calls = &*self.0;
        if !meant.tools.is_empty() {
            meant.tools.iter().any(|tool| calls.has_at(calls.tools.get(tool), meant))
        } else if meant.has_patterns() {
            let has_program = |program: &str| calls.has_at(calls.programs.get(program), meant);
            meant.paths.iter().any(|path| calls.has_at(calls.of_path(path), meant))
                || !meant.hosts.is_empty() && calls.has_at(Some(&calls.with_host), meant)
                || meant.commands.iter().any(|command| has_program(command.program()))
        } else if !meant.servers.is_empty() {
            meant.servers.iter().any(|server| calls.has_at(calls.servers.get(server), meant))
        } else {
            meant.effects.iter().any(|effect| calls.has_at(calls.effects.get(effect), meant))
        }
    }
}

impl Calls {
    /// Whether one of the calls at these places is meant.
    fn has_at(&self, places: Option<&Vec<usize>>, meant: &Selector) -> bool {
        let is_meant = |call: &Call| meant.means_parts(&call.tool, call.side_effect, &call.touched);
        places.into_iter().flatten().filter_map(|at| self.calls.get(*at)).any(is_meant)
    }

    /// The places of the calls that this pattern may cover.
    fn of_path(&self, path: &PathPattern) -> Option<&Vec<usize>> {
        match (path.first(), path.mark()) {
            (Some(first), _) => self.first_segments.get(first),
            (None, Some(Mark::Name(name))) => self.names.get(name),
            (None, Some(Mark::Ending(ending))) => self.endings.get(ending),
            (None, None) => Some(&self.with_path),
        }
    }

    fn add(&mut self, past: &Past) {
        let at = self.calls.len();
        let touched: Vec<Touched<'static>> =
            past.resources.iter().filter_map(Touched::of).map(Touched::into_owned).collect();
        put(&mut self.tools, &past.tool, at);
        server_of(&past.tool).into_iter().for_each(|server| put(&mut self.servers, server, at));
        self.effects.entry(past.side_effect).or_default().push(at);
        for touched in &touched {
            self.add_touched(touched, at);
        }
        self.calls.push(Call { tool: past.tool.clone(), side_effect: past.side_effect, touched });
    }

    fn add_touched(&mut self, touched: &Touched<'_>, at: usize) {
        for path in touched.paths().iter().flat_map(Readings::each) {
            push(&mut self.with_path, at);
            path.first().into_iter().for_each(|first| put(&mut self.first_segments, first, at));
            for name in path {
                put(&mut self.names, name, at);
                let ending = name.rsplit_once('.').map(|(_, ending)| ending);
                ending.into_iter().for_each(|ending| put(&mut self.endings, ending, at));
            }
        }
        match touched {
            Touched::Path { path: _, write: _ } => {}
            Touched::Host(_) => push(&mut self.with_host, at),
            Touched::Command { words, paths: _ } => {
                words.first().into_iter().for_each(|program| put(&mut self.programs, program, at));
            }
        }
    }
}

fn put(places: &mut Places, word: &str, at: usize) {
    match places.get_mut(word) {
        Some(places) => push(places, at),
        None => {
            places.insert(word.to_owned(), vec![at]);
        }
    }
}

/// A call stands in a list once.
fn push(places: &mut Vec<usize>, at: usize) {
    if places.last() != Some(&at) {
        places.push(at);
    }
}

impl FromIterator<Past> for History {
    fn from_iter<T: IntoIterator<Item = Past>>(pasts: T) -> Self {
        let mut calls = Calls::default();
        pasts.into_iter().for_each(|past| calls.add(&past));
        Self(Arc::new(calls))
    }
}

impl From<Vec<Past>> for History {
    fn from(pasts: Vec<Past>) -> Self {
        pasts.into_iter().collect()
    }
}
