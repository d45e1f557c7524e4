//! What every store must do. Each case is written once and runs on every store that the macro names; to
//! add a store, add it there.

use mast_store::Store;
use mast_store::verify::{Wanted, verify};

use super::world::World;

mod leases;
mod moves;
mod reading;
mod upkeep;
mod writing;

/// A world whose session and run are begun.
async fn begun(store: &dyn Store, number: u32) -> World {
    let mut world = World::new(number);
    for batch in [world.begin(), world.ask()] {
        store.commit(batch).await.unwrap();
    }
    world
}

async fn sound(store: &dyn Store) {
    let report = verify(store, Wanted::default()).await.unwrap();
    assert_eq!(report.findings, []);
}

/// Runs every case on every store.
macro_rules! on_every_store {
    ($($case:ident,)*) => {
        mod memory {
            $(#[tokio::test]
            async fn $case() {
                super::$case(&crate::world::memory()).await;
            })*
        }
        mod sqlite {
            $(#[tokio::test]
            async fn $case() {
                let folder = tempfile::tempdir().unwrap();
                super::$case(&crate::world::sqlite(&folder).await).await;
            })*
        }
        #[cfg(feature = "postgres")]
        mod postgres {
            $(#[tokio::test]
            async fn $case() {
                super::$case(&crate::server::Schema::new().await.store().await).await;
            })*
        }
    };
}
pub(crate) use on_every_store;
