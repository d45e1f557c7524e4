//! What lies in a workspace, in one order on every machine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustix::fs::{AtFlags, Dir, Mode, OFlags};

use super::open::{Root, fault, kind_of};
use super::{About, Fault};
use crate::path::Inside;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
}

/// One thing that lies there. Links, pipes, devices and names that are no UTF-8 are not listed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its path.
    pub path: Inside,
    /// What it is.
    pub kind: EntryKind,
    /// Bytes of a file; 0 for a folder.
    pub byte_count: u64,
}

/// A listing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// The first entries, in the order of the bytes of their paths.
    pub entries: Vec<Entry>,
    /// Whether there are more.
    pub truncated: bool,
}

/// Lists. What is smallest comes next: a folder's own path is smaller than those of all in it, so a folder is read
/// when its turn has come, and never more of the tree than is shown.
pub(super) fn list(root: &Root, folder: &Inside, recursive: bool, max: usize) -> Result<Listing, Fault> {
    let mut waiting: BinaryHeap<Reverse<Entry>> = BinaryHeap::new();
    waiting.extend(inside(root, folder)?.into_iter().map(Reverse));
    let mut listing = Listing::default();
    while let Some(Reverse(entry)) = waiting.pop() {
        if listing.entries.len() == max {
            listing.truncated = true;
            break;
        }
        if recursive && entry.kind == EntryKind::Folder {
            match inside(root, &entry.path) {
                Ok(found) => waiting.extend(found.into_iter().map(Reverse)),
                // It was taken away, or may not be read; what else is there is listed all the same.
                Err(Fault::NoSuchPath | Fault::System(_) | Fault::Escape(_) | Fault::NotAFolder) => {}
                Err(other) => return Err(other),
            }
        }
        listing.entries.push(entry);
    }
    Ok(listing)
}

/// The entries of one folder.
fn inside(root: &Root, folder: &Inside) -> Result<Vec<Entry>, Fault> {
    let opened = match root.open_at(folder, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()) {
        Err(Fault::System(error)) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(Fault::NotAFolder);
        }
        other => other?,
    };
    let mut entries = Vec::new();
    for found in Dir::read_from(&opened).map_err(fault)? {
        let found = found.map_err(fault)?;
        let Ok(name) = found.file_name().to_str() else { continue };
        if matches!(name, "." | "..") || Inside::parse(name).is_err() {
            continue;
        }
        let Ok(about) = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if let Ok(About { kind, byte_count }) = kind_of(&about) {
            entries.push(Entry { path: folder.join(name), kind, byte_count });
        }
    }
    Ok(entries)
}
