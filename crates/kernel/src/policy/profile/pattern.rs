//! Patterns over paths and commands (those over hosts are beside). Small on purpose, so that a person who
//! writes a rule can say by heart what it covers. Rejected: regular expressions, which nobody reads twice,
//! and a glob library, whose exceptions are its own affair. Whatever is unclear here is matched rather than
//! passed over, in every spelling: a pattern stands in a rule only, and a rule gives a `Tightening`. What
//! allows is compared letter by letter, elsewhere. See `docs/spec/policy.md`.

use std::borrow::Cow;

use super::spelling::{program_name, same, same_name, same_word};

/// A path: segments joined by `/`, where `*` stands for any part of a segment and `**` for any number
/// of segments. It covers what it names and everything below, however it is spelt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathPattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// `**`.
    Any,
    /// One segment, in the spelling that is compared.
    Segment(String),
}

impl PathPattern {
    /// The pattern; none if it could never match: empty, or with `.` or `..` in it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let folded = same(text);
        let trimmed = folded.strip_suffix(['/', '\\']).unwrap_or(&folded);
        let inner = trimmed.strip_prefix(['/', '\\']).unwrap_or(trimmed);
        let parts: Option<Vec<Part>> = inner
            .split(['/', '\\'])
            .map(|segment| match segment {
                "" | "." | ".." => None,
                "**" => Some(Part::Any),
                other => Some(Part::Segment(same_name(other).into_owned())),
            })
            .collect();
        Some(Self { text: text.to_owned(), parts: parts? })
    }

    /// The pattern as it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The segment that every path it covers begins with; none where a wildcard leads.
    pub(super) fn first(&self) -> Option<&str> {
        match self.parts.first() {
            Some(Part::Segment(segment)) if !segment.contains('*') => Some(segment),
            _ => None,
        }
    }

    /// What some segment of every path it covers has, where a wildcard leads: the whole name, or how the
    /// name ends after its last dot.
    pub(super) fn mark(&self) -> Option<Mark<'_>> {
        let segments = self.parts.iter().filter_map(|part| match part {
            Part::Segment(segment) => Some(segment.as_str()),
            Part::Any => None,
        });
        segments.rev().find_map(|segment| match segment.rsplit_once('*') {
            None => Some(Mark::Name(segment)),
            Some((_, tail)) => tail.rsplit_once('.').map(|(_, ending)| Mark::Ending(ending)),
        })
    }

    /// Whether it covers a path that has this reading.
    pub(super) fn covers(&self, path: &[Cow<'_, str>]) -> bool {
        let (mut part, mut at) = (0, 0);
        let mut again: Option<(usize, usize)> = None;
        loop {
            match (self.parts.get(part), path.get(at)) {
                // What is left of the path lies below what the pattern names.
                (None, _) => return true,
                (Some(Part::Any), _) => {
                    part += 1;
                    again = Some((part, at));
                }
                (Some(Part::Segment(pattern)), Some(segment)) if fits(pattern, segment) => {
                    part += 1;
                    at += 1;
                }
                (Some(Part::Segment(_)), Some(_)) => match again.as_mut() {
                    Some((from, taken)) => {
                        *taken += 1;
                        (part, at) = (*from, *taken);
                    }
                    None => return false,
                },
                (Some(Part::Segment(_)), None) => return false,
            }
        }
    }
}

/// Something by which a segment can be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark<'a> {
    /// The segment is this.
    Name(&'a str),
    /// What follows the segment's last dot is this.
    Ending(&'a str),
}

/// Whether a segment fits a pattern in which `*` stands for any characters.
fn fits(pattern: &str, segment: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == segment };
    let Some(mut left) = segment.strip_prefix(head) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let tail = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some((_, after)) = left.split_once(piece) else { return false };
        left = after;
    }
    left.ends_with(tail)
}

/// The words with which a command begins, such as `git push`. The program is compared by its name
/// without its folder; options are compared letter by letter, other words in every spelling. Options that stand between the words, each with at most one value, are passed
/// over, so that `git -C elsewhere push` is covered too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandPattern {
    /// As they were written.
    words: Vec<String>,
    /// As they are compared.
    compared: Vec<String>,
}

impl CommandPattern {
    /// The pattern; none without a program.
    pub(super) fn of(words: Vec<String>) -> Option<Self> {
        let program = words.first().filter(|program| !program.contains('/'))?;
        let program = program_name(program).into_owned();
        let rest = words.iter().skip(1).map(|word| same_word(word).into_owned());
        let compared: Vec<String> = std::iter::once(program).chain(rest).collect();
        compared.first().is_some_and(|program| !program.is_empty()).then_some(Self { words, compared })
    }

