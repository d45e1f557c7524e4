//! `cargo xtask licences`: under which terms the packages that we depend on come, which of them are
//! there twice, and how many there are.
//!
//! `deny.toml` at the root has the rules, in the form that the program cargo-deny reads, so that it
//! can be used as well. It is not used here because a check that everybody runs must not need a
//! program that has to be installed first, and because these three questions are short ones.

mod graph;
mod rules;
mod spdx;

use crate::failed::Failed;
use crate::place;
use crate::process::Process;
use crate::say;
use graph::Graph;
use rules::Rules;

const RULES: &str = "deny.toml";
/// What is released is built for this; packages for other systems are not ours to judge.
const METADATA: &str =
    "cargo metadata --format-version 1 --locked --filter-platform x86_64-unknown-linux-gnu";
/// Most packages that the default build of `mast` may consist of: each is somebody to trust.
const PACKAGES_MAX: usize = 350;

/// Checks the present dependencies against the rules.
pub(crate) fn run() -> Result<(), Failed> {
    let rules =
        Rules::parse(&place::read(RULES)?).map_err(|what| Failed::File { file: RULES.to_owned(), what })?;
    let metadata = Process::new(METADATA);
    let graph = Graph::parse(&metadata.answer()?)
        .map_err(|what| Failed::Answer { command: metadata.line(), what })?;
    let built = graph.reached_from("mast").len();
    let mut faults = faults(&rules, &graph);
    if built > PACKAGES_MAX {
        faults.push(format!("the default build has {built} packages, the bound is {PACKAGES_MAX}"));
    }
    say::line(&format!("{} packages, {built} of them in the default build", graph.packages.len()));
    for fault in &faults {
        say::line(fault);
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(Failed::Found { what: format!("{} faults against {RULES}", faults.len()) })
}

/// What is against the rules, one line each, in a fixed order.
fn faults(rules: &Rules, graph: &Graph) -> Vec<String> {
    let mut faults = Vec::new();
    for package in &graph.packages {
        let Some(licence) = &package.licence else {
            faults.push(format!("{} states no licence", package.name));
            continue;
        };
        match spdx::holds(licence, |id| rules.allows(&package.name, id)) {
            Some(true) => {}
            Some(false) => faults.push(format!("{}: `{licence}` is not allowed", package.name)),
            None => faults.push(format!("{}: `{licence}` is not a licence expression", package.name)),
        }
    }
    let twice = graph.twice();
    for (name, versions) in &twice {
        if !rules.duplicates.contains(name) {
            faults.push(format!("{name} is there more than once: {}", versions.join(", ")));
        }
    }
    for name in rules.duplicates.iter().filter(|name| !twice.contains_key(*name)) {
        faults.push(format!("{name} is there only once: take it out of {RULES}"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0"]
        [[licenses.exceptions]]
        crate = "css"
        allow = ["MPL-2.0"]
        reason = "used as it is"
        [bans]
        multiple-versions = "deny"
        skip = [{ crate = "once", reason = "was there twice" }]
    "#;

    fn metadata(packages: &[(&str, &str, Option<&str>)]) -> Graph {
        let packages: Vec<serde_json::Value> = packages
            .iter()
            .map(|(name, version, licence)| {
                serde_json::json!({ "id": format!("{name}@{version}"), "name": name, "version": version,
                    "license": licence, "source": "registry" })
            })
            .collect();
        let value = serde_json::json!({ "packages": packages, "resolve": { "nodes": [] } });
        Graph::parse(&value.to_string()).unwrap()
    }

    #[test]
    fn each_kind_of_fault_is_found() {
        let graph = metadata(&[
            ("good", "1.0.0", Some("GPL-3.0 OR MIT")),
            ("css", "1.0.0", Some("MPL-2.0")),
            ("bad", "1.0.0", Some("MPL-2.0")),
            ("silent", "1.0.0", None),
            ("odd", "1.0.0", Some("MIT AND (")),
            ("two", "1.0.0", Some("MIT")),
            ("two", "2.0.0", Some("MIT")),
            ("once", "1.0.0", Some("MIT")),
        ]);
        let rules = Rules::parse(SAMPLE).unwrap();
        assert_eq!(
            faults(&rules, &graph),
            [
                "bad: `MPL-2.0` is not allowed",
                "silent states no licence",
                "odd: `MIT AND (` is not a licence expression",
                "two is there more than once: 1.0.0, 2.0.0",
                "once is there only once: take it out of deny.toml",
            ]
        );
    }

    #[test]
    fn the_rules_of_this_repository_are_well_formed() {
        Rules::parse(&place::read(RULES).unwrap()).unwrap();
    }
}
