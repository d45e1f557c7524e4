//! The journal on a Postgres server instead of in a file.
//!
//! Needs: postgresql

use sqlx::{AssertSqlSafe, Connection as _};

use crate::world::World;

/// The address of an empty schema on the test server.
#[expect(clippy::disallowed_methods, reason = "the server is the tests' own, and where it is differs")]
fn schema(name: &str) -> String {
    const VARIABLE: &str = "MAST_TEST_POSTGRES";
    let server = std::env::var(VARIABLE).unwrap_or_else(|_| {
        panic!("{VARIABLE} is not set: this test needs a Postgres server, which `cargo xtask test` brings up")
    });
    let name = format!("cli_{}_{name}", std::process::id());
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    executor.block_on(async {
        let mut connection = sqlx::PgConnection::connect(&server).await.unwrap();
        let made = format!("DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}");
        sqlx::raw_sql(AssertSqlSafe(made)).execute(&mut connection).await.unwrap();
    });
    format!("{server}&options[search_path]={name}")
}

#[test]
fn two_machines_share_one_journal() {
    let url = schema("shared");
    let one = World::new().with("MAST_STORE", url.clone());
    assert!(one.mast(&["doctor"]).out.contains("(made at the first run)"));
    assert_eq!(one.mast(&["runs"]).code, 0);
    assert!(!one.data().exists(), "looking makes nothing");
    let ran = one.mast(&["run", "What is 17 multiplied by 23?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "391\n"), "{}", ran.err);
    assert!(!one.data().join("mast.db").exists());
    let told = one.mast(&["doctor"]);
    assert!(told.out.contains(" · answers · "), "{}", told.out);
    assert_eq!(one.mast(&["journal", "verify"]).code, 0);

    let other = World::new();
    let refused = other.mast(&["run", "1 + 1", "--store", &url]);
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("copy journal.key there"), "{}", refused.err);
    assert!(!other.data().join("journal.key").exists(), "a key that fits nothing is not left behind");
    std::fs::copy(one.data().join("journal.key"), other.data().join("journal.key")).unwrap();
    other.file(".config/mast/config.toml", &format!("[store]\nurl = \"{url}\"\n"));
    assert_eq!(other.mast(&["call", "math.calculate", r#"{"expression":"1+1"}"#]).out, "2\n");
    assert!(other.mast(&["runs"]).out.contains("completed"));
    assert_eq!(other.mast(&["journal", "verify"]).code, 0);
    // A file is a store of its own.
    assert!(!World::new().mast(&["runs"]).out.contains("completed"));
}

#[test]
fn a_server_that_is_not_there_is_told_without_the_password() {
    let world = World::new();
    let url = "postgres://me:hunter2@127.0.0.1:1/journal";
    for arguments in [
        ["run", "1 + 1", "--store", url].as_slice(),
        &["doctor", "--store", url],
        &["config", "show", "--store", url],
        &["runs", "--store", "hunter2://x"],
        &["runs", "--store", "postgres://me:hunter2@["],
    ] {
        let ran = world.mast(arguments);
        assert!(!format!("{ran:?}").contains("hunter2"), "{ran:?}");
    }
    let ran = world.mast(&["run", "1 + 1", "--store", url]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("postgres://me@127.0.0.1:1/journal cannot be opened"), "{ran:?}");
    assert_eq!(world.mast(&["runs", "--store", "mysql://x"]).code, 4);
}
