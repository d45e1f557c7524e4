//! One walk over the tree of one text, by a cursor: it goes down, along and up by steps of a loop, so a
//! hostile text costs no stack. What it finds is handed on in the order of the text.

use tree_sitter::{Node, Parser, Tree, TreeCursor};

use super::grammar::{GRAMMAR, Grammar, Kind};
use super::heredoc;
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

/// Words that begin something larger for a shell wherever a command may stand. The tree takes them for names
/// of programs behind `!`, and so ends what they begin elsewhere than a shell does.
const MISREAD: &[&str] = &["case", "esac", "for", "select", "function"];

/// Reads texts, one after the other, with one parser.
#[derive(Default)]
pub(super) struct Reader {
    parser: Option<Parser>,
}

impl Reader {
    /// Parts a text. Nothing where it cannot be read.
    pub(super) fn parts(&mut self, text: &str) -> Option<Vec<Found>> {
        if text.len() > SHELL_TEXT_BYTES_MAX || text.chars().any(is_odd) {
            return None;
        }
        let grammar = GRAMMAR.as_ref()?;
        let parser = match &mut self.parser {
            Some(parser) => parser,
            none => {
                let mut parser = Parser::new();
                parser.set_language(&grammar.language).ok()?;
                none.insert(parser)
            }
        };
        let tree = parser.parse(text, None)?;
        if tree.root_node().has_error() {
            return None;
        }
        let mut walk =
            Walk { text, grammar, found: Vec::new(), above: Vec::new(), taken: None, cursors: Vec::new() };
        walk.all(&tree)?;
        Some(walk.found)
    }
}

/// Whether a character is read differently by shells, parsers and people: such a text is not guessed at.
fn is_odd(letter: char) -> bool {
    match letter {
        ' '..='~' | '\t' | '\n' => false,
        other => other.is_control() || other.is_whitespace() || crate::protected::is_ignorable(other),
    }
}

/// Whether something may run below a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    Nothing,
    Perhaps,
}

struct Walk<'a, 't> {
    text: &'a str,
    grammar: &'static Grammar,
    found: Vec<Found>,
    /// The nodes above the present one: whether each declares variables.
    above: Vec<bool>,
    /// The command that was taken together with its redirections.
    taken: Option<(usize, Below)>,
    /// Cursors that are not in use: making one anew for each node is dear.
    cursors: Vec<TreeCursor<'t>>,
}

