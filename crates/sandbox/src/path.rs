//! Paths of a workspace. A path that is not plainly below the root is refused, never repaired: what would be
//! repaired in one place and not in another leads out.

use std::fmt;

/// Longest name, and longest path, in bytes.
pub const NAME_BYTES_MAX: usize = 255;
/// Longest path, in bytes.
pub const PATH_BYTES_MAX: usize = 4_096;

/// A path below the root of a workspace, or the root itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inside(String);

/// Why a text is no path of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Escape {
    /// It begins at the machine's root.
    #[error("an absolute path")]
    Absolute,
    /// A part is empty, `.` or `..`.
    #[error("a part that is empty, `.` or `..`")]
    Part,
    /// It holds a NUL, or a backslash, which some systems take for a separator.
    #[error("a NUL or a backslash")]
    Character,
    /// A name or the whole is too long.
    #[error("a name of more than {NAME_BYTES_MAX} bytes, or a path of more than {PATH_BYTES_MAX}")]
    Long,
}

impl Inside {
    /// The path that a text is.
    ///
    /// # Errors
    ///
    /// [`Escape`]; also for the root, which has [`Inside::root`].
    pub fn parse(text: &str) -> Result<Self, Escape> {
        if text.contains(['\0', '\\']) {
            return Err(Escape::Character);
        }
        if text.starts_with('/') {
            return Err(Escape::Absolute);
        }
        if text.split('/').any(|name| matches!(name, "" | "." | "..")) {
            return Err(Escape::Part);
        }
        if text.len() > PATH_BYTES_MAX || text.split('/').any(|name| name.len() > NAME_BYTES_MAX) {
            return Err(Escape::Long);
        }
        Ok(Self(text.to_owned()))
    }

    /// The same, and the empty text for the root.
    ///
    /// # Errors
    ///
    /// [`Escape`].
    pub fn parse_folder(text: &str) -> Result<Self, Escape> {
        if text.is_empty() { Ok(Self::root()) } else { Self::parse(text) }
    }

    /// The root.
    #[must_use]
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Whether it is the root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The text; empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder that it lies in, and its name; none for the root.
    #[must_use]
    pub fn split(&self) -> Option<(Self, &str)> {
        match self.0.rsplit_once('/') {
            Some((folder, name)) => Some((Self(folder.to_owned()), name)),
            None if self.is_root() => None,
            None => Some((Self::root(), &self.0)),
        }
    }

    /// What has this name in it.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        if self.is_root() { Self(name.to_owned()) } else { Self(format!("{}/{name}", self.0)) }
    }

    /// The names from the root on.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }
}

impl fmt::Display for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_out_is_no_path() {
        let long = "a".repeat(256);
        let deep = "a/".repeat(2_048) + "bb";
        for (text, why) in [
            ("../etc/passwd", Escape::Part),
            ("a/../b", Escape::Part),
            ("a/..", Escape::Part),
            ("..", Escape::Part),
            (".", Escape::Part),
            ("./a", Escape::Part),
            ("a//b", Escape::Part),
            ("a/", Escape::Part),
            ("", Escape::Part),
            ("/etc/passwd", Escape::Absolute),
            ("/", Escape::Absolute),
            ("a\0b", Escape::Character),
            ("..\\etc", Escape::Character),
            (long.as_str(), Escape::Long),
            (deep.as_str(), Escape::Long),
        ] {
            assert_eq!(Inside::parse(text), Err(why), "{text:?}");
        }
        for text in ["a", "a/b.txt", "...", "..a", "a b", ".hidden", "é/ü"] {
            assert_eq!(Inside::parse(text).unwrap().as_str(), text);
        }
        assert!(Inside::parse_folder("").unwrap().is_root());
    }

    #[test]
    fn a_path_comes_apart_and_together() {
        let path = Inside::parse("a/b/c").unwrap();
        let (folder, name) = path.split().unwrap();
        assert_eq!((folder.as_str(), name), ("a/b", "c"));
        assert_eq!(folder.join(name), path);
        assert_eq!(Inside::parse("a").unwrap().split(), Some((Inside::root(), "a")));
        assert_eq!(Inside::root().split(), None);
        assert_eq!(Inside::root().join("a").as_str(), "a");
    }
}
