//! What only a store on a server can get wrong: other processes, lost connections, other people's tables.

use super::server::Schema;

#[tokio::test]
async fn a_store_is_there_again() {
    let schema = Schema::new().await;
    drop(schema.store().await);
    assert_eq!(schema.store().await.store(), super::world::IDENTITY);
}
