//! The message table against the source text of the whole product: no code without a row, and no row
//! without a code. Reading the source is cruder than a type, but a reason code crosses crates, journals
//! and the wire as text, and the text is what must be in the table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use mast_kernel::{message, scope};

/// Names of tools whose domain is called like a kind of reason code.
const TOOLS: &[&str] = &["run.assert"];

/// Rows whose part of Mast is yet to come. This list may only shrink.
const NOT_YET: &[&str] = &["run.deadline_exceeded", "tool.loop_detected"];

/// How long [`NOT_YET`] may be; lowered whenever a row leaves it.
const N_NOT_YET_MAX: usize = 2;

/// First segments of reason codes.
const FAMILIES: &[&str] = &["approval", "policy", "run", "tool"];

/// Where the table itself is.
const TABLE_FILES: &str = "kernel/src/message";

/// Where the names of the journal's events are.
const EVENT_FILES: &str = "kernel/src/event";

/// Where a name of two segments is a key of the configuration or the type of a printed line.
const SURFACE_FILES: &[&str] = &["cli/src", "server/src", "mcp/src"];

fn crates_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every Rust file of the product below `folder`.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The part of a file that is in the product: what stands before its tests, without comments.
fn product_text(source: &str) -> String {
    let before_tests = source.split("#[cfg(test)]").next().unwrap_or_default();
    let code = before_tests.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

/// The string literals that are dotted names of one of the families.
fn dotted_names(text: &str) -> BTreeSet<String> {
    let is_segment =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    text.split('"')
        .filter(|literal| literal.contains('.') && literal.split('.').all(is_segment))
        .filter(|literal| FAMILIES.contains(&literal.split('.').next().unwrap_or_default()))
        .map(str::to_owned)
        .collect()
}

/// Every such name in the product, with one file that has it; and those that name other things.
fn names_in_product() -> (BTreeMap<String, PathBuf>, BTreeSet<String>) {
    let root = crates_folder();
    let mut codes = BTreeMap::new();
    let mut others: BTreeSet<String> = scope::PLATFORM.iter().map(|text| (*text).to_owned()).collect();
    others.insert("tool.call".to_owned());
    for member in fs::read_dir(&root).unwrap() {
        let folder = member.unwrap().path().join("src");
        if !folder.is_dir() {
            continue;
        }
        let mut files = Vec::new();
        sources(&folder, &mut files);
        for file in files {
            let place = file.strip_prefix(&root).unwrap().to_owned();
            for name in dotted_names(&product_text(&fs::read_to_string(&file).unwrap())) {
                let below = |folder: &str| place.to_string_lossy().starts_with(folder);
                let is_short = name.split('.').count() == 2;
                if below(EVENT_FILES) || (is_short && SURFACE_FILES.iter().any(|folder| below(folder))) {
                    others.insert(name);
                } else if !below(TABLE_FILES) {
                    codes.insert(name, place.clone());
                }
            }
        }
    }
    (codes, others)
}

#[test]
fn gate_builtin_message_table() {
    let (names, others) = names_in_product();
    assert!(
        names.len() > 30 && others.contains("tool.call.started"),
        "the walk found too little to mean anything"
    );
    let rowless: Vec<String> = names
        .iter()
        .filter(|(name, _)| message::lookup(name).is_none() && !others.contains(*name))
        .filter(|(name, _)| !TOOLS.contains(&name.as_str()))
        .map(|(name, file)| format!("{name} in {}", file.display()))
        .collect();
    assert!(rowless.is_empty(), "no row in kernel/src/message/table.rs: {rowless:#?}");

    let unused: Vec<&str> =
        message::TABLE.iter().map(|entry| entry.code).filter(|code| !names.contains_key(*code)).collect();
    let unexpected: Vec<&&str> = unused.iter().filter(|code| !NOT_YET.contains(code)).collect();
    assert!(unexpected.is_empty(), "rows that nothing says: {unexpected:#?}");
    let settled: Vec<&&str> = NOT_YET.iter().filter(|code| !unused.contains(code)).collect();
    assert!(settled.is_empty(), "said by now, so take them out of NOT_YET and lower its bound: {settled:#?}");
    assert!(NOT_YET.len() <= N_NOT_YET_MAX, "NOT_YET may only shrink");
}

#[test]
fn the_walk_sees_codes_and_passes_over_tests_and_comments() {
    let source = "
        //! \"tool.in.a_doc\"
        fn f() -> &'static str { g(\"policy.turn.not_offered\"); \"tool.run_cancelled\" }
        // \"tool.in.a_comment\"
        const NAME: &str = \"math.calculate\"; const TEXT: &str = \"run. now\"; const N: &str = \"tool.{kind}.x\";
        #[cfg(test)]
        mod tests { const FAKE: &str = \"tool.in.a_test\"; }
    ";
    let names: Vec<String> = dotted_names(&product_text(source)).into_iter().collect();
    assert_eq!(names, ["policy.turn.not_offered", "tool.run_cancelled"]);
}

#[test]
fn the_page_of_reason_codes_is_written_from_the_table() {
    let mut page = String::from(
        "# Reason codes\n\nWritten from the table in `kernel::message` by a test; see [messages](messages.md).\n\n\
         | code | what is said | again? | remedy |\n|---|---|---|---|\n",
    );
    for message::Entry { code, message, retryable, remediation } in message::TABLE {
        let again = if *retryable { "yes" } else { "no" };
        writeln!(page, "| `{code}` | {message} | {again} | {remediation} |").unwrap();
    }
    expect_test::expect_file!["../../../../docs/spec/reason-codes.md"].assert_eq(&page);
}
