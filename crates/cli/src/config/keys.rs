//! Keys of model services, one file each in a folder that only its owner may enter. A key from the
//! environment wins. No key is ever printed, also not in part.
//! Rejected: keys in the settings file, which people show to each other and put under version control.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use mast_provider::Secret;

use super::{ConfigError, Environment, Paths, Preset};
use crate::error::CliError;

/// Longest key, in bytes.
pub(crate) const KEY_BYTES_MAX: usize = 4_096;

/// The key of a service, and where it was found; none if there is none.
pub(crate) fn key_for(
    preset: &Preset,
    paths: &Paths,
    environment: &Environment,
) -> Result<Option<(Secret, String)>, CliError> {
    if let Some(variable) = preset.key_variable
        && let Some(key) = environment.text(variable)
    {
        return Ok(Some((Secret::new(key), variable.to_owned())));
    }
    let path = paths.keys().join(preset.name);
    let bytes = match read_private(paths, &path, KEY_BYTES_MAX)? {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CliError::file("cannot read the key in", path, error)),
    };
    let not_text =
        |_| CliError::failed(format!("the key in {} is not text", path.display()), "store it anew");
    let key = Secret::new(&String::from_utf8(bytes).map_err(not_text)?);
    Ok((!key.is_empty()).then(|| (key, path.display().to_string())))
}

/// The bytes of a key's file, which must be its owner's alone. The outer error refuses it, the inner one
/// tells why it cannot be read. Nothing is tightened silently: whoever could read the key may have.
///
/// # Errors
///
/// [`ConfigError::Exposed`] when others can read it, or could put another file in its place.
pub(crate) fn read_private(
    paths: &Paths,
    path: &Path,
    bytes_max: usize,
) -> Result<std::io::Result<Vec<u8>>, ConfigError> {
    let (bytes, about) = match crate::files::read(path, bytes_max) {
        Ok(read) => read,
        Err(error) => return Ok(Err(error)),
    };
    let folder = path.parent().unwrap_or(&paths.data);
    for folder in [paths.data.as_path(), folder] {
        if let Err(error) = closed_folder(folder)? {
            return Ok(Err(error));
        }
    }
    if is_open(&about, 0o077) {
        return Err(ConfigError::Exposed { what: "read the key", mode: 600, path: path.into() });
    }
    Ok(Ok(bytes))
}

/// Refuses a folder that others may write into: they could put another file in the place of a key, or of one that
/// is to be made.
///
/// # Errors
///
/// [`ConfigError::Exposed`]; the inner error tells why nobody knows.
pub(crate) fn closed_folder(folder: &Path) -> Result<std::io::Result<()>, ConfigError> {
    match std::fs::metadata(folder) {
        Ok(about) if is_open(&about, 0o022) => {
            Err(ConfigError::Exposed { what: "write into the folder", mode: 700, path: folder.into() })
        }
        Ok(_) => Ok(Ok(())),
        Err(error) => Ok(Err(error)),
    }
}

/// Whether any of these bits of the mode is set. Elsewhere than on Unix the folder of the user says it.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no modes"))]
fn is_open(about: &std::fs::Metadata, bits: u32) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & bits != 0;
    #[cfg(not(unix))]
    false
}

/// Stores the key of a service: written to a new file and put in place whole.
pub(crate) fn store_key(preset: &Preset, paths: &Paths, key: &str) -> Result<(), CliError> {
    let folder = paths.keys();
    private_folder(&paths.data)?;
    private_folder(&folder)?;
    let path = folder.join(preset.name);
    write_private(&path, key.trim().as_bytes())
}

/// Makes a folder that only its owner may enter, if it is not there.
pub(crate) fn private_folder(path: &Path) -> Result<(), CliError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|source| ConfigError::DataFolder { path: path.to_path_buf(), source }.into())
}

/// Writes a file that only its owner may read, whole or not at all.
fn write_private(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let failed = |error| CliError::file("cannot write", path, error);
    let new = path.with_extension("new");
    if let Err(error) = std::fs::remove_file(&new)
        && error.kind() != ErrorKind::NotFound
    {
        return Err(failed(error));
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)?;
    std::fs::rename(&new, path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::super::preset;
    use super::*;

    fn paths(folder: &Path) -> Paths {
        Paths { config: folder.join("c.toml"), config_named: false, data: folder.join("data") }
    }

    #[test]
    fn a_stored_key_is_found_and_the_environment_wins() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let openai = preset("openai").unwrap();
        let none = Environment::default();
        assert_eq!(key_for(openai, &paths, &none).unwrap(), None);
        store_key(openai, &paths, " sk-stored\n").unwrap();
        store_key(openai, &paths, "sk-newer\n").unwrap();
        let (key, place) = key_for(openai, &paths, &none).unwrap().unwrap();
        assert_eq!((key, place.ends_with("data/keys/openai")), (Secret::new("sk-newer"), true));
        let environment = Environment::of(&[("OPENAI_API_KEY", "sk-env")]);
        let found = key_for(openai, &paths, &environment).unwrap();
        assert_eq!(found, Some((Secret::new("sk-env"), "OPENAI_API_KEY".to_owned())));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_reach_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let openai = preset("openai").unwrap();
        store_key(openai, &paths, "sk").unwrap();
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let key = paths.keys().join("openai");
        for (path, bad, good) in
            [(&key, 0o640, 0o600), (&paths.data, 0o770, 0o755), (&paths.keys(), 0o702, 0o700)]
        {
            set(path, bad);
            let error = key_for(openai, &paths, &Environment::default()).unwrap_err();
            assert_eq!(error.exit(), crate::error::Exit::Refused, "{error}");
            assert!(error.hint().starts_with("chmod ") && error.hint().contains(path.to_str().unwrap()));
            set(path, good);
            assert!(key_for(openai, &paths, &Environment::default()).unwrap().is_some());
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        store_key(preset("openai").unwrap(), &paths, "sk").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&paths.data), 0o700);
        assert_eq!(mode(&paths.keys()), 0o700);
        assert_eq!(mode(&paths.keys().join("openai")), 0o600);
    }
}
