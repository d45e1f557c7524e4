//! Here-documents. Where one ends is where the command goes on, and the grammar does not see all that a
//! shell runs in one; so what is not plainly the same for both is said to be unclear. A quoted delimiter
//! makes the body a plain text.

use tree_sitter::Node;

use super::grammar::{Grammar, Kind};

/// The parts of a here-document.
struct Parts<'a> {
    delimiter: &'a str,
    is_quoted: bool,
    /// `<<-`: tabs before a line do not count.
    is_tabbed: bool,
    body: &'a str,
    body_from: usize,
}

/// The text that a here-document is, and whether exactly.
pub(super) fn read(text: &str, node: Node<'_>, grammar: &Grammar) -> Option<(String, bool)> {
    let parts = parts(text, node, grammar)?;
    let exact = parts.is_quoted || !parts.body.contains(['$', '`', '\\']);
    Some((parts.body.to_owned(), exact))
}

/// Whether a here-document runs something that the tree does not show, or may end elsewhere than in the tree.
pub(super) fn hides(text: &str, node: Node<'_>, grammar: &Grammar) -> bool {
    let Some(parts) = parts(text, node, grammar) else { return true };
    let is_end = |line: &str| line == parts.delimiter;
    let mut lines =
        parts.body.lines().map(|line| if parts.is_tabbed { line.trim_start_matches('\t') } else { line });
    lines.any(is_end) || !parts.is_quoted && runs_unseen(&parts, node, grammar)
}

fn parts<'a>(text: &'a str, node: Node<'_>, grammar: &Grammar) -> Option<Parts<'a>> {
    let mut cursor = node.walk();
    let (mut start, mut end) = (None, None);
    for child in node.children(&mut cursor) {
        match grammar.kind(child) {
            Kind::HereStart => start = Some(child),
            Kind::HereEnd => end = Some(child),
            _ => {}
        }
    }
    let (start, end) = (start?, end?);
    let written = text.get(start.byte_range())?;
    let (is_quoted, delimiter) = match written.as_bytes() {
        [quote @ (b'\'' | b'"'), .., last] if quote == last => (true, written.get(1..written.len() - 1)?),
        [b'\\', ..] => (true, written.get(1..)?),
        _ => (false, written),
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let ends_there =
        text.get(start.end_byte()..)?.starts_with([' ', '\t', '\n', ';', '|', '&', '<', '>', ')']);
    let is_tabbed = text.get(node.start_byte()..start.start_byte())?.contains("<<-");
    let body_from = start.end_byte() + text.get(start.end_byte()..)?.find('\n')? + 1;
    let body = text.get(body_from..end.start_byte())?;
    let body = if is_tabbed { body.trim_end_matches('\t') } else { body };
    let last = text.get(end.byte_range())?;
    let last = if is_tabbed { last.trim_start_matches('\t') } else { last };
    let after = text.get(end.end_byte()..)?;
    let is_sound = !delimiter.is_empty()
        && delimiter.bytes().all(is_plain)
        && ends_there
        && (body.is_empty() || body.ends_with('\n'))
        && last == delimiter
        && (after.is_empty() || after.starts_with('\n'));
    is_sound.then_some(Parts { delimiter, is_quoted, is_tabbed, body, body_from })
}

/// Whether an unquoted body has something that a shell expands and the tree does not hold, or a line that
/// goes on in the next one, which moves the end.
fn runs_unseen(parts: &Parts<'_>, node: Node<'_>, grammar: &Grammar) -> bool {
    let mut rest = parts.body.bytes().enumerate().peekable();
    while let Some((at, byte)) = rest.next() {
        let next = rest.peek().map(|(_, byte)| *byte);
        match (byte, next) {
            (b'`', _) | (b'\\', Some(b'\n') | None) | (b'$', Some(b'[')) => return true,
            (b'\\', _) => {
                rest.next();
            }
            (b'$', Some(b'(')) => {
                // Arithmetic reads what its names hold.
                let is_arithmetic = parts.body.as_bytes().get(at + 2) == Some(&b'(');
                let from = parts.body_from + at;
                let token = node.descendant_for_byte_range(from, from + 2);
                if parts.is_tabbed
                    || is_arithmetic
                    || token.is_none_or(|token| grammar.kind(token) != Kind::SubstitutionStart)
                {
                    return true;
                }
            }
            (b'$', Some(b'{')) => {
                let inside = parts.body.get(at + 2..).and_then(|rest| rest.split_once('}'));
                let is_name =
                    |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                if parts.is_tabbed || !inside.is_some_and(|(name, _)| is_name(name)) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}
