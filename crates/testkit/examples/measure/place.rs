//! Where calls are measured: a store, a runtime with Mast's own tools, and a session.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use mast_kernel::id::{PrincipalId, StoreId, TenantId};
use mast_kernel::policy::{Authority, Overlay, Policy};
use mast_kernel::scope;
use mast_runtime::{NewSession, Runtime, Session, World};
use mast_store::sign::Signer;
use mast_store::{MemoryStore, OpenOptions, SqliteStore, Store, StoreIdentity};
use mast_tools::Toolbox;

/// The seed of the key that signs heads; nothing that is measured is kept.
const SEED: [u8; 32] = [7; 32];

/// All are the same store by name, so that what one wrote can be written to another.
fn identity(world: &World) -> StoreIdentity {
    StoreIdentity { id: StoreId::from_u128(1), created_at: world.clock.now() }
}

/// A store in memory.
pub(super) fn memory() -> MemoryStore {
    MemoryStore::new(identity(&World::system()), Signer::from_seed(&SEED))
}

/// A new store in this file.
pub(super) async fn disk(path: &Path) -> Result<SqliteStore, Box<dyn Error>> {
    let world = World::system();
    let options = OpenOptions {
        path: path.to_path_buf(),
        identity_if_new: identity(&world),
        signer: Signer::from_seed(&SEED),
        create: true,
    };
    Ok(SqliteStore::open(options).await?)
}

/// A runtime over a store.
pub(super) fn runtime(store: Arc<dyn Store>) -> Result<Runtime, Box<dyn Error>> {
    let toolbox = Arc::new(Toolbox::builtin()?);
    Ok(Runtime::new(store, toolbox, Policy::builtin(Overlay::On), World::system()))
}

/// A session of a person who may use everything.
pub(super) async fn session(runtime: &Runtime) -> Result<Session, Box<dyn Error>> {
    Ok(runtime.open_session(NewSession { authority: authority(), surface: "bench" }).await?)
}

/// That person.
pub(super) fn authority() -> Authority {
    Authority {
        tenant: TenantId::from_u128(1),
        principal: PrincipalId::from_u128(1),
        scopes: scope::platform(),
    }
}
