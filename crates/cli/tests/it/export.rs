//! A journal goes to another machine, and is believed there with nothing but the public key.

use super::world::World;

#[test]
fn an_export_is_checked_elsewhere_with_only_the_key() {
    let here = World::new();
    assert_eq!(here.mast(&["run", "--provider", "offline", "What is 17 multiplied by 23?"]).code, 0);
    assert_eq!(here.mast(&["call", "math.calculate", r#"{"expression":"1+1"}"#]).code, 0);
    let key = here.mast(&["journal", "key"]).out.trim().to_owned();
    assert_eq!(key.len(), 64, "{key}");
    let file = here.home().join("journal.jsonl");
    let file = file.to_str().unwrap();
    let export = here.mast(&["journal", "export", "--out", file]);
    assert_eq!(export.code, 0, "{}", export.err);
    assert!(export.err.contains(&format!("--key {key}")), "{}", export.err);
    assert_eq!(here.mast(&["journal", "export", "--out", file]).code, 1, "it overwrites nothing");

    // The other machine has no journal of its own, and makes none.
    let there = World::new();
    let verified = there.mast(&["journal", "verify", "--file", file, "--key", &key]);
    assert_eq!(verified.code, 0, "{}", verified.out);
    assert!(
        verified.out.starts_with("sound · ") && verified.out.contains("in 2 sessions"),
        "{}",
        verified.out
    );
    assert!(!there.data().join("mast.db").exists());
    let told = there.mast(&["journal", "verify", "--file", file]);
    assert!(told.err.contains("whether that is the right key, only you can tell"), "{}", told.err);

    // No argument, no result and no word of the task is in it.
    let text = std::fs::read_to_string(file).unwrap();
    assert!(!text.contains("multiplied") && !text.contains("17 * 23"), "{text}");

    // Whatever is changed is found, and so is another key.
    let changed = there.file("changed.jsonl", &text.replacen("math.calculate", "math.calculata", 1));
    let verified = there.mast(&["journal", "verify", "--file", &changed, "--key", &key]);
    assert_eq!(verified.code, 1);
    assert!(verified.out.contains("changed event in ses_"), "{}", verified.out);
    let other = "ab".repeat(32);
    assert!(there.mast(&["journal", "verify", "--file", file, "--key", &other]).out.contains("foreign key"));
    assert_eq!(there.mast(&["journal", "verify", "--file", file, "--key", "nonsense"]).code, 2);
    assert_eq!(there.mast(&["journal", "verify", "--file", "/nowhere"]).code, 1);

    // One session, without what its calls declare.
    let some = here.mast(&["journal", "export", "latest", "--withhold", "payload.declared"]);
    assert!(!some.out.contains("math.calculate"), "{}", some.out);
    let some = there.file("some.jsonl", &some.out);
    assert_eq!(there.mast(&["journal", "verify", "--file", &some, "--key", &key]).code, 0);
}

#[test]
fn the_rows_of_the_state_are_what_the_events_say() {
    let world = World::new();
    assert_eq!(world.mast(&["journal", "rebuild", "--check"]).code, 1, "nothing is on record yet");
    assert_eq!(world.mast(&["call", "math.calculate", r#"{"expression":"1+1"}"#]).code, 0);
    let same = world.mast(&["journal", "rebuild", "--check"]);
    assert_eq!(same.code, 0, "{}", same.out);
    assert!(same.out.starts_with("the same · "), "{}", same.out);
}

#[test]
fn rows_that_differ_are_made_anew() {
    let world = World::new();
    assert_eq!(world.mast(&["call", "math.calculate", r#"{"expression":"1+1"}"#]).code, 0);
    let file = world.data().join("mast.db");
    let change = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); \
                  db.execute(\"UPDATE runs SET status = 'failed'\"); db.execute('DELETE FROM calls'); db.commit()";
    assert_cmd::Command::new("python3").args(["-I", "-c", change]).arg(&file).assert().success();
    assert_eq!(world.mast(&["journal", "verify"]).code, 1);
    let checked = world.mast(&["journal", "rebuild", "--check"]);
    assert!(checked.code == 1 && checked.out.contains("not the same"), "{checked:?}");
    let rebuilt = world.mast(&["journal", "rebuild"]);
    assert!(rebuilt.code == 0 && rebuilt.out.starts_with("the same"), "{rebuilt:?}");
    assert_eq!(world.mast(&["journal", "verify"]).code, 0);
}

#[test]
fn old_conversations_are_cut_off_only_when_it_is_said() {
    let world = World::new();
    assert_eq!(world.mast(&["call", "math.calculate", r#"{"expression":"1+1"}"#]).code, 0);
    let young = world.mast(&["journal", "cut", "--before", "1d"]);
    assert!(young.code == 0 && young.err.contains("nothing is that old"), "{young:?}");
    let named = world.mast(&["journal", "cut", "latest", "--before", "30d", "--apply"]);
    assert!(named.code == 1 && named.out.contains("it is not that old"), "{named:?}");
    let hasty = world.mast(&["journal", "cut", "--before", "2999-01-01"]);
    assert!(hasty.code == 2 && hasty.err.contains("at least a day ago"), "{hasty:?}");
    assert_eq!(world.mast(&["journal", "cut", "--before", "soon"]).code, 2);
    assert_eq!(world.mast(&["journal", "cut"]).code, 2);
    assert_eq!(world.mast(&["journal", "verify"]).code, 0);
}
