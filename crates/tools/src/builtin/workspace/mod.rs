//! Tools on the files of a run. None of them opens a path or joins one: all of that is the workspace's, so that
//! there is one place in which a path can lead out, and it does not.

mod list_files;
mod read_lines;
mod read_text;
mod text;
mod write_text;

use std::sync::Arc;

pub use list_files::ListFiles;
pub use read_lines::ReadLines;
pub use read_text::ReadText;
pub use write_text::WriteText;

use mast_kernel::resource::Resource;
use mast_kernel::scope::Scope;
use mast_kernel::spec::{SideEffect, ToolSpec};
use mast_kernel::trust::Sensitivity;
use mast_sandbox::Inside;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tool::{Failure, Tool};

/// The tools of this domain.
#[must_use]
pub fn tools() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(ListFiles), Arc::new(ReadLines), Arc::new(ReadText), Arc::new(WriteText)]
}

/// The declaration of a tool that reads files, with what each says itself left to be filled in.
fn reads(name: &str, description: &str, schemas: (Value, Value)) -> ToolSpec {
    let (input, output) = schemas;
    ToolSpec {
        side_effect: SideEffect::WorkspaceRead,
        required_scopes: Scope::parse("workspace.read").into_iter().collect(),
        output_sensitivity: Sensitivity::Private,
        timeout_seconds: 10,
        ..ToolSpec::pure(name, description, input, output)
    }
}

/// A path that would be touched.
fn touched(path: &Inside, write: bool) -> Vec<Resource> {
    vec![Resource::Path { path: path.as_str().to_owned(), write }]
}

/// The arguments of a tool.
fn arguments<T: DeserializeOwned>(arguments: &Value) -> Result<T, Failure> {
    T::deserialize(arguments)
        .map_err(|error| Failure::invalid_arguments("tool.invalid_arguments.schema", error.to_string()))
}

/// Work on files, beside whatever else this process does.
async fn on_files<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(broken) => Err(Failure::internal(broken.to_string())),
    }
}
