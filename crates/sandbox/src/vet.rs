//! Which folders a person may choose as a workspace. What Mast itself goes by must not lie in one, nor one in it:
//! a tool could then change what judges it.

use std::path::{Path, PathBuf};

/// Why a folder is not taken.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It cannot be looked at.
    #[error("it cannot be opened: {0}")]
    Unreadable(#[from] std::io::Error),
    /// It is no folder.
    #[error("it is not a folder")]
    NotAFolder,
    /// It is the whole machine.
    #[error("it is the root of the machine")]
    Root,
    /// It is a whole home folder, or holds one.
    #[error("it is or holds a whole home folder: choose a folder in that")]
    Home,
    /// It holds something of Mast's, or lies in it.
    #[error("{0} lies in it, or it lies there")]
    Own(String),
}

/// What a workspace must keep away from.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Home folders: their insides may be chosen, they as a whole may not.
    pub homes: Vec<PathBuf>,
    /// Folders and files of Mast's, each with what it is called.
    pub own: Vec<(String, PathBuf)>,
}

/// The folder, by its one name, if it may be a workspace.
///
/// # Errors
///
/// [`Unfit`].
pub fn vet(folder: &Path, around: &Surroundings) -> Result<PathBuf, Unfit> {
    let real = folder.canonicalize()?;
    if !real.is_dir() {
        return Err(Unfit::NotAFolder);
    }
    if real.parent().is_none() {
        return Err(Unfit::Root);
    }
    // What is not there has its name only.
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if around.homes.iter().any(|home| place(home).starts_with(&real)) {
        return Err(Unfit::Home);
    }
    let touches = |own: &Path| own.starts_with(&real) || real.starts_with(own);
    match around.own.iter().find(|(_, path)| touches(&place(path))) {
        Some((name, _)) => Err(Unfit::Own(name.clone())),
        None => Ok(real),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_wide_or_mast_own_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        for name in ["home/me/project", "home/me/data/keys", "home/me/link-to"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::fs::write(at("file"), "x").unwrap();
        std::os::unix::fs::symlink(at("home/me/data"), at("home/me/project/link")).unwrap();
        let around = Surroundings {
            homes: vec![at("home/me")],
            own: vec![("the data folder".to_owned(), at("home/me/data"))],
        };
        let vetted = |path: PathBuf| vet(&path, &around);
        assert_eq!(vetted(at("home/me/project")).unwrap(), at("home/me/project"));
        assert!(matches!(vetted(PathBuf::from("/")), Err(Unfit::Root)));
        for home in ["home/me", "home"] {
            assert!(matches!(vetted(at(home)), Err(Unfit::Home)), "{home}");
        }
        for own in ["home/me/data", "home/me/data/keys", "home/me/project/link"] {
            assert!(matches!(vetted(at(own)), Err(Unfit::Own(_))), "{own}");
        }
        assert!(matches!(vetted(at("file")), Err(Unfit::NotAFolder)));
        assert!(matches!(vetted(at("none")), Err(Unfit::Unreadable(_))));
    }
}
