//! Whether a person's words themselves say that no tool is to be used. It can only narrow what the
//! request offered, so what it misses costs nothing but that, and what it finds wrongly costs a tool.
//! Phrases are one data file; text in quotation marks, in code and after `>` is not the person's own
//! word. Rejected: asking a model, whose reading could be steered; and single words such as "no", which
//! mean nothing. See `docs/spec/runs.md`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::quotation::closing;
use crate::run::Mode;

const PHRASES: &str = include_str!("phrases.txt");

/// Words that `...` may stand for.
const GAP_WORDS_MAX: usize = 4;
/// Words before a phrase that are looked at.
const BEFORE_WORDS: usize = 2;

/// The mode to which the text narrows its request, if it does. The text is what the person typed last.
#[must_use]
pub fn narrowed_mode(text: &str) -> Option<Mode> {
    let own = own_words(text);
    let said = sentences(&own).any(|words| PARSED.find(&words)) || PARSED.find_text(&own);
    said.then_some(Mode::NoTools)
}

/// One place of a phrase.
#[derive(Debug, PartialEq, Eq)]
enum Slot {
    One(Vec<&'static str>),
    Maybe(Vec<&'static str>),
    Gap,
}

#[derive(Debug, Default)]
struct Language {
    not_after: Vec<&'static str>,
    not_before: Vec<&'static str>,
}

#[derive(Debug, Default)]
struct Phrases {
    /// Phrases by a word with which they may begin.
    by_first: BTreeMap<&'static str, Vec<(&'static str, Vec<Slot>)>>,
    texts: Vec<(&'static str, &'static str)>,
    languages: BTreeMap<&'static str, Language>,
}

static PARSED: LazyLock<Phrases> = LazyLock::new(|| Phrases::parse(PHRASES));

impl Phrases {
    /// Lines that are not of the form are passed over; a test holds the file to it.
    fn parse(file: &'static str) -> Self {
        let mut phrases = Self::default();
        for line in file.lines().filter(|line| !line.starts_with('#')) {
            let mut parts = line.splitn(3, " | ");
            let (Some(language), Some(kind), Some(words)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            let guard = phrases.languages.entry(language).or_default();
            match kind {
                "not after" => guard.not_after.extend(words.split(' ')),
                "not before" => guard.not_before.extend(words.split(' ')),
                "text" => phrases.texts.push((language, words)),
                _ => phrases.add(language, words),
            }
        }
        phrases
    }

    fn add(&mut self, language: &'static str, words: &'static str) {
        let Some((first, rest)) = words.split_once(' ') else { return };
        for begin in first.split('|') {
            let slots = rest.split(' ').map(slot).collect();
            self.by_first.entry(begin).or_default().push((language, slots));
        }
    }

    /// Whether a sentence says it.
    fn find(&self, words: &[String]) -> bool {
        words.iter().enumerate().any(|(at, word)| {
            let here = self.by_first.get(word.as_str()).into_iter().flatten();
            here.filter(|(language, _)| !self.follows(language, words.get(..at).unwrap_or_default()))
                .any(|(language, slots)| self.ends(language, slots, words.get(at + 1..).unwrap_or_default()))
        })
    }

    /// Whether a word stands before that makes it another matter.
    fn follows(&self, language: &str, before: &[String]) -> bool {
        let near = before.iter().rev().take(BEFORE_WORDS);
        self.languages.get(language).is_some_and(|guard| {
            let mut near = near;
            near.any(|word| guard.not_after.contains(&word.as_str()))
        })
    }

    /// Whether the words are those of the slots, and what follows them does not make it another matter.
    fn ends(&self, language: &str, slots: &[Slot], words: &[String]) -> bool {
        let Some((slot, rest)) = slots.split_first() else {
            let guard = self.languages.get(language);
            let next = words.first().map_or("", String::as_str);
            return guard.is_none_or(|guard| !guard.not_before.contains(&next));
        };
        let after = |n: usize| words.get(n..).is_some_and(|words| self.ends(language, rest, words));
        let is = |choice: &[&str]| words.first().is_some_and(|word| choice.contains(&word.as_str()));
        match slot {
            Slot::One(choice) => is(choice) && after(1),
            Slot::Maybe(choice) => (is(choice) && after(1)) || after(0),
            Slot::Gap => (0..=GAP_WORDS_MAX).any(after),
        }
    }

    /// Whether a text of a language without spaces says it.
    fn find_text(&self, text: &str) -> bool {
        if text.is_ascii() {
            return false;
        }
        let dense: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
        self.texts.iter().any(|(language, phrase)| {
            let guard = self.languages.get(language);
            dense.match_indices(phrase).any(|(at, _)| {
                let rest = dense.get(at + phrase.len()..).unwrap_or_default();
                guard.is_none_or(|guard| !guard.not_before.iter().any(|word| rest.starts_with(word)))
            })
        })
    }
}

fn slot(text: &'static str) -> Slot {
    match text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        _ if text == "..." => Slot::Gap,
        Some(inner) => Slot::Maybe(inner.split('|').collect()),
        None => Slot::One(text.split('|').collect()),
    }
}

/// The text without what it quotes: code, lines after `>`, and whatever stands between quotation marks.
fn own_words(text: &str) -> String {
    let mut own = String::new();
    let mut in_code = false;
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        in_code ^= fence;
        if !fence && !in_code && !line.trim_start().starts_with('>') {
            own.push_str(line);
            own.push('\n');
        }
    }
    unquoted(&own)
}