impl<'a, 't> Walk<'a, 't> {
    fn all(&mut self, tree: &'t Tree) -> Option<()> {
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            if self.above.len() > SHELL_TREE_DEPTH_MAX {
                return None;
            }
            let kind = self.kind(node);
            if self.visit(node, kind) == Below::Perhaps && cursor.goto_first_child() {
                self.above.push(kind == Kind::Declaration);
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

    fn kind(&self, node: Node<'_>) -> Kind {
        self.grammar.kind(node)
    }

    fn cursor(&mut self, node: Node<'t>) -> TreeCursor<'t> {
        self.cursors.pop().unwrap_or_else(|| node.walk())
    }

    fn visit(&mut self, node: Node<'t>, kind: Kind) -> Below {
        match kind {
            Kind::Command => {
                return match self.taken {
                    Some((id, below)) if id == node.id() => below,
                    _ => self.command(node, None),
                };
            }
            Kind::Redirected => self.redirected(node),
            Kind::FileRedirect => self.redirect(node),
            Kind::HereDocument if heredoc::hides(self.text, node, self.grammar) => {
                self.found.push(Found::Unclear);
            }
            Kind::Declaration | Kind::Unset | Kind::For => self.flat(node),
            Kind::Test if !self.raw(node).starts_with("((") => self.test(node),
            Kind::Test | Kind::Compound | Kind::ArithmeticFor | Kind::Arithmetic => {
                self.arithmetic(node, kind);
            }
            Kind::Assignment if self.above.last() != Some(&true) => {
                self.found.push(Found::Words(vec![decode(self.raw(node))], None));
            }
            Kind::Function => self.function(node),
            // What is put in for a variable can be run: by a backtick that the tree takes for a letter, by
            // `@P`, by an index in quotes, or by the name of another variable.
            Kind::Expansion if self.raw(node).contains(['`', '@', '\'', '!']) => {
                self.found.push(Found::Unclear);
            }
            Kind::Letters if has_backtick(self.raw(node)) => self.found.push(Found::Unclear),
            _ => {}
        }
        Below::Perhaps
    }

    /// Arithmetic looks up what its names hold and reads that as arithmetic again; an index in it is
    /// expanded even out of quotes. So only what has neither is let pass.
    fn arithmetic(&mut self, node: Node<'t>, kind: Kind) {
        let body = node.child_by_field_id(self.grammar.body.get());
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let text = self.text.get(node.start_byte()..end).unwrap_or_default();
        let inside = match kind {
            Kind::Arithmetic => text.get(2..).unwrap_or_default(),
            Kind::ArithmeticFor => text,
            _ if text.starts_with("((") => text,
            _ => return,
        };
        if inside.contains(['$', '`', '[', '\'', '"', '\\']) {
            self.found.push(Found::Unclear);
        }
    }

    fn redirected(&mut self, node: Node<'t>) {
        match node.child_by_field_id(self.grammar.body.get()) {
            Some(body) if self.kind(body) == Kind::Command => {
                let below = self.command(body, Some(node));
                self.taken = Some((body.id(), below));
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

    fn command(&mut self, node: Node<'t>, around: Option<Node<'t>>) -> Below {
        let mut gathered = Gathered::default();
        let mut below = Below::Nothing;
        let (mut end_before, mut is_misread) = (None, false);
        let mut cursor = self.cursor(node);
        for child in node.children(&mut cursor) {
            match self.kind(child) {
                Kind::Assignment => {
                    below = Below::Perhaps;
                    end_before = None;
                }
                Kind::FileRedirect | Kind::HereString => {
                    below = Below::Perhaps;
                    self.redirection(child, &mut gathered);
                    end_before = None;
                }
                Kind::Subshell => {
                    below = Below::Perhaps;
                    gathered.words.push(Word { exact: false, ..decode(self.raw(child)) });
                }
                _ => {
                    let raw = self.raw(child);
                    is_misread |= gathered.words.is_empty() && MISREAD.contains(&raw);
                    if raw.bytes().any(|byte| b"$`(<>".contains(&byte)) {
                        below = Below::Perhaps;
                    }
                    let mut word = decode(raw);
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
        self.cursors.push(cursor);
        if let Some(around) = around {
            self.redirections(around, &mut gathered);
        }
        self.found.push(Found::Words(gathered.words, gathered.stdin));
        if is_misread {
            self.found.push(Found::Unclear);
        }
        below
    }

    fn redirections(&mut self, node: Node<'t>, gathered: &mut Gathered) {
        let mut cursor = self.cursor(node);
        for child in node.children(&mut cursor) {
            self.redirection(child, gathered);
        }
        self.cursors.push(cursor);
    }

    /// What a redirection holds beside its file: words of the command, and text for it to read.
    fn redirection(&mut self, node: Node<'t>, gathered: &mut Gathered) {
        let kind = self.kind(node);
        if !matches!(kind, Kind::FileRedirect | Kind::HereString | Kind::HereDocument) {
            return;
        }
        let mut cursor = self.cursor(node);
        match kind {
            Kind::FileRedirect => {
                let files = node.children_by_field_id(self.grammar.destination, &mut cursor).skip(1);
                gathered.words.extend(files.map(|word| decode(self.raw(word))));
            }
            Kind::HereString => {
                let text = node.named_children(&mut cursor).last().map(|last| decode(self.raw(last)));
                gathered.stdin = text.map(|word| (word.text, word.exact));
            }
            _ => {
                gathered.stdin = heredoc::read(self.text, node, self.grammar).or(gathered.stdin.take());
                let arguments = node.children_by_field_id(self.grammar.argument, &mut cursor);
                gathered.words.extend(arguments.map(|word| decode(self.raw(word))));
            }
        }
        self.cursors.push(cursor);
    }

    fn redirect(&mut self, node: Node<'t>) {
        let Some(file) = node.child_by_field_id(self.grammar.destination.get()) else { return };
        // The operator stands before its file, perhaps behind the number of a descriptor.
        let before = self.text.get(node.start_byte()..file.start_byte()).unwrap_or_default().trim_end();
        let raw = self.raw(file);
        let is_descriptor =
            before.ends_with('&') && raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if !is_descriptor {
            self.found.push(Found::Redirect { path: decode(raw), write: before.contains('>') });
        }
    }

    /// A statement whose words stand in it one after the other.
    fn flat(&mut self, node: Node<'t>) {
        let mut cursor = self.cursor(node);
        let words = node
            .children(&mut cursor)
            .filter(|child| !matches!(self.kind(*child), Kind::DoGroup | Kind::Separator))
            .map(|child| decode(self.raw(child)))
            .filter(|word| !word.text.is_empty())
            .collect();
        self.cursors.push(cursor);
        self.found.push(Found::Words(words, None));
    }

    fn test(&mut self, node: Node<'t>) {
        let mut words = split(self.raw(node));
        for word in words.iter_mut().filter(|word| matches!(word.text.as_str(), "[" | "]" | "[[" | "]]")) {
            *word = Word::given(&word.text);
        }
        self.found.push(Found::Words(words, None));
    }

    /// A function: its name, and once more for each time that it calls itself.
    fn function(&mut self, node: Node<'t>) {
        let Some(name) = node.child_by_field_id(self.grammar.name.get()).map(|name| self.raw(name)) else {
            return;
        };
        let mut words = vec![Word::given("function"), decode(name)];
        let body =
            node.child_by_field_id(self.grammar.body.get()).map(|body| self.raw(body)).unwrap_or_default();
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

/// Whether a backtick stands here that no backslash takes its meaning from.
fn has_backtick(text: &str) -> bool {
    let mut is_escaped = false;
    text.bytes().any(|byte| {
        let found = byte == b'`' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        found
    })
}

fn is_gap(gap: &str) -> bool {
    gap == " " || !gap.is_empty() && gap.replace("\\\n", " ").bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}
