//! The policy in force: the profile of the settings, and the machine's own, which only tighten. A file
//! that is there and is not a profile ends the command before anything is begun.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mast_kernel::limits::CONFIG_BYTES_MAX;
use mast_kernel::policy::{Draft, Overlay, Policy, Profile, Roster, Whose};
use mast_kernel::resource::Resource;
use mast_kernel::spec::ToolSpec;
use mast_tools::Toolbox;
use serde_json::Value;

use super::Start;
use crate::config::{Config, ConfigError, Paths, Source};
use crate::error::CliError;

/// The word for the built-in profile.
const BUILTIN: &str = "default";

/// The policy in force.
///
/// # Errors
///
/// [`CliError`] when a profile cannot be read, is none, or fails its own tests.
pub(crate) fn policy(start: &Start, config: &Config, toolbox: &Toolbox) -> Result<Policy, CliError> {
    let overlay = if config.text("policy.overlay") == Some("off") { Overlay::Off } else { Overlay::On };
    let tools = Tools(toolbox);
    let load = |draft: Draft| draft.load(&tools).map_err(refused);
    let profile: Option<Profile> =
        named(start, config).map(|path| load(read(&path, Whose::User)?)).transpose()?;
    let admins: Result<Vec<_>, CliError> = admins(start)?.into_iter().map(load).collect();
    Ok(Policy::new(overlay, profile, admins?))
}

/// The profiles in force, not tested yet, each with its file: the profile, then the machine's own.
///
/// # Errors
///
/// As [`policy`], but for their tests.
pub(crate) fn drafts(start: &Start, config: &Config, file: Option<&Path>) -> Result<Vec<Draft>, CliError> {
    if let Some(file) = file {
        return Ok(vec![read(file, Whose::User)?]);
    }
    let own = match named(start, config) {
        None => Draft::builtin().map_err(refused)?,
        Some(path) => read(&path, Whose::User)?,
    };
    Ok(std::iter::once(own).chain(admins(start)?).collect())
}

/// The file of the settings, if they name one. What the settings file names lies beside that file, so that
/// no folder in which a command is given can bring a profile of its own.
fn named(start: &Start, config: &Config) -> Option<PathBuf> {
    let (value, source) = config.get("policy.profile")?;
    let name = value.to_string();
    match (source, start.paths.config.parent()) {
        _ if name == BUILTIN => None,
        (Source::File(_), Some(folder)) => Some(folder.join(name)),
        _ => Some(name.into()),
    }
}

/// The machine's own file where it is there, and the one of the flag. The flag never takes the place of
/// the file, or whoever may write a command could loosen what the machine wants tight.
fn admins(start: &Start) -> Result<Vec<Draft>, CliError> {
    let mut drafts = Vec::new();
    if let Some(path) = Paths::admin_profile() {
        match read(path, Whose::Admin) {
            Err(CliError::Config(ConfigError::NoProfile { source, .. }))
                if source.kind() == ErrorKind::NotFound => {}
            found => drafts.push(found?),
        }
    }
    if let Some(path) = &start.global.admin_profile {
        drafts.push(read(path, Whose::Admin)?);
    }
    Ok(drafts)
}

fn read(path: &Path, whose: Whose) -> Result<Draft, CliError> {
    let unreadable = |source| ConfigError::NoProfile { path: path.to_path_buf(), source };
    let (bytes, _) = crate::files::read(path, CONFIG_BYTES_MAX).map_err(unreadable)?;
    let not_text = |_| unreadable(std::io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"));
    let text = String::from_utf8(bytes).map_err(not_text)?;
    let name =
        path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
    Draft::read(&name, &text, whose).map_err(refused)
}

fn refused(refused: mast_kernel::policy::ProfileRefused) -> CliError {
    ConfigError::Profile(Box::new(refused)).into()
}

/// The tools of this start, for the tests of profiles.
#[derive(Debug)]
pub(crate) struct Tools<'a>(pub(crate) &'a Toolbox);

impl Roster for Tools<'_> {
    fn spec(&self, tool: &str) -> Option<&ToolSpec> {
        self.0.registry().get(tool, None).map(|tool| &tool.spec)
    }

    fn resources(&self, tool: &str, arguments: &Value) -> Option<Vec<Resource>> {
        let registered = self.0.registry().get(tool, None)?;
        let arguments = registered.arguments(arguments.clone()).ok()?;
        let body = self.0.body(tool, &registered.spec.version)?;
        body.resources(&arguments.value()).ok()
    }
}
