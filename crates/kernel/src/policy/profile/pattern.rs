//! Patterns over resources: paths, hosts and commands. Small on purpose, so that a person who writes a
//! rule can say by heart what it covers. Rejected: regular expressions, which nobody reads twice, and
//! a glob library, whose exceptions are its own affair. Whatever is unclear here is matched rather than
//! passed over, since a pattern can only tighten. See `docs/spec/policy.md`.

/// A path: segments joined by `/`, where `*` stands for any part of a segment and `**` for any number
/// of segments. It covers what it names and everything below. Capital letters do not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathPattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// `**`.
    Any,
    /// One segment, in small letters.
    Segment(String),
}

impl PathPattern {
    /// The pattern; none if it could never match: empty, or with `.` or `..` in it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let trimmed = text.strip_suffix('/').unwrap_or(text);
        let inner = trimmed.strip_prefix('/').unwrap_or(trimmed);
        let parts: Option<Vec<Part>> = inner
            .split('/')
            .map(|segment| match segment {
                "" | "." | ".." => None,
                "**" => Some(Part::Any),
                other => Some(Part::Segment(other.to_lowercase())),
            })
            .collect();
        Some(Self { text: text.to_owned(), parts: parts? })
    }

    /// The pattern as it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The segment that every path it covers begins with, in small letters; none where a wildcard leads.
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

    /// False only where it surely does not cover the path, by a look at how that begins.
    pub(super) fn may_cover(&self, path: &str) -> bool {
        let begins = path.split('/').find(|segment| !matches!(*segment, "" | "."));
        match (self.first(), begins) {
            (Some(wanted), Some(begins)) => {
                wanted.eq_ignore_ascii_case(begins) || !begins.is_ascii() || goes_back(path)
            }
            (Some(_), None) => false,
            (None, _) => true,
        }
    }

    /// Whether it covers a path of these segments, which are in small letters.
    pub(super) fn covers(&self, path: &[String]) -> bool {
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

/// Whether a path may have a `..`, by a cheaper look than a search for text.
fn goes_back(path: &str) -> bool {
    path.as_bytes().windows(2).any(|pair| pair == b"..")
}

/// Something by which a segment can be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark<'a> {
    /// The segment is this.
    Name(&'a str),
    /// What follows the segment's last dot is this.
    Ending(&'a str),
}

/// The segments of a path as a pattern sees them: in small letters, without `.`, and with each `..`
/// taken back as far as the text tells.
pub(super) fn segments(path: &str) -> Vec<String> {
    let mut segments: Vec<String> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other.to_lowercase()),
        }
    }
    segments
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

/// A host: one exact name, or `*.` and a name for everything below that name, or `*` for every host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HostPattern {
    /// `*`.
    Any,
    /// This name only.
    Exact(String),
    /// Every name below this one.
    Below(String),
}

impl HostPattern {
    /// The pattern; none if it is no host.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Any);
        }
        let (name, below) = text.strip_prefix("*.").map_or((text, false), |name| (name, true));
        let is_host = !name.is_empty() && !name.contains(['*', '/', ' ', '@']);
        let name = host_name(name);
        is_host.then_some(if below { Self::Below(name) } else { Self::Exact(name) })
    }

    /// Whether it covers this host, as [`host_name`] writes it.
    pub(super) fn covers(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(name) => name == host,
            Self::Below(name) => host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.')),
        }
    }
}

impl std::fmt::Display for HostPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Exact(name) => f.write_str(name),
            Self::Below(name) => write!(f, "*.{name}"),
        }
    }
}

/// A host in the one spelling in which hosts are compared: small letters, no dot at the end.
pub(super) fn host_name(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_lowercase()
}

/// The words with which a command begins, such as `git push`. The program is compared by its name
/// without its folder. Options that stand between the words, each with at most one value, are passed
/// over, so that `git -C elsewhere push` is covered too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandPattern {
    words: Vec<String>,
}

impl CommandPattern {
    /// The pattern; none without a program.
    pub(super) fn of(words: Vec<String>) -> Option<Self> {
        let program = words.first()?;
        (!program.is_empty() && !program.contains('/')).then_some(Self { words })
    }

    /// The program.
    pub(super) fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Whether it covers a command of these words.
    pub(super) fn covers(&self, words: &[String]) -> bool {
        let Some(program) = words.first() else { return false };
        if program_name(program) != self.program() {
            return false;
        }
        let mut given = words.iter().skip(1);
        self.words.iter().skip(1).all(|wanted| {
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

/// The name of a program without its folder.
pub(super) fn program_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(pattern: &str, path: &str) -> bool {
        PathPattern::parse(pattern).unwrap().covers(&segments(path))
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
        let glance = |pattern: &str, path: &str| PathPattern::parse(pattern).unwrap().may_cover(path);
        assert!(glance("secrets", "./SECRETS/a") && glance("secrets", "a/../secrets") && glance("**/a", "b"));
        assert!(!glance("secrets", "notes/secrets") && !glance("secrets", ""));
    }

    #[test]
    fn a_host_pattern_is_exact_or_everything_below() {
        let covers =
            |pattern: &str, host: &str| HostPattern::parse(pattern).unwrap().covers(&host_name(host));
        for (pattern, covered, beside) in [
            ("example.org", "Example.ORG.", "www.example.org"),
            ("*.example.org", "www.example.org", "example.org"),
            ("*.example.org", "a.b.example.org", "badexample.org"),
            ("127.0.0.1", "127.0.0.1", "127.0.0.10"),
        ] {
            assert!(covers(pattern, covered), "{pattern} {covered}");
            assert!(!covers(pattern, beside), "{pattern} {beside}");
        }
        assert!(covers("*", "anything"));
        for bad in ["", "*.", "*.*.org", "a*.org", "https://a", "a/b"] {
            assert_eq!(HostPattern::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_command_pattern_is_a_beginning_and_options_do_not_hide_it() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let covers = |pattern: &str, command: &str| {
            CommandPattern::of(words(pattern)).unwrap().covers(&words(command))
        };
        for (pattern, covered, beside) in [
            ("git push", "git push origin", "git pull"),
            ("git push", "/usr/bin/git push", "gitk push"),
            ("git push", "git -C elsewhere --no-pager push", "git commit push"),
            ("git push", "git -c a=b push", "git"),
            ("rm -rf", "rm -rf x", "rm -r x"),
            ("rm -rf", "rm -v -rf x", "rm x -rf"),
            ("npm", "npm install", "pnpm install"),
        ] {
            assert!(covers(pattern, covered), "{pattern} {covered}");
            assert!(!covers(pattern, beside), "{pattern} {beside}");
        }
        assert_eq!(CommandPattern::of(Vec::new()), None);
        assert_eq!(CommandPattern::of(words("/bin/git push")), None);
    }
}
