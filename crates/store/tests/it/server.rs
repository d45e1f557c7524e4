//! A place of its own on the test server, for each test: a schema that nobody else uses. The server is
//! brought up by `cargo xtask test`, which says where it is.
//!
//! Needs: postgresql

use std::sync::atomic::{AtomicU32, Ordering};

use mast_store::{PostgresStore, ServerOptions, StoreError};
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use super::world::{IDENTITY, signer};

/// The variables that say where the servers are: one for all, and one that tests may break.
const SHARED: &str = "MAST_TEST_POSTGRES";
const BREAKABLE: &str = "MAST_TEST_POSTGRES_BREAKABLE";

/// Who breaks the server is alone with it.
pub(crate) static BREAKING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// The address of the test server.
pub(crate) fn address() -> String {
    of(SHARED)
}

/// The address of the server that may be broken.
pub(crate) fn breakable() -> String {
    of(BREAKABLE)
}

#[expect(clippy::disallowed_methods, reason = "the server is the tests' own, and where it is differs")]
fn of(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} is not set: this test needs a Postgres server, which `cargo xtask test` brings up")
    })
}

/// Does this on the server.
pub(crate) async fn run(url: &str, statements: &str) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut connection).await?;
    connection.close().await
}

/// Asks the server this.
pub(crate) async fn ask(url: &str, statement: &str) -> Vec<PgRow> {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let rows = sqlx::query(AssertSqlSafe(statement.to_owned())).fetch_all(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    rows
}

/// The number that answers, if the server does.
pub(crate) async fn count(url: &str, statement: &str) -> Option<i64> {
    let mut connection = PgConnection::connect(url).await.ok()?;
    let row = sqlx::query(AssertSqlSafe(statement.to_owned())).fetch_one(&mut connection).await.ok()?;
    row.try_get(0).ok()
}

/// A schema of this test's own.
#[derive(Debug)]
pub(crate) struct Schema {
    /// The address of the server, which goes to this schema.
    pub(crate) url: String,
    /// Its name.
    pub(crate) name: String,
}

impl Schema {
    /// An empty schema on the test server.
    pub(crate) async fn new() -> Self {
        Self::on(&address()).await
    }

    /// An empty schema on this server.
    pub(crate) async fn on(server: &str) -> Self {
        static N_MADE: AtomicU32 = AtomicU32::new(0);
        let n = N_MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{n}", std::process::id());
        run(server, &format!("DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}")).await.unwrap();
        let mark = if server.contains('?') { '&' } else { '?' };
        Self { url: format!("{server}{mark}options[search_path]={name}"), name }
    }

    /// How a store there is opened.
    pub(crate) fn options(&self) -> ServerOptions {
        ServerOptions {
            url: self.url.clone(),
            identity_if_new: IDENTITY,
            signer: signer(),
            create: true,
            connections_max: 3,
        }
    }

    /// Opens the store there.
    pub(crate) async fn open(&self) -> Result<PostgresStore, StoreError> {
        PostgresStore::open(self.options()).await
    }

    /// The store there.
    pub(crate) async fn store(&self) -> PostgresStore {
        self.open().await.unwrap()
    }
}
