//! What a command line would run: a shell text, or an argument vector, as resources.
//!
//! Each simple command counts by itself, wherever it stands: in a pipe, a list, a substitution, a
//! here-document that a shell reads, or the arguments of a program that runs its arguments. What cannot be
//! told for sure is said to be unclear, and then a person is asked. Rejected: searching the text for
//! patterns, which sees neither where a word begins nor what is quoted; and a parser of our own, which
//! would be wrong in other places than the shells are. See `docs/spec/policy.md`.

mod grammar;
mod heredoc;
mod opening;
mod program;
mod setting;
mod tree;
mod word;
mod wrapper;

use crate::limits::SHELL_DEPTH_MAX;
use crate::resource::Resource;
use tree::{Found, Reader};
use word::Word;
use wrapper::Inner;

/// The resources of a shell text, in the order of the text; what a program runs stands after it. Never
/// empty: what says nothing, or cannot be read, is one unclear command without words.
#[must_use]
pub fn of_text(text: &str) -> Vec<Resource> {
    run(Work::Text { text: text.to_owned(), exact: true, depth: 0 })
}

/// The resources of an argument vector, which no shell touches. Programs that run their arguments are
/// opened as in a text.
#[must_use]
pub fn of_vector(words: &[String]) -> Vec<Resource> {
    let words = words.iter().map(|word| Word::given(word)).collect();
    run(Work::Words { words, stdin: None, exact: true, depth: 0 })
}

/// What is still to be looked at.
enum Work {
    Text { text: String, exact: bool, depth: usize },
    Words { words: Vec<Word>, stdin: Option<(String, bool)>, exact: bool, depth: usize },
    Touch(Resource),
}

fn run(first: Work) -> Vec<Resource> {
    let mut resources = Vec::new();
    let mut stack = vec![first];
    let mut reader = Reader::default();
    while let Some(work) = stack.pop() {
        let depth = match &work {
            Work::Text { depth, .. } | Work::Words { depth, .. } => *depth,
            Work::Touch(_) => 0,
        };
        if depth > SHELL_DEPTH_MAX {
            resources.push(unclear());
            continue;
        }
        match work {
            Work::Text { text, exact, depth } => text_work(reader.parts(&text), exact, depth, &mut stack),
            Work::Words { words, stdin, exact, depth } => {
                let opened = wrapper::open(&words, stdin.as_ref());
                resources.push(command(&words, exact && !opened.unseen));
                let inner = opened.inner.into_iter().rev().map(|inner| match inner {
                    Inner::Words(words, whole) => {
                        Work::Words { words, stdin: stdin.clone(), exact: exact && whole, depth: depth + 1 }
                    }
                    Inner::Text(text, known) => Work::Text { text, exact: exact && known, depth: depth + 1 },
                    Inner::Writes(path) => Work::Touch(Resource::Redirect { path, write: true }),
                });
                stack.extend(inner);
            }
            Work::Touch(resource) => resources.push(resource),
        }
    }
    resources
}

fn text_work(parts: Option<Vec<Found>>, exact: bool, depth: usize, stack: &mut Vec<Work>) {
    let parts = parts.filter(|parts| !parts.is_empty());
    let Some(parts) = parts else {
        stack.push(Work::Touch(unclear()));
        return;
    };
    if !exact {
        // A part that is made at run time could be anything, also a further command.
        stack.push(Work::Touch(unclear()));
    }
    for part in parts.into_iter().rev() {
        match part {
            Found::Words(words, stdin) => stack.push(Work::Words { words, stdin, exact, depth }),
            Found::Redirect { path, write } => {
                if !path.exact {
                    stack.push(Work::Touch(unclear()));
                }
                stack.push(Work::Touch(Resource::Redirect { path: path.text, write }));
            }
            Found::Unclear => stack.push(Work::Touch(unclear())),
        }
    }
}

fn command(words: &[Word], exact: bool) -> Resource {
    let literal = words.iter().all(|word| word.exact && !word.assigned().is_some_and(program::steers));
    let literal = literal && !setting::expands_index(words);
    let assigns = words.len() == 1 && words.iter().all(|word| word.assigned().is_some());
    let named = assigns || words.first().is_some_and(|program| program.bare && !program.text.is_empty());
    Resource::Command {
        words: words.iter().map(|word| word.text.clone()).collect(),
        exact: exact && literal && named,
    }
}

/// A command of which nothing can be told.
fn unclear() -> Resource {
    Resource::Command { words: Vec::new(), exact: false }
}
