//! The grammar of tool names, and the names under which providers take them.
//!
//! A registry name is dotted (`math.calculate`). Providers allow neither the dot nor more than 64
//! characters, so each tool has a *provider-safe* name: the dots become underscores, and a too long
//! one is cut and ends in a hash. Two tools with the same provider-safe name are refused by the
//! registry; names are read back by its table, never by guessing. See `docs/spec/tools.md`.

use std::collections::BTreeMap;

use crate::canonical::Digest;
use crate::limits;

/// Domains that no builtin may use: they belong to servers and devices.
pub const RESERVED_DOMAINS: &[&str] = &["mcp", "device"];

/// Domains in which Mast itself may declare a tool. A new one is a line here, seen in review.
pub const BUILTIN_DOMAINS: &[&str] = &[
    "math",
    "system",
    "demo",
    "workspace",
    "sandbox",
    "job",
    "artifact",
    "conversation",
    "context",
    "tool",
    "delegate",
    "plan",
    "run",
    "skill",
    "memory",
    "knowledge",
    "session",
    "model",
    "web",
    "browser",
    "media",
    "image",
    "video",
    "document",
    "schedule",
    "email",
    "people",
    "calendar",
    "contact",
    "note",
    "vault",
    "research",
    "admin",
    "serve",
    "host",
    "stage",
    EMBEDDER_DOMAIN,
];

/// The domain of the tools that a program which embeds Mast declares itself.
pub const EMBEDDER_DOMAIN: &str = "app";

/// Longest provider-safe name: the shortest limit among the providers served.
const PROVIDER_NAME_CHARS_MAX: usize = 64;
/// Characters of the hash that a provider-safe name may end in.
const HASH_CHARS: usize = 7;

/// Whether `text` is two or more segments of `[a-z][a-z0-9_]*` joined by dots.
#[must_use]
pub fn is_dotted(text: &str) -> bool {
    let segment = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_lowercase())
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    text.contains('.') && text.split('.').all(segment)
}

/// Whether `text` is a tool name: dotted, and at most 96 characters.
#[must_use]
pub fn is_tool_name(text: &str) -> bool {
    text.len() <= limits::TOOL_NAME_CHARS_MAX && is_dotted(text)
}

/// The name under which a provider is offered this tool: the stem with underscores for dots, cut and
/// given seven characters of the name's hash where it is too long.
#[must_use]
pub fn provider_safe(name: &str) -> String {
    let stem = name.replace('.', "_");
    if stem.len() <= PROVIDER_NAME_CHARS_MAX {
        return stem;
    }
    let kept: String = stem.chars().take(PROVIDER_NAME_CHARS_MAX - HASH_CHARS - 1).collect();
    let hash: String = Digest::of(name.as_bytes()).to_hex().chars().take(HASH_CHARS).collect();
    format!("{kept}_{hash}")
}

/// The names of `offered` that are nearest to `wanted` and not far from it, at most three.
#[must_use]
pub fn nearest<'a>(wanted: &str, offered: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted: Vec<char> = wanted.chars().take(limits::TOOL_NAME_CHARS_MAX).map(unify).collect();
    let mut by_distance: BTreeMap<(usize, &str), &str> = BTreeMap::new();
    for name in offered {
        let other: Vec<char> = name.chars().map(unify).collect();
        let distance = edit_distance(&wanted, &other);
        let within = distance <= 1 + wanted.len() / 4;
        if within {
            by_distance.insert((distance, name), name);
        }
    }
    let best = by_distance.keys().next().map_or(0, |(distance, _)| *distance);
    by_distance
        .into_iter()
        .filter(|((distance, _), _)| *distance == best)
        .map(|(_, name)| name)
        .take(3)
        .collect()
}

/// Dots, hyphens and underscores are often mistaken for each other.
fn unify(letter: char) -> char {
    match letter {
        '.' | '-' | '_' => '.',
        other => other.to_ascii_lowercase(),
    }
}

/// Levenshtein distance with one row; both sides are bounded by the length of a name.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut previous = i + 1;
        for (cell, right) in row.iter_mut().skip(1).zip(b) {
            let replaced = diagonal + usize::from(left != right);
            diagonal = *cell;
            *cell = replaced.min(diagonal + 1).min(previous + 1);
            previous = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar() {
        let longest = format!("a.{}", "b".repeat(94));
        for good in ["math.calculate", "mcp.server_1.do_it", "a.b", longest.as_str()] {
            assert!(is_tool_name(good), "{good}");
        }
        let too_long = format!("a.{}", "b".repeat(95));
        for bad in ["math", "Math.x", "math.", ".x", "a..b", "a.1b", "a.b-c", "a.b ", "", too_long.as_str()] {
            assert!(!is_tool_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_provider_safe_name_ends_in_a_hash_only_where_it_is_too_long() {
        assert_eq!(provider_safe("system.current_time"), "system_current_time");
        let (one, other) = (format!("a.{}", "b".repeat(94)), format!("a.{}c", "b".repeat(93)));
        assert_eq!(provider_safe(&one).len(), 64);
        assert_ne!(provider_safe(&one), provider_safe(&other));
    }

    #[test]
    fn only_the_nearest_names_are_given() {
        let offered = ["web.search", "web.fetch", "math.calculate"];
        assert_eq!(nearest("web.serach", offered), ["web.search"]);
        assert_eq!(nearest("math-calculate", offered), ["math.calculate"]);
        assert_eq!(nearest("zzzzzzzzzzzzzzzz", offered), Vec::<&str>::new());
    }
}
