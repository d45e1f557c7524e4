//! Opens a command whose program runs what its arguments name. What is not in the table of programs is a
//! program like any other.

use super::opening;
use super::program::{self, FIND_EXEC, FIND_WRITE, Runs};
use super::word::Word;

/// Something that a program runs or touches.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inner {
    /// A vector, and whether that is all of it.
    Words(Vec<Word>, bool),
    /// A shell text, and whether it is exactly that.
    Text(String, bool),
    /// A file that it writes.
    Writes(String),
}

/// What a command opens into.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Opened {
    /// What it runs.
    pub(super) inner: Vec<Inner>,
    /// Whether it runs something that its words do not show.
    pub(super) unseen: bool,
}

/// Opens a command: what its words run. `stdin` is the text that it is given to read, if that is known,
/// and whether exactly.
pub(super) fn open(words: &[Word], stdin: Option<&(String, bool)>) -> Opened {
    let mut opened = Opened::default();
    let Some((program, arguments)) = words.split_first() else { return opened };
    let name = program.text.rsplit('/').next().unwrap_or_default();
    let Some((_, runs, valued)) = program::row(name) else { return opened };
    opening::options(name, arguments, &mut opened);
    match runs {
        Runs::Vector(skip) => {
            if name == "env" {
                split_string(arguments, &mut opened);
            }
            vector(past(arguments, valued, *skip), true, &mut opened);
        }
        Runs::Vectors(skip) => vector(past(arguments, valued, *skip), false, &mut opened),
        Runs::Joined(skip) => {
            // It puts words from elsewhere into its text.
            opened.unseen |= name == "parallel";
            joined(past(arguments, valued, *skip), &mut opened);
        }
        Runs::First => {
            let text =
                arguments.iter().find(|word| word.text != "--").filter(|word| !word.text.starts_with('-'));
            joined(text.map(std::slice::from_ref).unwrap_or_default(), &mut opened);
        }
        Runs::Shell => shell(arguments, valued, stdin, &mut opened),
        Runs::OptionC(skip) => option_c(arguments, valued, *skip, &mut opened),
        Runs::Find => find(arguments, &mut opened),
        Runs::Tee => {
            let files = arguments.iter().filter(|word| !word.text.starts_with('-'));
            opened.inner.extend(files.map(|word| Inner::Writes(word.text.clone())));
        }
        Runs::Unseen => opened.unseen = !arguments.is_empty(),
        Runs::Coproc => opening::coproc(arguments, &mut opened),
        Runs::Likely(skip) => {
            opening::likely(name, past(arguments, valued, *skip), valued, stdin, &mut opened);
        }
        Runs::Git => opening::git(arguments, valued, &mut opened),
        Runs::Options => {}
    }
    opened
}

/// What stands after the options and `skip` further words.
pub(super) fn past<'a>(words: &'a [Word], valued: &[&str], skip: usize) -> &'a [Word] {
    let mut rest = words;
    while let Some((first, tail)) = rest.split_first() {
        if first.text == "--" {
            rest = tail;
            break;
        }
        if !first.text.starts_with('-') {
            break;
        }
        let taken = usize::from(takes_value(&first.text, valued));
        rest = tail.get(taken..).unwrap_or_default();
    }
    rest.get(skip..).unwrap_or_default()
}

pub(super) fn takes_value(option: &str, valued: &[&str]) -> bool {
    if option.starts_with("--") {
        return valued.contains(&option);
    }
    let Some(letters) = option.strip_prefix(['-', '+']) else { return false };
    let is_valued = |letter: char| {
        let is_it = |known: &&&str| known.strip_prefix('-').is_some_and(|known| known.chars().eq([letter]));
        valued.iter().find(is_it).is_some()
    };
    // A value may stand right after its letter; else it is the next word.
    letters
        .char_indices()
        .find(|(_, letter)| is_valued(*letter))
        .is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
}

