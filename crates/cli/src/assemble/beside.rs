//! Who looks at the files that a run is required to make: those in and below the folder in which `mast run`
//! was started. A look opens nothing through a link that leads out, and reads only regular files.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use mast_kernel::canonical::Hashing;
use mast_kernel::completion::FileState;
use mast_kernel::instant::Instant;
use mast_runtime::{Artifacts, CannotLook};

/// The folder.
#[derive(Debug)]
pub(crate) struct Beside(PathBuf);

/// Bytes that are read at once.
const PIECE_BYTES: usize = 65_536;

impl Beside {
    /// The folder in which this process was started.
    ///
    /// # Errors
    ///
    /// When it is not there any more.
    pub(crate) fn here() -> std::io::Result<Self> {
        std::env::current_dir()?.canonicalize().map(Self)
    }

    fn state(&self, path: &str) -> Result<Option<FileState>, String> {
        let whole = match self.0.join(path).canonicalize() {
            Ok(whole) => whole,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        if !whole.starts_with(&self.0) {
            return Err("it leads out of the folder".to_owned());
        }
        if !whole.is_file() {
            return Err("it is not a file".to_owned());
        }
        read(&whole).map(Some).map_err(|error| error.to_string())
    }
}

#[async_trait]
impl Artifacts for Beside {
    async fn look(&self, path: &str) -> Result<Option<FileState>, CannotLook> {
        self.state(path).map_err(|why| CannotLook { path: path.to_owned(), why })
    }
}

fn read(path: &Path) -> std::io::Result<FileState> {
    let mut file = File::open(path)?;
    let (mut hashing, mut size_bytes, mut piece) = (Hashing::default(), 0, vec![0; PIECE_BYTES]);
    loop {
        let n_bytes = file.read(&mut piece)?;
        let Some(bytes) = piece.get(..n_bytes).filter(|bytes| !bytes.is_empty()) else { break };
        hashing.add(bytes);
        size_bytes += u64::try_from(n_bytes).unwrap_or(u64::MAX);
    }
    let since = file.metadata()?.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let modified_at = i64::try_from(since.as_micros()).ok().map(Instant::from_micros);
    Ok(FileState { size_bytes, digest: hashing.digest(), modified_at })
}

/// Whether a path stays in the folder as it is written.
pub(crate) fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside_or_is_not_taken() {
        for path in ["report.md", "./a/b.txt"] {
            assert!(is_inside(path), "{path}");
        }
        for path in ["", "/etc/passwd", "../up", "a/../../up"] {
            assert!(!is_inside(path), "{path}");
        }
    }

    #[test]
    fn a_look_tells_the_bytes_and_follows_no_link_out() {
        let folder = tempfile::tempdir().unwrap();
        let beside = Beside(folder.path().canonicalize().unwrap());
        std::fs::write(folder.path().join("report.md"), "abc").unwrap();
        let state = beside.state("report.md").unwrap().unwrap();
        assert_eq!(state.size_bytes, 3);
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(state.digest.to_hex(), abc);
        assert_eq!(beside.state("other.md"), Ok(None));
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
        assert_eq!(beside.state("link"), Err("it leads out of the folder".to_owned()));
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        assert_eq!(beside.state("folder"), Err("it is not a file".to_owned()));
    }
}
