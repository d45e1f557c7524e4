//! A folder that nothing leads out of. Every file is opened from the root's descriptor on, name by name as far as
//! the kernel is concerned, and never through a link: so there is no moment between the look and the opening in
//! which something could be exchanged.
//!
//! `openat2` does it in one call. Where the kernel lacks it the names are opened one after the other.

mod listing;
mod open;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::path::{Escape, Inside};
use open::Root;

pub use listing::{Entry, EntryKind, Listing};

/// Bytes that are compared at a time when what was written is read back.
const COMPARED_BYTES: usize = 1 << 16;

/// Why something in a workspace could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The text is no path of a workspace, or the path leads through a link or onto another disk.
    #[error("it leads out of the workspace: {0}")]
    Escape(String),
    /// There is nothing.
    #[error("there is no such path")]
    NoSuchPath,
    /// It is a folder.
    #[error("it is a folder")]
    NotAFile,
    /// It is a file.
    #[error("it is a file")]
    NotAFolder,
    /// It has a second name, which may lie outside.
    #[error("it has a second name (a hard link), which may lie outside")]
    HardLink,
    /// It is a pipe, a device or a socket.
    #[error("it is neither a file nor a folder")]
    Special,
    /// What was read back is not what was written.
    #[error("what was read back is not what was written")]
    NotAsWritten,
    /// The system says no.
    #[error("the system says: {0}")]
    System(#[from] std::io::Error),
}

impl From<Escape> for Fault {
    fn from(escape: Escape) -> Self {
        Self::Escape(escape.to_string())
    }
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Whether there was no such file before.
    pub created: bool,
}

/// What is known of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// What it is.
    pub kind: EntryKind,
    /// Bytes of a file; 0 for a folder.
    pub byte_count: u64,
}

/// A file that is being read.
#[derive(Debug)]
pub struct Contents {
    file: File,
    byte_count: u64,
}

impl Contents {
    /// How many bytes it had when it was opened.
    #[must_use]
    pub const fn byte_count(&self) -> u64 {
        self.byte_count
    }
}

impl Read for Contents {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        self.file.read(to)
    }
}

/// A folder that is given to tools.
#[derive(Debug)]
pub struct Workspace {
    root: Root,
    place: PathBuf,
    n_written: AtomicU64,
}

impl Workspace {
    /// Opens a folder that [`crate::vet`] has let through.
    ///
    /// # Errors
    ///
    /// [`Fault::System`].
    pub fn open(folder: &Path) -> Result<Self, Fault> {
        Ok(Self { root: Root::open(folder)?, place: folder.to_path_buf(), n_written: AtomicU64::new(0) })
    }

    /// The same, as where the kernel has no `openat2`.
    #[doc(hidden)]
    #[must_use]
    pub fn walking(self) -> Self {
        self.root.walk_always();
        self
    }

    /// Where it lies, for messages to a person.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// What is known of a path.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn about(&self, path: &Inside) -> Result<About, Fault> {
        let found = self.root.open_at(path, OFlags::PATH, Mode::empty())?;
        let about = rustix::fs::fstat(&found).map_err(std::io::Error::from)?;
        open::kind_of(&about)
    }

    /// A file, to be read.
    ///
    /// # Errors
    ///
    /// [`Fault`]; of a folder [`Fault::NotAFile`].
    pub fn read(&self, path: &Inside) -> Result<Contents, Fault> {
        if path.is_root() {
            return Err(Fault::NotAFile);
        }
        // A pipe is opened without waiting for its other end, and then refused.
        let file = self.root.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())?;
        let byte_count = open::only_file(&file)?;
        Ok(Contents { file: File::from(file), byte_count })
    }

    /// Puts these bytes into a file, whole or not at all; the folders above it are made where they are not there.
    ///
    /// # Errors
    ///
    /// [`Fault`]; then the file is as it was.
    pub fn write(&self, path: &Inside, bytes: &[u8]) -> Result<Written, Fault> {
        let (folder, name) = path.split().ok_or(Fault::NotAFile)?;
        let folder = self.root.make_folders(&folder)?;
        let before = self.mode_before(path)?;
        let new = self.temporary(&folder, bytes, before.unwrap_or(Mode::from(0o644)))?;
        let put = || -> std::io::Result<()> {
            rustix::fs::renameat(&folder, &new, &folder, name)?;
            Ok(rustix::fs::fsync(&folder)?)
        };
        if let Err(error) = put() {
            remove(&folder, &new);
            return Err(error.into());
        }
        self.read_back(path, bytes)?;
        Ok(Written { created: before.is_none() })
    }

    /// What may be done with the file that is there; none where there is none.
    fn mode_before(&self, path: &Inside) -> Result<Option<Mode>, Fault> {
        match self.root.open_at(path, OFlags::PATH, Mode::empty()) {
            Ok(found) => {
                open::only_file(&found)?;
                let about = rustix::fs::fstat(&found).map_err(std::io::Error::from)?;
                Ok(Some(Mode::from_raw_mode(about.st_mode) & Mode::from(0o777)))
            }
            Err(Fault::NoSuchPath) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// A file beside the one that is to be written, with the bytes on the disk.
    fn temporary(&self, folder: &OwnedFd, bytes: &[u8], mode: Mode) -> Result<String, Fault> {
        let number = self.n_written.fetch_add(1, Ordering::Relaxed);
        let name = format!(".mast-{}-{number}.new", std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made =
            rustix::fs::openat(folder, &name, flags, Mode::from(0o600)).map_err(std::io::Error::from)?;
        let fill = || -> std::io::Result<()> {
            let mut file = File::from(made);
            file.write_all(bytes)?;
            rustix::fs::fchmod(&file, mode)?;
            file.sync_all()
        };
        match fill() {
            Ok(()) => Ok(name),
            Err(error) => {
                remove(folder, &name);
                Err(error.into())
            }
        }
    }

    fn read_back(&self, path: &Inside, bytes: &[u8]) -> Result<(), Fault> {
        let mut file = self.read(path)?;
        if file.byte_count() != bytes.len() as u64 {
            return Err(Fault::NotAsWritten);
        }
        let mut buffer = vec![0; COMPARED_BYTES.min(bytes.len())];
        for expected in bytes.chunks(COMPARED_BYTES) {
            let part = buffer.get_mut(..expected.len()).unwrap_or_default();
            file.read_exact(part)?;
            if part != expected {
                return Err(Fault::NotAsWritten);
            }
        }
        Ok(())
    }

    /// What lies in a folder, and with `recursive` in the folders in it, in the order of the bytes of their paths:
    /// at most `max` entries.
    ///
    /// # Errors
    ///
    /// [`Fault`]; of a file [`Fault::NotAFolder`].
    pub fn list(&self, folder: &Inside, recursive: bool, max: usize) -> Result<Listing, Fault> {
        listing::list(&self.root, folder, recursive, max)
    }
}

/// Takes a file away that was to become another one.
fn remove(folder: impl AsFd, name: impl AsRef<OsStr>) {
    // What cannot be removed is left over; the write has failed and says so.
    let _left_over = rustix::fs::unlinkat(folder, name.as_ref(), AtFlags::empty());
}
