//! What one word of a shell text is once its quotes are gone. Reads the characters themselves and not
//! the tree, so that it is one pass whatever stands in the word. See `docs/spec/policy.md`.

use std::iter::Peekable;
use std::str::Chars;

/// A word as the program would get it, as far as that can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Without its quotes; what is made at run time stands as it was written.
    pub(super) text: String,
    /// Whether the text is exactly what the program would get.
    pub(super) exact: bool,
    /// Whether it was written bare, without a quote or a backslash: only such a word names a program.
    pub(super) bare: bool,
}

impl Word {
    /// A word of an argument vector, which no shell touches.
    pub(super) fn given(text: &str) -> Self {
        Self { text: text.to_owned(), exact: true, bare: true }
    }

    /// The name that is given a value, if this is `NAME=value`.
    pub(super) fn assigned(&self) -> Option<&str> {
        let (name, _) = self.text.split_once('=')?;
        let name = name.strip_suffix('+').unwrap_or(name);
        let name = name.split('[').next().unwrap_or(name);
        let mut bytes = name.bytes();
        let starts = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        (starts && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')).then_some(name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// Reads one word as it stands in a text.
pub(super) fn decode(raw: &str) -> Word {
    // Most words are nothing but letters.
    if raw.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./,:=@%+".contains(&byte)) {
        return Word::given(raw);
    }
    let mut word = Word { text: String::with_capacity(raw.len()), exact: true, bare: true };
    let mut quote = Quote::None;
    let mut rest = raw.chars().peekable();
    while let Some(letter) = rest.next() {
        match (quote, letter) {
            (Quote::None, '\'') => quote = Quote::Single,
            (Quote::None, '"') => quote = Quote::Double,
            (Quote::Single, '\'') | (Quote::Double, '"') => quote = Quote::None,
            (Quote::Single, other) => word.text.push(other),
            (_, '`') => {
                word.exact = false;
                word.text.push('`');
            }
            (_, '$') => dollar(&mut word, quote, &mut rest),
            (_, '\\') => backslash(&mut word, quote, &mut rest),
            (Quote::None, other) => {
                word.exact &= !is_made(other, &word.text, raw);
                word.text.push(other);
            }
            (Quote::Double, other) => word.text.push(other),
        }
        word.bare &= quote == Quote::None && !matches!(letter, '\'' | '"' | '\\');
    }
    word.bare &= word.exact;
    word
}

/// Whether this character, unquoted, makes the shell put something else in the word's place.
fn is_made(letter: char, before: &str, raw: &str) -> bool {
    match letter {
        '*' | '?' | '[' | '(' | ')' | '<' | '>' => true,
        '~' => before.is_empty() || before.ends_with(['=', ':']),
        '{' => raw.contains(',') || raw.contains(".."),
        _ => false,
    }
}

fn dollar(word: &mut Word, quote: Quote, rest: &mut Peekable<Chars<'_>>) {
    match rest.peek() {
        Some('\'') if quote == Quote::None => {
            rest.next();
            word.exact = false;
            escapes(&mut word.text, rest);
        }
        Some('"') if quote == Quote::None => word.exact = false,
        Some(next) if next.is_alphanumeric() || "_{(@*#?-$![".contains(*next) => {
            word.exact = false;
            word.text.push('$');
        }
        _ => word.text.push('$'),
    }
}

fn backslash(word: &mut Word, quote: Quote, rest: &mut Peekable<Chars<'_>>) {
    match rest.next() {
        Some('\n') => {}
        Some(next) if quote == Quote::Double && !"$`\"\\".contains(next) => word.text.extend(['\\', next]),
        Some(next) => {
            // Nobody needs to escape a letter; who does it hides one.
            word.exact &= quote == Quote::Double || !next.is_alphanumeric();
            word.text.push(next);
        }
        None => word.exact = false,
    }
}

/// Reads the inside of `$'…'`, its end included.
fn escapes(text: &mut String, rest: &mut Peekable<Chars<'_>>) {
    while let Some(letter) = rest.next() {
        match letter {
            '\'' => return,
            '\\' => text.extend(escaped(rest)),
            other => text.push(other),
        }
    }
}

fn escaped(rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let letter = rest.next()?;
    match letter {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'e' | 'E' => Some('\u{1b}'),
        'x' => number(rest, 16, 2),
        'u' => number(rest, 16, 4),
        'U' => number(rest, 16, 8),
        digit @ '0'..='7' => {
            let more = number(rest, 8, 2).map_or(0, u32::from);
            let digits = digit.to_digit(8)?;
            char::from_u32(if more == 0 { digits } else { digits * 64 + more })
        }
        other => Some(other),
    }
}

fn number(rest: &mut Peekable<Chars<'_>>, radix: u32, digits_max: usize) -> Option<char> {
    let mut value = 0_u32;
    for _ in 0..digits_max {
        let Some(digit) = rest.peek().and_then(|next| next.to_digit(radix)) else { break };
        rest.next();
        value = value.wrapping_mul(radix).wrapping_add(digit);
    }
    char::from_u32(value)
}

/// Parts a text at its unquoted white space, as `[` does with its inside.
pub(super) fn split(raw: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut current = String::new();
    let mut quote = Quote::None;
    let mut escaped = false;
    for letter in raw.chars() {
        if quote == Quote::None && !escaped && letter.is_ascii_whitespace() {
            words.push(std::mem::take(&mut current));
            continue;
        }
        quote = match (quote, letter) {
            (Quote::None, '\'') if !escaped => Quote::Single,
            (Quote::None, '"') if !escaped => Quote::Double,
            (Quote::Single, '\'') => Quote::None,
            (Quote::Double, '"') if !escaped => Quote::None,
            (other, _) => other,
        };
        escaped = letter == '\\' && !escaped && quote != Quote::Single;
        current.push(letter);
    }
    words.push(current);
    words.iter().filter(|word| !word.is_empty()).map(|word| decode(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let mut table = String::new();
        for raw in [
            "ls",
            "'a b'",
            "\"a b\"",
            "a\\ b",
            "\\rm",
            "r\"\"m",
            "--x=\"a b\"",
            "$'\\x72m'",
            "$'\\162m'",
            "$HOME",
            "\"$HOME\"/x",
            "~",
            "a~",
            "*.rs",
            "'*.rs'",
            "{a,b}",
            "{}",
            "\\;",
            "`x`",
            "\"\\$x\"",
            "a$",
            "$\"x\"",
            "rm${IFS}-rf",
            "r\\\nm",
            "\"\\d\"",
        ] {
            let Word { text, exact, bare } = decode(raw);
            let exact = if exact { "exact" } else { "made" };
            table += &format!("{raw:?} {text:?} {exact}{}\n", if bare { " bare" } else { "" });
        }
        expect_test::expect![[r#"
            "ls" "ls" exact bare
            "'a b'" "a b" exact
            "\"a b\"" "a b" exact
            "a\\ b" "a b" exact
            "\\rm" "rm" made
            "r\"\"m" "rm" exact
            "--x=\"a b\"" "--x=a b" exact
            "$'\\x72m'" "rm" made
            "$'\\162m'" "rm" made
            "$HOME" "$HOME" made
            "\"$HOME\"/x" "$HOME/x" made
            "~" "~" made
            "a~" "a~" exact bare
            "*.rs" "*.rs" made
            "'*.rs'" "*.rs" exact
            "{a,b}" "{a,b}" made
            "{}" "{}" exact bare
            "\\;" ";" exact
            "`x`" "`x`" made
            "\"\\$x\"" "$x" exact
            "a$" "a$" exact bare
            "$\"x\"" "x" made
            "rm${IFS}-rf" "rm${IFS}-rf" made
            "r\\\nm" "rm" exact
            "\"\\d\"" "\\d" exact
        "#]]
        .assert_eq(&table);
    }

    #[test]
    fn a_text_is_parted_outside_its_quotes() {
        let texts: Vec<String> = split("[ -f 'a b' ]  x\\ y").into_iter().map(|word| word.text).collect();
        assert_eq!(texts, ["[", "-f", "a b", "]", "x y"]);
    }
}
