//! Assertions about what lies outside of the run: messages, the network, packages, publications. That a
//! call said yes is all that is on record of these; [`crate::effect`] says so beside each.

use super::{Entry, Record, Support};
use crate::assertion::command::{Does, does};
use crate::spec::SideEffect;

/// A message was sent, to whom it says.
pub(super) fn message(record: &Record<'_>, recipient: Option<&str>) -> Support {
    let is_it = |entry: &Entry<'_>| {
        entry.receipt.side_effect == SideEffect::ExternalMessage
            || entry.receipt.side_effect == SideEffect::ExternalWrite
                && entry.tool_has(&["send", "post", "reply", "message", "mail", "email", "notify"])
    };
    let is_to = |entry: &Entry<'_>| recipient.is_none_or(|recipient| entry.mentions(recipient));
    match record.done(|entry| is_it(entry) && is_to(entry)) {
        Some(entry) => entry.supported(),
        None if record.done(is_it).is_some() => {
            Support::Unsupported { why: "a message was sent, but not on record to this recipient".to_owned() }
        }
        None => record.unsupported("sent a message", is_it, false),
    }
}

/// Something was looked up on the network.
pub(super) fn web(record: &Record<'_>, address: Option<&str>) -> Support {
    let host = address.map(host);
    let is_it = |entry: &Entry<'_>| {
        let fetches = |words: &Vec<String>| words.iter().any(|word| word.contains("://"));
        let is_web = entry.receipt.side_effect == SideEffect::NetworkRead
            || entry.is_program() && entry.commands.iter().any(fetches);
        is_web && host.is_none_or(|host| entry.mentions(host))
    };
    match record.done(is_it) {
        Some(entry) => entry.supported(),
        None => record.unsupported("read anything there", is_it, false),
    }
}

/// The host of a link.
fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

/// A package was installed.
pub(super) fn package(record: &Record<'_>, name: Option<&str>) -> Support {
    let is_it = |entry: &Entry<'_>| {
        let names = |words: &Vec<String>| {
            let is_named = |word: &String| {
                name.is_none_or(|name| {
                    word == name
                        || word.starts_with(&format!("{name}="))
                        || word.starts_with(&format!("{name}@"))
                })
            };
            does(words, Does::Install) && words.iter().skip(1).any(is_named)
        };
        let is_install = entry.receipt.side_effect == SideEffect::PackageInstall;
        is_install && name.is_none_or(|name| entry.mentions(name)) || entry.commands.iter().any(names)
    };
    match record.done(|entry| is_it(entry) && entry.exit().unwrap_or(0) == 0) {
        Some(entry) => entry.supported(),
        None => match record.done(is_it) {
            Some(entry) => {
                let code = entry.exit().unwrap_or_default();
                Support::Unsupported { why: format!("it ended with exit code {code}") }
            }
            None => record.unsupported("installed it", is_it, true),
        },
    }
}

/// Words by which a command or a tool does what is said of it.
const fn words_for(subject: &str) -> &'static [&'static str] {
    match subject.as_bytes() {
        b"push" => &["push", "publish"],
        b"publish" => &["publish", "release", "upload", "push", "deploy"],
        _ => &["deploy", "apply", "publish", "release", "up", "rollout", "push"],
    }
}

/// Something was pushed, published or deployed.
pub(super) fn published(record: &Record<'_>, subject: Option<&str>) -> Support {
    let wanted = words_for(subject.unwrap_or("deploy"));
    let is_it = |entry: &Entry<'_>| {
        let is_word =
            |word: &String| word.split(['-', '_', ':', '/', '.']).any(|part| wanted.contains(&part));
        // A push to a repository is no deployment, though it may start one.
        let is_git = |words: &Vec<String>| words.first().is_some_and(|word| word == "git");
        let fits = |words: &Vec<String>| {
            let mut own = words.iter().filter(|word| !word.starts_with('-'));
            own.any(is_word) && (subject == Some("push") || !is_git(words))
        };
        let is_outside =
            matches!(entry.receipt.side_effect, SideEffect::Publication | SideEffect::ExternalWrite);
        entry.receipt.side_effect == SideEffect::Publication
            || is_outside && entry.tool_has(wanted)
            || entry.commands.iter().any(fits)
    };
    match record.done(|entry| is_it(entry) && entry.exit().unwrap_or(0) == 0) {
        Some(entry) => entry.supported(),
        None => match record.done(is_it) {
            Some(entry) => {
                let code = entry.exit().unwrap_or_default();
                Support::Unsupported { why: format!("it ended with exit code {code}") }
            }
            None => record.unsupported("did this", is_it, false),
        },
    }
}
