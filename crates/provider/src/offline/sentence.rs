//! Sentences that the offline provider understands, and the one call that each of them asks for. The
//! list of forms that a person is shown is the same table.

use serde_json::{Value, json};

use super::arithmetic;
use super::places;

/// What a sentence asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wish {
    /// One call of one tool.
    Call {
        /// The tool's registry name.
        tool: &'static str,
        /// Its arguments.
        arguments: Value,
    },
    /// The time in a place that is not in the table.
    UnknownPlace(String),
}

/// One line of what a person is shown: the tool that the form needs, and the form.
pub(super) const FORMS: &[(&str, &str)] = &[
    (
        CALCULATE,
        "What is 17 multiplied by 23?   (also: calculate 2^10 · 15 percent of 80 · square root of 2)",
    ),
    (CLOCK, "What time is it in Tokyo?   (also: time in America/New_York · what day is it)"),
    (LIST, "list files   (also: list files in DIRECTORY)"),
    (READ, "read file PATH"),
    (WRITE, "write TEXT to PATH"),
    (RUN, "run COMMAND"),
    (SEND, "send TEXT to DESTINATION   (also: write TEXT to outside service DESTINATION)"),
];

pub(super) const CALCULATE: &str = "math.calculate";
pub(super) const CLOCK: &str = "system.current_time";
pub(super) const LIST: &str = "workspace.list_files";
pub(super) const READ: &str = "workspace.read_text";
pub(super) const WRITE: &str = "workspace.write_text";
pub(super) const RUN: &str = "sandbox.run_command";
pub(super) const SEND: &str = "demo.external_write";

/// What the text asks for, if it is one of the forms as a whole.
pub(super) fn read(text: &str) -> Option<Wish> {
    let text = polite_words_off(text.trim());
    let question =
        text.trim_end_matches(|last: char| matches!(last, '?' | '!' | '.' | '=') || last.is_whitespace());
    let typed_plainly = question.replace('’', "'");
    arithmetic_wish(&typed_plainly)
        .or_else(|| clock_wish(&typed_plainly))
        .or_else(|| file_wish(text, question))
        .or_else(|| command_wish(text))
}

fn call(tool: &'static str, arguments: Value) -> Wish {
    Wish::Call { tool, arguments }
}

/// What follows `prefix`, whatever the case of the letters.
fn after<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| text.get(prefix.len()..)).flatten()
}

/// What follows the first of the prefixes that fits, as a word of its own.
fn after_any<'a>(text: &'a str, prefixes: &[&str]) -> Option<&'a str> {
    prefixes.iter().find_map(|prefix| {
        let rest = after(text, prefix)?;
        (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
    })
}

fn polite_words_off(mut text: &str) -> &str {
    while let Some(rest) =
        after_any(text, &["please", "can you", "could you", "tell me", "hey", "hello,", "hi,"])
    {
        text = rest;
    }
    text
}

fn arithmetic_wish(text: &str) -> Option<Wish> {
    let asked = after_any(
        text,
        &["what is", "what's", "whats", "calculate", "compute", "evaluate", "how much is", "work out"],
    );
    let expression = arithmetic::expression(&asked.unwrap_or(text).to_lowercase())?;
    Some(call(CALCULATE, json!({ "expression": expression })))
}

fn clock_wish(text: &str) -> Option<Wish> {
    let asked = after_any(text, &["what is", "what's", "whats"]).unwrap_or(text);
    let asked = after_any(asked, &["the"]).unwrap_or(asked);
    let rest = after_any(
        asked,
        &[
            "current time and date",
            "current date and time",
            "date and time",
            "time and date",
            "current time",
            "current date",
            "today's date",
            "what time is it",
            "what day is it",
            "what date is it",
            "which day is it",
            "what day of the week is it",
            "time is it",
            "day is it",
            "time",
            "date",
        ],
    )?;
    let rest = after_any(rest, &["right now", "today", "now"]).unwrap_or(rest);
    let place = match after_any(rest, &["in", "at", "for"]) {
        Some(place) => place,
        None if rest.is_empty() => "UTC",
        None => return None,
    };
    let place = after_any(place, &["the city of"]).unwrap_or(place);
    let place = strip_last_words(place, &["right now", "today", "now"]);
    if place.is_empty() || place.len() > 64 {
        return None;
    }
    Some(match places::zone(place) {
        Some(zone) => call(CLOCK, json!({ "timezone": zone })),
        None => Wish::UnknownPlace(place.to_owned()),
    })
}

