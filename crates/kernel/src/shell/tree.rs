//! One walk over the tree of one text, by a cursor: it goes down, along and up by steps of a loop, so a
//! hostile text costs no stack. What it finds is handed on in the order of the text.

use tree_sitter::{Node, Parser, Tree};

use super::word::{Word, decode, split};
use crate::limits::{SHELL_TEXT_BYTES_MAX, SHELL_TREE_DEPTH_MAX};

/// Something that stands in a text.
#[derive(Debug)]
pub(super) enum Found {
    /// A simple command, and the text that it is given to read, with whether it is exactly that.
    Words(Vec<Word>, Option<(String, bool)>),
    /// A file that is read or written.
    Redirect { path: Word, write: bool },
    /// Something that cannot be told.
    Unclear,
}

/// Parts a text. Nothing where it cannot be read.
pub(super) fn parts(text: &str) -> Option<Vec<Found>> {
    if text.len() > SHELL_TEXT_BYTES_MAX || text.chars().any(is_odd) {
        return None;
    }
    let tree = parse(text)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut walk = Walk { text, found: Vec::new(), above: Vec::new(), taken: None };
    walk.all(&tree)?;
    Some(walk.found)
}

fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    parser.parse(text, None)
}

/// Whether a character is read differently by shells, parsers and people: such a text is not guessed at.
fn is_odd(letter: char) -> bool {
    let is_plain_space = matches!(letter, ' ' | '\t' | '\n');
    !is_plain_space
        && (letter.is_control() || letter.is_whitespace() || crate::protected::is_ignorable(letter))
}

struct Walk<'a> {
    text: &'a str,
    found: Vec<Found>,
    /// The nodes above the present one: whether each declares variables.
    above: Vec<bool>,
    /// The command that was taken together with its redirections.
    taken: Option<usize>,
}