/// The text with every quotation that is closed taken out.
fn unquoted(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    // Where each character comes next, so that one that is never closed is not searched for twice.
    let mut missing: Vec<&[char]> = Vec::new();
    let (mut kept, mut at) = (String::new(), 0);
    while let Some(letter) = letters.get(at).copied() {
        let before = at.checked_sub(1).and_then(|before| letters.get(before)).copied();
        if let Some(ends) = closing(letter, before).filter(|ends| !missing.contains(ends)) {
            let rest = letters.get(at + 1..).unwrap_or_default();
            match rest.iter().position(|letter| ends.contains(letter)) {
                Some(n) => {
                    kept.push('\u{fffc}');
                    at += n + 2;
                    continue;
                }
                None => missing.push(ends),
            }
        }
        kept.push(letter);
        at += 1;
    }
    kept
}

/// The words of each sentence, in small letters and without apostrophes.
fn sentences(text: &str) -> impl Iterator<Item = Vec<String>> {
    let ends = |letter: char| matches!(letter, '.' | '!' | '?' | ';' | ':' | '\u{fffc}' | '。' | '！' | '？');
    let is_apostrophe = |letter: &char| matches!(letter, '\'' | '’' | 'ʼ');
    text.split(ends).map(move |sentence| {
        let plain: String = sentence.chars().filter(|letter| !is_apostrophe(letter)).collect();
        let words = plain.split(|letter: char| !letter.is_alphanumeric());
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What says it, and beside it what looks like it and does not.
    const CASES: &[(&str, &str)] = &[
        // English.
        ("Don't use any tools, what is 2+2?", "Don't use any tools that write files."),
        ("do not use tools", "I do not use tools at home, what should I buy?"),
        ("DO NOT\n  USE\tTOOLS", "They do not use tools in that village."),
        ("Please don’t call any of the tools.", "Why do you not use tools?"),
        ("You are not allowed to use any tools", "I have no tools installed."),
        ("you are not allowed to, in this chat, use tools", "You are not allowed to write outside docs."),
        ("Guide-only mode please", "Please guide me through the installation."),
        ("guide only mode", "Write a guide only for experts."),
        ("guideonly mode: how do I do it", "Which mode is best, guided or free?"),
        ("No-tools mode.", "There are no tools in the box, modern or old."),
        ("Ask me before using tools", "Ask me before you delete files."),
        ("ask for confirmation before using tools", "Tools ask for confirmation before deleting."),
        ("answer without tools", "Can a carpenter answer without his tools at hand?"),
        ("Explain it without using any tools.", "I'll run it locally."),
        ("Avoid using tools for this.", "Do not run commands that write files."),
        ("never use tools here", "Don't execute shell commands unless I approve."),
        ("Refrain from calling tools", "Which tools should beginners avoid using?"),
        ("It says \"hello\". Do not use tools.", "Translate \"do not use tools\" into French."),
        ("What is `ls`? don't use tools", "What does `do not use tools` do in this prompt?"),
        ("it's late, don't use tools, isn't it", "Explain what 'do not use tools' means."),
        ("> old text\ndo not use tools", "> do not use tools\nWhat did he mean?"),
        ("```\nls\n```\ndo not use tools", "```\ndo not use tools\n```\nWhat is this prompt for?"),
        ("she said \"hi and do not use tools", "Write a sign that says do not use tools"),
        // German.
        ("Benutze keine Werkzeuge.", "Ich benutze keine Werkzeuge."),
        ("Bitte verwenden Sie keine Tools", "Verwende keine Werkzeuge, die Dateien schreiben."),
        ("Antworte ohne Werkzeuge!", "Kann man ohne Werkzeuge ein Rad wechseln?"),
        ("Du darfst keine Tools verwenden", "Was heißt „benutze keine Werkzeuge“?"),
        // French.
        ("N'utilise pas d'outils.", "Je n'utilise pas d'outils."),
        ("n’utilisez aucun outil", "Traduis « n’utilise pas d’outils »."),
        ("Réponds sans utiliser d'outils", "Quels outils utiliser ?"),
        // Spanish.
        ("No uses herramientas.", "Si no uses herramientas, dime."),
        ("responde sin herramientas", "No uses herramientas que escriben archivos."),
        // Italian.
        ("Non usare strumenti", "Non usare strumenti che scrivono file."),
        ("Rispondi senza usare strumenti.", "Quali strumenti usare senza esperienza?"),
        // Portuguese.
        ("Não use ferramentas.", "Não use ferramentas que gravam arquivos."),
        ("responda sem ferramentas", "Como consertar sem dinheiro?"),
        // Dutch.
        ("Gebruik geen tools", "Ik gebruik geen tools."),
        ("Leg het uit zonder tools te gebruiken", "Gebruik geen tools die bestanden schrijven."),
        // Polish.
        ("Nie używaj żadnych narzędzi.", "Nie używaj narzędzi, które zapisują pliki."),
        ("odpowiedz bez narzędzi", "Nie mam narzędzi."),
        // Russian.
        ("Не используй инструменты!", "Не используй инструменты, которые пишут файлы."),
        ("ответь без инструментов", "У меня нет инструментов."),
        // Chinese.
        ("请不要使用任何工具，直接回答。", "我没有安装工具。"),
        ("别用工具", "不要使用会写文件的工具。"),
        ("禁止使用工具", "“不要使用工具”是什么意思？"),
        // Japanese.
        ("ツールを使わないでください。", "ツールがインストールされていません。"),
        ("ツールなしで答えて", "「ツールを使わないで」とはどういう意味ですか？"),
    ];

    #[test]
    fn what_says_it_narrows_and_what_only_looks_like_it_does_not() {
        let missed: Vec<&str> =
            CASES.iter().map(|(says, _)| *says).filter(|says| narrowed_mode(says).is_none()).collect();
        let mistaken: Vec<&str> =
            CASES.iter().map(|(_, near)| *near).filter(|near| narrowed_mode(near).is_some()).collect();
        assert_eq!((missed, mistaken), (Vec::new(), Vec::new()));
    }

    #[test]
    fn the_file_has_its_form_and_every_language_has_cases() {
        let lines = PHRASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let parts: Vec<&str> = line.splitn(3, " | ").collect();
            assert!(parts.len() == 3, "{line}");
            assert!(["says", "not after", "not before", "text"].contains(&parts[1]), "{line}");
            let words = parts[2].split(' ');
            assert!(words.clone().all(|word| !word.is_empty() && word == word.to_lowercase()), "{line}");
            assert!(parts[1] != "says" || (words.count() > 1 && !parts[2].starts_with('[')), "{line}");
        }
        let languages: Vec<&str> = PARSED.languages.keys().copied().collect();
        assert_eq!(languages, ["de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "zh"]);
    }

    #[test]
    fn a_long_text_is_no_burden() {
        let text = "\"do not use tools that ' “ ".repeat(20_000);
        assert_eq!(narrowed_mode(&text), None);
    }
}
