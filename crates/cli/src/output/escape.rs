//! Makes visible what would act on a terminal or hide in a text: control characters, marks that turn
//! the direction of writing round, and characters without a shape of their own. What must not be seen at all, the
//! value of a stored credential, is taken out first.
//!
//! Rejected: removing them, since then nobody sees that they were there; and escaping only what goes
//! to a terminal, since a pipe often ends in one. `--json` is the way to the exact bytes: there the
//! same characters are written as JSON escapes, which a reader turns back.

use std::fmt::Write as _;

use console::measure_text_width;
use mast_kernel::protected::is_ignorable;

use super::hidden::veiled;

/// Most characters without a width in a row: no script needs more on one letter, and a heap of them
/// covers the lines above and below.
const NO_WIDTH_MAX: usize = 4;
/// Most emoji that are joined into one.
const JOINED_MAX: usize = 4;

/// Whether a character is shown as its number wherever it stands: everything that acts or hides. A line
/// break and a tab are not among them; the joiners are judged by their neighbours.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{180e}' | '\u{2028}'..='\u{2029}' | '\u{2800}' | '\u{fff9}'..='\u{fffb}' => true,
        other => other.is_control() || is_ignorable(other),
    }
}

/// Whether a character is hidden between these neighbours. What joins emoji stays directly between two
/// of them and what joins letters stays directly behind a letter of a script that needs it; elsewhere
/// a row of joiners would spell out a text that nobody sees. So it is with the inner and last parts of a
/// Korean syllable, which have a shape only behind its first.
fn is_hidden_between(before: Option<char>, character: char, after: Option<char>) -> bool {
    let is_keycap = |c: char| matches!(c, '0'..='9' | '#' | '*');
    match character {
        '\u{fe0f}' => !before.is_some_and(|before| is_emoji(before) || is_keycap(before)),
        '\u{200c}' | '\u{200d}' => {
            !joins_emoji(before, character, after) && !before.is_some_and(is_of_joining_script)
        }
        '\u{1161}'..='\u{11a7}' | '\u{d7b0}'..='\u{d7c6}' => {
            !before.is_some_and(|before| matches!(before, '\u{1100}'..='\u{115e}' | '\u{a960}'..='\u{a97c}'))
        }
        '\u{11a8}'..='\u{11ff}' | '\u{d7cb}'..='\u{d7fb}' => !before.is_some_and(|before| {
            matches!(before, '\u{1161}'..='\u{11a7}' | '\u{d7b0}'..='\u{d7c6}' | '\u{ac00}'..='\u{d7a3}')
        }),
        other => is_hidden(other),
    }
}

/// Whether this joins the emoji before it to the one behind it.
fn joins_emoji(before: Option<char>, character: char, after: Option<char>) -> bool {
    character == '\u{200d}'
        && before.is_some_and(|before| before == '\u{fe0f}' || is_emoji(before))
        && after.is_some_and(is_emoji)
}

