//! How the runtime's own lines are told from the person's words where a protocol has no place for them.
//!
//! A line of the runtime (the local date) goes into a user message between `<mast>` and `</mast>`: it
//! has the authority of the message around it and no more. A second `system` message would be the
//! plain way, and was rejected since the chat templates of widely used open models refuse one that is
//! not the first message. The person's words may hold the same marks: theirs get a backslash, so that
//! every message can be taken apart again into exactly the pieces it was made of.

/// One piece of a user message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// The person's words.
    Said(&'a str),
    /// A line of the runtime.
    Told(&'a str),
}

/// What a line of the runtime begins with, and nothing else does.
pub(crate) const OPEN: &str = "<mast>";
const CLOSE: &str = "</mast>";
const BETWEEN: &str = "<mast/>";
const MARKS: [&str; 3] = ["mast>", "/mast>", "mast/>"];

/// One text for all pieces.
pub(crate) fn join(pieces: &[Piece<'_>]) -> String {
    let mut out = String::new();
    let mut last_was_said = false;
    for (place, piece) in pieces.iter().enumerate() {
        let is_said = matches!(piece, Piece::Said(_));
        if place > 0 {
            out.push_str("\n\n");
            if is_said && last_was_said {
                out.push_str(BETWEEN);
                out.push_str("\n\n");
            }
        }
        out.push_str(&one(piece));
        last_was_said = is_said;
    }
    out
}

/// The text of one piece alone.
pub(crate) fn one(piece: &Piece<'_>) -> String {
    match piece {
        Piece::Said(text) => escape(text),
        Piece::Told(text) => format!("{OPEN}{}{CLOSE}", escape(text)),
    }
}

/// A text of others with lines of the runtime after it.
pub(crate) fn append(text: &mut String, told: &str) {
    text.push_str("\n\n");
    text.push_str(&one(&Piece::Told(told)));
}

/// Puts a backslash after the `<` of each mark, escaped ones too.
pub(crate) fn escape(text: &str) -> String {
    if !text.contains("mast") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        out.push('<');
        let name = after.trim_start_matches('\\');
        if MARKS.iter().any(|mark| name.starts_with(mark)) {
            out.push('\\');
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unescape(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('<') {
            out.push_str(before);
            out.push('<');
            let name = after.trim_start_matches('\\');
            let is_escaped = name.len() < after.len() && MARKS.iter().any(|mark| name.starts_with(mark));
            rest = if is_escaped { after.strip_prefix('\\').unwrap() } else { after };
        }
        out + rest
    }

    /// The pieces of a text that `join` made: (whether the person said it, the piece).
    pub(crate) fn split(text: &str) -> Vec<(bool, String)> {
        let mut out = Vec::new();
        let mut rest = text;
        loop {
            if let Some(after) = rest.strip_prefix(OPEN) {
                let (told, after) = after.split_once(CLOSE).unwrap();
                out.push((false, unescape(told)));
                rest = after;
            } else {
                let end = [format!("\n\n{OPEN}"), format!("\n\n{BETWEEN}")]
                    .iter()
                    .filter_map(|mark| rest.find(mark))
                    .min()
                    .unwrap_or(rest.len());
                let (said, after) = rest.split_at(end);
                out.push((true, unescape(said)));
                rest = after;
            }
            if rest.is_empty() {
                return out;
            }
            rest = rest.strip_prefix("\n\n").unwrap();
            rest = rest.strip_prefix("<mast/>\n\n").unwrap_or(rest);
        }
    }

    #[test]
    fn the_usual_message_is_plain() {
        assert_eq!(join(&[Piece::Said("2 < 3?")]), "2 < 3?");
        assert_eq!(join(&[Piece::Said("hello"), Piece::Told("Monday")]), "hello\n\n<mast>Monday</mast>");
        assert_eq!(join(&[Piece::Said("<mast>x</mast>")]), "<\\mast>x<\\/mast>");
    }

    proptest! {
        #[test]
        fn a_message_comes_apart_into_its_pieces(
            pieces in prop::collection::vec((any::<bool>(), "(a|<|\\\\|\n|mast>|/mast>|<mast>|</mast>|<mast/>){0,6}"), 1..5)
        ) {
            let made: Vec<Piece<'_>> = pieces
                .iter()
                .map(|(said, text)| if *said { Piece::Said(text) } else { Piece::Told(text) })
                .collect();
            prop_assert_eq!(split(&join(&made)), pieces);
        }
    }
}
