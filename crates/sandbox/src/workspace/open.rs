//! Opening from the root on.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::{About, EntryKind, Fault};
use crate::path::Inside;

/// What may not be on the way: what leads out, links of any kind, other disks.
const WAY: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// Permissions of folders that are made.
const FOLDER: Mode = Mode::RWXU.union(Mode::RGRP).union(Mode::XGRP).union(Mode::ROTH).union(Mode::XOTH);

/// The root of a workspace.
#[derive(Debug)]
pub(super) struct Root {
    folder: OwnedFd,
    device: u64,
    /// Whether the kernel has no `openat2`, once that is known.
    walks: AtomicBool,
}

impl Root {
    pub(super) fn open(folder: &Path) -> Result<Self, Fault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::open(folder, flags, Mode::empty()).map_err(fault)?;
        let device = rustix::fs::fstat(&folder).map_err(fault)?.st_dev;
        Ok(Self { folder, device, walks: AtomicBool::new(false) })
    }

    /// From now on without `openat2`.
    pub(super) fn walk_always(&self) {
        self.walks.store(true, Ordering::Relaxed);
    }

    /// Opens a path, the root too.
    pub(super) fn open_at(&self, path: &Inside, flags: OFlags, mode: Mode) -> Result<OwnedFd, Fault> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if path.is_root() {
            return rustix::fs::openat(&self.folder, ".", flags, mode).map_err(fault);
        }
        if !self.walks.load(Ordering::Relaxed) {
            match rustix::fs::openat2(&self.folder, path.as_str(), flags, mode, WAY) {
                Err(Errno::NOSYS | Errno::PERM) => self.walks.store(true, Ordering::Relaxed),
                // A file, or a link: the walk tells which.
                Err(Errno::NOTDIR) => {}
                opened => return opened.map_err(fault).and_then(not_a_link),
            }
        }
        self.walk(path, flags, mode)
    }

    /// The same, one name after the other.
    fn walk(&self, path: &Inside, flags: OFlags, mode: Mode) -> Result<OwnedFd, Fault> {
        let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (folder, name) = path.split().ok_or(Fault::NotAFile)?;
        let mut here: Option<OwnedFd> = None;
        for name in folder.names() {
            let from = here.as_ref().map_or(self.folder.as_fd(), AsFd::as_fd);
            let next = rustix::fs::openat(from, name, step, Mode::empty());
            here = Some(self.same_disk(next.map_err(|error| no_folder(from, name, error))?)?);
        }
        let from = here.as_ref().map_or(self.folder.as_fd(), AsFd::as_fd);
        let opened = rustix::fs::openat(from, name, flags, mode);
        let opened = opened.map_err(|error| no_folder(from, name, error))?;
        self.same_disk(opened).and_then(not_a_link)
    }

    fn same_disk(&self, opened: OwnedFd) -> Result<OwnedFd, Fault> {
        let about = rustix::fs::fstat(&opened).map_err(fault)?;
        if about.st_dev == self.device { Ok(opened) } else { Err(Fault::Escape("another disk".to_owned())) }
    }

    /// A folder; it and those above it are made where they are not there.
    pub(super) fn make_folders(&self, folder: &Inside) -> Result<OwnedFd, Fault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let mut here = Inside::root();
        let mut opened = self.open_at(&here, flags, Mode::empty())?;
        for name in folder.names() {
            here = here.join(name);
            opened = match self.open_at(&here, flags, Mode::empty()) {
                Err(Fault::NoSuchPath) => {
                    match rustix::fs::mkdirat(&opened, name, FOLDER) {
                        // Somebody else made it in the same moment.
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(fault(error)),
                    }
                    self.open_at(&here, flags, Mode::empty())?
                }
                Err(Fault::System(error)) if error.raw_os_error() == Some(Errno::NOTDIR.raw_os_error()) => {
                    return Err(Fault::NotAFolder);
                }
                other => other?,
            };
        }
        Ok(opened)
    }
}

/// What it means that something could not be opened: a link that is to be a folder is refused as no folder.
fn no_folder(from: impl AsFd, name: &str, error: Errno) -> Fault {
    let is_link = || {
        let about = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW);
        about.is_ok_and(|about| FileType::from_raw_mode(about.st_mode) == FileType::Symlink)
    };
    if error == Errno::NOTDIR && is_link() { fault(Errno::LOOP) } else { fault(error) }
}

/// What was opened by its path alone could still be a link.
fn not_a_link(opened: OwnedFd) -> Result<OwnedFd, Fault> {
    let about = rustix::fs::fstat(&opened).map_err(fault)?;
    if FileType::from_raw_mode(about.st_mode) == FileType::Symlink {
        return Err(Fault::Escape("a link".to_owned()));
    }
    Ok(opened)
}

/// What the system's answer means.
pub(super) fn fault(error: Errno) -> Fault {
    match error {
        Errno::NOENT => Fault::NoSuchPath,
        Errno::LOOP => Fault::Escape("a link".to_owned()),
        Errno::XDEV => Fault::Escape("out, or onto another disk".to_owned()),
        Errno::ISDIR => Fault::NotAFile,
        // Of a socket, or a pipe or device without its other end.
        Errno::NXIO | Errno::NODEV => Fault::Special,
        other => Fault::System(other.into()),
    }
}

/// What it is, and how large.
pub(super) fn kind_of(about: &Stat) -> Result<About, Fault> {
    match FileType::from_raw_mode(about.st_mode) {
        FileType::RegularFile => {
            let byte_count = u64::try_from(about.st_size).unwrap_or(0);
            Ok(About { kind: EntryKind::File, byte_count })
        }
        FileType::Directory => Ok(About { kind: EntryKind::Folder, byte_count: 0 }),
        FileType::Symlink => Err(Fault::Escape("a link".to_owned())),
        _ => Err(Fault::Special),
    }
}

/// The size of a file that has one name.
pub(super) fn only_file(opened: impl AsFd) -> Result<u64, Fault> {
    let about = rustix::fs::fstat(opened).map_err(fault)?;
    match kind_of(&about)? {
        About { kind: EntryKind::Folder, .. } => Err(Fault::NotAFile),
        About { byte_count, .. } if about.st_nlink == 1 => Ok(byte_count),
        About { .. } => Err(Fault::HardLink),
    }
}
