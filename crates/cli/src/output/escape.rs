//! Makes visible what would act on a terminal or hide in a text: control characters, marks that turn
//! the direction of writing round, and characters without a shape of their own.
//!
//! Rejected: removing them, since then nobody sees that they were there; and escaping only what goes
//! to a terminal, since a pipe often ends in one. `--json` is the way to the exact bytes: there the
//! same characters are written as JSON escapes, which a reader turns back.

use std::fmt::Write as _;

/// Whether a character is shown as its number: everything that acts or hides. A line break and a tab
/// are not among them; joiners are not either, since scripts and emoji need them.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => true,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}

/// A text of several lines with everything hidden made visible; line breaks and tabs stay. A carriage
/// return before a line break is dropped: it is only another spelling of the break.
pub(crate) fn block(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if character == '\r' && rest.peek() == Some(&'\n') {
            continue;
        }
        push_visible(&mut shown, character);
    }
    shown
}

/// A text for one line: as [`block`], and line breaks and tabs are made visible too.
pub(crate) fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            other => push_visible(&mut shown, other),
        }
    }
    shown
}

/// JSON text with everything hidden written as JSON escapes. Such characters stand only inside
/// strings, so the value stays the same.
pub(crate) fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut units = [0_u16; 2];
    for character in text.chars() {
        if is_hidden(character) {
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

fn push_visible(shown: &mut String, character: char) {
    if is_hidden(character) {
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
