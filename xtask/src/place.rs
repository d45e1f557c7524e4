//! Where things are. Everything is found from the root of the repository, whatever the current
//! folder is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failed::Failed;

/// The root of the repository: the folder above this crate's.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// The text of a file that is named from the root.
pub(crate) fn read(file: &str) -> Result<String, Failed> {
    let path = root().join(file);
    fs::read_to_string(&path).map_err(|source| Failed::Read { path, source })
}

/// Writes a file that is named from the root.
pub(crate) fn write(file: &str, text: &str) -> Result<(), Failed> {
    let path = root().join(file);
    fs::write(&path, text).map_err(|source| Failed::Write { path, source })
}

/// The names in a folder that is named from the root, in order; none if there is no such folder.
pub(crate) fn names(folder: &str) -> Result<Vec<String>, Failed> {
    let path = root().join(folder);
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |source| Failed::Read { path: path.clone(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(&path).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
