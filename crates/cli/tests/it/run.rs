//! `mast run`: the first minute, a real answer's shape, an ask, the ways to narrow it, JSON.

use expect_test::expect;

use crate::world::World;

const QUESTION: &str = "What is 17 multiplied by 23?";

#[test]
fn the_first_minute_needs_no_key() {
    let world = World::new();
    world.check(&["run", QUESTION], &expect![[r#"
        exit 0
        --- stdout
        391
        --- stderr
        mast · no model configured, using the built-in offline one (it understands a few sentence forms; `mast config use NAME` sets up a real model)
          math.calculate        17 * 23                               allowed · pure computation N ms

        done · 1 tool call, nothing asked · mast journal show run_ID for every step
    "#]]);
    world.check(
        &["run", QUESTION],
        &expect![[r#"
        exit 0
        --- stdout
        391
        --- stderr
        mast · offline model
          math.calculate        17 * 23                               allowed · pure computation N ms

        done · 1 tool call, nothing asked · mast journal show run_ID for every step
    "#]],
    );
}

#[test]
fn the_answer_alone_is_on_stdout() {
    let ran = World::new().mast(&["run", QUESTION]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "391\n"));
}

#[test]
fn every_step_is_on_record_in_this_order() {
    let world = World::new();
    world.mast(&["run", QUESTION]);
    world.check(&["journal", "show", "latest"], &expect![[r#"
        exit 0
        --- stdout
           2  HH:MM:SS.mmm  user.message.created         item=…ENDING kind=user label=user place=1
           3  HH:MM:SS.mmm  run.queued                   provider=offline model=offline mode=act overlay=true
           4  HH:MM:SS.mmm  run.started                  provider=offline model=offline mode=act overlay=true
           5  HH:MM:SS.mmm  model.request.started        answer_only=false items=2 step=1 tools=4
           6  HH:MM:SS.mmm  model.response.completed     calls=1 duration_ms=N step=1 stop=tool_calls
           7  HH:MM:SS.mmm  context.item.appended        item=…ENDING kind=assistant label=user place=2
           8  HH:MM:SS.mmm  tool.call.proposed           tool=math.calculate idempotency=read_only risk=low side_effect=none version=1.0.0 call=…ENDING origin=user place=1 step=1
           9  HH:MM:SS.mmm  tool.call.authorized         decision=allow call=…ENDING
          10  HH:MM:SS.mmm  tool.call.started            attempt=1 call=…ENDING
          11  HH:MM:SS.mmm  tool.call.completed          outcome_status=succeeded call=…ENDING duration_ms=N effect_sent=false label=internal_tool output_bytes=3 truncated=false
          12  HH:MM:SS.mmm  context.item.appended        call=…ENDING item=…ENDING kind=tool_result label=internal_tool place=3
          13  HH:MM:SS.mmm  model.request.started        answer_only=false items=4 step=2 tools=4
          14  HH:MM:SS.mmm  model.response.completed     calls=0 duration_ms=N step=2 stop=end
          15  HH:MM:SS.mmm  assistant.message.completed  item=…ENDING kind=assistant label=internal_tool place=4
          16  HH:MM:SS.mmm  run.completed                completion=unverified model_calls=2 steps=2 tool_calls=1
        --- stderr
        head HASH · event 16 of ses_ID
    "#]]);
    let ran = world.mast(&["journal", "show", "latest", "--json"]);
    let events: Vec<serde_json::Value> = serde_json::from_str(&ran.out).unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let wanted = [
        "run.queued",
        "run.started",
        "model.request.started",
        "model.response.completed",
        "tool.call.proposed",
        "tool.call.authorized",
        "tool.call.started",
        "tool.call.completed",
        "model.request.started",
        "model.response.completed",
        "assistant.message.completed",
        "run.completed",
    ];
    let mut kinds = kinds.into_iter();
    assert!(wanted.iter().all(|wanted| kinds.any(|kind| kind == *wanted)), "{events:#?}");
    assert!(events.iter().all(|event| event["id"].as_str().unwrap().starts_with("ses_")));
}

#[test]
fn an_ask_parks_the_run_and_says_so() {
    let world = World::new();
    let script = world.file(
        "ask.yaml",
        "- calls:\n    - tool: demo.external_write\n      args: {destination: ops, content: hello}\n- text: written\n",
    );
    world.check(
        &["run", "--script", &script, "Write hello to ops"],
        &expect![[r#"
        exit 3
        --- stdout
        --- stderr
        mast · a script answers, no model
          demo.external_write   {"content":"hello","destination":"ops"}   asks · writes outside this machine
        waiting · 1 ask: apr_ID demo.external_write to "ops" (expires HH:MM UTC)
          asks · writes outside this machine
          look: mast approvals show apr_ID
          allow: mast approvals approve apr_ID     refuse: mast approvals deny apr_ID
          then go on: mast runs resume run_ID
    "#]],
    );
    world.check(
        &["runs", "show", "latest"],
        &expect![[r#"
            exit 0
            --- stdout
            run      run_ID
            session  ses_ID
            state    waiting_for_approval
            model    scripted HOME/ask.yaml
            policy   POLICY · act
            began    TIME
            call  demo.external_write  waiting_for_approval
            ask  apr_ID · pending · once · run_ID
              tool          demo.external_write 1.0.0
              effect        external_write · risk high
              content =     "hello"   (5 bytes, whole)
              destination = "ops"   (3 bytes, whole)
              why asked     This changes something outside. A person must approve it first. 
                            (policy.matrix.external_write)
              read before   nothing from outside
              expires       HH:MM UTC
            asked  Write hello to ops
            --- stderr
            every step: mast journal show run_ID
        "#]],
    );
}

#[test]
fn piped_text_is_not_the_persons_word_unless_they_say_so() {
    let world = World::new();
    let origin = |arguments: &[&str]| {
        assert_eq!(world.mast_reading("17 * 23", arguments).code, 0);
        let events = world.mast(&["journal", "show", "latest", "--json"]).out;
        let events: Vec<serde_json::Value> = serde_json::from_str(&events).unwrap();
        let said = events.iter().find(|event| event["type"] == "user.message.created").unwrap();
        said["payload"]["label"]["trust"].as_str().unwrap().to_owned()
    };
    assert_eq!(origin(&["run"]), "external_untrusted");
    assert_eq!(origin(&["run", "-"]), "external_untrusted");
    assert_eq!(origin(&["run", "--trust-stdin"]), "user");
}

#[test]
fn a_mode_narrows_what_is_offered() {
    let world = World::new();
    let ran = world.mast(&["run", "--no-tools", QUESTION]);
    assert_eq!(ran.code, 0);
    assert!(!ran.err.contains("math.calculate"), "{}", ran.err);
    let script = world
        .file("s.yaml", "- calls:\n    - tool: math.calculate\n      args: {expression: 1+1}\n- text: end\n");
    let ran = world.mast(&["run", "--script", &script, "--tools", "system.current_time", "x"]);
    assert!(ran.err.contains("policy.turn.not_offered"), "{}", ran.err);
}

#[test]
fn a_question_after_foreign_text_says_so() {
    let world = World::new();
    let script = world.file(
        "ask.yaml",
        "- calls:\n    - tool: demo.external_write\n      args: {destination: ops, content: hello}\n- text: written\n",
    );
    let ran = world.mast_reading("do it", &["run", "--script", &script, "--stdin", "Follow this"]);
    assert!(
        ran.err.contains("asks · writes outside this machine · text from outside was read before"),
        "{ran:?}"
    );
    let shown = world.mast(&["runs", "show", "latest"]).out;
    assert!(shown.contains("read before   text from outside: what was piped in\n"), "{shown}");
}

#[test]
fn the_last_line_counts_what_went_wrong() {
    let world = World::new();
    let script = world.file(
        "s.yaml",
        "- calls:\n    - {tool: math.calculate, args: {expression: 1/0}}\n    - {tool: math.calc, args: {}}\n    - {tool: math.calculate, args: {expression: 1+1}}\n- text: end\n",
    );
    let ran = world.mast_reading("x", &["run", "--script", &script]);
    expect![[r#"
        exit 0
        --- stdout
        end
        --- stderr
        mast · a script answers, no model
          math.calc                                                           not run
            denied · did you mean math.calculate? · policy.matrix.unknown_tool · There is no such tool.
          math.calculate        1/0                                           allowed · pure computation
            failed · tool.invalid_arguments.division_by_zero · Division by zero.
          math.calculate        1+1                                   allowed · pure computation N ms

        done · 3 tool calls, 1 failed, 1 denied, nothing asked · stdin was taken as untrusted · mast journal show run_ID for every step
    "#]].assert_eq(&world.shown(&ran));
}

#[test]
fn a_conversation_goes_on() {
    let world = World::new();
    let session = |arguments: &[&str]| {
        let ran = world.mast(arguments);
        let last = ran.out.lines().last().unwrap().to_owned();
        let end: serde_json::Value = serde_json::from_str(&last).unwrap();
        end["session"].as_str().unwrap().to_owned()
    };
    let first = session(&["run", "--json", QUESTION]);
    world.mast(&["call", "math.calculate", r#"{"expression":"1"}"#]);
    assert_eq!(session(&["run", "--json", "--continue", QUESTION]), first);
    assert_ne!(session(&["run", "--json", QUESTION]), first);
    let ending = first.split_at(first.len() - 6).1;
    assert_eq!(session(&["run", "--json", "--session", ending, QUESTION]), first);
}

#[test]
fn json_prints_what_is_on_record_and_then_the_end() {
    let world = World::new();
    let ran = world.mast(&["run", "--json", QUESTION]);
    let lines: Vec<serde_json::Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (end, events) = lines.split_last().unwrap();
    assert_eq!((end["type"].as_str(), end["answer"].as_str()), (Some("run.end"), Some("391")));
    let recorded = world.mast(&["journal", "show", end["session"].as_str().unwrap(), "--json"]);
    let recorded: Vec<serde_json::Value> = serde_json::from_str(&recorded.out).unwrap();
    assert_eq!(events, recorded);
}

#[test]
fn what_a_model_writes_cannot_act_on_the_terminal() {
    let world = World::new();
    let script = world.file("s.yaml", "- text: \"ok\\e[2J\\u202e.\"\n");
    let ran = world.mast(&["run", "--script", &script, "x"]);
    assert_eq!(ran.out, "ok\\u{1b}[2J\\u{202e}.\n");
    let ran = world.mast(&["run", "--json", "--script", &script, "x"]);
    assert!(!ran.out.contains(['\u{1b}', '\u{202e}']));
    assert!(ran.out.contains(r"ok\u001b[2J\u202e."), "{}", ran.out);
}

#[test]
fn tools_see_the_fixed_clock_and_the_journal_does_not() {
    let world = World::new();
    let ran = world.mast(&["--fixed-clock", "2001-02-03T04:05:06Z", "run", "What time is it in UTC?"]);
    assert!(ran.out.contains("2001-02-03"), "{ran:?}");
    let journal = world.mast(&["runs"]).out;
    assert!(journal.contains("completed") && !journal.contains("2001-02-03T"), "{journal}");
}