fn strip_last_words<'a>(text: &'a str, words: &[&str]) -> &'a str {
    let shorter = words.iter().find_map(|word| {
        let head = text.get(..text.len().checked_sub(word.len())?)?;
        let tail = text.get(head.len()..)?;
        (tail.eq_ignore_ascii_case(word) && head.ends_with(char::is_whitespace)).then(|| head.trim_end())
    });
    shorter.unwrap_or(text)
}

fn file_wish(text: &str, question: &str) -> Option<Wish> {
    if let Some(rest) = after_any(
        question,
        &[
            "list the files",
            "list files",
            "list all files",
            "show the files",
            "show files",
            "what files are there",
        ],
    ) {
        let place = after_any(rest, &["in", "under", "of"]).unwrap_or(rest);
        let place =
            after_any(place, &["the folder", "the directory", "folder", "directory"]).unwrap_or(place);
        return match one_word(place) {
            Some(path) => Some(call(LIST, json!({ "path": path }))),
            None if place.is_empty() => Some(call(LIST, json!({}))),
            None => None,
        };
    }
    if let Some(rest) = after_any(text, &["read the file", "read file", "show the file", "show file", "read"])
    {
        let path = one_word(rest.trim_end_matches(['?', '!']))?;
        return Some(call(READ, json!({ "path": path })));
    }
    if let Some(rest) = after_any(text, &["send", "post"]) {
        let (content, destination) = split_at_last_to(rest)?;
        return Some(send(content, destination));
    }
    let rest = after_any(text, &["write", "save"])?;
    let (content, target) = split_at_last_to(rest)?;
    let service = after_any(target, &["the outside service", "outside service", "the service", "service"]);
    if let Some(destination) = service.filter(|name| !name.is_empty()) {
        return Some(send(content, destination));
    }
    let target = after_any(target, &["the file", "file", "a file called", "a file named"]).unwrap_or(target);
    let path = one_word(target)?;
    Some(call(WRITE, json!({ "path": path, "content": unquote(content) })))
}

fn send(content: &str, destination: &str) -> Wish {
    call(SEND, json!({ "destination": unquote(destination.trim()), "content": unquote(content) }))
}

