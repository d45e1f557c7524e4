//! Everything that can end a command, as one line for a person and one exit code for a program.
//!
//! Errors of the other crates say themselves what was attempted; here they only get the code. Rejected:
//! a chain of causes over several lines, which hides what to do below what happened.
//! See `docs/spec/cli.md`.

use std::path::PathBuf;

use mast_kernel::run::RunStatus;
use mast_provider::ProviderError;
use mast_runtime::RuntimeError;
use mast_store::StoreError;
use mast_tools::ToolboxRefused;

use crate::config::ConfigError;

/// How a command ended, as its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked.
    Done = 0,
    /// It failed, or a call was denied.
    Failed = 1,
    /// It was not asked rightly.
    Usage = 2,
    /// It waits for a person's verdict.
    Suspended = 3,
    /// The configuration was refused; nothing was begun.
    Refused = 4,
    /// A model or a server could not be reached.
    Unreachable = 5,
}

/// Why a command could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// Not asked rightly.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do instead.
        hint: String,
    },
    /// Something that was named is not there, or could not be done.
    #[error("{message}")]
    Failed {
        /// What happened.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The run loop or the gate.
    #[error("{}", told(.0))]
    Runtime(#[from] RuntimeError),
    /// The model.
    #[error("{0}")]
    Provider(#[from] ProviderError),
    /// The tools.
    #[error("{0}")]
    Toolbox(#[from] ToolboxRefused),
    /// A file.
    #[error("{what} {}: {}", path.display(), reason(source))]
    File {
        /// What was attempted.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// One of the three streams.
    #[error("{what}: {}", reason(source))]
    Stream {
        /// What was attempted.
        what: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Whoever read the answers of `call --stdin` has gone before all were given. Nothing is said: nobody
    /// is there. Other verbs go on without a reader, since their verdict does not depend on one.
    #[error("nobody reads the output any more")]
    ReaderGone,
}

impl CliError {
    /// A mistake in how the command was written.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: hint.into() }
    }

    /// Something that was looked for or tried in vain.
    pub(crate) fn failed(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), hint: hint.into() }
    }

    /// A failure at a file.
    pub(crate) fn file(what: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::File { what, path: path.into(), source }
    }

    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. } => Exit::Usage,
            Self::Config(error) => error.exit(),
            Self::Provider(error) if error.is_unreachable() => Exit::Unreachable,
            Self::Store(error) if error.is_unreachable() => Exit::Unreachable,
            Self::Failed { .. }
            | Self::Store(_)
            | Self::Runtime(_)
            | Self::Provider(_)
            | Self::Toolbox(_)
            | Self::File { .. }
            | Self::Stream { .. }
            | Self::ReaderGone => Exit::Failed,
        }
    }

    /// What to do about it, where the message does not say it.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Usage { hint, .. } | Self::Failed { hint, .. } => hint.clone(),
            Self::Config(error) => error.hint(),
            Self::File { source, .. } | Self::Stream { source, .. } => remedy(source).to_owned(),
            Self::Runtime(RuntimeError::NotWaiting { run, .. } | RuntimeError::AtWork { run, .. }) => {
                format!("see how it goes: mast runs show {run}")
            }
            Self::Runtime(RuntimeError::Store(StoreError::Conflict(_))) => {
                "see what became of it: mast runs; then say it again".to_owned()
            }
            _ => String::new(),
        }
    }
}

/// What happened, where another process was faster. (That a run waits was looked up before it was tried.)
fn told(error: &RuntimeError) -> String {
    match error {
        RuntimeError::NotWaiting { run, status: RunStatus::Running } => {
            format!("another process took {run} up first, and goes on with it; nothing was done here")
        }
        RuntimeError::NotWaiting { run, status } if *status != RunStatus::WaitingForUser => {
            format!("another process was first: {run} is {status} now; nothing was done here")
        }
        RuntimeError::Store(StoreError::Conflict(_)) => {
            "another process changed the same session meanwhile; this one stopped".to_owned()
        }
        other => other.to_string(),
    }
}

/// The reason of an input or output error without its number.
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    let mut words = text.get(..end).unwrap_or(&text).to_owned();
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    words
}

/// What a person can do about an input or output error.
fn remedy(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::NotFound => "name another file",
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            "make it accessible, or name another folder with --data-dir DIR"
        }
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "free some space and ask again"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_who_go_on_with_a_run_the_slower_learns_who_has_it() {
        let run = mast_kernel::id::RunId::from_u128(7);
        for (status, said) in [
            (RunStatus::Running, "took run_00000000000000000000000007 up first"),
            (RunStatus::Cancelled, "run_00000000000000000000000007 is cancelled now"),
        ] {
            let error = CliError::from(RuntimeError::NotWaiting { run, status });
            assert!(error.to_string().contains(said), "{error}");
            assert_eq!(error.hint(), "see how it goes: mast runs show run_00000000000000000000000007");
            assert_eq!(error.exit(), Exit::Failed);
        }
        let overtaken = StoreError::Conflict(mast_store::Conflict::Overtaken);
        let error = CliError::from(RuntimeError::Store(overtaken));
        assert_eq!(error.to_string(), "another process changed the same session meanwhile; this one stopped");
        assert!(error.hint().contains("mast runs"));
    }

    #[test]
    fn a_file_error_is_one_plain_line() {
        let error = CliError::file("cannot read", "/x/y", std::io::Error::from_raw_os_error(13));
        assert_eq!(error.to_string(), "cannot read /x/y: permission denied");
        assert_eq!(error.hint(), "make it accessible, or name another folder with --data-dir DIR");
        assert_eq!(error.exit(), Exit::Failed);
    }
}