pub(super) fn vector(words: &[Word], whole: bool, opened: &mut Opened) {
    let n_assigned = words.iter().take_while(|word| word.assigned().is_some()).count();
    let (assigned, command) = words.split_at_checked(n_assigned).unwrap_or((&[], words));
    opened.inner.extend(assigned.iter().map(|word| Inner::Words(vec![word.clone()], true)));
    if !command.is_empty() {
        opened.inner.push(Inner::Words(command.to_vec(), whole));
    }
}

pub(super) fn joined(words: &[Word], opened: &mut Opened) {
    if words.is_empty() {
        return;
    }
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    opened.inner.push(Inner::Text(texts.join(" "), words.iter().all(|word| word.exact)));
}

/// `env -S`: one word that is parted into a command.
fn split_string(words: &[Word], opened: &mut Opened) {
    for (at, word) in words.iter().enumerate() {
        let text = match word.text.strip_prefix("--split-string") {
            Some(text) => text.strip_prefix('=').unwrap_or(text),
            None if word.text.starts_with("--") => continue,
            None => match word.text.strip_prefix('-').and_then(|letters| letters.split_once('S')) {
                Some((_, text)) => text,
                None => continue,
            },
        };
        let text = match words.get(at + 1) {
            Some(next) if text.is_empty() => &next.text,
            _ => text,
        };
        opened.inner.push(Inner::Text(text.to_owned(), false));
    }
}

fn shell(words: &[Word], valued: &[&str], stdin: Option<&(String, bool)>, opened: &mut Opened) {
    let mut rest = words;
    let (mut is_text, mut is_read) = (false, false);
    while let Some((first, tail)) = rest.split_first() {
        let option = first.text.as_str();
        if option == "--" || option == "-" {
            rest = tail;
            break;
        }
        if !option.starts_with(['-', '+']) {
            break;
        }
        let letters = if option.starts_with("--") { "" } else { option };
        is_text |= letters.contains('c') || option == "--command" || option == "--init-command";
        is_read |= letters.contains('s');
        // These name a file that is run first.
        opened.unseen |= option.starts_with("--rcfile") || option.starts_with("--init-file");
        let taken = usize::from(takes_value(option, valued) || valued.contains(&option));
        rest = tail.get(taken..).unwrap_or_default();
    }
    match (rest.first(), stdin) {
        (Some(text), _) if is_text => opened.inner.push(Inner::Text(text.text.clone(), text.exact)),
        (Some(_), _) if !is_read => {}
        (_, Some((text, exact))) if !is_text => opened.inner.push(Inner::Text(text.clone(), *exact)),
        _ => opened.unseen |= !words.iter().any(|word| word.text == "--version" || word.text == "--help"),
    }
}

fn option_c(words: &[Word], valued: &[&str], skip: usize, opened: &mut Opened) {
    let mut is_text = false;
    for (at, word) in words.iter().enumerate() {
        let attached = word.text.strip_prefix("--command=");
        let is_c = word.text == "--command"
            || (word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('c'));
        let text = attached.or_else(|| words.get(at + 1).filter(|_| is_c).map(|next| next.text.as_str()));
        if let Some(text) = text {
            opened.inner.push(Inner::Text(
                text.to_owned(),
                word.exact && words.get(at + 1).is_none_or(|next| next.exact),
            ));
            is_text = true;
        }
    }
    if !is_text {
        let rest = past(words, valued, skip);
        vector(rest, true, opened);
        // Without a command it is a shell that reads.
        opened.unseen |= rest.is_empty();
    }
}

fn find(words: &[Word], opened: &mut Opened) {
    let mut rest = words;
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if FIND_WRITE.contains(&first.text.as_str()) {
            opened.inner.extend(tail.first().map(|file| Inner::Writes(file.text.clone())));
        }
        if FIND_EXEC.contains(&first.text.as_str()) {
            let length = tail.iter().position(|word| matches!(word.text.as_str(), ";" | "+"));
            let (command, after) = tail.split_at_checked(length.unwrap_or(tail.len())).unwrap_or((tail, &[]));
            let whole = !command.iter().any(|word| word.text.contains("{}"));
            vector(command, whole, opened);
            rest = after;
        }
    }
}
