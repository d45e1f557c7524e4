//! Short functions, files, traits and records, so that any of them can be read in one go.

use super::Finding;
use super::token::{Token, braces, code_lines, functions, starts};
use super::tree::{Rust, Tree};

/// Lines of code of a function's body; comments and empty lines are free.
const FUNCTION_LINES_MAX: usize = 70;
/// Lines of a file before its tests. Beyond it an exception is needed.
const FILE_LINES_MAX: usize = 400;
/// Lines of a file before its tests that no exception covers.
const FILE_LINES_HARD_MAX: usize = 500;
/// Lines of a crate's `lib.rs` before its tests: it is a map.
const LIB_LINES_MAX: usize = 100;
/// Required methods of a public trait.
const METHODS_MAX: usize = 5;
/// Fields of a struct.
const FIELDS_MAX: usize = 10;

/// Records that a page defines: they have the fields that it lists, each with its crate.
const RECORDS: &[(&str, &str)] = &[
    ("kernel", "Approval"),
    ("kernel", "Event"),
    ("kernel", "GrantTerms"),
    ("kernel", "Receipt"),
    ("kernel", "ToolSpec"),
    ("store", "ApprovalRow"),
    ("store", "CallRow"),
    ("store", "GrantRow"),
    ("store", "RunRow"),
];

/// What is too long or too wide.
pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rust in tree.rust() {
        let text = tree.text(&rust.path).unwrap_or_default();
        if !rust.test {
            findings.extend(of_file(rust, text));
        }
        findings.extend(of_functions(rust));
        findings.extend(of_lib(rust));
        if rust.is_product() {
            findings.extend(of_traits(rust));
            findings.extend(of_structs(rust));
        }
    }
    findings
}

fn of_file(rust: &Rust, text: &str) -> Vec<Finding> {
    let all = text.lines().count();
    let is_tests = |at: &usize| rust.tokens[*at].test && starts(&rust.tokens, *at, "mod");
    let tests = (0..rust.tokens.len()).find(is_tests).map(|at| rust.tokens[at].line.saturating_sub(2));
    let lines = tests.unwrap_or(all).min(all);
    let bound = if is_lib(rust) { LIB_LINES_MAX } else { FILE_LINES_MAX };
    let what = match lines {
        lines if lines > FILE_LINES_HARD_MAX => format!("much too long: {lines} lines before its tests"),
        lines if lines > bound => format!("too long: {lines} lines before its tests, {bound} is the bound"),
        _ => return Vec::new(),
    };
    vec![Finding::new(&rust.path, 0, what)]
}

fn is_lib(rust: &Rust) -> bool {
    rust.path.starts_with("crates/") && rust.path.ends_with("/src/lib.rs")
}

fn of_functions(rust: &Rust) -> Vec<Finding> {
    let long = functions(&rust.tokens).into_iter().filter_map(|function| {
        let lines = code_lines(&rust.tokens[function.body.clone()]);
        let what = format!("`{}` is too long: {lines} lines of code", function.name);
        (lines > FUNCTION_LINES_MAX).then(|| Finding::new(&rust.path, function.line, what))
    });
    long.collect()
}

/// A crate opens with what it is for, and its `lib.rs` is a map: it has no code of its own.
fn of_lib(rust: &Rust) -> Vec<Finding> {
    if !is_lib(rust) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    if !starts(&rust.tokens, 0, "# ! [ doc =") {
        findings.push(Finding::new(&rust.path, 1, "a crate opens with its documentation (`//!`)"));
    }
    for function in functions(&rust.tokens).into_iter().filter(|function| !function.test) {
        let what = format!("`{}` stands in a map: give it a module", function.name);
        findings.push(Finding::new(&rust.path, function.line, what));
    }
    findings
}

fn of_traits(rust: &Rust) -> Vec<Finding> {
    let mut findings = Vec::new();
    for at in items(&rust.tokens, "trait") {
        let Some(body) = braces(&rust.tokens, at) else { continue };
        let level = rust.tokens[at].depth + 1;
        let method = |place: &usize| rust.tokens[*place].depth == level && starts(&rust.tokens, *place, "fn");
        let required = body.filter(method).filter(|place| braces(&rust.tokens, *place).is_none()).count();
        if required > METHODS_MAX {
            let what = format!("`{}` requires {required} methods", rust.tokens[at + 1].text);
            findings.push(Finding::new(&rust.path, rust.tokens[at].line, what));
        }
    }
    findings
}

fn of_structs(rust: &Rust) -> Vec<Finding> {
    let mut findings = Vec::new();
    for at in items(&rust.tokens, "struct") {
        let name = &rust.tokens[at + 1].text;
        let Some(body) =
            braces(&rust.tokens, at).filter(|_| !RECORDS.contains(&(rust.house(), name.as_str())))
        else {
            continue;
        };
        let level = rust.tokens[at].depth + 1;
        let fields = body
            .filter(|place| rust.tokens[*place].depth == level && rust.tokens[*place].text == ":")
            .count();
        if fields > FIELDS_MAX {
            findings.push(Finding::new(
                &rust.path,
                rust.tokens[at].line,
                format!("`{name}` has {fields} fields"),
            ));
        }
    }
    findings
}

/// The places of a keyword that opens an item of the product.
fn items<'a>(list: &'a [Token], keyword: &'a str) -> impl Iterator<Item = usize> + 'a {
    (0..list.len()).filter(move |at| !list[*at].test && starts(list, *at, keyword) && list.len() > at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{finds, holds};
    use expect_test::expect;

    #[test]
    fn everything_is_short() {
        holds(findings);
    }

    #[test]
    fn what_is_too_long_or_too_wide_is_seen() {
        let lines = |n: usize| "// a line\n".repeat(n);
        let body = |n: usize| format!("fn long() {{\n{}}}\n", "    a();\n\n    // free\n".repeat(n));
        let tests = "#[cfg(test)]\nmod tests {}\n";
        let wide = format!(
            "pub trait Wide {{ {} fn given() {{ a(); }} }}\nstruct Flat {{ {} }}\nstruct Ten {{ {} }}",
            "fn f();".repeat(6),
            "f: a::B<C>,".repeat(11),
            "f: u8,".repeat(10)
        );
        finds(
            findings,
            &[
                ("crates/a/src/just.rs", &(lines(400) + tests + &lines(300))),
                ("crates/a/src/long.rs", &(lines(401) + tests)),
                ("crates/a/src/huge.rs", &lines(501)),
                ("crates/a/src/lib.rs", &("//! Map.\n".to_owned() + &lines(100))),
                ("crates/b/src/lib.rs", "// Not documentation.\nfn work() {}"),
                ("crates/a/src/body70.rs", &body(70)),
                ("crates/a/src/body71.rs", &body(71)),
                ("crates/a/src/wide.rs", &wide),
                ("crates/a/tests/it/long.rs", &lines(900)),
            ],
            expect![[r#"
                crates/a/src/body71.rs:1: `long` is too long: 71 lines of code
                crates/a/src/huge.rs:0: much too long: 501 lines before its tests
                crates/a/src/lib.rs:0: too long: 101 lines before its tests, 100 is the bound
                crates/a/src/long.rs:0: too long: 401 lines before its tests, 400 is the bound
                crates/a/src/wide.rs:1: `Wide` requires 6 methods
                crates/a/src/wide.rs:2: `Flat` has 11 fields
                crates/b/src/lib.rs:1: a crate opens with its documentation (`//!`)
                crates/b/src/lib.rs:2: `work` stands in a map: give it a module
            "#]],
        );
    }
}
