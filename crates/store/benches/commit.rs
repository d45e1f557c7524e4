//! What the journal of one tool call costs: its claim (three events, a value, a new row) and its outcome
//! (two events, two values, a changed row, an item), each a commit that survives the end of the process.
//! Beside it a bare loop: the same rows by the same library, one awaited statement each, no chain, no
//! fold. The whole of the bound is `cargo xtask bench`'s business; this shows where the time goes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark that cannot set itself up stops")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mast_kernel::id::CallId;
use mast_store::{Durability, JournalReader as _, SqliteStore, Writer as _};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Connection as _, Row as _};
use tokio::runtime::{Builder, Runtime};

#[path = "../tests/it/world.rs"]
#[expect(dead_code, reason = "the tests' world has more than a benchmark needs")]
mod world;

use world::World;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap_or_else(|error| panic!("{error}"))
}

/// A store whose session and run are begun.
async fn begun(folder: &tempfile::TempDir) -> Option<(SqliteStore, World)> {
    let store = SqliteStore::open(world::options(&folder.path().join("mast.db"))).await.ok()?;
    let mut world = World::new(1);
    for batch in [world.begin(), world.ask()] {
        store.commit(batch).await.ok()?;
    }
    Some((store, world))
}

async fn one_call(store: &SqliteStore, world: &mut World, durability: Durability) -> Option<()> {
    let call = CallId::from_u128(world.next());
    let mut claim = world.claim(call);
    claim.durability = durability;
    store.commit(claim).await.ok()?;
    store.commit(world.settle(call, false)).await.ok()?;
    Some(())
}

/// The rows of one call, as the bare loop writes them.
const BARE: [&str; 7] = [
    "BEGIN IMMEDIATE",
    "INSERT INTO events VALUES ($1, $2, $3, 'platform', 1, 'tool.call.started', 1, $4, $3, $3, $3)",
    "INSERT INTO contents VALUES ($3 || $2, $3, $4)",
    "INSERT INTO calls VALUES ($1, $1, $1, 'running', $1, $4)",
    "UPDATE calls SET status = 'succeeded', record = $4 WHERE id = $1",
    "INSERT INTO items VALUES ($1, $1, $2, $4)",
    "COMMIT",
];

async fn bare_statement(connection: &mut SqliteConnection, statement: usize, n: i64) -> Option<()> {
    let text = "x".repeat(if statement == 2 { 30 } else { 400 });
    let query = sqlx::query(BARE.get(statement).copied()?);
    query.bind(format!("id_{n}")).bind(n).bind("f".repeat(64)).bind(text).execute(connection).await.ok()?;
    Some(())
}

async fn bare_call(connection: &mut SqliteConnection, n: &mut i64) -> Option<()> {
    for transaction in [[0, 1, 1, 1, 2, 3, 6].as_slice(), [0, 1, 1, 2, 2, 4, 5, 6].as_slice()] {
        let first = *n;
        for statement in transaction {
            *n += 1;
            let id = if *statement == 4 { first - 1 } else { *n };
            bare_statement(connection, *statement, id).await?;
        }
    }
    Some(())
}

fn calls(c: &mut Criterion) {
    let runtime = runtime();
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let begun = runtime.block_on(begun(&folder));
    let Some((store, mut world)) = begun else { panic!("the store could not be opened") };
    c.bench_function("one call, normal", |b| {
        b.iter(|| runtime.block_on(one_call(&store, &mut world, Durability::Normal)));
    });
    c.bench_function("one call, full claim", |b| {
        b.iter(|| runtime.block_on(one_call(&store, &mut world, Durability::Full)));
    });
    c.bench_function("make the batches of one call", |b| {
        b.iter(|| {
            let call = CallId::from_u128(world.next());
            black_box((world.claim(call), world.settle(call, false)))
        });
    });
    let memory = world::memory();
    let mut inner = World::new(2);
    for batch in [inner.begin(), inner.ask()] {
        if runtime.block_on(memory.commit(batch)).is_err() {
            panic!("the memory store refused");
        }
    }
    c.bench_function("one call, in memory", |b| {
        b.iter(|| {
            let call = CallId::from_u128(inner.next());
            let done = runtime.block_on(async {
                memory.commit(inner.claim(call)).await?;
                memory.commit(inner.settle(call, false)).await
            });
            black_box(done.is_ok())
        });
    });
    c.bench_function("seal", |b| b.iter(|| black_box(store.seal())));
}

fn bare(c: &mut Criterion) {
    let runtime = runtime();
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let path = folder.path().join("bare.db");
    let mut connection = runtime.block_on(async {
        let made = SqliteStore::open(world::options(&path)).await;
        assert!(made.is_ok(), "the store could not be opened");
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal);
        SqliteConnection::connect_with(&options).await.unwrap_or_else(|error| panic!("{error}"))
    });
    let mut n = 0_i64;
    c.bench_function("one call, bare loop", |b| {
        b.iter(|| runtime.block_on(bare_call(&mut connection, &mut n)));
    });
    let counted = runtime.block_on(sqlx::query("SELECT COUNT(*) FROM events").fetch_one(&mut connection));
    assert!(counted.is_ok_and(|row| row.get::<i64, _>(0) > 0), "the bare loop wrote nothing");
}

fn open(c: &mut Criterion) {
    let runtime = runtime();
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let path = folder.path().join("mast.db");
    assert!(runtime.block_on(begun(&folder)).is_some(), "the store could not be opened");
    c.bench_function("open", |b| {
        b.iter(|| runtime.block_on(async { SqliteStore::open(world::options(&path)).await.is_ok() }));
    });
}

criterion_group!(benches, calls, bare, open);
criterion_main!(benches);
