//! Rust text as a flat list of tokens: each knows its lines, how deeply it is nested, and whether it
//! belongs to test code. Comments are gone, except documentation, which is a string like any other.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// One token. `::` is one; so is each bracket.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
    /// The line on which it ends; a string may have several.
    pub(super) end: usize,
    /// How many brackets are open around it; a bracket counts as outside of itself.
    pub(super) depth: usize,
    /// Whether it stands in an item under `#[cfg(test)]`, or in a file of tests.
    pub(super) test: bool,
    pub(super) literal: bool,
}

/// A function with a body.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) line: usize,
    /// Places of the body's tokens in the list, brackets left out.
    pub(super) body: std::ops::Range<usize>,
    pub(super) test: bool,
}

/// The tokens of a file, or why it has none.
pub(super) fn tokens(text: &str, all_test: bool) -> Result<Vec<Token>, String> {
    let text = text.strip_prefix("#!").filter(|rest| !rest.starts_with('[')).map_or(text, |rest| rest);
    let stream: TokenStream = text.parse().map_err(|error| format!("does not read as Rust: {error}"))?;
    let mut list = Vec::new();
    flatten(stream, 0, &mut list);
    if all_test {
        list.iter_mut().for_each(|token| token.test = true);
    } else {
        mark_tests(&mut list);
    }
    Ok(list)
}

fn flatten(stream: TokenStream, depth: usize, list: &mut Vec<Token>) {
    let mut joined = false;
    for tree in stream {
        let span = tree.span();
        let mut push = |text: String, line: usize, end: usize, literal: bool| {
            list.push(Token { text, line, end, depth, test: false, literal });
        };
        let (line, end) = (span.start().line, span.end().line);
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                push(open.to_owned(), group.span_open().start().line, group.span_open().start().line, false);
                flatten(group.stream(), depth + 1, list);
                let close_line = group.span_close().start().line;
                let closing = Token {
                    text: close.to_owned(),
                    line: close_line,
                    end: close_line,
                    depth,
                    test: false,
                    literal: false,
                };
                list.push(closing);
                joined = false;
            }
            TokenTree::Punct(punct) => {
                let colon = punct.as_char() == ':';
                if colon && joined {
                    if let Some(last) = list.last_mut() {
                        last.text = "::".to_owned();
                    }
                    joined = false;
                } else {
                    push(punct.as_char().to_string(), line, end, false);
                    joined = colon && punct.spacing() == Spacing::Joint;
                }
            }
            TokenTree::Ident(ident) => {
                push(ident.to_string(), line, end, false);
                joined = false;
            }
            TokenTree::Literal(literal) => {
                push(literal.to_string(), line, end, true);
                joined = false;
            }
        }
    }
}

/// Marks the items under an attribute `#[cfg(test)]` (or one like `#[cfg(all(test, …))]`).
fn mark_tests(list: &mut [Token]) {
    for at in 0..list.len() {
        if !list[at].test && is_cfg_test(list, at) {
            let end = end_of_item(list, at);
            list[at..end].iter_mut().for_each(|token| token.test = true);
        }
    }
}

fn is_cfg_test(list: &[Token], at: usize) -> bool {
    if !starts(list, at, "# [ cfg (") {
        return false;
    }
    let inside = list[at + 4..].iter().take_while(|token| token.depth > list[at].depth + 1);
    let words: Vec<&str> = inside.map(|token| token.text.as_str()).collect();
    words.contains(&"test") && !words.contains(&"not")
}

/// The place after the item that starts at `at` with its attributes: after its `;` or its braces.
fn end_of_item(list: &[Token], at: usize) -> usize {
    let depth = list[at].depth;
    for (place, token) in list.iter().enumerate().skip(at) {
        let ends = token.depth == depth && (token.text == ";" || token.text == "}");
        let left = token.depth < depth;
        if ends || left {
            return if left { place } else { place + 1 };
        }
    }
    list.len()
}

/// Whether the words of `pattern`, parted by spaces, stand at this place.
pub(super) fn starts(list: &[Token], at: usize, pattern: &str) -> bool {
    let mut tokens = list[at.min(list.len())..].iter();
    pattern.split(' ').all(|word| tokens.next().is_some_and(|token| !token.literal && token.text == word))
}

/// The functions with a body, inner ones too.
pub(super) fn functions(list: &[Token]) -> Vec<Function> {
    let mut functions = Vec::new();
    for at in 0..list.len() {
        let named = starts(list, at, "fn") && list.get(at + 1).is_some_and(|token| !is_bracket(&token.text));
        if !named {
            continue;
        }
        if let Some(body) = braces(list, at) {
            let (name, line, test) = (list[at + 1].text.clone(), list[at].line, list[at].test);
            functions.push(Function { name, line, body, test });
        }
    }
    functions
}

/// The places inside the first braces of the item at `at`; none if a `;` comes first.
pub(super) fn braces(list: &[Token], at: usize) -> Option<std::ops::Range<usize>> {
    let depth = list.get(at)?.depth;
    let level = |token: &&(usize, &Token)| token.1.depth == depth;
    let rest: Vec<(usize, &Token)> =
        list.iter().enumerate().skip(at).take_while(|(_, token)| token.depth >= depth).collect();
    let (open, first) =
        rest.iter().filter(level).find(|(_, token)| token.text == ";" || token.text == "{").copied()?;
    if first.text == ";" {
        return None;
    }
    let (close, _) = rest.iter().filter(level).find(|(place, token)| *place > open && token.text == "}")?;
    Some(open + 1..*close)
}

fn is_bracket(text: &str) -> bool {
    matches!(text, "(" | ")" | "[" | "]" | "{" | "}")
}

/// How many lines of a range have code on them.
pub(super) fn code_lines(list: &[Token]) -> usize {
    list.iter().flat_map(|token| token.line..=token.end).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "\
/// Doc with env::var( in it.
fn product() -> [u8; 3] {
    // a comment: env::var(
    let text = \"env::var(\nsecond line\";

    std::env::var(text)
}
trait Shape { fn side(&self); }
#[cfg(test)]
use a::{b, c};
#[cfg(test)]
mod tests {
    fn inner() { std::env::var(1); }
}
fn after() {}
";

    #[test]
    fn code_is_told_from_comments_and_tests_from_the_product() {
        let list = tokens(SAMPLE, false).unwrap();
        let hits: Vec<(usize, bool)> = (0..list.len())
            .filter(|&at| starts(&list, at, "env :: var ("))
            .map(|at| (list[at].line, list[at].test))
            .collect();
        assert_eq!(hits, [(7, false), (14, true)]);
    }

    #[test]
    fn functions_know_their_bodies() {
        let list = tokens(SAMPLE, false).unwrap();
        let found: Vec<(String, usize, usize, bool)> = functions(&list)
            .into_iter()
            .map(|function| (function.name, function.line, code_lines(&list[function.body]), function.test))
            .collect();
        let expected = [("product", 2, 3, false), ("inner", 14, 1, true), ("after", 16, 0, false)];
        assert_eq!(found, expected.map(|(name, line, lines, test)| (name.to_owned(), line, lines, test)));
    }

    #[test]
    fn text_that_is_not_rust_is_told() {
        assert!(tokens("fn (", false).unwrap_err().starts_with("does not read as Rust"));
    }
}
