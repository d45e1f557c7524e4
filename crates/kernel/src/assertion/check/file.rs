//! Assertions about files.

use super::{Entry, Record, Support};
use crate::assertion::command::{Does, does};
use crate::effect::{clean, is_deletion, is_not_found, paths, written as written_paths};
use crate::spec::SideEffect;

/// A file was written: by a call that names it, or by a command that does.
pub(super) fn written(record: &Record<'_>, subject: Option<&str>) -> Support {
    let names = Names::of(record, subject);
    let is_it = |entry: &Entry<'_>| {
        entry.receipt.side_effect != SideEffect::ExternalDelete
            && !is_deletion(entry.receipt)
            && names.writes(entry)
    };
    match record.done(|entry| is_it(entry) || names.commands(entry, Does::Write) || names.elsewhere(entry)) {
        Some(entry) => match entry.doubt() {
            Some(why) if entry.receipt.side_effect == SideEffect::WorkspaceWrite => {
                Support::Unsupported { why }
            }
            Some(_) | None => entry.supported(),
        },
        None => names.unsupported(record, "wrote", is_it),
    }
}

/// A file was read, or the whole of it. That it was changed afterwards makes the reading no less true.
pub(super) fn read(record: &Record<'_>, subject: Option<&str>, whole: bool) -> Support {
    let names = Names::of(record, subject);
    let is_it = |entry: &Entry<'_>| {
        let is_read =
            entry.receipt.side_effect.is_read() && names.reads(entry) && !is_not_found(entry.receipt);
        is_read || names.commands(entry, Does::Read)
    };
    match record.done(|entry| is_it(entry) && (entry.receipt.is_whole || !whole)) {
        Some(entry) => entry.supported(),
        None if record.done(is_it).is_some() => {
            Support::Unsupported { why: "only a part of it was read".to_owned() }
        }
        None => names.unsupported(record, "read", is_it),
    }
}

/// A file was deleted, and no later look found it.
pub(super) fn deleted(record: &Record<'_>, subject: Option<&str>) -> Support {
    let names = Names::of(record, subject);
    let is_it = |entry: &Entry<'_>| {
        let is_named = names.writes(entry) || entry.receipt.side_effect == SideEffect::ExternalDelete;
        is_deletion(entry.receipt) && is_named || names.commands(entry, Does::Delete)
    };
    match record.done(is_it) {
        Some(entry) => match entry.doubt() {
            Some(why) if !entry.is_program() => Support::Unsupported { why },
            Some(_) | None => entry.supported(),
        },
        None => names.unsupported(record, "deleted", is_it),
    }
}

/// A file is there: the newest call about it read or wrote it.
pub(super) fn exists(record: &Record<'_>, subject: Option<&str>) -> Support {
    let names = Names::of(record, subject);
    let is_about = |entry: &Entry<'_>| {
        names.reads(entry)
            || names.writes(entry)
            || names.commands(entry, Does::Write)
            || names.commands(entry, Does::Read)
            || names.commands(entry, Does::Delete)
    };
    let is_gone = |entry: &Entry<'_>| {
        is_not_found(entry.receipt) || is_deletion(entry.receipt) || names.commands(entry, Does::Delete)
    };
    let newest =
        record.newest().find(|entry| is_about(entry) && (entry.is_done() || is_not_found(entry.receipt)));
    match newest {
        Some(entry) if is_gone(entry) => {
            let why = format!("{} did not leave it there, or did not find it", entry.receipt.tool);
            Support::Unsupported { why }
        }
        Some(entry) => entry.supported(),
        None => match record.done(|entry| entry.receipt.side_effect.is_read() && names.listed(entry)) {
            Some(entry) => entry.supported(),
            None => names.unsupported(record, "looked for", is_about),
        },
    }
}

/// How a file that is spelled in one way is named in the receipts.
struct Names<'a> {
    subject: Option<&'a str>,
    /// Whether several files of this run have that name, and it is no full path of any.
    is_ambiguous: bool,
    exact: bool,
}

impl<'a> Names<'a> {
    fn of(record: &Record<'_>, subject: Option<&'a str>) -> Self {
        let subject = subject.map(clean);
        let mut all: Vec<&str> = record.receipts.iter().flat_map(paths).map(|(path, _)| path).collect();
        all.sort_unstable();
        all.dedup();
        let exact = subject.is_some_and(|subject| all.contains(&subject));
        let n_ends = all.iter().filter(|path| subject.is_some_and(|subject| ends_as(path, subject))).count();
        Self { subject, is_ambiguous: n_ends > 1, exact }
    }

    fn is(&self, path: &str) -> bool {
        let Some(subject) = self.subject else { return true };
        let path = clean(path);
        path == subject
            || !self.exact && !self.is_ambiguous && ends_as(path, subject)
            || !self.exact && subject.starts_with('/') && ends_as(subject, path)
    }

    fn writes(&self, entry: &Entry<'_>) -> bool {
        match self.subject {
            Some(_) => written_paths(entry.receipt).any(|path| self.is(path)),
            None => entry.receipt.side_effect == SideEffect::WorkspaceWrite,
        }
    }

    fn reads(&self, entry: &Entry<'_>) -> bool {
        paths(entry.receipt).any(|(path, write)| !write && self.is(path))
    }

    /// Whether a program of this sort names it.
    fn commands(&self, entry: &Entry<'_>, what: Does) -> bool {
        let names = |words: &Vec<String>| {
            let is_it = |word: &String| match self.subject {
                Some(_) => self.is(word) || self.is_put_into(words, word),
                None => true,
            };
            does(words, what) && words.iter().skip(1).any(is_it)
        };
        entry.is_program() && entry.commands.iter().any(names)
    }

    /// Whether a file among the words goes under its own name into the folder that this word names.
    fn is_put_into(&self, words: &[String], folder: &str) -> bool {
        let Some((parent, name)) = self.subject.and_then(|subject| subject.rsplit_once('/')) else {
            return false;
        };
        let is_named = |word: &String| clean(word).rsplit('/').next() == Some(name);
        clean(folder) == parent && words.iter().skip(1).any(is_named)
    }

    /// Whether a call outside of the workspace tells of it.
    fn elsewhere(&self, entry: &Entry<'_>) -> bool {
        let is_outside =
            matches!(entry.receipt.side_effect, SideEffect::ExternalWrite | SideEffect::HostAccess);
        is_outside && entry.commands.is_empty() && self.subject.is_some_and(|subject| entry.mentions(subject))
    }

    /// Whether a listing tells of it.
    fn listed(&self, entry: &Entry<'_>) -> bool {
        let name = self.subject.and_then(|subject| subject.rsplit('/').next());
        name.is_some_and(|name| entry.receipt.facts.to_string().contains(name))
    }

    /// What is to be said where nothing supports it.
    fn unsupported(&self, record: &Record<'_>, verb: &str, fits: impl Fn(&Entry<'_>) -> bool) -> Support {
        if self.is_ambiguous && !self.exact {
            return Support::NotCheckable { why: "several files of this run have that name".to_owned() };
        }
        record.unsupported(&format!("{verb} {}", self.subject.unwrap_or("a file")), fits, true)
    }
}

/// Whether a path ends in another one.
fn ends_as(path: &str, end: &str) -> bool {
    !end.is_empty() && path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
