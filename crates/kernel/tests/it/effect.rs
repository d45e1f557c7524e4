//! How far an effect is known: what of later looks proves something, and what does not.

use expect_test::{Expect, expect};
use mast_kernel::effect::{EffectState, states};
use mast_kernel::instant::Instant;
use mast_kernel::limits::ABSENCE_LOOKS_MIN;

use crate::record::record;

/// The state of each line's effect.
fn check(lines: &str, expect: &Expect) {
    let told = |(at, state, why): (usize, EffectState, String)| {
        format!("{} {state}: {why}\n", lines.trim().lines().nth(at).unwrap().trim())
    };
    expect.assert_eq(&states(&record(lines)).into_iter().map(told).collect::<String>());
}

#[test]
fn a_report_of_success_is_executed_and_a_later_look_may_make_it_more() {
    check(
        "write a.txt =1",
        &expect![[r#"
        write a.txt =1 executed: nobody looked at it afterwards
    "#]],
    );
    check(
        "write a.txt =1\nread a.txt =1",
        &expect![[r#"
        write a.txt =1 verified: it was read back whole, and it is what was written
        read a.txt =1 observed: it was read whole, and nothing changed it since
    "#]],
    );
    check(
        "write a.txt =1\nread a.txt",
        &expect![[r#"
        write a.txt =1 observed: it was looked at whole afterwards
        read a.txt observed: it was read whole, and nothing changed it since
    "#]],
    );
    check(
        "write a.txt =1\nread a.txt =2",
        &expect![[r#"
        write a.txt =1 unverified: it was read back whole, and it is something else
        read a.txt =2 observed: it was read whole, and nothing changed it since
    "#]],
    );
}

#[test]
fn a_look_before_the_effect_proves_nothing_of_it() {
    check(
        "read a.txt =1\nwrite a.txt =1",
        &expect![[r#"
        read a.txt =1 executed: workspace.write changed it, or may have, after it was read
        write a.txt =1 executed: nobody looked at it afterwards
    "#]],
    );
}

#[test]
fn a_look_that_began_while_the_effect_went_on_proves_nothing() {
    let mut record = record("write a.txt =1\nread a.txt =1");
    record[1].started_at = record[0].started_at;
    record[1].completed_at = record[0].completed_at.map(|end| Instant::from_micros(end.micros() + 5));
    assert_eq!(states(&record)[0].1, EffectState::Executed);
}

#[test]
fn a_look_at_another_thing_proves_nothing() {
    check(
        "write a.txt =1\nread b.txt =1\nread sub/a.txt =1",
        &expect![[r#"
        write a.txt =1 executed: nobody looked at it afterwards
        read b.txt =1 observed: it was read whole, and nothing changed it since
        read sub/a.txt =1 observed: it was read whole, and nothing changed it since
    "#]],
    );
    check(
        "write ./a.txt =1\nread a.txt =1",
        &expect![[r#"
        write ./a.txt =1 verified: it was read back whole, and it is what was written
        read a.txt =1 observed: it was read whole, and nothing changed it since
    "#]],
    );
}

#[test]
fn a_part_proves_no_whole() {
    check(
        "write a.txt =1\nread a.txt =1 part",
        &expect![[r#"
        write a.txt =1 executed: only a part of it was looked at afterwards
        read a.txt =1 part executed: only a part was read
    "#]],
    );
    check(
        "read a.txt part",
        &expect![[r#"
        read a.txt part executed: only a part was read
    "#]],
    );
}

#[test]
fn a_later_change_makes_what_was_seen_stale() {
    check(
        "write a.txt =1\nread a.txt =1\nedit a.txt =2",
        &expect![[r#"
        write a.txt =1 executed: workspace.edit changed it, or may have, afterwards
        read a.txt =1 executed: workspace.edit changed it, or may have, after it was read
        edit a.txt =2 executed: nobody looked at it afterwards
    "#]],
    );
    check(
        "read a.txt\nrun make",
        &expect![[r#"
            read a.txt executed: sandbox.run changed it, or may have, after it was read
            run make executed: it ended well; it does not say what it changed
        "#]],
    );
    check(
        "read sub/a.txt\ndelete sub",
        &expect![[r#"
        read sub/a.txt executed: workspace.delete changed it, or may have, after it was read
        delete sub executed: nobody looked whether it is gone
    "#]],
    );
    check(
        "read a.txt\nwrite b.txt\nsend anna",
        &expect![[r#"
        read a.txt observed: it was read whole, and nothing changed it since
        write b.txt executed: nobody looked at it afterwards
        send anna unverified: the other side said yes; nobody here can look whether it is so
    "#]],
    );
    check(
        "read a.txt\nwrite a.txt denied",
        &expect![[r#"
        read a.txt observed: it was read whole, and nothing changed it since
        write a.txt denied intended: it was asked for and never begun
    "#]],
    );
    check(
        "read a.txt\nwrite a.txt uncertain",
        &expect![[r#"
        read a.txt executed: workspace.write changed it, or may have, after it was read
        write a.txt uncertain unknown: nobody knows whether it happened
    "#]],
    );
}

#[test]
fn that_something_is_gone_takes_more_than_one_look() {
    assert_eq!(ABSENCE_LOOKS_MIN, 2);
    check(
        "delete a.txt",
        &expect![[r#"
        delete a.txt executed: nobody looked whether it is gone
    "#]],
    );
    check(
        "delete a.txt\nread a.txt missing",
        &expect![[r#"
        delete a.txt observed: one look did not find it, which is too little
        read a.txt missing executed: it failed, and it changes nothing
    "#]],
    );
    check(
        "delete a.txt\nread a.txt missing\nread a.txt missing",
        &expect![[r#"
            delete a.txt verified: looks afterwards did not find it
            read a.txt missing executed: it failed, and it changes nothing
            read a.txt missing executed: it failed, and it changes nothing
        "#]],
    );
    check(
        "delete a.txt\nread a.txt missing\nread a.txt",
        &expect![[r#"
        delete a.txt unverified: a later look found it
        read a.txt missing executed: it failed, and it changes nothing
        read a.txt observed: it was read whole, and nothing changed it since
    "#]],
    );
    check(
        "delete a.txt\nread a.txt missing part\nread a.txt missing part",
        &expect![[r#"
        delete a.txt executed: nobody looked whether it is gone
        read a.txt missing part executed: it failed, and it changes nothing
        read a.txt missing part executed: it failed, and it changes nothing
    "#]],
    );
    check(
        "delete a.txt\nread a.txt failed\nread a.txt failed",
        &expect![[r#"
        delete a.txt executed: nobody looked whether it is gone
        read a.txt failed executed: it failed, and it changes nothing
        read a.txt failed executed: it failed, and it changes nothing
    "#]],
    );
    check(
        "write a.txt =1\nread a.txt missing",
        &expect![[r#"
        write a.txt =1 unverified: a later look did not find it
        read a.txt missing executed: it failed, and it changes nothing
    "#]],
    );
}

#[test]
fn what_lies_outside_ends_as_unverified_and_is_said_to_be_so() {
    check(
        "send anna",
        &expect![[r#"
        send anna unverified: the other side said yes; nobody here can look whether it is so
    "#]],
    );
    check(
        "send anna\nread anna",
        &expect![[r#"
        send anna unverified: the other side said yes; nobody here can look whether it is so
        read anna observed: it was read whole, and nothing changed it since
    "#]],
    );
}

#[test]
fn what_was_not_begun_is_intended_and_what_nobody_knows_is_unknown() {
    check(
        "write a.txt denied\nwrite a.txt unbegun\nsend anna uncertain\nwrite b.txt failed\nread b.txt failed",
        &expect![[r#"
            write a.txt denied intended: it was asked for and never begun
            write a.txt unbegun intended: it was asked for and never begun
            send anna uncertain unknown: nobody knows whether it happened
            write b.txt failed unknown: it failed after it had begun, so part of it may have happened
            read b.txt failed executed: it failed, and it changes nothing
        "#]],
    );
    check(
        "calculate",
        &expect![[r#"
        calculate observed: its result is on record
    "#]],
    );
}
