//! Effects only where the architecture puts them: nothing but the places below reads a clock, the
//! environment or randomness, starts a process, touches a file, prints, or runs a tool.
//!
//! clippy knows the first few by path, but not that one crate may what another may not.

use super::Finding;
use super::token::{Token, functions, starts};
use super::tree::{Rust, Tree};

/// Tokens that only some places may have, parted by spaces.
struct Ban {
    tokens: &'static str,
    /// Beginnings of paths.
    only: &'static [&'static str],
    instead: &'static str,
}

const fn ban(tokens: &'static str, only: &'static [&'static str], instead: &'static str) -> Ban {
    Ban { tokens, only, instead }
}

const CLOCK: &[&str] = &["crates/runtime/src/clock.rs"];
const ENVIRONMENT: &[&str] = &["crates/cli/src/"];
const PROCESS: &[&str] = &["crates/sandbox/src/"];
const PRINT: &[&str] = &["crates/cli/src/output.rs", "crates/cli/src/output/"];
const GATE: &[&str] = &["crates/runtime/src/gate.rs", "crates/runtime/src/gate/"];
/// Where files are Mast's own, not a tool's.
const FILES: &[&str] = &["crates/sandbox/src/", "crates/store/src/", "crates/cli/src/"];

const BANS: &[Ban] = &[
    ban("SystemTime :: now", CLOCK, "take a Clock"),
    ban("Instant :: now", CLOCK, "take a Clock"),
    ban("Utc :: now", CLOCK, "take a Clock"),
    ban("Timestamp :: now", CLOCK, "take a Clock"),
    ban("Zoned :: now", CLOCK, "take a Clock"),
    ban("TimeZone :: system", CLOCK, "take a zone"),
    ban("getrandom ::", CLOCK, "take an id source"),
    ban("rand ::", CLOCK, "take an id source"),
    ban("Uuid :: new_v4", CLOCK, "take an id source"),
    ban("Uuid :: now_v7", CLOCK, "take an id source"),
    ban("RandomState", CLOCK, "use an ordered map"),
    ban("env :: var", ENVIRONMENT, "take the value"),
    ban("env :: var_os", ENVIRONMENT, "take the value"),
    ban("env :: vars", ENVIRONMENT, "take the values"),
    ban("env :: vars_os", ENVIRONMENT, "take the values"),
    ban("env :: home_dir", ENVIRONMENT, "take the path"),
    ban("env :: current_dir", ENVIRONMENT, "take the path"),
    ban("env :: temp_dir", ENVIRONMENT, "take the path"),
    ban("env :: args", ENVIRONMENT, "take the values"),
    ban("env :: set_var", &[], "pass the value"),
    ban("Command :: new", PROCESS, "only sandbox starts processes"),
    ban("unsafe", PROCESS, "only sandbox holds unsafe code"),
    ban("fs ::", FILES, "tools reach files through the workspace"),
    ban("println !", PRINT, "only cli's output module prints"),
    ban("print !", PRINT, "only cli's output module prints"),
    ban("eprintln !", PRINT, "only cli's output module prints"),
    ban("eprint !", PRINT, "only cli's output module prints"),
    ban("io :: stdout", PRINT, "only cli's output module prints"),
    ban("io :: stderr", PRINT, "only cli's output module prints"),
    ban("claim (", GATE, "only the gate claims"),
    ban("unbounded_channel", &[], "everything has a bound"),
    ban("unbounded (", &[], "everything has a bound"),
    ban("sync :: mpsc :: channel (", &[], "everything has a bound: give it a capacity"),
];

/// Words that begin a statement of SQL, each with a word that must follow somewhere in the text.
const SQL: &[(&str, &str)] = &[
    ("SELECT ", " FROM "),
    ("INSERT INTO ", "VALUES"),
    ("UPDATE ", " SET "),
    ("DELETE FROM ", ""),
    ("CREATE TABLE ", ""),
    ("PRAGMA ", ""),
];

/// Product code outside its place.
pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rust in tree.rust().filter(|rust| rust.is_product()) {
        findings.extend(of_tokens(rust));
        if !rust.path.starts_with("crates/store/") {
            findings.extend(of_sql(rust));
        }
    }
    findings.extend(permits(tree));
    findings
}

fn of_tokens(rust: &Rust) -> Vec<Finding> {
    let mut findings = Vec::new();
    let bans: Vec<&Ban> =
        BANS.iter().filter(|ban| !ban.only.iter().any(|place| rust.path.starts_with(place))).collect();
    for (at, token) in rust.tokens.iter().enumerate().filter(|(_, token)| !token.test) {
        let defined = at > 0 && starts(&rust.tokens, at - 1, "fn");
        for ban in bans.iter().filter(|ban| !defined && starts(&rust.tokens, at, ban.tokens)) {
            let what = format!("`{}` has no place here: {}", ban.tokens.replace(' ', ""), ban.instead);
            findings.push(Finding::new(&rust.path, token.line, what));
        }
    }
    findings
}

