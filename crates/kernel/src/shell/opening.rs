//! Opens programs that run what stands in an option, a setting or a verb of theirs, and such whose
//! language is not the shell's: what can be read of those counts, and they are unclear all the same.

use super::setting::{BLOCKS, GIT_PLAIN, SSH_KIN, SSH_RUNS, running_options};
use super::word::Word;
use super::wrapper::{Inner, Opened, joined, past, takes_value, vector};

/// What options name that take a command.
pub(super) fn options(name: &str, words: &[Word], opened: &mut Opened) {
    for option in running_options(name) {
        for (value, exact) in values(words, option) {
            let text = value.strip_prefix("exec=").unwrap_or(value);
            opened.inner.push(Inner::Text(text.to_owned(), exact));
        }
    }
    if SSH_KIN.contains(&name) {
        for (value, exact) in values(words, "-o") {
            let (key, command) = value.trim_start().split_once(['=', ' ', '\t']).unwrap_or((value, ""));
            if SSH_RUNS.contains(&key.to_ascii_lowercase().as_str()) {
                let command = command.trim_start_matches(['=', ' ', '\t', '"']).trim_end_matches('"');
                opened.inner.push(Inner::Text(command.to_owned(), exact));
            }
        }
        // A file of settings names commands too.
        opened.unseen |= values(words, "-F").next().is_some();
    }
    // Its first word may be options without a dash, whose values follow in their order.
    let bundle = words.first().filter(|word| name.ends_with("tar") && !word.text.starts_with('-'));
    opened.unseen |= bundle.is_some_and(|word| word.text.contains(['I', 'F']));
}

/// The values that an option has in these words, and whether each is exact.
fn values<'a>(words: &'a [Word], option: &'a str) -> impl Iterator<Item = (&'a str, bool)> {
    words.iter().enumerate().filter_map(move |(at, word)| {
        let attached = if option.starts_with("--") {
            let (name, value) = word.text.split_once('=').unwrap_or((word.text.as_str(), ""));
            (name.len() >= 4 && option.starts_with(name)).then_some(value)
        } else {
            let letters = word.text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            letters.and_then(|letters| letters.split_once(option.get(1..)?)).map(|(_, value)| value)
        }?;
        match words.get(at + 1) {
            Some(next) if attached.is_empty() => Some((next.text.as_str(), next.exact)),
            _ => Some((attached, word.exact)),
        }
    })
}

/// `coproc`: the grammar takes a block after it, and the name before that, for words.
pub(super) fn coproc(words: &[Word], opened: &mut Opened) {
    let is_block = |word: &Word| BLOCKS.contains(&word.text.as_str());
    let named = words.get(1).is_some_and(is_block) && !words.first().is_some_and(is_block);
    let command = words.get(usize::from(named)..).unwrap_or_default();
    opened.unseen = command.first().is_some_and(is_block);
    vector(command, true, opened);
}

/// What such a program likely runs. `rest` is what stands after its first options and words.
pub(super) fn likely(
    name: &str,
    rest: &[Word],
    valued: &[&str],
    stdin: Option<&(String, bool)>,
    opened: &mut Opened,
) {
    opened.unseen = !(name == "crontab" && rest.is_empty() && stdin.is_none());
    let rest = past(rest, valued, 0);
    match rest.split_first() {
        Some((first, _)) if first.text.contains(char::is_whitespace) => {
            joined(std::slice::from_ref(first), opened);
        }
        _ => vector(rest, true, opened),
    }
    opened.inner.extend(stdin.map(|(text, exact)| Inner::Text(text.clone(), *exact)));
}

/// `git`: settings that name commands, and verbs that run one.
pub(super) fn git(words: &[Word], valued: &[&str], opened: &mut Opened) {
    let mut rest = words;
    while let Some((first, tail)) = rest.split_first() {
        if !first.text.starts_with('-') {
            break;
        }
        if first.text == "-c" {
            tail.first().into_iter().for_each(|word| set(&word.text, opened));
        }
        opened.unseen |= first.text.starts_with("--config-env") || first.text.starts_with("--exec-path=");
        rest = tail.get(usize::from(takes_value(&first.text, valued))..).unwrap_or_default();
    }
    let Some((verb, arguments)) = rest.split_first() else { return };
    options(&format!("git {}", verb.text), arguments, opened);
    for remote in arguments.iter().filter_map(|word| word.text.strip_prefix("ext::")) {
        opened.unseen = true;
        opened.inner.push(Inner::Text(remote.to_owned(), false));
    }
    let after =
        |name: &str| arguments.split_first().filter(|(word, _)| word.text == name).map(|(_, rest)| rest);
    match verb.text.as_str() {
        "bisect" => vector(after("run").unwrap_or_default(), true, opened),
        "submodule" => {
            let at =
                arguments.iter().position(|word| word.text == "foreach").map_or(arguments.len(), |at| at + 1);
            joined(past(arguments.get(at..).unwrap_or_default(), &[], 0), opened);
        }
        "filter-branch" => {
            opened.unseen = true;
            let texts = arguments.iter().filter(|word| word.text.contains(char::is_whitespace));
            opened.inner.extend(texts.map(|word| Inner::Text(word.text.clone(), word.exact)));
        }
        "config" => {
            let key =
                arguments.iter().position(|word| !word.text.starts_with('-') && word.text.contains('.'));
            let pair = key.and_then(|key| Some((arguments.get(key)?, arguments.get(key + 1)?)));
            pair.into_iter().for_each(|(key, value)| set(&format!("{}={}", key.text, value.text), opened));
        }
        _ => {}
    }
}

/// A setting of `git`, `name=value`. Most names say where a command is, and new ones come.
fn set(setting: &str, opened: &mut Opened) {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    let name = name.to_ascii_lowercase();
    if GIT_PLAIN.iter().any(|plain| name.starts_with(plain)) {
        return;
    }
    opened.unseen = true;
    opened.inner.push(Inner::Text(value.trim_start_matches('!').to_owned(), false));
}
