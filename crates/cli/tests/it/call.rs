//! `mast call`: one call, many calls, and what a caller may bring along.

use expect_test::expect;
use serde_json::{Value, json};

use crate::world::World;

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn one_call_prints_its_content() {
    let world = World::new();
    world.check(
        &["call", "math.calculate", r#"{"expression":"17 * 23"}"#],
        &expect![[r#"
        exit 0
        --- stdout
        391
        --- stderr
    "#]],
    );
    world.check(
        &["call", "math.calculate", r#"{"expression":"17 * 23"}"#, "--json"],
        &expect![[r#"
        exit 0
        --- stdout
        {"ok":true,"structured":{"result":"391","result_exact":true,"expression":"17 * 23"},"content":"391"}
        --- stderr
    "#]],
    );
    world.check(&["call", "math.calculate", r#"{"expression":"17 *"}"#], &expect![[r#"
        exit 1
        --- stdout
        --- stderr
        mast: math.calculate failed (tool.invalid_arguments.syntax): The expression could not be parsed.   see: mast tools show math.calculate
    "#]]);
    world.check(&["call", "math.calculate", r#"{"expression":"17 *"}"#, "--json"], &expect![[r#"
        exit 1
        --- stdout
        {"ok":false,"status":"failed","action":"math.calculate","reason_code":"tool.invalid_arguments.syntax","message":"The expression could not be parsed.","retryable":false,"remediation":"modify_arguments"}
        --- stderr
    "#]]);
}

#[test]
fn a_call_that_must_ask_suspends() {
    let world = World::new();
    let arguments = r#"{"destination":"ops","content":"hello"}"#;
    world.check(
        &["call", "demo.external_write", arguments],
        &expect![[r#"
        exit 3
        --- stdout
        --- stderr
        waiting · 1 ask: apr_ID demo.external_write to "ops" (expires HH:MM UTC)
          asks · writes outside this machine
          look: mast approvals show apr_ID
          allow: mast approvals approve apr_ID     refuse: mast approvals deny apr_ID
          then go on: mast runs resume run_ID
    "#]],
    );
    let ran = world.mast(&["call", "demo.external_write", arguments, "--json"]);
    assert_eq!((ran.code, lines(&ran.out)[0]["status"].as_str()), (3, Some("waiting_for_approval")));
}

#[test]
fn each_line_is_answered_in_order() {
    let world = World::new();
    let input = [
        r#"{"expression":"17 * 23"}"#,
        r#"{"expression":"#,
        r#"{"expression":"1/3"}"#,
        "",
        r#"{"expression":1}"#,
        r#"{"args":{"expression":"2^10"},"clock":"2020-01-01T00:00:00Z"}"#,
        r#"{"expression":"1 / 0"}"#,
    ];
    let ran = world.mast_reading(input.join("\n"), &["call", "math.calculate", "--stdin"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let told: Vec<Value> = lines(&ran.out)
        .iter()
        .map(|line| {
            if line["ok"] == true {
                line["structured"]["result"].clone()
            } else {
                line["reason_code"].clone()
            }
        })
        .collect();
    assert_eq!(
        told,
        [
            json!("391"),
            json!("tool.invalid_arguments.json"),
            json!("0.33333333333333333333333333333333333333333333333333"),
            json!("tool.invalid_arguments.json"),
            json!("tool.invalid_arguments.schema"),
            json!("1024"),
            json!("tool.invalid_arguments.division_by_zero"),
        ]
    );
}

#[test]
fn an_answer_has_exactly_these_fields() {
    let world = World::new();
    let ran = world.mast_reading("{\"expression\":\"1+1\"}\n{\n", &["call", "math.calculate", "--stdin"]);
    let keys: Vec<Vec<String>> =
        lines(&ran.out).iter().map(|line| line.as_object().unwrap().keys().cloned().collect()).collect();
    assert_eq!(keys[0], ["ok", "structured", "content"]);
    assert_eq!(keys[1], ["ok", "status", "action", "reason_code", "message", "retryable", "remediation"]);
}

#[test]
fn a_line_may_bring_its_own_clock() {
    let world = World::new();
    let input = r#"{"args":{"timezone":"UTC"},"clock":"1999-12-31T23:59:59Z"}"#;
    let ran = world.mast_reading(input, &["call", "system.current_time", "--stdin"]);
    assert!(lines(&ran.out)[0]["structured"].to_string().contains("1999-12-31T23:59:59"), "{}", ran.out);
    let fixed = [
        "call",
        "system.current_time",
        r#"{"timezone":"UTC"}"#,
        "--json",
        "--fixed-clock",
        "2001-02-03T04:05:06Z",
    ];
    assert!(world.mast(&fixed).out.contains("2001-02-03T04:05:06"));
}

#[test]
fn an_origin_can_only_be_lowered() {
    let world = World::new();
    let arguments = r#"{"expression":"1"}"#;
    assert_eq!(world.mast(&["call", "math.calculate", arguments, "--origin", "platform"]).code, 2);
    assert_eq!(world.mast(&["call", "math.calculate", arguments, "--origin", "external_untrusted"]).code, 0);
    let journal = world.mast(&["journal", "show", "latest"]).out;
    assert!(journal.contains("origin=external_untrusted"), "{journal}");
}

#[test]
fn lines_that_are_piped_in_are_nobodys_until_a_person_says_that_they_are_theirs() {
    let world = World::new();
    for (more, origin) in [
        (&[][..], "origin=external_untrusted"),
        (&["--origin", "user"][..], "origin=user"),
        (&["--origin", "knowledge"][..], "origin=knowledge"),
    ] {
        let called = [&["call", "math.calculate", "--stdin"][..], more].concat();
        let ran = world.mast_reading("{\"expression\":\"6*7\"}\n", &called);
        assert_eq!((ran.code, &lines(&ran.out)[0]["content"]), (0, &json!("42")), "{}", ran.err);
        let journal = world.mast(&["journal", "show", "latest"]).out;
        assert!(journal.contains(origin) && !journal.contains("approval."), "{journal}");
    }
    let ran = world.mast_reading(
        "{\"destination\":\"ops\",\"content\":\"hello\"}\n",
        &["call", "demo.external_write", "--stdin"],
    );
    let card = &lines(&ran.out)[0]["card"];
    assert_eq!((&card["origin"], &card["source"]), (&json!("external_untrusted"), &json!("piped")), "{card}");
}

#[test]
fn what_was_called_is_on_record() {
    let world = World::new();
    world.mast(&["call", "math.calculate", r#"{"expression":"1"}"#]);
    world.check(&["journal", "show", "latest"], &expect![[r#"
        exit 0
        --- stdout
           2  HH:MM:SS.mmm  run.queued                   provider=none model=none mode=act overlay=true
           3  HH:MM:SS.mmm  run.started                  provider=none model=none mode=act overlay=true
           4  HH:MM:SS.mmm  tool.call.proposed           tool=math.calculate idempotency=read_only risk=low side_effect=none version=1.0.0 call=…ENDING origin=user place=1 step=1
           5  HH:MM:SS.mmm  tool.call.authorized         decision=allow call=…ENDING
           6  HH:MM:SS.mmm  tool.call.started            attempt=1 call=…ENDING
           7  HH:MM:SS.mmm  tool.call.completed          outcome_status=succeeded call=…ENDING duration_ms=N effect_sent=false label=internal_tool output_bytes=1 truncated=false
           8  HH:MM:SS.mmm  run.completed                completion=unverified model_calls=0 steps=0 tool_calls=1
        --- stderr
        head HASH · event 8 of ses_ID
    "#]]);
    let ran = world.mast(&["journal", "verify"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with("sound · 8 events in 1 session"), "{}", ran.out);
}