fn of_sql(rust: &Rust) -> Vec<Finding> {
    let is_sql = |token: &&Token| {
        let text = token.text.trim_start_matches(['r', '#', '"', ' ', '\n']);
        SQL.iter().any(|(first, then)| text.starts_with(first) && text.contains(then))
    };
    let is_documentation = |at: usize| at > 1 && starts(&rust.tokens, at - 2, "doc =");
    let literals =
        rust.tokens.iter().enumerate().filter(|(at, token)| token.literal && !is_documentation(*at));
    let product = literals.map(|(_, token)| token).filter(|token| !token.test);
    product.filter(is_sql).map(|token| Finding::new(&rust.path, token.line, "SQL outside store")).collect()
}

/// A permit is issued in one function of the kernel and nowhere else.
fn permits(tree: &Tree) -> Vec<Finding> {
    let mut places = Vec::new();
    for rust in tree.rust().filter(|rust| rust.is_product()) {
        for function in functions(&rust.tokens).into_iter().filter(|function| !function.test) {
            let mut body = function.body.clone();
            if body.any(|at| starts(&rust.tokens, at, "Permit :: issue (")) {
                places.push((rust, function));
            }
        }
    }
    let outside = places
        .iter()
        .filter(|(rust, _)| rust.house() != "kernel")
        .map(|(rust, function)| Finding::new(&rust.path, function.line, "a permit is issued outside kernel"));
    let second =
        places.iter().filter(|(rust, _)| rust.house() == "kernel").skip(1).map(|(rust, function)| {
            Finding::new(
                &rust.path,
                function.line,
                format!("`{}` issues permits too; one function does", function.name),
            )
        });
    outside.chain(second).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{finds, holds};
    use expect_test::expect;

    #[test]
    fn effects_are_where_the_architecture_puts_them() {
        holds(findings);
    }

    #[test]
    fn an_effect_elsewhere_is_seen() {
        finds(
            findings,
            &[
                (
                    "crates/tools/src/a.rs",
                    "fn f() {\n std::env::var(\"X\");\n println!(\"{}\", std::time::SystemTime::now());\n\
                     // SystemTime::now()\n let text = \"env::var\";\n std::fs::read(text); }\n\
                     #[cfg(test)] mod tests { fn g() { println!(); } }\nfn h() { Command::new(1); }",
                ),
                ("crates/cli/src/main.rs", "fn f() { std::env::var(1);\n println!(); }"),
                ("crates/cli/src/output.rs", "fn f() { println!(); }"),
                (
                    "crates/runtime/src/run_loop.rs",
                    "fn f() { kernel::claim(log, permit);\n store.claim(x); }",
                ),
                ("crates/runtime/src/gate.rs", "fn f() { claim(log, permit); }"),
                ("crates/kernel/src/permit.rs", "pub fn claim(x: u8) {}"),
                ("crates/store/src/sqlite.rs", "const ALL: &str = \"SELECT * FROM runs\";"),
                (
                    "crates/runtime/src/db.rs",
                    "/// SELECT a tool FROM the list.\nconst ALL: &str = \"\n  SELECT * FROM runs\";\n\
                     const HINT: &str = \"SELECT one\";",
                ),
                ("crates/tools/tests/it/main.rs", "fn f() { println!(); std::fs::read(1); }"),
            ],
            expect![[r#"
                crates/cli/src/main.rs:2: `println!` has no place here: only cli's output module prints
                crates/runtime/src/db.rs:2: SQL outside store
                crates/runtime/src/run_loop.rs:1: `claim(` has no place here: only the gate claims
                crates/runtime/src/run_loop.rs:2: `claim(` has no place here: only the gate claims
                crates/tools/src/a.rs:2: `env::var` has no place here: take the value
                crates/tools/src/a.rs:3: `println!` has no place here: only cli's output module prints
                crates/tools/src/a.rs:3: `SystemTime::now` has no place here: take a Clock
                crates/tools/src/a.rs:6: `fs::` has no place here: tools reach files through the workspace
                crates/tools/src/a.rs:8: `Command::new` has no place here: only sandbox starts processes
            "#]],
        );
    }

    #[test]
    fn a_second_place_that_issues_permits_is_seen() {
        finds(
            findings,
            &[
                ("crates/kernel/src/permit.rs", "impl Permit { fn issue(x: u8) {} }"),
                ("crates/kernel/src/policy.rs", "fn decide() { Permit::issue(1); }"),
                ("crates/kernel/src/run.rs", "fn shortcut() { Permit::issue(1); }"),
                ("crates/runtime/src/gate.rs", "fn force() { Permit::issue(1); }"),
            ],
            expect![[r#"
                crates/runtime/src/gate.rs:1: a permit is issued outside kernel
                crates/kernel/src/run.rs:1: `shortcut` issues permits too; one function does
            "#]],
        );
    }
}
