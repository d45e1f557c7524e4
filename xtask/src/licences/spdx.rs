//! Licence expressions as packages state them: names joined by `AND`, `OR` and `WITH`, with
//! parentheses, and the older `MIT/Apache-2.0`, where the stroke means `OR`.

/// Deeper nesting than any licence has.
const DEPTH_MAX: usize = 8;

/// Whether an expression holds when `allowed` says which names do. An exception belongs to its
/// licence: `Apache-2.0 WITH LLVM-exception` is one name. None if it is not an expression.
pub(super) fn holds(expression: &str, allowed: impl Fn(&str) -> bool) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { words: spaced.split_whitespace().collect(), at: 0 };
    let holds = words.any(&allowed, DEPTH_MAX)?;
    words.peek().is_none().then_some(holds)
}

/// The words that are still to be read.
struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn name(&mut self) -> Option<&'a str> {
        let word = self.peek().filter(|word| !matches!(*word, "(" | ")" | "AND" | "OR" | "WITH"))?;
        self.at += 1;
        Some(word)
    }

    /// `all (OR all)*`
    fn any(&mut self, allowed: &impl Fn(&str) -> bool, depth: usize) -> Option<bool> {
        let mut holds = self.all(allowed, depth)?;
        while self.take("OR") {
            holds |= self.all(allowed, depth)?;
        }
        Some(holds)
    }

    /// `one (AND one)*`
    fn all(&mut self, allowed: &impl Fn(&str) -> bool, depth: usize) -> Option<bool> {
        let mut holds = self.one(allowed, depth)?;
        while self.take("AND") {
            holds &= self.one(allowed, depth)?;
        }
        Some(holds)
    }

    /// `( any )`, `name` or `name WITH name`
    fn one(&mut self, allowed: &impl Fn(&str) -> bool, depth: usize) -> Option<bool> {
        if self.take("(") {
            let holds = self.any(allowed, depth.checked_sub(1)?)?;
            return self.take(")").then_some(holds);
        }
        let name = self.name()?;
        if self.take("WITH") {
            return Some(allowed(&format!("{name} WITH {}", self.name()?)));
        }
        Some(allowed(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(expression: &str, expected: Option<bool>) {
        let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"];
        assert_eq!(holds(expression, |name| allowed.contains(&name)), expected, "{expression}");
    }

    #[test]
    fn names_are_joined_as_they_read() {
        check("MIT", Some(true));
        check("GPL-3.0", Some(false));
        check("GPL-3.0 OR MIT", Some(true));
        check("GPL-3.0/MIT", Some(true));
        check("GPL-3.0 AND MIT", Some(false));
        check("GPL-3.0 OR MIT AND Zlib", Some(true));
        check("(GPL-3.0 OR MIT) AND GPL-2.0", Some(false));
        check("Apache-2.0 WITH LLVM-exception", Some(true));
        check("Apache-2.0", Some(false));
    }

    #[test]
    fn what_is_not_an_expression_is_told_apart() {
        for text in ["", "MIT OR", "AND", "(MIT", "MIT)", "MIT Zlib", "MIT WITH", &"(".repeat(10_000)] {
            check(text, None);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_judged(text in "[A-Z()/ ]{0,40}|\\PC{0,40}") {
            let _ = holds(&text, |name| name.len() % 2 == 0);
        }
    }
}
