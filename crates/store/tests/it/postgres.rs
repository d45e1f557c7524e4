//! What only a store on a server can get wrong: other processes, other people's tables, and connections
//! that are lost at any moment.
//!
//! Needs: postgresql

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use expect_test::{Expect, expect};
use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::event::EventBody;
use mast_kernel::id::{ApprovalId, CallId, StoreId};
use mast_kernel::instant::Instant;
use mast_kernel::run::Priority;
use mast_store::lease::Wanted as NextWanted;
use mast_store::sign::Signer;
use mast_store::verify::{Wanted, verify};
use mast_store::{
    CallFilter, Conflict, Durability, JournalReader as _, Leases as _, PostgresStore, Reader as _, RunFilter,
    ServerOptions, StoreError, Writer as _,
};
use sqlx::Row as _;

use super::server::{Schema, address, ask, breakable, run};
use super::wire::Wire;
use super::world::{IDENTITY, World};

/// How long a server may be away before a test gives up.
const GIVE_UP: Duration = Duration::from_secs(60);

async fn sound(store: &PostgresStore) {
    assert_eq!(verify(store, Wanted::default()).await.unwrap().findings, []);
}

#[tokio::test]
async fn what_was_committed_is_there_after_a_drop_without_a_close() {
    let schema = Schema::new().await;
    let mut world = World::new(1);
    let call = CallId::from_u128(900);
    {
        let store = schema.store().await;
        for batch in [world.begin(), world.ask(), world.claim(call)] {
            store.commit(batch).await.unwrap();
        }
    }
    let store = schema.store().await;
    assert_eq!(store.store(), IDENTITY, "an existing store keeps its identity");
    assert_eq!(store.call(call).await.unwrap().unwrap().status, CallStatus::Running);
    for batch in [world.settle(call, false), world.end()] {
        store.commit(batch).await.unwrap();
    }
    sound(&store).await;
}

#[tokio::test]
async fn two_processes_may_make_one_store_at_once() {
    let schema = Schema::new().await;
    let mut second = schema.options();
    second.identity_if_new.id = StoreId::from_u128(0x99);
    let (one, other) = tokio::join!(schema.open(), PostgresStore::open(second));
    assert_eq!(one.unwrap().store(), other.unwrap().store());
}