impl<'a> Walk<'a> {
    fn all(&mut self, tree: &Tree) -> Option<()> {
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            if self.above.len() > SHELL_TREE_DEPTH_MAX {
                return None;
            }
            self.visit(node);
            if cursor.goto_first_child() {
                self.above.push(node.kind() == "declaration_command");
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Some(());
                }
                self.above.pop();
            }
        }
    }

    fn raw(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn visit(&mut self, node: Node<'_>) {
        match node.kind() {
            "command" if self.taken != Some(node.id()) => self.command(node, None),
            "redirected_statement" => self.redirected(node),
            "file_redirect" => self.redirect(node),
            "declaration_command" | "unset_command" | "for_statement" => self.flat(node),
            "test_command" => self.test(node),
            "variable_assignment" if self.above.last() != Some(&true) => {
                self.found.push(Found::Words(vec![decode(self.raw(node))], None));
            }
            "function_definition" => self.function(node),
            _ => {}
        }
    }

    fn redirected(&mut self, node: Node<'_>) {
        match node.child_by_field_name("body") {
            Some(body) if body.kind() == "command" => {
                self.taken = Some(body.id());
                self.command(body, Some(node));
            }
            Some(_) => {
                // What follows the file of a redirection belongs to a command that the tree does not name.
                let mut extra = Gathered::default();
                self.redirections(node, &mut extra);
                if !extra.words.is_empty() {
                    self.found.push(Found::Unclear);
                }
            }
            None => {
                let mut gathered = Gathered::default();
                self.redirections(node, &mut gathered);
                if !gathered.words.is_empty() {
                    self.found.push(Found::Words(gathered.words, gathered.stdin));
                }
            }
        }
    }

    fn command(&mut self, node: Node<'_>, around: Option<Node<'_>>) {
        let mut gathered = Gathered::default();
        let mut end_before = None;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => end_before = None,
                "file_redirect" | "herestring_redirect" => {
                    self.redirection(child, &mut gathered);
                    end_before = None;
                }
                "subshell" => gathered.words.push(Word { exact: false, ..decode(self.raw(child)) }),
                _ => {
                    let mut word = decode(self.raw(child));
                    let gap = end_before.and_then(|end| self.text.get(end..child.start_byte()));
                    // Where no plain space parts two words, a shell may see one word, or another.
                    if gap.is_some_and(|gap| !is_gap(gap)) {
                        word.exact = false;
                    }
                    end_before = Some(child.end_byte());
                    gathered.words.push(word);
                }
            }
        }
        if let Some(around) = around {
            self.redirections(around, &mut gathered);
        }
        self.found.push(Found::Words(gathered.words, gathered.stdin));
    }

    fn redirections(&self, node: Node<'_>, gathered: &mut Gathered) {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            self.redirection(child, gathered);
        }
    }

    /// What a redirection holds beside its file: words of the command, and text for it to read.
    fn redirection(&self, node: Node<'_>, gathered: &mut Gathered) {
        let mut cursor = node.walk();
        match node.kind() {
            "file_redirect" => {
                let files = node.children_by_field_name("destination", &mut cursor).skip(1);
                gathered.words.extend(files.map(|word| decode(self.raw(word))));
            }
            "herestring_redirect" => {
                let text = node.named_children(&mut cursor).last().map(|last| decode(self.raw(last)));
                gathered.stdin = text.map(|word| (word.text, word.exact));
            }
            "heredoc_redirect" => {
                let mut quoted = false;
                for child in node.named_children(&mut cursor) {
                    match child.kind() {
                        "heredoc_start" => quoted = self.raw(child).contains(['\'', '"', '\\']),
                        "heredoc_body" => {
                            let text = self.raw(child).to_owned();
                            let exact = quoted || !text.contains(['$', '`', '\\']);
                            gathered.stdin = Some((text, exact));
                        }
                        _ => {}
                    }
                }
                let arguments = node.children_by_field_name("argument", &mut cursor);
                gathered.words.extend(arguments.map(|word| decode(self.raw(word))));
            }
            _ => {}
        }
    }

    fn redirect(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let operator = node.children(&mut cursor).find(|child| !child.is_named()).map(|child| child.kind());
        let operator = operator.unwrap_or_default();
        let Some(file) = node.child_by_field_name("destination") else { return };
        let raw = self.raw(file);
        let is_descriptor =
            operator.ends_with('&') && raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if !is_descriptor {
            self.found.push(Found::Redirect { path: decode(raw), write: operator.contains('>') });
        }
    }

    /// A statement whose words stand in it one after the other.
    fn flat(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let words = node
            .children(&mut cursor)
            .filter(|child| !matches!(child.kind(), "do_group" | ";" | "\n" | "in"))
            .map(|child| decode(self.raw(child)))
            .filter(|word| !word.text.is_empty());
        let words = words.collect();
        self.found.push(Found::Words(words, None));
    }

    fn test(&mut self, node: Node<'_>) {
        let mut words = split(self.raw(node));
        for word in words.iter_mut().filter(|word| matches!(word.text.as_str(), "[" | "]" | "[[" | "]]")) {
            *word = Word::given(&word.text);
        }
        self.found.push(Found::Words(words, None));
    }

    /// A function: its name, and once more for each time that it calls itself.
    fn function(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name").map(|name| self.raw(name)) else { return };
        let mut words = vec![Word::given("function"), decode(name)];
        let body = node.child_by_field_name("body").map(|body| self.raw(body)).unwrap_or_default();
        let calls = body
            .split(|letter: char| letter.is_ascii_whitespace() || "|&;(){}".contains(letter))
            .filter(|word| *word == name);
        words.extend(calls.map(decode));
        self.found.push(Found::Words(words, None));
    }
}

#[derive(Default)]
struct Gathered {
    words: Vec<Word>,
    stdin: Option<(String, bool)>,
}

fn is_gap(gap: &str) -> bool {
    !gap.is_empty() && gap.replace("\\\n", " ").bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}
