//! An export is believed by whoever has the public key, and whatever is changed in it is found. The same
//! of the events in a copy of the file: changed, dropped, swapped or added.

use mast_kernel::id::{ApprovalId, CallId, SessionId};
use mast_store::export::{Checking, NotAnExport, Shown, check, write};
use mast_store::sign::Signer;
use mast_store::verify::{Wanted, verify};
use mast_store::{SqliteStore, Writer as _};
use proptest::prelude::*;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use super::world::{World, signer, sqlite};

/// A store with two sessions, each signed at its end.
async fn two_sessions(folder: &tempfile::TempDir) -> (SqliteStore, Vec<SessionId>) {
    let store = sqlite(folder).await;
    let (mut one, mut two) = (World::new(1), World::new(2));
    let call = CallId::from_u128(one.next());
    for batch in [one.begin(), one.ask(), one.claim(call), one.mark(call), one.settle(call, true), one.end()]
    {
        store.commit(batch).await.unwrap();
    }
    let (call, approval) = (CallId::from_u128(two.next()), ApprovalId::from_u128(two.next()));
    for batch in [two.begin(), two.ask(), two.park(call, approval)] {
        store.commit(batch).await.unwrap();
    }
    for world in [&mut one, &mut two] {
        store.sign_head(world.session, world.now()).await.unwrap();
    }
    (store, vec![one.session, two.session])
}

async fn exported(shown: &Shown) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (store, sessions) = two_sessions(&folder).await;
    let mut out = Vec::new();
    let n_events = write(&store, &sessions, shown, &signer(), &mut out).await.unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("{\"event\"")).count() as u64, n_events);
    text
}

fn checked(text: &str) -> Result<Checking, NotAnExport> {
    check(&mut text.as_bytes(), Some(signer().public()))
}

/// Whether the file is taken for a whole and unchanged one.
fn is_sound(text: &str) -> bool {
    checked(text).is_ok_and(|checking| checking.report.is_sound())
}

#[tokio::test]
async fn an_export_is_sound_and_holds_no_value() {
    for withheld in [Vec::new(), vec!["payload.declared".to_owned(), "actor".to_owned()]] {
        let text = exported(&Shown { withheld: withheld.clone() }).await;
        let checking = checked(&text).unwrap();
        assert_eq!(checking.report.findings, [], "{withheld:?}");
        assert_eq!((checking.report.n_sessions, checking.report.n_heads), (2, 2));
        // The message of the first session, and the name of the tool where it is withheld.
        assert!(!text.contains("17 * 23") && !text.contains("\"hello\""), "{text}");
        assert_eq!(text.contains("\"pin\""), withheld.is_empty());
    }
}

#[tokio::test]
async fn another_key_is_told_and_so_is_another_file() {
    let text = exported(&Shown::default()).await;
    let other = Signer::from_seed(&[9; 32]).public();
    let checking = check(&mut text.as_bytes(), Some(other)).unwrap();
    assert!(checking.report.findings[0].to_string().starts_with("foreign key: "), "{checking:?}");
    assert!(check(&mut text.as_bytes(), None).unwrap().report.is_sound());
    for other in ["", "{}\n", "hello", "{\"end\":{}}\n"] {
        assert!(matches!(checked(other), Err(NotAnExport::Other)), "{other}");
    }
    let later = text.replacen("\"version\":1", "\"version\":2", 1);
    assert!(matches!(checked(&later), Err(NotAnExport::Version(2))));
}

#[tokio::test]
async fn whatever_happens_to_a_line_is_found() {
    let text = exported(&Shown::default()).await;
    let lines: Vec<&str> = text.lines().collect();
    let whole = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    assert!(is_sound(&whole(&lines)));
    for at in 0..lines.len() {
        let mut dropped = lines.clone();
        dropped.remove(at);
        assert!(!is_sound(&whole(&dropped)), "without line {at}");
        let mut doubled = lines.clone();
        doubled.insert(at, lines[at]);
        assert!(!is_sound(&whole(&doubled)), "line {at} twice");
        assert!(!is_sound(&whole(&lines[..at])), "cut before line {at}");
        for other in at + 1..lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(at, other);
            assert!(!is_sound(&whole(&swapped)), "lines {at} and {other} swapped");
        }
    }
    assert!(!is_sound(&(text.clone() + "\n")) && !is_sound(text.trim_end()));
}

