//! Opens the store, and makes it if it is not there: a file in the data folder, or tables on a Postgres
//! server. The folder is its owner's alone, and holds the key that signs the journal's heads either way;
//! processes that share a server have copies of one key.
//!
//! Rejected: the key inside the database, where whoever can rewrite the journal could sign it anew.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;

use mast_kernel::id::StoreId;
use mast_runtime::SystemIds;
use mast_store::sign::Signer;
use mast_store::{OpenOptions, PostgresStore, ServerOptions, SqliteStore, Store, StoreError, StoreIdentity};

use super::Start;
use crate::config::{ConfigError, Paths, closed_folder, private_folder, read_private};
use crate::error::CliError;

/// Name of the file with the key that signs heads.
const KEY_FILE: &str = "journal.key";

/// Bytes of that key.
const SEED_BYTES: usize = 32;

/// Opens the store, and makes it if it is not there.
///
/// # Errors
///
/// [`CliError`] when the folder, the key or the database cannot be made or read.
pub(crate) async fn open_store(start: &Start) -> Result<Arc<dyn Store>, CliError> {
    let server = start.server()?;
    private_folder(&start.paths.data)?;
    match server {
        None => open_file(start, true).await,
        Some(url) => {
            let key = start.paths.data.join(KEY_FILE);
            let was_there = key.exists();
            let seed = signing_key(&start.paths)?;
            let opened = open_server(start, &url, seed, true).await;
            if !was_there && matches!(opened, Err(StoreError::OtherKey)) {
                // The key that was just made signs nothing, and would stand in the way of the right one.
                std::fs::remove_file(&key)
                    .map_err(|error| CliError::file("cannot remove the new key", &key, error))?;
            }
            opened.map_err(|error| other_key(error, &key))
        }
    }
}

/// Opens the store for looking; none if nothing is on record yet. Nothing is made.
///
/// # Errors
///
/// [`CliError`] when the key or the database cannot be read.
pub(crate) async fn open_to_look(start: &Start) -> Result<Option<Arc<dyn Store>>, CliError> {
    if let Some(url) = start.server()? {
        let key = start.paths.data.join(KEY_FILE);
        // Without a key nothing of ours can be there, but that is the store's to say.
        let seed = if key.exists() { signing_key(&start.paths)? } else { [0; SEED_BYTES] };
        return match open_server(start, &url, seed, false).await {
            Ok(store) => Ok(Some(store)),
            Err(StoreError::Absent { .. }) => Ok(None),
            Err(error) => Err(other_key(error, &key)),
        };
    }
    let path = start.paths.database();
    match path.try_exists() {
        Ok(false) => Ok(None),
        Ok(true) => open_file(start, false).await.map(Some),
        Err(source) => Err(ConfigError::DataFolder { path: start.paths.data.clone(), source }.into()),
    }
}

/// Who signs the heads of this data folder's journal.
///
/// # Errors
///
/// [`CliError`] when the key cannot be read.
pub(crate) fn signer(start: &Start) -> Result<Signer, CliError> {
    Ok(Signer::from_seed(&signing_key(&start.paths)?))
}

/// What a store is called that is made now.
fn identity(start: &Start) -> StoreIdentity {
    let world = start.world();
    StoreIdentity { id: StoreId::from_u128(world.ids.next_bits()), created_at: world.clock.now() }
}

async fn open_file(start: &Start, create: bool) -> Result<Arc<dyn Store>, CliError> {
    let options = OpenOptions {
        path: start.paths.database(),
        identity_if_new: identity(start),
        signer: Signer::from_seed(&signing_key(&start.paths)?),
        create,
    };
    Ok(Arc::new(SqliteStore::open(options).await?))
}

async fn open_server(
    start: &Start,
    url: &str,
    seed: [u8; SEED_BYTES],
    create: bool,
) -> Result<Arc<dyn Store>, StoreError> {
    let options = ServerOptions {
        url: url.to_owned(),
        identity_if_new: identity(start),
        signer: Signer::from_seed(&seed),
        create,
        connections_max: mast_store::postgres::CONNECTIONS_DEFAULT,
    };
    Ok(Arc::new(PostgresStore::open(options).await?))
}

/// A server's store is often made by another machine, and the key is there.
fn other_key(error: StoreError, key: &Path) -> CliError {
    let StoreError::OtherKey = error else { return error.into() };
    CliError::failed(
        format!("the store was made with another signing key than {}", key.display()),
        "copy journal.key there from the data folder of whoever made the store",
    )
}

/// The seed of the signing key; made with the first database.
fn signing_key(paths: &Paths) -> Result<[u8; 32], CliError> {
    let path = paths.data.join(KEY_FILE);
    match read_private(paths, &path, SEED_BYTES)? {
        Ok(bytes) => bytes.try_into().map_err(|_| not_ours(&path)),
        Err(error) if error.kind() == ErrorKind::NotFound => make_key(paths, &path),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => Err(not_ours(&path)),
        Err(error) => Err(CliError::file("cannot read the journal's key", path, error)),
    }
}

fn not_ours(path: &Path) -> CliError {
    let message = format!("{} is not the key that mast made", path.display());
    CliError::failed(message, "put back a copy of it")
}

fn make_key(paths: &Paths, path: &Path) -> Result<[u8; 32], CliError> {
    if paths.database().exists() {
        let message = format!("{} is missing: the journal beside it was signed with it", path.display());
        return Err(CliError::failed(message, "put back a copy of it, or choose another --data-dir"));
    }
    let failed = |error| CliError::file("cannot write the journal's key", path, error);
    // A key that would be refused with the next start is not made.
    closed_folder(&paths.data)?.map_err(failed)?;
    let no_randomness = |_| CliError::failed("this machine gives no randomness", "");
    let key = SystemIds::key().map_err(no_randomness)?;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(mut file) => file.write_all(&key).and_then(|()| file.sync_all()).map(|()| key).map_err(failed),
        // Another process made it in the same moment.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let bytes = read_private(paths, path, SEED_BYTES)?.map_err(failed)?;
            bytes.try_into().map_err(|_| CliError::failed("the journal's key is being made", "ask again"))
        }
        Err(error) => Err(failed(error)),
    }
}