#[tokio::test]
async fn many_processes_write_to_one_session_and_none_is_refused() {
    let schema = Schema::new().await;
    let mut stores = Vec::new();
    for _ in 0..4 {
        stores.push(Arc::new(schema.store().await));
    }
    let mut world = World::new(1);
    stores[0].commit(world.begin()).await.unwrap();
    stores[1].commit(world.ask()).await.unwrap();
    let mut tasks = Vec::new();
    for (number, store) in (0_u128..).zip(&stores) {
        let (store, mut world) = (Arc::clone(store), world.clone());
        tasks.push(tokio::spawn(async move {
            for n in 0..12 {
                let call = CallId::from_u128(number << 96 | n << 64 | 0xca11);
                store.commit(world.claim(call)).await.unwrap();
                store.commit(world.mark(call)).await.unwrap();
                store.sign_head(world.session, world.now()).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let report = verify(&*stores[0], Wanted::default()).await.unwrap();
    assert_eq!((report.findings, report.n_events, report.n_heads), (Vec::new(), 4 + 4 * 12 * 4, 48));
}

#[tokio::test]
async fn a_run_is_claimed_by_one_of_many() {
    let schema = Schema::new().await;
    let stores = [schema.store().await, schema.store().await, schema.store().await];
    let mut runs = Vec::new();
    for number in 1..=30 {
        let mut world = World::new(number);
        for batch in [world.begin(), world.ask()] {
            stores[0].commit(batch).await.unwrap();
        }
        runs.push(world.run);
    }
    let at = |seconds| Instant::from_micros(1_785_000_000_000_000).plus_seconds(seconds);
    let claim_all = async |store: &PostgresStore, owner: &str| {
        let wanted = NextWanted { owner, now: at(0), until: at(60), priority: Priority::Normal };
        let (mut claimed, mut n_empty) = (Vec::new(), 0);
        // Once there is nothing for anybody, there is nothing three times.
        while n_empty < 3 {
            match store.next(&wanted).await.unwrap() {
                Some(run) => claimed.push(run.id),
                None => n_empty += 1,
            }
        }
        claimed
    };
    let (a, b, c) =
        tokio::join!(claim_all(&stores[0], "a"), claim_all(&stores[1], "b"), claim_all(&stores[2], "c"));
    let mut claimed = [a, b, c].concat();
    claimed.sort();
    assert_eq!(claimed, runs, "each once");
}

#[tokio::test]
async fn who_waits_for_work_is_told_by_another_process() {
    let schema = Schema::new().await;
    let (worker, other) = (Arc::new(schema.store().await), schema.store().await);
    let mut world = World::new(1);
    other.commit(world.begin()).await.unwrap();
    // The first hint is that it listens now.
    worker.hint().await;
    let waiting = tokio::spawn({
        let worker = Arc::clone(&worker);
        async move { worker.hint().await }
    });
    while !waiting.is_finished() {
        // Not every hint is about this test: others use the same server.
        let mut world = World::new(u32::try_from(world.next() & 0xffff_ffff).unwrap());
        let (call, approval) = (CallId::from_u128(world.next()), ApprovalId::from_u128(world.next()));
        let answer = |world: &mut World| world.resolve(approval, ApprovalStatus::Approved);
        for batch in [world.begin(), world.ask(), world.park(call, approval), answer(&mut world)] {
            other.commit(batch).await.unwrap();
        }
    }
    waiting.await.unwrap();
}

#[tokio::test]
async fn a_session_that_is_held_too_long_is_told_and_the_store_goes_on() {
    use sqlx::Connection as _;
    let schema = Schema::new().await;
    let store = schema.store().await;
    let mut world = World::new(1);
    store.commit(world.begin()).await.unwrap();
    let mut other = sqlx::PgConnection::connect(&schema.url).await.unwrap();
    sqlx::raw_sql("BEGIN; SELECT 1 FROM sessions FOR UPDATE").execute(&mut other).await.unwrap();
    let error = store.commit(world.ask()).await.unwrap_err();
    assert!(matches!(error, StoreError::Locked(_)), "{error:?}");
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    let mut again = World::new(1);
    again.begin();
    store.commit(again.ask()).await.unwrap();
    sound(&store).await;
}

/// What a person reads who opens this schema.
async fn check(statements: &str, expected: Expect) {
    let schema = Schema::new().await;
    if !statements.starts_with("CREATE TABLE events") {
        drop(schema.store().await);
    }
    run(&schema.url, statements).await.unwrap();
    let error = schema.open().await.unwrap_err();
    expected.assert_eq(&hidden(&error.to_string()));
}

/// Without what differs from server to server.
fn hidden(text: &str) -> String {
    let hide = |word: &str| match word.strip_prefix("postgres://") {
        Some(place) if place.ends_with(':') => "<server>:".to_owned(),
        Some(_) => "<server>".to_owned(),
        None => word.to_owned(),
    };
    text.split(' ').map(hide).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn what_cannot_be_opened_says_what_to_do() {
    check("CREATE TABLE events (title TEXT)", expect![[r#"<server>: schema step 1 is not the one that mast has under this number: it was changed by something else; put back a copy"#]]).await;
    check(
        "INSERT INTO schema_steps VALUES (4, '', '')",
        expect![[
            r#"<server> was made by a later version of mast (schema 4, this one knows 1): use that version"#
        ]],
    )
    .await;
    check("UPDATE schema_steps SET sql = sql || ' '", expect![[r#"<server>: schema step 1 is not the one that mast has under this number: it was changed by something else; put back a copy"#]]).await;
    for change in [
        "CREATE RULE nothing AS ON INSERT TO events DO INSTEAD NOTHING",
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
         CREATE TRIGGER t BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION f()",
        "ALTER TABLE events DROP CONSTRAINT \"events.session, events.sequence\"",
        "ALTER TABLE calls ALTER COLUMN record DROP NOT NULL",
        "ALTER TABLE contents SET UNLOGGED",
        "ALTER TABLE runs ENABLE ROW LEVEL SECURITY",
        "DROP TABLE leases",
        "DROP TABLE meta",
    ] {
        check(change, expect![[
        r#"<server>: schema step 1 is not the one that mast has under this number: it was changed by something else; put back a copy"#
    ]]).await;
    }
    check("DELETE FROM meta WHERE name = 'store'", expect![[r#"<server> is damaged or not a database of mast: move it away and start again, or put back a copy"#]]).await;
}

#[tokio::test]
async fn tables_of_others_may_stand_beside() {
    let schema = Schema::new().await;
    run(&schema.url, "CREATE TABLE songs (title TEXT)").await.unwrap();
    drop(schema.store().await);
    run(&schema.url, "CREATE INDEX by_title ON songs (title)").await.unwrap();
    drop(schema.store().await);
}

#[tokio::test]
async fn a_store_is_bound_to_its_key_and_is_not_made_unasked() {
    let schema = Schema::new().await;
    let mut unasked = schema.options();
    unasked.create = false;
    assert!(matches!(PostgresStore::open(unasked).await.unwrap_err(), StoreError::Absent { .. }));
    let made = ask(&schema.url, "SELECT count(*) FROM pg_class WHERE relname = 'events' AND relnamespace = current_schema()::regnamespace").await;
    assert_eq!(made[0].get::<i64, _>(0), 0);
    drop(schema.store().await);
    let mut other = schema.options();
    other.signer = Signer::from_seed(&[8; 32]);
    assert!(matches!(PostgresStore::open(other).await.unwrap_err(), StoreError::OtherKey));
}

#[tokio::test]
async fn a_password_is_never_shown() {
    let schema = Schema::new().await;
    for url in [
        "postgres://me:hunter2@127.0.0.1:1/journal",
        "postgres://me:hunter2@[::1/journal",
        "postgres://me:hunter2@nowhere.invalid/journal",
    ] {
        let mut options = schema.options();
        options.url = url.to_owned();
        assert!(!format!("{options:?}").contains("hunter2"));
        let error = PostgresStore::open(options).await.unwrap_err();
        assert!(error.is_unreachable() || matches!(error, StoreError::BadAddress), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
    let store = schema.store().await;
    assert!(!format!("{store:?}").contains("password"), "{store:?}");
}

#[tokio::test]
async fn a_commit_is_as_sure_as_was_asked() {
    let _alone = super::server::BREAKING.lock().await;
    let server = breakable();
    let schema = Schema::on(&server).await;
    let store = schema.store().await;
    let mut world = World::new(1);
    for batch in [world.begin(), world.ask()] {
        store.commit(batch).await.unwrap();
    }
    // Whether the server's log was secured beyond where it was when the commit began.
    let position = async |of: &str| {
        let statement = format!("SELECT CAST(pg_current_wal_{of}_lsn() - '0/0' AS BIGINT)");
        super::server::count(&server, &statement).await.unwrap()
    };
    let mut is_secured = async |durability| {
        let before = position("insert").await;
        let call = CallId::from_u128(world.next());
        let mut batch = world.claim(call);
        batch.durability = durability;
        store.commit(batch).await.unwrap();
        position("flush").await > before
    };
    for _ in 0..10 {
        assert!(is_secured(Durability::Full).await);
    }
    // The server secures what was not asked for too, a moment later.
    while is_secured(Durability::Normal).await {}
    let level = ask(&schema.url, "SHOW synchronous_commit").await;
    assert_eq!(level[0].get::<String, _>(0), "on", "only the store's own transactions are changed");
    sound(&store).await;
}

#[tokio::test]
async fn a_killed_connection_is_made_again_and_nothing_is_doubled() {
    let schema = Schema::new().await;
    let store = Arc::new(schema.store().await);
    let mut world = World::new(1);
    for batch in [world.begin(), world.ask()] {
        store.commit(batch).await.unwrap();
    }
    let n_killed = Arc::new(AtomicUsize::new(0));
    let killer = tokio::spawn({
        let (n_killed, name) = (Arc::clone(&n_killed), schema.name.clone());
        // Whoever is in the middle of a transaction on this test's tables.
        let kill = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mast' AND pid IN \
             (SELECT pid FROM pg_locks l JOIN pg_class c ON c.oid = l.relation \
             WHERE c.relnamespace = '{name}'::regnamespace)"
        );
        async move {
            while n_killed.load(Ordering::Relaxed) < 3 {
                n_killed.fetch_add(ask(&address(), &kill).await.len(), Ordering::Relaxed);
            }
        }
    });
    let mut calls = Vec::new();
    while n_killed.load(Ordering::Relaxed) < 3 {
        let call = CallId::from_u128(world.next());
        store.commit(world.claim(call)).await.unwrap();
        store.commit(world.settle(call, false)).await.unwrap();
        calls.push(call);
    }
    killer.await.unwrap();
    let done = CallFilter { status: Some(CallStatus::Succeeded), ..CallFilter::default() };
    let found: Vec<_> = store.calls(&done).await.unwrap().iter().map(|row| row.id).collect();
    let first: Vec<_> = calls.iter().take(mast_store::READ_ROWS_MAX as usize).copied().collect();
    assert_eq!(found, first);
    let report = verify(&*store, Wanted::default()).await.unwrap();
    assert_eq!((report.findings, report.n_events), (Vec::new(), 4 + calls.len() as u64 * 5));
}

/// Kills the server while commits go on, in this way: nothing that was acknowledged is lost or doubled.
async fn under_fire(how: &str, n_times: usize) {
    let _alone = super::server::BREAKING.lock().await;
    let server = breakable();
    let schema = Schema::on(&server).await;
    let store = schema.store().await;
    // The server cannot answer any more; what it started may keep this connection open for ever.
    let kill = async || drop(tokio::time::timeout(Duration::from_secs(1), run(&server, how)).await);
    commits_go_on((&server, &schema.name), store, kill, n_times).await;
}

/// Commits in four sessions while this is done so often.
async fn commits_go_on(
    (server, schema): (&str, &str),
    store: PostgresStore,
    meddle: impl AsyncFn(),
    n_times: usize,
) {
    let store = Arc::new(store);
    let mut tasks = Vec::new();
    let is_over = Arc::new(AtomicBool::new(false));
    for number in 1..=4 {
        let (store, is_over) = (Arc::clone(&store), Arc::clone(&is_over));
        tasks.push(tokio::spawn(async move {
            let mut world = World::new(number);
            for batch in [world.begin(), world.ask()] {
                let mut batch = batch;
                batch.durability = Durability::Full;
                store.commit(batch).await.unwrap();
            }
            let mut calls = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                let call = CallId::from_u128(world.next());
                let mut batch = world.claim(call);
                batch.durability = Durability::Full;
                let committed = store.commit(batch).await.unwrap();
                calls.push((call, committed.events[0].hash));
            }
            (world, calls)
        }));
    }
    for _ in 0..n_times {
        wait_for_calls(server, schema).await;
        meddle().await;
    }
    wait_for_calls(server, schema).await;
    is_over.store(true, Ordering::Relaxed);
    let mut n_calls = 0;
    for task in tasks {
        let (world, calls) = task.await.unwrap();
        let mut events = Vec::new();
        loop {
            let page = store.events(world.session, events.len() as u64, 0).await.unwrap();
            if page.is_empty() {
                break;
            }
            events.extend(page);
        }
        let proposed = events.iter().filter_map(|event| match event.body().unwrap() {
            EventBody::ToolCallProposed(told) => Some((told.call, event.hash)),
            _ => None,
        });
        assert_eq!(proposed.collect::<Vec<_>>(), calls, "all that was acknowledged is there, and once");
        n_calls += calls.len();
    }
    assert!(n_calls > 0);
    sound(&store).await;
}

/// Waits until some more calls are there than were.
async fn wait_for_calls(server: &str, schema: &str) {
    let count = async || super::server::count(server, &format!("SELECT count(*) FROM {schema}.calls")).await;
    let more = async {
        let (mut begun, mut looks) = (None, tokio::time::interval(Duration::from_millis(5)));
        loop {
            looks.tick().await;
            match (count().await, begun) {
                (Some(n), None) => begun = Some(n),
                (Some(n), Some(begun)) if n >= begun + 20 => break,
                _ => {}
            }
        }
    };
    tokio::time::timeout(GIVE_UP, more).await.expect("the server is back, and takes calls");
}

#[tokio::test]
async fn a_wire_that_is_cut_again_and_again_loses_nothing_that_was_acknowledged() {
    // What was asked is done, and the answer never comes; then nobody gets through for a while.
    let server = address();
    let schema = Schema::on(&server).await;
    let wire = Wire::to(&server);
    let options = ServerOptions { url: schema.url.replace(&server, &wire.address), ..schema.options() };
    let store = PostgresStore::open(options).await.unwrap();
    commits_go_on((&server, &schema.name), store, async || wire.cut().await, 5).await;
}

#[tokio::test]
async fn a_server_that_crashes_loses_nothing_that_was_acknowledged() {
    // One process of the server dies hard, which makes it end all connections and recover.
    under_fire("COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'", 3).await;
}

#[tokio::test]
async fn a_server_that_is_started_again_loses_nothing_that_was_acknowledged() {
    // It is started as it was before, and so from the folder above its data.
    let restart = "DO $$ DECLARE bin text := (SELECT setting FROM pg_config WHERE name = 'BINDIR'); BEGIN \
         EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', format( \
         'cd %2$s/..; setsid nohup sh -c ''%1$s/pg_ctl -D %2$s -w -m immediate stop; for try in 1 2 3 4 5 6 7 8 9; do \
         %1$s/pg_ctl -D %2$s status && break; %1$s/pg_ctl -D %2$s -w restart; sleep 1; done'' >/dev/null 2>&1 &', \
         bin, current_setting('data_directory'))); END $$";
    under_fire(restart, 2).await;
}

#[tokio::test]
async fn what_a_crash_took_is_missed_by_nobody_who_goes_on() {
    // Commits that need not survive a crash are lost with one; the chain goes on from what is there, without
    // a gap, also in a process that remembers more.
    let schema = Schema::new().await;
    let store = schema.store().await;
    let mut world = World::new(1);
    for batch in [world.begin(), world.ask()] {
        let mut batch = batch;
        batch.durability = Durability::Full;
        store.commit(batch).await.unwrap();
    }
    let call = CallId::from_u128(world.next());
    store.commit(world.claim(call)).await.unwrap();
    // What a crash would take.
    run(&schema.url, "DELETE FROM events WHERE sequence > 4; DELETE FROM calls").await.unwrap();
    let error = store.commit(world.settle(call, false)).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict(Conflict::Missing(_))), "{error:?}");
    let mut again = World::new(1);
    again.begin();
    again.ask();
    store.commit(again.claim(CallId::from_u128(77))).await.unwrap();
    let events = store.events(world.session, 0, 0).await.unwrap();
    assert_eq!(events.iter().map(|event| event.sequence).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(store.runs(&RunFilter::default()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_server_that_stays_away_is_told_and_nothing_is_written_twice() {
    let _alone = super::server::BREAKING.lock().await;
    let server = breakable();
    let schema = Schema::on(&server).await;
    let store = schema.store().await;
    let mut world = World::new(1);
    store.commit(world.begin()).await.unwrap();
    // Nobody is let in, and whoever is in is put out.
    let name = format!("gone_{}", schema.name);
    run(&server, &format!("CREATE DATABASE {name}")).await.unwrap();
    let other = server.replace("postgres:///postgres?", &format!("postgres:///{name}?"));
    let there = Schema::on(&other).await;
    let store_there = there.store().await;
    let mut world_there = World::new(1);
    store_there.commit(world_there.begin()).await.unwrap();
    run(&server, &format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
    let error = store_there.commit(world_there.ask()).await.unwrap_err();
    assert!(error.is_unreachable(), "{error:?}");
    let error = store_there.commit(world_there.end()).await.unwrap_err();
    assert!(error.is_unreachable() || matches!(error, StoreError::Poisoned(_)), "{error:?}");
    store.commit(world.ask()).await.unwrap();
    sound(&store).await;
}
