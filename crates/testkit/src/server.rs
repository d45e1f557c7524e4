//! Stores on the Postgres server of the tests, which `cargo xtask test` brings up and names in a variable;
//! each store has a schema of its own.

use std::sync::atomic::{AtomicU32, Ordering};

use mast_store::{PostgresStore, ServerOptions};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _};

use crate::world::{identity, signer};

/// The variable that says where the server is.
const SERVER: &str = "MAST_TEST_POSTGRES";

/// The address of an empty schema that nobody else uses.
///
/// # Panics
///
/// When there is no server.
#[expect(clippy::disallowed_methods, reason = "the server is the tests' own, and where it is differs")]
pub async fn empty_schema() -> String {
    static N_MADE: AtomicU32 = AtomicU32::new(0);
    let server = std::env::var(SERVER).unwrap_or_else(|_| {
        panic!("{SERVER} is not set: this test needs a Postgres server, which `cargo xtask test` brings up")
    });
    let name = format!("kit_{}_{}", std::process::id(), N_MADE.fetch_add(1, Ordering::Relaxed));
    let mut connection = PgConnection::connect(&server).await.expect("the test server answers");
    let made = format!("DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}");
    sqlx::raw_sql(AssertSqlSafe(made)).execute(&mut connection).await.expect("a schema can be made");
    connection.close().await.expect("a connection can be closed");
    let mark = if server.contains('?') { '&' } else { '?' };
    format!("{server}{mark}options[search_path]={name}")
}

/// A store of the tests' world on the server, made now.
///
/// # Panics
///
/// When there is no server.
pub async fn server_store() -> PostgresStore {
    store_at(empty_schema().await, 2).await
}

/// A store of the tests' world at this address, made now, that reads with so many connections.
///
/// # Panics
///
/// When there is no server.
pub async fn store_at(url: String, n_readers: usize) -> PostgresStore {
    let connections_max = u32::try_from(n_readers).expect("so many connections can be counted");
    let options =
        ServerOptions { url, identity_if_new: identity(), signer: signer(), create: true, connections_max };
    PostgresStore::open(options).await.expect("a store can be made on the test server")
}
