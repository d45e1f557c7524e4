//! What only a store in a file can get wrong: other processes, old files, damaged ones.

use expect_test::{Expect, expect};
use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::event::{EventBody, ResumeCause, RunResumed};
use mast_kernel::id::{ApprovalId, CallId, StoreId};
use mast_store::sign::Signer;
use mast_store::verify::{Wanted, verify};
use mast_store::{
    Conflict, Durability, GrantFilter, GrantReader as _, JournalReader as _, Reader as _, RunFilter,
    SessionFilter, SqliteStore, StoreError, Writer as _,
};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _};

use super::world::{IDENTITY, World, options, signer, sqlite};

async fn run(path: &std::path::Path, statements: &str) {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

async fn sound(store: &SqliteStore) {
    assert_eq!(verify(store, Wanted::default()).await.unwrap().findings, []);
}

#[tokio::test]
async fn what_was_committed_is_there_after_a_drop_without_a_close() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(1);
    let call = CallId::from_u128(900);
    {
        let store = sqlite(&folder).await;
        for batch in [world.begin(), world.ask(), world.claim(call)] {
            store.commit(batch).await.unwrap();
        }
    }
    let store = sqlite(&folder).await;
    assert_eq!(store.store(), IDENTITY, "an existing store keeps its identity");
    assert_eq!(store.call(call).await.unwrap().unwrap().status, CallStatus::Running);
    for batch in [world.settle(call, false), world.end()] {
        store.commit(batch).await.unwrap();
    }
    sound(&store).await;
}

