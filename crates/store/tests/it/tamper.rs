//! Whatever is changed in the file, the verifier finds it, and says what and where.

use std::path::Path;

use expect_test::{Expect, expect};
use mast_kernel::id::{ApprovalId, CallId};
use mast_store::verify::{Wanted, verify};
use mast_store::{JournalReader as _, SqliteStore, Writer as _};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use super::world::{World, options, sqlite};

/// A store with two runs: one that ended, one that waits for a person; the first head is of the first.
async fn two_runs(folder: &tempfile::TempDir) -> SqliteStore {
    let store = sqlite(folder).await;
    let (mut done, mut waiting) = (World::new(1), World::new(2));
    let call = CallId::from_u128(done.next());
    for batch in
        [done.begin(), done.ask(), done.claim(call), done.mark(call), done.settle(call, true), done.end()]
    {
        store.commit(batch).await.unwrap();
    }
    store.sign_head(done.session, done.now()).await.unwrap();
    let (call, approval) = (CallId::from_u128(waiting.next()), ApprovalId::from_u128(waiting.next()));
    for batch in [waiting.begin(), waiting.ask(), waiting.park(call, approval)] {
        store.commit(batch).await.unwrap();
    }
    store.sign_head(waiting.session, waiting.now()).await.unwrap();
    store
}

async fn connect(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).foreign_keys(false);
    SqliteConnection::connect_with(&options).await.unwrap()
}

async fn findings(store: &SqliteStore, wanted: Wanted) -> Vec<String> {
    verify(store, wanted).await.unwrap().findings.iter().map(ToString::to_string).collect()
}

/// What the verifier says after these statements.
async fn after(statements: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let store = two_runs(&folder).await;
    assert_eq!(findings(&store, Wanted::default()).await, Vec::<String>::new());
    let mut connection = connect(store.path()).await;
    let statements = statements
        .replace("ONE", "session = 'ses_0000000000000g000000000001'")
        .replace("TWO", "session = 'ses_0000000000001000000000001'");
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut connection).await.unwrap();
    findings(&store, Wanted::default()).await.join("\n")
}

/// What is changed, and what the verifier says to it.
async fn check(statements: &str, expected: Expect) {
    expected.assert_eq(&after(statements).await);
}

#[tokio::test]
async fn a_changed_event_is_found() {
    check(
        "UPDATE events SET actor = 'tool' WHERE ONE AND sequence = 3",
        expect!["changed event in ses_0000000000000g000000000001 at 3: the event is not what was written"],
    )
    .await;
    check(
        "UPDATE events SET at = at + 1 WHERE ONE AND sequence = 12",
        expect!["changed event in ses_0000000000000g000000000001 at 12: the event is not what was written"],
    )
    .await;
    check(
        "UPDATE events SET payload = replace(payload, 'cli', 'web') WHERE ONE AND sequence = 1",
        expect!["changed event in ses_0000000000000g000000000001 at 1: the event is not what was written"],
    )
    .await;
    check("UPDATE events SET payload = payload || ' ' WHERE ONE AND sequence = 2", expect!["changed event in ses_0000000000000g000000000001 at 2: the row of the event is not what mast writes"]).await;
    check(
        "UPDATE events SET hash = previous WHERE ONE AND sequence = 4",
        expect!["changed event in ses_0000000000000g000000000001 at 4: the event is not what was written"],
    )
    .await;
}

#[tokio::test]
async fn a_row_of_the_smallest_number_is_found() {
    let smallest = "-9223372036854775808";
    let items = "INSERT INTO items (rowid, id, session, place, record)";
    let copied =
        format!("{items} SELECT {smallest}, id, session, place + 99, record FROM items WHERE ONE LIMIT 1");
    assert!(!after(&copied).await.is_empty());
    let heads = format!(
        "INSERT INTO heads SELECT {smallest}, session, sequence, hash, previous_head, at, key, signature \
         FROM heads LIMIT 1"
    );
    assert!(!after(&heads).await.is_empty());
}

