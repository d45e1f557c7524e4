//! Reading a file that somebody named: only a regular one, and never more of it than its limit. A pipe
//! could make Mast wait for ever, and a device has no end. See `docs/spec/configuration.md`.
//!
//! Rejected: asking for the size first and then reading all of it, since a file can grow in between and
//! `/dev/zero` says that it is empty.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// The bytes of a regular file, and what the system says of it.
///
/// # Errors
///
/// [`Error`] when it cannot be opened or read; of the kind `InvalidInput` when it is not a regular file,
/// `FileTooLarge` when it has more than `bytes_max` bytes.
pub(crate) fn read(path: &Path, bytes_max: usize) -> Result<(Vec<u8>, Metadata)> {
    // Opening a pipe waits for its writer, so it is looked at first; and again once it is open, since
    // another file may have come into its place.
    only_regular(&std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    let about = file.metadata()?;
    only_regular(&about)?;
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("it is larger than {bytes_max} bytes")));
    }
    Ok((bytes, about))
}

fn only_regular(about: &Metadata) -> Result<()> {
    if about.is_file() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap().0, b"12345");
        assert_eq!(read(&path, 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read(&folder.path().join("none"), 4).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(read(folder.path(), 4).unwrap_err().to_string(), "it is not a regular file");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_refused_under_every_name() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [Path::new("/dev/zero"), &link] {
            assert_eq!(read(path, 4).unwrap_err().to_string(), "it is not a regular file");
        }
    }
}
