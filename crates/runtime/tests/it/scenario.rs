//! Scenario folders: `user.txt` is what the user says, `script.yaml` what the model proposes, and
//! `journal.txt` what the journal then holds. A case needs no Rust: add a folder and bless it.

use std::fs;
use std::path::Path;

use expect_test::expect_file;
use mast_testkit::Story;

#[tokio::test]
async fn every_scenario_leaves_the_journal_that_is_written_beside_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut folders: Vec<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(folders.len() >= 8, "scenarios are missing");
    for folder in folders {
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let told = Story::new(&read("script.yaml")).says(read("user.txt").trim_end()).await;
        let answer = told.end.answer.as_deref().unwrap_or("(none)");
        let ended = format!("{}status {}\nanswer {answer}\n", told.journal, told.end.status);
        expect_file![folder.join("journal.txt")].assert_eq(&ended);
    }
}