#[tokio::test]
async fn a_missing_event_is_found() {
    check(
        "DELETE FROM events WHERE ONE AND sequence = 1",
        expect!["missing event in ses_0000000000000g000000000001 at 1: the next event is 2"],
    )
    .await;
    check(
        "DELETE FROM events WHERE ONE AND sequence IN (5, 6)",
        expect!["missing event in ses_0000000000000g000000000001 at 5: the next event is 7"],
    )
    .await;
}

#[tokio::test]
async fn a_reordered_event_is_found() {
    check("UPDATE events SET sequence = 100 WHERE ONE AND sequence = 3; UPDATE events SET sequence = 3 WHERE ONE AND sequence = 4; UPDATE events SET sequence = 4 WHERE ONE AND sequence = 100;", expect![[r#"
        reordered in ses_0000000000000g000000000001 at 3: the event stands at 4
        reordered in ses_0000000000000g000000000001 at 4: the event stands at 3"#]]).await;
    check(
        "UPDATE events SET sequence = 9223372036854775807 WHERE ONE AND sequence = 5",
        expect!["reordered in ses_0000000000000g000000000001 at 5: the event stands at 9223372036854775807"],
    )
    .await;
}

#[tokio::test]
async fn a_dropped_tail_is_found() {
    check("DELETE FROM events WHERE ONE AND sequence > 10", expect!["dropped tail in ses_0000000000000g000000000001 at 12: head 1 was signed over an event that is not there"]).await;
}

#[tokio::test]
async fn a_changed_value_is_found() {
    check("UPDATE contents SET value = '\"392\"' WHERE rowid = 5", expect!["changed content in ses_0000000000000g000000000001 at 9: a value is not the one that was committed to"]).await;
    check("UPDATE contents SET salt = '00' || substr(salt, 3, 28) || 'ff' WHERE rowid = 1", expect!["changed content in ses_0000000000000g000000000001 at 1: a value is not the one that was committed to"]).await;
    check("DELETE FROM contents WHERE rowid = 2", expect!["missing content in ses_0000000000000g000000000001 at 2: a value that this event is committed to is not there"]).await;
    check(
        "INSERT INTO contents SELECT hash, salt, 'null' FROM events WHERE ONE AND sequence = 1",
        expect!["changed content: a value is not the one that was committed to"],
    )
    .await;
}

#[tokio::test]
async fn a_changed_state_is_found() {
    check("UPDATE calls SET status = 'authorized' WHERE ONE", expect!["state differs in ses_0000000000000g000000000001: call_0000000000000g000000000003 of calls is not what the events say"]).await;
    check("UPDATE calls SET record = replace(record, '\"attempt\":1', '\"attempt\":0') WHERE ONE", expect!["state differs in ses_0000000000000g000000000001: call_0000000000000g000000000003 of calls is not what the events say"]).await;
    check("UPDATE approvals SET record = replace(record, 'pending', 'approved'), status = 'approved'", expect!["state differs in ses_00000000000010000000000001: apr_00000000000010000000000004 of approvals is not what the events say"]).await;
    check("DELETE FROM runs WHERE ONE", expect!["state differs in ses_0000000000000g000000000001: run_0000000000000g000000000002 is missing in runs"]).await;
    check(
        "INSERT INTO items SELECT 'item_1', session, 99, record FROM items LIMIT 1",
        expect!["state differs in ses_0000000000000g000000000001: a row of items is in no event"],
    )
    .await;
    check(
        "UPDATE sessions SET principal = 'prn_00000000000000000000000000' WHERE rowid = 1",
        expect![
            "state differs in ses_0000000000000g000000000001: the row of the session is not what mast writes"
        ],
    )
    .await;
}

#[tokio::test]
async fn a_row_of_no_session_is_found() {
    check("DELETE FROM sessions WHERE rowid = 2", expect![[r#"
        stray row: 1 rows of runs belong to no session that there is
        stray row: 1 rows of calls belong to no session that there is
        stray row: 1 rows of approvals belong to no session that there is
        stray row: 1 rows of items belong to no session that there is
        stray row: 7 rows of events belong to no session that there is
        orphan content: no event is committed to a value that is there
        orphan content: no event is committed to a value that is there
        orphan content: no event is committed to a value that is there
        orphan content: no event is committed to a value that is there
        orphan content: no event is committed to a value that is there
        orphan content: no event is committed to a value that is there
        dropped tail in ses_00000000000010000000000001 at 7: there are signed heads of a session that is not there"#]]).await;
    check("UPDATE approvals SET session = 'ses_1'", expect![[r#"
        state differs in ses_00000000000010000000000001: apr_00000000000010000000000004 is missing in approvals
        stray row: 1 rows of approvals belong to no session that there is"#]]).await;
}

#[tokio::test]
async fn a_changed_head_is_found() {
    check(
        "UPDATE heads SET at = at + 1 WHERE number = 1",
        expect![[r#"
        changed head in ses_0000000000000g000000000001 at 12: head 1 is not what was signed
        changed head in ses_00000000000010000000000001 at 7: head 2 does not follow head 1"#]],
    )
    .await;
    check(
        "DELETE FROM heads WHERE number = 1",
        expect!["changed head in ses_00000000000010000000000001 at 7: head 2 does not follow head 0"],
    )
    .await;
    check(
        "UPDATE heads SET number = -1 WHERE number = 1",
        expect![[r#"
        changed head: a row of heads is not what mast writes
        changed head in ses_00000000000010000000000001 at 7: head 2 does not follow head 0"#]],
    )
    .await;
}

#[tokio::test]
async fn an_old_copy_that_was_put_back_is_found_by_a_head_that_was_kept_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let store = two_runs(&folder).await;
    let copy = folder.path().join("copy.db");
    let mut connection = connect(store.path()).await;
    let statement = format!("VACUUM INTO '{}'", copy.display());
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
    let mut world = World::new(3);
    store.commit(world.begin()).await.unwrap();
    let kept = store.sign_head(world.session, world.now()).await.unwrap().digest();

    let copy = SqliteStore::open(options(&copy)).await.unwrap();
    assert_eq!(findings(&copy, Wanted::default()).await, Vec::<String>::new(), "it is sound in itself");
    let wanted = Wanted { head: Some(kept), ..Wanted::default() };
    assert_eq!(findings(&store, wanted).await, Vec::<String>::new());
    expect!["dropped tail: the head that was given is not in this journal: its end was dropped or replaced"]
        .assert_eq(&findings(&copy, wanted).await.join("\n"));
}

#[tokio::test]
async fn a_head_by_another_key_and_a_session_of_another_store_are_found() {
    let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = two_runs(&ours).await;
    let mut foreign = options(&theirs.path().join("mast.db"));
    foreign.signer = mast_store::sign::Signer::from_seed(&[8; 32]);
    foreign.identity_if_new.id = mast_kernel::id::StoreId::from_u128(0x58);
    let other = SqliteStore::open(foreign).await.unwrap();
    let mut world = World::new(3);
    let mut begin = world.begin();
    if let mast_kernel::event::EventBody::SessionCreated(created) = &mut begin.events[0].body {
        created.store = other.store().id;
    }
    other.commit(begin).await.unwrap();
    other.sign_head(world.session, world.now()).await.unwrap();
    let mut connection = connect(store.path()).await;
    let merge = format!(
        "ATTACH '{}' AS other; DELETE FROM heads; INSERT INTO heads SELECT * FROM other.heads; \
         INSERT INTO sessions SELECT * FROM other.sessions; INSERT INTO events SELECT * FROM other.events; \
         INSERT INTO contents SELECT * FROM other.contents;",
        other.path().display()
    );
    sqlx::raw_sql(AssertSqlSafe(merge)).execute(&mut connection).await.unwrap();
    expect![[r#"
        foreign key in ses_0000000000001g000000000001 at 1: head 1 is signed with another key than the store's
        changed head in ses_0000000000001g000000000001 at 1: head 1 does not follow head 0
        changed store in ses_0000000000001g000000000001 at 1: the session was made in another store, sto_0000000000000000000000002r"#]].assert_eq(&findings(&store, Wanted::default()).await.join("\n"));
}

#[tokio::test]
async fn one_session_can_be_verified_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = two_runs(&folder).await;
    let mut connection = connect(store.path()).await;
    let change = "UPDATE contents SET value = '1' WHERE rowid = 1";
    sqlx::raw_sql(change).execute(&mut connection).await.unwrap();
    let of = |number| Wanted { session: Some(World::new(number).session), head: None };
    assert_eq!(findings(&store, of(2)).await, Vec::<String>::new());
    expect![
        "changed content in ses_0000000000000g000000000001 at 1: a value is not the one that was committed to"
    ]
    .assert_eq(&findings(&store, of(1)).await.join("\n"));
}

/// A store with at least one row in every table, and as little as that allows.
async fn smallest(folder: &tempfile::TempDir) -> SqliteStore {
    let store = sqlite(folder).await;
    let mut world = World::new(1);
    let (call, approval) = (CallId::from_u128(world.next()), ApprovalId::from_u128(world.next()));
    let mut ask = world.ask();
    ask.events[0].run = None;
    for batch in [world.begin(), ask, world.park(call, approval)] {
        store.commit(batch).await.unwrap();
    }
    store.sign_head(world.session, world.now()).await.unwrap();
    store
}

/// The columns of a table that are stored, and the rows' numbers.
async fn shape(connection: &mut SqliteConnection, table: &str) -> (Vec<String>, Vec<i64>) {
    let columns = format!("SELECT name FROM pragma_table_info('{table}')");
    let columns = sqlx::query(AssertSqlSafe(columns)).fetch_all(&mut *connection).await.unwrap();
    let rows = sqlx::query(AssertSqlSafe(format!("SELECT rowid FROM {table}")));
    let rows = rows.fetch_all(&mut *connection).await.unwrap();
    let name = |row: &SqliteRow| row.get::<String, _>(0);
    (columns.iter().map(name).collect(), rows.iter().map(|row| row.get(0)).collect())
}

/// One stored value, and the statements that read and write it.
struct Cell<'a> {
    connection: &'a mut SqliteConnection,
    read: String,
    write: String,
}

impl Cell<'_> {
    async fn bytes(&mut self) -> Option<Vec<u8>> {
        let row = sqlx::query(AssertSqlSafe(self.read.clone())).fetch_one(&mut *self.connection).await;
        row.unwrap().get(0)
    }

    /// Whether the database takes it.
    async fn set(&mut self, bytes: &[u8]) -> bool {
        let query = sqlx::query(AssertSqlSafe(self.write.clone())).bind(bytes.to_vec());
        query.execute(&mut *self.connection).await.is_ok()
    }
}

/// Changes every byte of every column of these tables, one at a time; how many were found.
async fn flip_all(tables: &[&str]) -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let store = smallest(&folder).await;
    let mut connection = connect(store.path()).await;
    sqlx::raw_sql("PRAGMA synchronous = OFF").execute(&mut connection).await.unwrap();
    let (mut n_found, mut n_refused) = (0, 0);
    for table in tables.iter().copied() {
        let (columns, rows) = shape(&mut connection, table).await;
        assert!(!rows.is_empty(), "{table}");
        for (column, rowid) in columns.iter().flat_map(|column| rows.iter().map(move |row| (column, row))) {
            let read = format!("SELECT CAST({column} AS BLOB) FROM {table} WHERE rowid = {rowid}");
            let write = format!("UPDATE {table} SET {column} = CAST($1 AS TEXT) WHERE rowid = {rowid}");
            let mut cell = Cell { connection: &mut connection, read, write };
            let whole = cell.bytes().await.unwrap_or_default();
            for place in 0..whole.len() {
                let mut changed = whole.clone();
                changed[place] ^= 1;
                if !cell.set(&changed).await {
                    n_refused += 1;
                    continue;
                }
                let is_found = if table == "meta" {
                    match SqliteStore::open(options(store.path())).await {
                        Ok(other) => !verify(&other, Wanted::default()).await.unwrap().is_sound(),
                        Err(_) => true,
                    }
                } else {
                    !verify(&store, Wanted::default()).await.unwrap().is_sound()
                };
                assert!(
                    is_found,
                    "{table}.{column} row {rowid} byte {place}: {}",
                    String::from_utf8_lossy(&changed)
                );
                n_found += 1;
                // A changed number of a row may have moved it; what is written back finds it by value.
                restore(&mut cell, table, column, *rowid, &whole).await;
            }
        }
    }
    assert!(n_refused < 20, "{n_refused} changes were refused by the database itself");
    assert_eq!(findings(&store, Wanted::default()).await, Vec::<String>::new());
    n_found
}

#[tokio::test]
async fn every_changed_byte_of_an_event_is_found() {
    assert!(flip_all(&["events"]).await > 3_000);
}

#[tokio::test]
async fn every_changed_byte_of_the_state_is_found() {
    assert!(flip_all(&["sessions", "runs", "calls", "approvals", "items"]).await > 2_000);
}

#[tokio::test]
async fn every_changed_byte_of_values_and_heads_is_found() {
    assert!(flip_all(&["contents", "heads", "meta"]).await > 1_000);
}

async fn restore(cell: &mut Cell<'_>, table: &str, column: &str, rowid: i64, whole: &[u8]) {
    if (table, column) == ("heads", "number") {
        let back = format!("UPDATE heads SET number = {rowid}");
        sqlx::raw_sql(AssertSqlSafe(back)).execute(&mut *cell.connection).await.unwrap();
    } else {
        assert!(cell.set(whole).await);
    }
}

/// What the verifier says after the first of the two sessions was cut off and then this was done.
async fn after_a_cut(statement: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let store = two_runs(&folder).await;
    let session = World::new(1).session;
    let later = mast_kernel::instant::Instant::from_micros(1_800_000_000_000_000);
    let planned = mast_store::upkeep::cut(&store, session, (later, later)).await.unwrap().unwrap();
    store.keep_up(vec![planned]).await.unwrap();
    assert_eq!(findings(&store, Wanted::default()).await, Vec::<String>::new());
    let mut connection = connect(store.path()).await;
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut connection).await.unwrap();
    findings(&store, Wanted::default()).await.join("\n")
}

#[tokio::test]
async fn only_who_has_the_key_can_cut() {
    let last = "number = (SELECT MAX(number) FROM heads)";
    for statement in [
        // The line that says so is gone, or says another thing.
        format!("DELETE FROM heads WHERE {last}"),
        format!("UPDATE heads SET hash = previous_head WHERE {last}"),
        format!("UPDATE heads SET sequence = sequence - 1 WHERE {last}"),
        // The other session is taken away as well.
        "DELETE FROM sessions; DELETE FROM runs; DELETE FROM calls; DELETE FROM approvals; DELETE FROM items; \
         DELETE FROM events; DELETE FROM contents"
            .to_owned(),
    ] {
        assert_ne!(after_a_cut(&statement).await, "", "{statement}");
    }
    let taken = "DELETE FROM sessions WHERE ONE; DELETE FROM runs WHERE ONE".replace(
        "sessions WHERE ONE",
        "sessions \
        WHERE id = 'ses_0000000000000g000000000001'",
    );
    assert!(after(&taken).await.contains("dropped tail"), "what nobody cut is missing");
}

#[tokio::test]
async fn nothing_of_a_cut_conversation_stays_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = two_runs(&folder).await;
    let holds = |words: &str| {
        std::fs::read_dir(folder.path()).unwrap().any(|file| {
            let path = file.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            bytes.windows(words.len()).any(|window| window == words.as_bytes())
        })
    };
    let later = mast_kernel::instant::Instant::from_micros(1_800_000_000_000_000);
    let session = World::new(1).session;
    let planned = mast_store::upkeep::cut(&store, session, (later, later)).await.unwrap().unwrap();
    let commitment =
        store.events(session, 0, 1).await.unwrap()[0].payload["catalogue"].as_str().unwrap().to_owned();
    assert!(holds(&commitment));
    store.keep_up(vec![planned]).await.unwrap();
    assert!(!holds(&commitment), "what it was committed to is overwritten");
}
