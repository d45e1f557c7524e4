//! The `scripted` provider.

use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use mast_provider::{
    Item, Provider, ProviderConfig, Request, Script, Stop, StreamEvent, TimerPacing, Turn, build,
};

use crate::world::{ask, config, request};

fn scripted(script: &str) -> Arc<dyn Provider> {
    let script = Some(Script::parse(script).unwrap());
    build("scripted", &ProviderConfig { script, ..config("http://unused.example").0 }).unwrap()
}

async fn turn(provider: &dyn Provider, request: &Request) -> Turn {
    ask(provider, request).await.0.unwrap()
}

#[tokio::test]
async fn turns_come_in_their_order_and_end() {
    let provider = scripted(
        "- calls:\n  - {tool: math.calculate, args: {expression: 17 * 23}}\n  - {tool: no.such_tool, raw: '{oops', id: own}\n\
         - {expect: {contains: '391', offers: math.calculate}, text: It is 391., usage: {input_tokens: 5, output_tokens: 2}}\n\
         - {text: Once upon, stop: length}\n",
    );
    let mut asking = request("What is 17 * 23?");
    let first = turn(provider.as_ref(), &asking).await;
    assert_eq!(first.stop, Stop::ToolCalls);
    let calls: Vec<_> = first
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
        .collect();
    assert_eq!(
        calls,
        [("call_0", "math_calculate", r#"{"expression":"17 * 23"}"#), ("own", "no.such_tool", "{oops")],
        "a tool on offer has its safe name, another stays as written"
    );
    asking.items.extend([Item::Assistant(first), Item::result("call_0", "391")]);
    asking.items.push(Item::System { text: "Local date: 2026-11-30".to_owned() });
    let second = turn(provider.as_ref(), &asking).await;
    assert_eq!((second.text.as_str(), second.usage.input_tokens), ("It is 391.", Some(5)));
    assert_eq!(turn(provider.as_ref(), &asking).await.stop, Stop::Length);
    let (end, heard) = ask(provider.as_ref(), &asking).await;
    let error = end.unwrap_err();
    assert_eq!(error.code(), "script_exhausted");
    assert_eq!(error.to_string(), "the script has 3 turns and was asked for one more; add a turn to it");
    assert!(heard.is_empty());
}

#[tokio::test]
async fn a_run_can_go_on_in_the_middle() {
    let script = Some(Script::parse("- text: one\n- text: two\n").unwrap());
    let config = ProviderConfig { script, script_start: 1, ..ProviderConfig::default() };
    let provider = build("scripted", &config).unwrap();
    assert_eq!(turn(provider.as_ref(), &request("Go.")).await.text, "two");
}

#[tokio::test]
async fn a_check_that_fails_says_what_was_there() {
    async fn check(expectation: &str, items: Vec<Item>, told: Expect) {
        let provider = scripted(&format!("- text: one\n- expect: {expectation}\n  text: two\n"));
        let asking = Request { items, ..request("Go.") };
        turn(provider.as_ref(), &asking).await;
        told.assert_eq(&ask(provider.as_ref(), &asking).await.0.unwrap_err().to_string());
    }
    check(
        "{contains: [a, '392']}",
        vec![Item::result("c", "a 391")],
        expect!["turn 2 of the script (line 2) expected `392` in the last item, and the request has `a 391`"],
    )
    .await;
    check(
        "{lacks: '391'}",
        vec![Item::result("c", "391")],
        expect![
            "turn 2 of the script (line 2) expected no `391` in the last item, and the request has `391`"
        ],
    )
    .await;
    check(
        "{is_error: true}",
        vec![Item::result("c", "391")],
        expect![
            "turn 2 of the script (line 2) expected a result that reports an error, and the request has `391`"
        ],
    )
    .await;
    check(
        "{is_error: false}",
        vec![Item::user("hello")],
        expect!["turn 2 of the script (line 2) expected a result, and the request has `hello`"],
    )
    .await;
    check("{offers: workspace.grep}", vec![Item::user("hello")], expect!["turn 2 of the script (line 2) expected the tool `workspace.grep` on offer, and the request has 2 tools"]).await;
}

#[tokio::test]
async fn every_kind_of_failure_can_be_written() {
    for kind in [
        "unreachable",
        "timeout",
        "rate_limited",
        "server_failed",
        "invalid_request",
        "authentication",
        "protocol",
        "cut_short",
        "too_large",
    ] {
        let script =
            format!("- {{text: 'né: hello', error: {{kind: {kind}, after_bytes: 2}}}}\n- text: fine\n");
        let provider = scripted(&script);
        let (came, heard) = ask(provider.as_ref(), &request("Go.")).await;
        assert_eq!(came.unwrap_err().code(), kind);
        assert_eq!(heard, [StreamEvent::TextDelta("n".to_owned())], "never half a letter");
        assert_eq!(turn(provider.as_ref(), &request("Go.")).await.text, "fine");
    }
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_waited_by_the_timer() {
    let script = Some(Script::parse("- {text: late, delay_ms: 60000}").unwrap());
    let pacing = Arc::new(TimerPacing::new(1));
    let provider =
        build("scripted", &ProviderConfig { script, pacing, ..ProviderConfig::default() }).unwrap();
    let began = tokio::time::Instant::now();
    assert_eq!(turn(provider.as_ref(), &request("Go.")).await.text, "late");
    assert_eq!(began.elapsed(), Duration::from_secs(60));
}