#[tokio::test]
async fn two_processes_on_one_file_do_not_break_the_chain() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (sqlite(&folder).await, sqlite(&folder).await);
    let mut world = World::new(1);
    here.commit(world.begin()).await.unwrap();
    there.commit(world.ask()).await.unwrap();
    for _ in 0..5 {
        let call = CallId::from_u128(world.next());
        here.commit(world.claim(call)).await.unwrap();
        there.commit(world.mark(call)).await.unwrap();
        here.commit(world.settle(call, true)).await.unwrap();
    }
    let head = here.sign_head(world.session, world.now()).await.unwrap();
    let next = there.sign_head(world.session, world.now()).await.unwrap();
    assert_eq!(next.previous_head, head.digest());
    there.commit(world.end()).await.unwrap();
    sound(&here).await;
    assert_eq!(here.heads(0, 0).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_verdict_given_in_another_process_is_seen_and_used_once() {
    let folder = tempfile::tempdir().unwrap();
    let (server, terminal) = (sqlite(&folder).await, sqlite(&folder).await);
    let mut world = World::new(1);
    let (call, approval) = (CallId::from_u128(world.next()), ApprovalId::from_u128(world.next()));
    for batch in [world.begin(), world.ask(), world.park(call, approval)] {
        server.commit(batch).await.unwrap();
    }
    terminal.commit(world.resolve(approval, ApprovalStatus::Approved)).await.unwrap();
    let key = world.key(call);
    let mut batch = world.batch();
    let going_on = RunResumed { cause: ResumeCause::Approval, policy_version: "default@1".to_owned() };
    world.tell(&mut batch, EventBody::RunResumed(going_on));
    world.authorized(&mut batch, call, key);
    world.consumed(&mut batch, approval, call);
    world.started(&mut batch, call, 1);
    let (one, other) = tokio::join!(server.commit(batch.clone()), terminal.commit(batch));
    assert_eq!(usize::from(one.is_ok()) + usize::from(other.is_ok()), 1);
    let refused = one.err().or(other.err()).unwrap();
    assert!(matches!(refused, StoreError::Conflict(Conflict::Transition { .. })), "{refused:?}");
    sound(&server).await;
}

#[tokio::test]
async fn many_tasks_of_two_processes_write_to_the_same_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let stores = [sqlite(&folder).await, sqlite(&folder).await];
    let stores = std::sync::Arc::new(stores);
    let mut worlds = [World::new(1), World::new(2)];
    for world in &mut worlds {
        stores[0].commit(world.begin()).await.unwrap();
        stores[1].commit(world.ask()).await.unwrap();
    }
    let mut tasks = Vec::new();
    for task in 0..8_u128 {
        let (stores, mut world) =
            (std::sync::Arc::clone(&stores), worlds[usize::try_from(task % 2).unwrap()].clone());
        tasks.push(tokio::spawn(async move {
            let store = &stores[usize::try_from(task / 4).unwrap()];
            for n in 0..5 {
                let call = CallId::from_u128(task << 96 | n << 64 | 0xca11);
                store.commit(world.claim(call)).await.unwrap();
                store.commit(world.mark(call)).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let report = verify(&stores[0], Wanted::default()).await.unwrap();
    assert_eq!((report.findings, report.n_events), (Vec::new(), 2 * 4 + 8 * 5 * 4));
}

#[tokio::test]
async fn a_commit_that_must_survive_a_loss_of_power_is_in_the_same_chain() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(&folder).await;
    let mut world = World::new(1);
    for (batch, durability) in [world.begin(), world.ask(), world.end()].into_iter().zip([
        Durability::Normal,
        Durability::Full,
        Durability::Normal,
    ]) {
        let mut batch = batch;
        batch.durability = durability;
        store.commit(batch).await.unwrap();
    }
    sound(&store).await;
    assert_eq!(store.runs(&RunFilter::default()).await.unwrap().len(), 1);
}

/// What a person reads who opens this file.
async fn check(prepare: impl AsyncFnOnce(&std::path::Path), expected: Expect) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mast.db");
    prepare(&path).await;
    let error = SqliteStore::open(options(&path)).await.unwrap_err();
    expected.assert_eq(&error.to_string().replace(folder.path().to_str().unwrap(), "<folder>"));
}

#[tokio::test]
async fn what_cannot_be_opened_says_what_to_do() {
    let made = async |path: &std::path::Path, statements: &str| {
        drop(SqliteStore::open(options(path)).await.unwrap());
        run(path, statements).await;
    };
    check(async |path| std::fs::write(path, "not a database, but long enough to be read as one").unwrap(), expect!["<folder>/mast.db is damaged or not a database of mast: move it away and start again, or put back a copy"]).await;
    check(
        async |path| std::fs::create_dir(path).unwrap(),
        expect!["<folder>/mast.db cannot be opened: check that its folder exists and may be entered"],
    )
    .await;
    check(
        async |path| run(path, "CREATE TABLE songs (title TEXT)").await,
        expect!["<folder>/mast.db is damaged or not a database of mast: move it away and start again, or put back a copy"],
    )
    .await;
    check(async |path| made(path, "INSERT INTO schema_steps VALUES (4, '', '')").await, expect!["<folder>/mast.db was made by a later version of mast (schema 4, this one knows 3): use that version"]).await;
    check(async |path| made(path, "UPDATE schema_steps SET sql = sql || ' '").await, expect!["<folder>/mast.db: schema step 1 is not the one that mast has under this number: it was changed by something else; put back a copy"]).await;
    let trigger = "CREATE TRIGGER t BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END";
    check(async |path| made(path, trigger).await, expect!["<folder>/mast.db: schema step 3 is not the one that mast has under this number: it was changed by something else; put back a copy"]).await;
    check(async |path| made(path, "CREATE TABLE songs (title TEXT)").await, expect!["<folder>/mast.db: schema step 3 is not the one that mast has under this number: it was changed by something else; put back a copy"]).await;
    check(async |path| made(path, "DELETE FROM meta WHERE name = 'store'").await, expect!["<folder>/mast.db is damaged or not a database of mast: move it away and start again, or put back a copy"]).await;
    check(async |path| made(path, "UPDATE meta SET value = replace(value, 's', 'S') WHERE name = 'store'").await, expect!["<folder>/mast.db is damaged or not a database of mast: move it away and start again, or put back a copy"]).await;
}

#[tokio::test]
async fn a_file_of_an_older_version_is_brought_up_to_date_and_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mast.db");
    let mut world = World::new(1);
    let store = sqlite(&folder).await;
    store.commit(world.begin()).await.unwrap();
    drop(store);
    // What the later steps made is taken away again: so the first version left its files.
    let back = "DROP TABLE grants; DROP TABLE leases; DROP INDEX runs_open; DROP INDEX approvals_open; DROP INDEX calls_by_run; \
                ALTER TABLE calls DROP COLUMN effect_sent_at; DELETE FROM schema_steps WHERE version > 1";
    run(&path, back).await;
    let (one, other) = tokio::join!(SqliteStore::open(options(&path)), SqliteStore::open(options(&path)));
    let (one, _other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.sessions(&SessionFilter::default()).await.unwrap().len(), 1);
    assert_eq!(one.grants(&GrantFilter::default()).await.unwrap(), []);
    sound(&one).await;
}

#[tokio::test]
async fn a_store_is_bound_to_its_key_and_is_not_made_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mast.db");
    let mut options_without = options(&path);
    options_without.create = false;
    let absent = SqliteStore::open(options_without).await.unwrap_err();
    assert!(matches!(absent, StoreError::Open { .. }), "{absent:?}");
    assert!(!path.exists());
    drop(sqlite(&folder).await);
    let mut other = options(&path);
    other.signer = Signer::from_seed(&[8; 32]);
    assert!(matches!(SqliteStore::open(other).await.unwrap_err(), StoreError::OtherKey));
    let nowhere = options(&folder.path().join("no/such/folder/mast.db"));
    expect![
        "<folder>/no/such/folder/mast.db cannot be opened: check that its folder exists and may be entered"
    ]
    .assert_eq(
        &SqliteStore::open(nowhere)
            .await
            .unwrap_err()
            .to_string()
            .replace(folder.path().to_str().unwrap(), "<folder>"),
    );
    let secret = format!("{:?}", signer());
    assert!(!secret.contains("07070707") && !secret.contains("[7, 7"), "{secret}");
}

#[tokio::test]
async fn an_empty_file_becomes_a_store_and_two_may_make_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mast.db");
    std::fs::write(&path, "").unwrap();
    let mut second = options(&path);
    second.identity_if_new.id = StoreId::from_u128(0x99);
    let (one, other) = tokio::join!(SqliteStore::open(options(&path)), SqliteStore::open(second));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.store(), other.store());
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(&folder).await;
    store.commit(World::new(1).begin()).await.unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", entry.path());
    }
}

