//! The parts of a Markdown text that its writer says: paragraphs, list items, headings and cells. Code,
//! quotations after `>`, and lines that are set in like code are left out.

use std::ops::Range;

/// The ranges of the text's own blocks, in their order. Each is on a char boundary.
pub(super) fn own(text: &str) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    let (mut at, mut is_open, mut after_blank) = (0, false, true);
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let words = line.trim_start();
        let mark = fence_of(words);
        if let Some((letter, n)) = fence {
            let closes = mark.is_some_and(|(other, m)| other == letter && m >= n)
                && words.trim().chars().all(|other| other == letter);
            fence = if closes { None } else { fence };
            is_open = false;
        } else if mark.is_some() {
            (fence, is_open) = (mark, false);
        } else if words.is_empty() || words.starts_with('>') || (after_blank && is_set_in(line)) {
            is_open = false;
        } else if let (Some(last), true, false) = (blocks.last_mut(), is_open, begins_block(words)) {
            last.end = range.end;
        } else {
            blocks.push(range);
            is_open = true;
        }
        after_blank = words.is_empty() || (after_blank && !is_open);
    }
    blocks
}

/// The mark that opens or closes a fenced block, and how often it stands there.
fn fence_of(line: &str) -> Option<(char, usize)> {
    let letter = line.chars().next().filter(|letter| matches!(letter, '`' | '~'))?;
    let n = line.chars().take_while(|other| *other == letter).count();
    let rest = line.get(n..).unwrap_or_default();
    (n >= 3 && !(letter == '`' && rest.contains('`'))).then_some((letter, n))
}

/// Whether a line is set in as code is, and is no item of a list.
fn is_set_in(line: &str) -> bool {
    (line.starts_with("    ") || line.starts_with('\t')) && !begins_block(line.trim_start())
}

/// Whether a block is an item of a list.
pub(super) fn is_item(block: &str) -> bool {
    let line = block.trim_start();
    begins_block(line) && !line.starts_with(['#', '|'])
}

/// Whether a line begins something of its own: an item, a heading, a row of a table, a line after a sign.
fn begins_block(line: &str) -> bool {
    let mut letters = line.chars();
    let Some(first) = letters.next() else { return false };
    if first.is_ascii_digit() {
        let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        return rest.starts_with(". ") || rest.starts_with(") ");
    }
    if matches!(first, '-' | '*' | '+') {
        return letters.next().is_none_or(char::is_whitespace);
    }
    !first.is_alphanumeric()
        && !matches!(
            first,
            '`' | '"' | '\'' | '(' | '_' | '[' | '“' | '„' | '«' | '»' | '‘' | '/' | '.' | '~'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let seen: Vec<&str> = own(text).into_iter().map(|range| text.get(range).unwrap().trim()).collect();
        assert_eq!(seen, expect, "{text:?}");
    }

    #[test]
    fn a_paragraph_goes_on_over_lines_and_an_item_is_its_own() {
        check(
            "One\ntwo.\n\nThree\n- four\n  five\n- six\n1. seven\n",
            &["One\ntwo.", "Three", "- four\n  five", "- six", "1. seven"],
        );
        check("# Head\nText\n✅ a\n✅ b\n| c | d |", &["# Head\nText", "✅ a", "✅ b", "| c | d |"]);
    }

    #[test]
    fn code_and_quotations_are_left_out() {
        check("a\n```sh\nb\n```\nc\n~~~~\nd\n~~~\ne\n~~~~\nf", &["a", "c", "f"]);
        check("> a\nb\n\n    c\n\n- d\n", &["b", "- d"]);
        check("a\n```\nnever closed\nb", &["a"]);
        check("```a``` b", &["```a``` b"]);
    }
}