#[tokio::test]
async fn the_chain_alone_finds_what_happened_to_an_event() {
    // Also where the end of the file is not looked at, as if somebody had the key for that.
    let text = exported(&Shown::default()).await;
    let lines: Vec<&str> = text.lines().collect();
    let events: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("{\"event\"")).collect();
    let findings = |lines: &[&str]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let findings = checked(&text).unwrap().report.findings;
        findings.iter().map(ToString::to_string).filter(|found| !found.contains("as a whole")).count()
    };
    assert_eq!(findings(&lines), 0);
    for at in &events {
        let mut dropped = lines.clone();
        dropped.remove(*at);
        assert!(findings(&dropped) > 0, "without line {at}");
        let next = lines[*at].replace("platform", "model").replace("principal", "tool");
        let mut changed = lines.clone();
        changed[*at] = &next;
        assert!(next == lines[*at] || findings(&changed) > 0, "line {at} changed");
        for other in events.iter().filter(|other| *other > at) {
            let mut swapped = lines.clone();
            swapped.swap(*at, *other);
            assert!(findings(&swapped) > 0, "lines {at} and {other} swapped");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_changed_byte_of_an_export_is_found(place in any::<prop::sample::Index>(), flip in 1_u8..=255) {
        static TEXT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
        let text = TEXT.get_or_init(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(exported(&Shown::default()))
        });
        let mut bytes = text.clone().into_bytes();
        let at = place.index(bytes.len());
        bytes[at] ^= flip;
        let is_sound = check(&mut bytes.as_slice(), Some(signer().public()))
            .is_ok_and(|checking| checking.report.is_sound());
        prop_assert!(!is_sound, "byte {at}");
    }
}

/// Every event of the file, as `session sequence`.
async fn places(connection: &mut SqliteConnection) -> Vec<(String, i64)> {
    let rows = sqlx::query("SELECT session, sequence FROM events ORDER BY rowid");
    let rows = rows.fetch_all(&mut *connection).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

#[tokio::test]
async fn an_event_that_is_dropped_swapped_or_added_in_a_copy_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = two_sessions(&folder).await;
    let options = SqliteConnectOptions::new().filename(store.path()).foreign_keys(false);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    let places = places(&mut connection).await;
    sqlx::raw_sql("CREATE TEMP TABLE kept AS SELECT * FROM events").execute(&mut connection).await.unwrap();
    let mut n_found = 0;
    let mut meddle = async |what: String, statements: String| {
        sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut connection).await.unwrap();
        let report = verify(&store, Wanted::default()).await.unwrap();
        assert!(!report.is_sound(), "{what}");
        let back = "DELETE FROM events; INSERT INTO events SELECT * FROM kept";
        sqlx::raw_sql(back).execute(&mut connection).await.unwrap();
        n_found += 1;
    };
    let is = |(session, sequence): &(String, i64)| format!("session = '{session}' AND sequence = {sequence}");
    for (at, place) in places.iter().enumerate() {
        let (session, sequence) = place;
        meddle(format!("{place:?} dropped"), format!("DELETE FROM events WHERE {}", is(place))).await;
        let added = format!(
            "INSERT INTO events SELECT session, 900 + sequence, run, actor, at, type, version, payload, salt, \
             previous, hash FROM events WHERE {}",
            is(place)
        );
        meddle(format!("{place:?} added at the end"), added).await;
        for other in places.iter().skip(at + 1).filter(|(other, _)| other == session) {
            let swapped = format!(
                "UPDATE events SET sequence = -1 WHERE {}; UPDATE events SET sequence = {sequence} WHERE {}; \
                 UPDATE events SET sequence = {} WHERE session = '{session}' AND sequence = -1",
                is(place),
                is(other),
                other.1
            );
            meddle(format!("{place:?} and {other:?} swapped"), swapped).await;
        }
    }
    assert!(n_found > 3 * places.len(), "{n_found}");
    assert!(verify(&store, Wanted::default()).await.unwrap().is_sound());
}