#[tokio::test]
async fn a_lock_that_is_held_too_long_is_told_and_the_store_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(&folder).await;
    let mut world = World::new(1);
    store.commit(world.begin()).await.unwrap();
    // Another process holds the file's lock for longer than the store waits.
    let options = SqliteConnectOptions::new().filename(store.path());
    let mut other = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let error = store.commit(world.ask()).await.unwrap_err();
    assert!(matches!(error, StoreError::Locked(_)), "{error:?}");
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    let mut again = World::new(1);
    again.begin();
    store.commit(again.ask()).await.unwrap();
    sound(&store).await;
}

#[tokio::test]
async fn a_log_that_is_torn_at_any_place_leaves_whole_commits() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite(&folder).await;
    let mut world = World::new(1);
    for batch in [world.begin(), world.ask()] {
        store.commit(batch).await.unwrap();
    }
    for _ in 0..4 {
        let call = CallId::from_u128(world.next());
        for batch in [world.claim(call), world.mark(call), world.settle(call, true)] {
            store.commit(batch).await.unwrap();
        }
    }
    let whole = store.events(world.session, 0, 0).await.unwrap();
    let (database, log) = (folder.path().join("mast.db"), folder.path().join("mast.db-wal"));
    let log = std::fs::read(log).unwrap();
    assert!(log.len() > 40_000, "everything is in the log: {}", log.len());
    let mut n_events = std::collections::BTreeSet::new();
    for part in 1..=24 {
        // Torn in the middle of a frame, and a frame whose end was never written.
        for is_cut in [true, false] {
            let torn = tempfile::tempdir().unwrap();
            std::fs::copy(&database, torn.path().join("mast.db")).unwrap();
            let end = log.len() * part / 25 + 7;
            let mut bytes = log.clone();
            if is_cut {
                bytes.truncate(end);
            } else {
                bytes[end..].fill(0);
            }
            std::fs::write(torn.path().join("mast.db-wal"), bytes).unwrap();
            let Ok(store) = SqliteStore::open(options(&torn.path().join("mast.db"))).await else { continue };
            let events = store.events(world.session, 0, 0).await.unwrap();
            assert_eq!(events, whole[..events.len()], "a beginning of what was committed, at {end}");
            sound(&store).await;
            n_events.insert(events.len());
        }
    }
    assert!(n_events.len() > 5, "some commits are lost with the log, one by one: {n_events:?}");
}