/// Whether a character may be an emoji or a part of one.
const fn is_emoji(character: char) -> bool {
    matches!(character, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{27ff}' | '\u{2900}'..='\u{297f}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

/// Whether a character is of a script whose letters are joined or kept apart by joiners: from Arabic to
/// Burmese, Khmer, Mongolian, and the later blocks of the same families.
const fn is_of_joining_script(character: char) -> bool {
    matches!(character, '\u{620}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{1a20}'..='\u{1bff}'
        | '\u{a800}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}' | '\u{11000}'..='\u{11fff}')
}

/// What stood before a character, as far as it matters.
#[derive(Debug, Default)]
struct Behind {
    /// The character; none where it is shown as its number.
    character: Option<char>,
    /// How many characters without a width end here.
    n_without_width: usize,
    /// How many emoji are joined up to here.
    n_joined: usize,
}

impl Behind {
    /// Whether this character, which stands next, is hidden.
    fn hides(&mut self, character: char, after: Option<char>) -> bool {
        let joins = joins_emoji(self.character, character, after);
        let is_heaped = self.n_without_width >= NO_WIDTH_MAX && has_no_width(character);
        let is_chained = joins && self.n_joined >= JOINED_MAX;
        let hidden = is_heaped || is_chained || is_hidden_between(self.character, character, after);
        self.n_joined = match character {
            _ if hidden => 0,
            _ if joins => self.n_joined + 1,
            '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' => self.n_joined,
            _ if self.character == Some('\u{200d}') => self.n_joined,
            _ => 0,
        };
        // What is shown as its number is a letter to what follows, but the heap stays one.
        self.n_without_width = if has_no_width(character) { self.n_without_width + 1 } else { 0 };
        self.character = (!hidden).then_some(character);
        hidden
    }
}

/// Whether a character takes no column of its own.
fn has_no_width(character: char) -> bool {
    !character.is_ascii() && measure_text_width(character.encode_utf8(&mut [0; 4])) == 0
}

/// The characters of a text, each with whether it is hidden where it stands.
fn judged(text: &str) -> impl Iterator<Item = (char, bool)> {
    let after = text.chars().map(Some).skip(1).chain([None]);
    text.chars().zip(after).scan(Behind::default(), |behind, (character, after)| {
        Some((character, behind.hides(character, after)))
    })
}

/// A text of several lines with everything hidden made visible; line breaks and tabs stay. A carriage
/// return before a line break is dropped: it is only another spelling of the break.
pub(crate) fn block(text: &str) -> String {
    let text = &*veiled(text);
    let mut shown = String::with_capacity(text.len());
    let mut rest = judged(text).peekable();
    while let Some((character, hidden)) = rest.next() {
        if character == '\r' && rest.peek().is_some_and(|(next, _)| *next == '\n') {
            continue;
        }
        push_visible(&mut shown, character, hidden);
    }
    shown
}

/// A text for one line: as [`block`], and line breaks and tabs are made visible too.
pub(crate) fn line(text: &str) -> String {
    let text = &*veiled(text);
    let mut shown = String::with_capacity(text.len());
    for (character, hidden) in judged(text) {
        match character {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            other => push_visible(&mut shown, other, hidden),
        }
    }
    shown
}

/// JSON text with everything hidden written as JSON escapes. Such characters stand only inside
/// strings, so the value stays the same.
pub(crate) fn json(text: &str) -> String {
    let text = &*veiled(text);
    let mut shown = String::with_capacity(text.len());
    let mut units = [0_u16; 2];
    for (character, hidden) in judged(text) {
        if hidden {
            for unit in character.encode_utf16(&mut units) {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    shown
}

fn push_visible(shown: &mut String, character: char, hidden: bool) {
    if hidden {
        // Writing to a string cannot fail.
        let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
    } else {
        shown.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expect: &str) {
        assert_eq!(block(input), expect);
    }

    #[test]
    fn nothing_acts_on_the_terminal() {
        check("\u{1b}[2Jgone", "\\u{1b}[2Jgone");
        check("title\u{7}\u{9b}31m", "title\\u{7}\\u{9b}31m");
        check("a\u{202e}cba\u{2066}", "a\\u{202e}cba\\u{2066}");
        check("secret\u{e0041}\u{200b}", "secret\\u{e0041}\\u{200b}");
        check("over\rwritten", "over\\u{d}written");
    }

    #[test]
    fn what_has_no_shape_is_shown_as_its_number() {
        let single = [0x3164, 0x115f, 0x1160, 0xffa0, 0x34f, 0x2800, 0x17b4, 0x17b5, 0x1161, 0xd7b0, 0x11a8];
        let ranges = [
            0xe0000..=0xe0fff,
            0xfe00..=0xfe0e,
            0x1d173..=0x1d17a,
            0x1bca0..=0x1bca3,
            0x180b..=0x180f,
            0xfff0..=0xfffb,
            0x200b..=0x200f,
            0x2028..=0x202e,
            0x2060..=0x206f,
        ];
        for number in single.into_iter().chain(ranges.into_iter().flatten()) {
            let text = format!("a{}b", char::from_u32(number).unwrap());
            let shown = format!("a\\u{{{number:x}}}b");
            assert_eq!((block(&text), line(&text)), (shown.clone(), shown));
            assert!(json(&text).is_ascii(), "{number:x}");
        }
    }

    #[test]
    fn joiners_stay_only_where_they_join() {
        for kept in [
            "👁\u{fe0f}\u{200d}🗨\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "🏃🏽\u{200d}♀\u{fe0f}",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
        ] {
            check(kept, kept);
        }
        check("a\u{200d}b\u{200c}", "a\\u{200d}b\\u{200c}");
        check("a\u{fe0f}", "a\\u{fe0f}");
        check("👩\u{200d}\u{200d}👧", "👩\\u{200d}\\u{200d}👧");
        check("👩\u{fe0f}\u{fe0f}", "👩\u{fe0f}\\u{fe0f}");
    }

    #[test]
    fn korean_letters_stay_in_a_syllable() {
        for kept in ["\u{1112}\u{1161}\u{11ab}", "\u{ac00}\u{11a8}", "한국어", "\u{a960}\u{d7b0}\u{d7cb}"]
        {
            check(kept, kept);
        }
        check("\u{1161}\u{11ab}", "\\u{1161}\\u{11ab}");
        check("a\u{1112}\u{1161}\u{1161}", "a\u{1112}\u{1161}\\u{1161}");
    }

    #[test]
    fn marks_do_not_heap_and_emoji_do_not_chain() {
        let four = "e\u{301}\u{302}\u{303}\u{304}";
        check(four, four);
        check(&format!("{four}\u{305}\u{306}x\u{301}"), &format!("{four}\\u{{305}}\\u{{306}}x\u{301}"));
        let kiss = "👩🏻\u{200d}❤\u{fe0f}\u{200d}💋\u{200d}👩🏻";
        check(kiss, kiss);
        let chain = ["👧"; 9].join("\u{200d}");
        assert!(block(&chain).contains("\\u{200d}"), "{}", block(&chain));
        let pairs = "👩\u{200d}👧".repeat(9);
        check(&pairs, &pairs);
    }

    #[test]
    fn ordinary_text_stays() {
        check(
            "zwei Wörter\n\tTab · ✓ 👩\u{200d}👩\u{200d}👧",
            "zwei Wörter\n\tTab · ✓ 👩\u{200d}👩\u{200d}👧",
        );
        check("a\r\nb", "a\nb");
        assert_eq!(line("a\nb\tc"), "a\\nb\\tc");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({"a\u{202e}": "\u{1b}[0m \u{e0041} \u{85} ü"});
        let shown = json(&value.to_string());
        assert!(shown.is_ascii() || shown.contains('ü'));
        assert!(!shown.chars().any(is_hidden));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
