//! The policy as one checked-in table: every side effect in every mode, with and without the scope, at
//! every sensitivity and under every origin, with everything else in favour of the call. The table is
//! written by the test and read by people; what is not in it, or stands in it twice, is a fault.

use std::collections::BTreeSet;

use mast_kernel::policy::Ruling;
use mast_kernel::resource::Resource;
use mast_kernel::run::Mode;
use mast_kernel::spec::{Egress, SideEffect};
use mast_kernel::trust::{Sensitivity, Trust};

use crate::policy::World;

const TABLE: &str = include_str!("policy_table.txt");

/// Whether a tool of this class can carry text of the model's making away.
fn sends(effect: SideEffect) -> bool {
    matches!(
        effect,
        SideEffect::NetworkRead
            | SideEffect::SandboxNetwork
            | SideEffect::ExternalMessage
            | SideEffect::ExternalWrite
            | SideEffect::ExternalDelete
            | SideEffect::Financial
            | SideEffect::Publication
    )
}

type Row = (SideEffect, Mode, bool, Sensitivity);

/// Every combination besides the origin, which is the column.
fn rows() -> impl Iterator<Item = Row> {
    let modes = |effect| Mode::ALL.iter().map(move |mode| (effect, *mode));
    let scopes = |(effect, mode)| [true, false].into_iter().map(move |held| (effect, mode, held));
    let sensitivities = |(effect, mode, held)| {
        Sensitivity::ALL.into_iter().map(move |sensitivity| (effect, mode, held, sensitivity))
    };
    SideEffect::ALL.iter().copied().flat_map(modes).flat_map(scopes).flat_map(sensitivities)
}

fn decide((effect, mode, held, sensitivity): Row, trust: Trust) -> Ruling {
    let world = World::of(effect).label(trust, sensitivity).with(|world| {
        world.mode = mode;
        if !held {
            world.scopes.clear();
        }
        if sends(effect) {
            world.spec.egress = Egress::Composed;
        }
        if effect == SideEffect::NetworkRead {
            world.resources = vec![Resource::Host { host: "ok.example".into(), handle: false }];
        }
    });
    world.decide().0
}

fn title((effect, mode, held, sensitivity): Row) -> String {
    let scope = if held { "held" } else { "missing" };
    format!("{effect:<17} {mode:<8} {scope:<7} {:<7}", sensitivity.as_str())
}

fn header() -> String {
    let columns: Vec<&str> = Trust::ALL.iter().map(|trust| trust.as_str()).collect();
    format!("{:<42} {}\n", "effect            mode     scope   in reach", columns.join(" "))
}

/// What is wrong with a table: combinations that are not listed, listed twice, or that are none.
fn coverage(table: &str) -> Vec<String> {
    let mut wanted: BTreeSet<String> = rows().map(title).collect();
    let mut faults = Vec::new();
    for line in table.lines().skip(1) {
        let (key, cells) = line.split_at_checked(42).unwrap_or((line, ""));
        if !wanted.remove(key) {
            faults.push(format!("not wanted: {line}"));
        }
        let n_rulings = cells.split_whitespace().filter(|cell| Ruling::from_wire(cell).is_some()).count();
        if n_rulings != Trust::ALL.len() {
            faults.push(format!("not a ruling for every origin: {line}"));
        }
    }
    faults.extend(wanted.into_iter().map(|key| format!("not listed: {key}")));
    faults
}

#[test]
fn gate_policy_1_every_combination_is_listed_and_decided_as_listed() {
    let mut table = header();
    for row in rows() {
        let cells: Vec<&str> = Trust::ALL.iter().map(|trust| decide(row, *trust).as_str()).collect();
        table += &format!("{} {}\n", title(row), cells.join(" "));
    }
    expect_test::expect_file!["policy_table.txt"].assert_eq(&table);
    assert_eq!(coverage(TABLE), Vec::<String>::new());
    assert_eq!(rows().count() * Trust::ALL.len(), 15 * 3 * 2 * 3 * 7);
}

#[test]
fn gate_policy_1_a_row_that_is_removed_or_strange_is_seen() {
    let row = title((SideEffect::Financial, Mode::Act, true, Sensitivity::Private));
    let line = TABLE.lines().find(|line| line.starts_with(&row)).unwrap();
    let removed = TABLE.replace(&format!("{line}\n"), "");
    assert_eq!(coverage(&removed), [format!("not listed: {row}")]);
    let twice = format!("{TABLE}{line}\n");
    assert_eq!(coverage(&twice), [format!("not wanted: {line}")]);
    let strange = TABLE.replacen("financial ", "gambling  ", 1);
    assert_eq!(coverage(&strange).len(), 2);
    let undecided = TABLE.replace(line, line.strip_suffix("ask").unwrap());
    assert_eq!(coverage(&undecided).len(), 1);
}
