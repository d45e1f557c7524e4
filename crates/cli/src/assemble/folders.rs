//! The folders that a person may let tools work in: what Mast goes by lies in none of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mast_kernel::protected;
use mast_runtime::Workspaces;
use mast_sandbox::vet::{Surroundings, vet};
use mast_tools::Workspace;

use super::Start;
use crate::config::Paths;
use crate::error::CliError;

/// Where the homes of people lie, beside that of whoever started Mast.
const HOMES: &str = "/home";

/// Opens the folders of runs.
#[derive(Debug)]
pub(crate) struct Folders(Surroundings);

impl Folders {
    /// What every folder must keep away from, as things are at this start.
    pub(crate) fn new(start: &Start) -> Self {
        let of_others = std::fs::read_dir(HOMES).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut homes: Vec<PathBuf> = of_others.collect();
        homes.extend(start.environment.absolute("HOME"));
        homes.push("/root".into());
        let mut own = vec![
            ("mast's data folder".to_owned(), start.paths.data.clone()),
            ("mast's settings file".to_owned(), start.paths.config.clone()),
        ];
        own.extend(start.global.profile.clone().map(|path| ("the profile".to_owned(), path)));
        own.extend(Paths::admin_profile().map(|path| ("the machine's profile".to_owned(), path.into())));
        own.extend(std::env::current_exe().ok().map(|path| ("mast itself".to_owned(), path)));
        let path = start.environment.path("PATH").unwrap_or_default();
        let folders = std::env::split_paths(path.as_os_str()).filter(|folder| folder.is_absolute());
        own.extend(folders.map(|folder| (format!("{}, a folder of PATH,", folder.display()), folder)));
        Self(Surroundings { homes, own })
    }

    /// The one name of a folder that may be a workspace.
    ///
    /// # Errors
    ///
    /// [`CliError`], which says why not.
    pub(crate) fn named(&self, folder: &Path) -> Result<String, CliError> {
        self.vetted(folder).map_err(|why| {
            let what = format!("{} cannot be a workspace: {why}", folder.display());
            CliError::usage(what, "name a folder of its own for the task: --workspace DIR")
        })
    }

    fn vetted(&self, folder: &Path) -> Result<String, String> {
        let real = vet(folder, &self.0).map_err(|unfit| unfit.to_string())?;
        let name = real.to_str().ok_or("its name is no UTF-8")?.to_owned();
        match protected::protection(&name) {
            Some(_) => Err("it is, or lies in, a protected place".to_owned()),
            None => Ok(name),
        }
    }
}

impl Workspaces for Folders {
    fn open(&self, folder: &str) -> Result<Arc<Workspace>, String> {
        // What it was when the run was accepted it may not be any more.
        if self.vetted(Path::new(folder))? != folder {
            return Err("it is another folder now".to_owned());
        }
        let opened = mast_sandbox::Workspace::open(Path::new(folder)).map_err(|fault| fault.to_string())?;
        Ok(Workspace::new(opened))
    }
}
