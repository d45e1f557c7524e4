//! The folder of a run as tools have it: contained paths, and the label of what is read.
//!
//! What a tool wrote has the label of its call, as long as the bytes are those that it wrote; whatever else lies
//! there was written by nobody knows whom. See `docs/spec/workspace.md`.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mast_kernel::canonical::{Digest, Hashing};
use mast_kernel::message::FailureKind;
use mast_kernel::trust::{Label, Sensitivity, SourceKind, Trust};
use mast_sandbox::{Contents, Fault, Inside, Listing, Written};

use crate::tool::Failure;

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 1 << 16;

/// What was written by tools: the digest of the bytes, and the label of whoever had them written.
type Ledger = BTreeMap<Inside, (Digest, Label)>;

/// The folder of a run.
#[derive(Debug)]
pub struct Workspace {
    folder: mast_sandbox::Workspace,
    ledger: Mutex<Ledger>,
}

impl Workspace {
    /// The workspace in this folder, of which nothing is known yet.
    #[must_use]
    pub fn new(folder: mast_sandbox::Workspace) -> Arc<Self> {
        Arc::new(Self { folder, ledger: Mutex::default() })
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A file, to be read.
    ///
    /// # Errors
    ///
    /// [`Failure`]; of a folder `not_a_file`.
    pub fn read(&self, path: &Inside) -> Result<Contents, Failure> {
        self.folder.read(path).map_err(|fault| failure(&fault))
    }

    /// Puts a text into a file, whole or not at all, and remembers whose it is.
    ///
    /// # Errors
    ///
    /// [`Failure`]; then the file is as it was.
    pub fn write(&self, path: &Inside, text: &str, origin: Label) -> Result<Written, Failure> {
        let written = self.folder.write(path, text.as_bytes()).map_err(|fault| failure(&fault))?;
        let own = Label::new(Trust::InternalTool, Sensitivity::Private, SourceKind::Tool);
        self.ledger().insert(path.clone(), (Digest::of(text.as_bytes()), own.clamp(Some(origin))));
        Ok(written)
    }

    /// What lies in a folder.
    ///
    /// # Errors
    ///
    /// [`Failure`]; of a file `not_a_directory`.
    pub fn list(&self, folder: &Inside, recursive: bool, max: usize) -> Result<Listing, Failure> {
        self.folder.list(folder, recursive, max).map_err(|fault| failure(&fault))
    }

    /// How many bytes a file has, and their digest; none where there is no such file.
    ///
    /// # Errors
    ///
    /// [`Failure`], also where it is no file.
    pub fn state(&self, path: &Inside) -> Result<Option<(u64, Digest)>, Failure> {
        let mut file = match self.folder.read(path) {
            Ok(file) => file,
            Err(Fault::NoSuchPath) => return Ok(None),
            Err(fault) => return Err(failure(&fault)),
        };
        let (mut hashing, mut n_bytes, mut chunk) = (Hashing::default(), 0, vec![0; CHUNK_BYTES]);
        loop {
            let n_read = file.read(&mut chunk).map_err(|error| Failure::internal(error.to_string()))?;
            let Some(bytes) = chunk.get(..n_read).filter(|bytes| !bytes.is_empty()) else { break };
            hashing.add(bytes);
            n_bytes += n_read as u64;
        }
        Ok(Some((n_bytes, hashing.digest())))
    }

    /// The label of bytes that were read from a path.
    #[must_use]
    pub fn label(&self, path: &Inside, read: Digest) -> Label {
        match self.ledger().get(path) {
            Some((written, label)) if *written == read => *label,
            _ => strangers(),
        }
    }

    /// The label of a name: that of the file, if a tool wrote it.
    #[must_use]
    pub fn label_of_name(&self, path: &Inside) -> Label {
        self.ledger().get(path).map_or_else(strangers, |(_, label)| *label)
    }
}

/// What nobody is known to have written.
fn strangers() -> Label {
    Label::new(Trust::ExternalUntrusted, Sensitivity::Private, SourceKind::Tool)
}

/// The path that an argument names.
///
/// # Errors
///
/// [`Failure`] of a text that leads out.
pub fn inside(text: &str) -> Result<Inside, Failure> {
    Inside::parse(text).map_err(|escape| failure(&escape.into()))
}

/// The folder that an argument names; the empty text is the root.
///
/// # Errors
///
/// [`Failure`] of a text that leads out.
pub fn folder(text: &str) -> Result<Inside, Failure> {
    Inside::parse_folder(text).map_err(|escape| failure(&escape.into()))
}

/// What a fault is to a tool.
pub(crate) fn failure(fault: &Fault) -> Failure {
    let detail = fault.to_string();
    match fault {
        Fault::Escape(_) | Fault::HardLink | Fault::Special => {
            Failure::invalid_arguments("tool.invalid_arguments.path_escape", detail)
        }
        Fault::NotAFile => Failure::invalid_arguments("tool.invalid_arguments.not_a_file", detail),
        Fault::NotAFolder => Failure::invalid_arguments("tool.invalid_arguments.not_a_directory", detail),
        Fault::NoSuchPath => Failure {
            kind: FailureKind::NotFound,
            code: "tool.not_found.no_such_path",
            detail,
            retryable: false,
            external_text: None,
        },
        Fault::NotAsWritten | Fault::System(_) => Failure::internal(detail),
    }
}