/// `run git status`: plain words only, since splitting what a shell would read needs a shell.
fn command_wish(text: &str) -> Option<Wish> {
    let rest = after_any(text, &["run the command", "run command", "run"])?;
    let rest = unquote(rest);
    let plain = |letter: char| letter.is_alphanumeric() || " \t_-./:=,+@%".contains(letter);
    if rest.is_empty() || !rest.chars().all(plain) {
        return None;
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    Some(call(RUN, json!({ "command": words })))
}

/// Both sides of the last ` to `.
fn split_at_last_to(text: &str) -> Option<(&str, &str)> {
    let lower = text.to_ascii_lowercase();
    let at = lower.rfind(" to ")?;
    let (content, target) = (text.get(..at)?.trim(), text.get(at + 4..)?.trim());
    (!content.is_empty() && !target.is_empty()).then_some((content, target))
}

/// A path: quoted, or without a blank.
fn one_word(text: &str) -> Option<&str> {
    let text = text.trim();
    let bare = unquote(text);
    let whole = !bare.is_empty() && (bare.len() < text.len() || !bare.contains(char::is_whitespace));
    whole.then_some(bare)
}

/// The text without the pair of quotes around it, if there is one.
fn unquote(text: &str) -> &str {
    const PAIRS: &[(char, char)] = &[('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’')];
    let text = text.trim();
    let inner = PAIRS.iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(*open)?.strip_suffix(*close)?;
        (!inner.contains(*open)).then_some(inner)
    });
    inner.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, tool: &'static str, arguments: Value) {
        assert_eq!(read(text), Some(Wish::Call { tool, arguments }), "{text}");
    }

    #[test]
    fn arithmetic_is_asked_of_the_calculator() {
        check("What is 17 multiplied by 23?", CALCULATE, json!({"expression": "17 * 23"}));
        check("please calculate 2^10", CALCULATE, json!({"expression": "2 ^ 10"}));
        check("17 * 23 =", CALCULATE, json!({"expression": "17 * 23"}));
        check("What’s 2+2?", CALCULATE, json!({"expression": "2 + 2"}));
        check("Could you tell me what is 10 plus 5 minus 3.", CALCULATE, json!({"expression": "10 + 5 - 3"}));
        check("How much is 15% of 80?", CALCULATE, json!({"expression": "(15 / 100) * 80"}));
        check("What is the square root of 144?", CALCULATE, json!({"expression": "sqrt(144)"}));
    }

    #[test]
    fn the_time_is_asked_of_the_clock() {
        check("what time is it in Tokyo", CLOCK, json!({"timezone": "Asia/Tokyo"}));
        check("What's the time in New York right now?", CLOCK, json!({"timezone": "America/New_York"}));
        check("time in America/New_York", CLOCK, json!({"timezone": "America/New_York"}));
        check("What day is it?", CLOCK, json!({"timezone": "UTC"}));
        check("what is today's date in Berlin?", CLOCK, json!({"timezone": "Europe/Berlin"}));
        check("What time is it now", CLOCK, json!({"timezone": "UTC"}));
        check("What is the current time in São Paulo?", CLOCK, json!({"timezone": "America/Sao_Paulo"}));
        assert_eq!(read("time in Atlantis"), Some(Wish::UnknownPlace("Atlantis".to_owned())));
    }

    #[test]
    fn files_commands_and_services() {
        check("list files", LIST, json!({}));
        check("List the files in src.", LIST, json!({"path": "src"}));
        check("read file notes.txt", READ, json!({"path": "notes.txt"}));
        check("read \"my notes.txt\"", READ, json!({"path": "my notes.txt"}));
        check("write hello to notes.txt", WRITE, json!({"path": "notes.txt", "content": "hello"}));
        check("Write \"Hello, World.\" to a.md", WRITE, json!({"path": "a.md", "content": "Hello, World."}));
        check("write from here to there to x", WRITE, json!({"path": "x", "content": "from here to there"}));
        check("send hello to ops", SEND, json!({"destination": "ops", "content": "hello"}));
        check("write hello to outside service ops", SEND, json!({"destination": "ops", "content": "hello"}));
        check("run git status", RUN, json!({"command": ["git", "status"]}));
    }

    #[test]
    fn everything_else_is_not_understood() {
        for text in [
            "",
            "hello",
            "What is love?",
            "What is the weather in Tokyo?",
            "timely",
            "send",
            "write to me",
            "run rm -rf $HOME; echo",
            "read me the riot act",
            "What is 2 + two?",
            "list files that are big",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "\\PC{0,80}") {
            if let Some(Wish::Call { arguments, .. }) = read(&text) {
                prop_assert!(arguments.is_object());
            }
        }

        #[test]
        fn what_is_written_is_carried_whole(content in "[a-zA-Z0-9,;:-]{1,30}", path in "[a-z]{1,8}\\.txt") {
            check(&format!("write {content} to {path}"), WRITE, json!({"path": path, "content": content}));
        }
    }
}
