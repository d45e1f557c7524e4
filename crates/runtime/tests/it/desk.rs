//! Calls that a person types: the same gate, one run, and a signed end.

use std::sync::Arc;

use mast_kernel::limits;
use mast_kernel::run::RunStatus;
use mast_kernel::trust::Label;
use mast_runtime::{DirectCall, Disposition, Silent};
use mast_testkit::Story;

fn call(tool: &str, arguments: &str) -> DirectCall {
    DirectCall {
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
        origin: Label::typed(),
        tool_clock: None,
    }
}

#[tokio::test]
async fn a_typed_call_is_answered_and_its_journal_is_signed() {
    let story = Story::new("- text: \"unused\"");
    let session = story.session().await;
    let id = session.id();
    let desk = story.runtime.desk(session, &Silent).await.unwrap();
    let answer = desk.call(call("calculator", r#"{"expression": "0.1 + 0.2"}"#)).await.unwrap();
    let Disposition::Settled(settled) = answer else { panic!("{answer:?}") };
    assert_eq!((settled.tool.as_str(), settled.content.as_str()), ("math.calculate", "0.3"));
    desk.close(1).await.unwrap();
    let heads = story.runtime.store().heads(0, 0).await.unwrap();
    let events = story.runtime.store().events(id, 0, 0).await.unwrap();
    assert_eq!(heads.last().unwrap().hash, events.last().unwrap().hash);
}

#[tokio::test]
async fn a_desk_has_at_most_eight_open_questions_and_waits_with_them() {
    let story = Story::new("- text: \"unused\"");
    let desk = story.runtime.desk(story.session().await, &Silent).await.unwrap();
    let run = desk.run();
    let mut n_asked = 0;
    for _ in 0..=limits::OPEN_ASKS_MAX {
        let write = call("demo.external_write", r#"{"destination": "ops", "content": "hello"}"#);
        match desk.call(write).await.unwrap() {
            Disposition::Asked(_) => n_asked += 1,
            Disposition::Settled(settled) => {
                assert_eq!(settled.outcome.unwrap().reason_code(), "approval.too_many_open");
            }
        }
    }
    assert_eq!(n_asked, limits::OPEN_ASKS_MAX);
    desk.close(9).await.unwrap();
    let row = story.runtime.store().run(run).await.unwrap().unwrap();
    assert_eq!(row.status, RunStatus::WaitingForApproval);
}

#[tokio::test]
async fn a_call_can_see_a_clock_of_its_own() {
    let story = Story::new("- text: \"unused\"");
    let desk = story.runtime.desk(story.session().await, &Silent).await.unwrap();
    let mut timed = call("system.current_time", "{}");
    let moment = mast_kernel::instant::Instant::from_micros(0);
    timed.tool_clock = Some(Arc::new(mast_runtime::FixedClock(moment)));
    let Disposition::Settled(settled) = desk.call(timed).await.unwrap() else { panic!("it asked") };
    assert_eq!(settled.content, "1970-01-01T00:00:00.000000+00:00 (UTC, Thursday)");
}