    /// The program, as it is compared.
    pub(super) fn program(&self) -> &str {
        self.compared.first().map_or("", String::as_str)
    }

    /// Whether it covers a command of these words, which are spelt as words are compared.
    pub(super) fn covers(&self, words: &[Cow<'_, str>]) -> bool {
        if words.first().is_none_or(|program| program != self.program()) {
            return false;
        }
        let mut given = words.iter().skip(1);
        self.compared.iter().skip(1).all(|wanted| {
            let mut value_may_follow = false;
            loop {
                match given.next() {
                    Some(word) if word == wanted => return true,
                    Some(word) if word.starts_with('-') => value_may_follow = true,
                    Some(_) if value_may_follow => value_may_follow = false,
                    Some(_) | None => return false,
                }
            }
        })
    }
}

impl std::fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::selector::compared;
    use super::super::spelling::Readings;
    use super::*;

    fn path(pattern: &str, path: &str) -> bool {
        let pattern = PathPattern::parse(pattern).unwrap();
        Readings::of(path).each().any(|reading| pattern.covers(reading))
    }

    #[test]
    fn a_path_pattern_covers_what_it_names_and_everything_below() {
        for (pattern, covered, beside) in [
            ("secrets", "secrets/a/b", "my/secrets"),
            ("secrets/**", "secrets", "secrets2"),
            ("docs/*.md", "docs/a.md", "docs/a.txt"),
            ("docs/*.md", "docs/.md", "docs/deep/a.md"),
            ("**/*.pem", "a/b/key.pem", "a/b/pem"),
            ("**/*.pem", "KEY.PEM", "key.pem.txt"),
            ("a/**/z", "a/z", "a/b"),
            ("a/**/z", "a/b/c/z", "b/a/z"),
            ("a/**/b/c", "a/b/b/c", "a/b/c2"),
            ("/etc", "/etc/passwd", "/opt/etc"),
            ("a", "./x/../a", "x/a"),
            ("*a*b", "xaxb", "xaxbx"),
            ("caf\u{e9}/x", "CAFE\u{301}/x", "cafe/x"),
            ("ｓecrets", "ｓｅｃｒｅｔｓ/a", "ｓｅｃｒｅｔ/a"),
            ("secrets", "secrets. /a", "secrets.a"),
            ("a\\b", "a/b", "b/a"),
            ("a/b", "a\\b", "b\\a"),
            ("a/**", "a/x\\..\\..\\b", "x/a\\..\\..\\b"),
        ] {
            assert!(path(pattern, covered), "{pattern} {covered}");
            assert!(!path(pattern, beside), "{pattern} {beside}");
        }
        for bad in ["", "/", "a//b", "../a", "a/./b"] {
            assert_eq!(PathPattern::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_a_path_is_looked_up_by_is_in_every_path_that_is_covered() {
        let mark = |pattern: &str| {
            let pattern = PathPattern::parse(pattern).unwrap();
            pattern.mark().map(|mark| format!("{mark:?}"))
        };
        for (pattern, expected) in [
            ("**/*.pem", Some("Ending(\"pem\")")),
            ("**/id_*.tar.gz", Some("Ending(\"gz\")")),
            ("**/.env*", None),
            ("**/node_modules", Some("Name(\"node_modules\")")),
            ("*/x/**", Some("Name(\"x\")")),
            ("**/x/*.b*", Some("Name(\"x\")")),
            ("**", None),
        ] {
            assert_eq!(mark(pattern).as_deref(), expected, "{pattern}");
        }
    }

    #[test]
    fn a_command_pattern_is_a_beginning_and_options_do_not_hide_it() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let covers = |pattern: &str, command: &str| {
            CommandPattern::of(words(pattern)).unwrap().covers(&compared(&words(command)))
        };
        for (pattern, covered, beside) in [
            ("git push", "git push origin", "git pull"),
            ("git push", "/usr/bin/git push", "gitk push"),
            ("git push", "git -C elsewhere --no-pager push", "git commit push"),
            ("git push", "git -c a=b push", "git"),
            ("rm -rf", "rm -rf x", "rm -r x"),
            ("rm -rf", "rm -v -rf x", "rm x -rf"),
            ("npm", "npm install", "pnpm install"),
            ("git push", "GIT push", "GITK push"),
            ("Git.exe push", "git PUSH", "git pushes"),
            ("git branch -D", "Git BRANCH -D x", "git branch -d x"),
        ] {
            assert!(covers(pattern, covered), "{pattern} {covered}");
            assert!(!covers(pattern, beside), "{pattern} {beside}");
        }
        assert_eq!(CommandPattern::of(Vec::new()), None);
        assert_eq!(CommandPattern::of(words("/bin/git push")), None);
    }
}
