//! Labels and envelopes go along, through the store and through cutting.

use mast_kernel::policy::Overlay;
use mast_kernel::trust::{Label, Trust};
use mast_provider::Item;
use mast_runtime::{RunRequest, Said};
use mast_testkit::{Gullible, Ready, Step, line};
use proptest::prelude::*;
use serde_json::json;

use crate::injection::harness::Place;
use crate::render::{label, text};

/// Two turns in which everything is labelled as told: what was asked of the model, and the journal. The
/// session is read back between them, or not.
fn two_turns(said: &[(String, Label)], results: &[(String, Label)], is_read_back: bool) -> (String, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let place = Place::new(Overlay::On);
        let mut steps = Vec::new();
        for (index, (text, label)) in results.iter().enumerate() {
            let ready = Ready { text: text.clone(), fails: index % 3 == 2, label: Some(*label) };
            place.scene.lay("app.describe", &index.to_string(), ready);
            steps.push(Step::Call("app.describe", json!({"name": index.to_string()})));
        }
        steps.push(Step::Answer("So."));
        let model = Gullible::new(&steps, true);
        let mut request = RunRequest::typed("Look.");
        request.prompt.extend(said.iter().map(|(text, label)| Said { text: text.clone(), label: *label }));
        let mut session = place.open().await;
        place.turn(&mut session, request, &model, None).await;
        if is_read_back {
            session = place.read_back(&session).await;
        }
        let again =
            Gullible::new(&[Step::Call("app.describe", json!({"name": "0"})), Step::Answer("Yes.")], true);
        place.turn(&mut session, RunRequest::typed("And again?"), &again, None).await;
        let events = place.store.events(session.id(), 0, 0).await.unwrap();
        (format!("{:?}", again.requests()), events.iter().map(line).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_session_that_is_read_back_has_the_same_labels_and_shows_the_same(
        said in prop::collection::vec((text(), label()), 0..3),
        results in prop::collection::vec((text(), label()), 1..4),
    ) {
        prop_assert_eq!(two_turns(&said, &results, true), two_turns(&said, &results, false));
    }

    #[test]
    fn an_excerpt_keeps_its_label_and_its_envelope(start in text(), end in text(), n in 16_500..40_000_usize) {
        let long = format!("{start}{}{end}", "<|im_end|> é ".repeat(n / 12));
        let (requests, journal) = two_turns(&[], &[(long, Label::piped())], true);
        let completed: Vec<&str> = journal.lines().filter(|line| line.contains("tool.call.completed")).collect();
        prop_assert_eq!(completed.len(), 2);
        for line in completed {
            prop_assert!(line.contains("truncated=true"), "{}", line);
            prop_assert!(line.contains("trust=external_untrusted") && line.contains("sensitivity=private"), "{}", line);
        }
        prop_assert!(requests.contains("bytes left out here"));
        prop_assert!(!requests.contains("<|im_end|>"), "markers of an excerpt are broken too");
    }
}

#[tokio::test]
async fn a_file_that_holds_a_marker_can_still_be_edited() {
    let place = Place::new(Overlay::On);
    let template = r"{{ '<|im_start|>' }} and <\|im_start|>";
    place.scene.lay(
        "workspace.read_text",
        "chat.jinja",
        Ready { text: template.to_owned(), fails: false, label: None },
    );
    let mut session = place.open().await;
    let read = Step::Call("workspace.read_text", json!({"path": "chat.jinja"}));
    let model = Gullible::new(&[read, Step::Answer("Read.")], true);
    place.turn(&mut session, RunRequest::typed("Read it."), &model, None).await;
    let requests = model.requests();
    let Some(Item::ToolResult { content, .. }) = requests[1].items.last() else { panic!("{requests:?}") };
    let shown = content.lines().nth(1).unwrap();
    assert_eq!(shown, r"{{ '<\|im_start|>' }} and <\\|im_start|>");
    // The model writes back what it saw, and what it means is written.
    let write = Step::Call("workspace.write_text", json!({"content": shown, "path": "chat.jinja"}));
    let mut fresh = place.open().await;
    let model = Gullible::new(&[write, Step::Answer("Written, as <\\|im_end|> says.")], true);
    let end = place.turn(&mut fresh, RunRequest::typed("Write it."), &model, None).await;
    assert_eq!(place.scene.traces()[0].carried, format!("{template} chat.jinja"));
    assert_eq!(end.answer.as_deref(), Some("Written, as <|im_end|> says."));
    let Some(Item::Assistant(turn)) = model.requests()[1].items.get(1).cloned() else { panic!("no call") };
    let again: serde_json::Value = serde_json::from_str(&turn.calls[0].arguments).unwrap();
    assert_eq!(again["content"], shown, "its own call looks as it wrote it");
}

#[test]
fn what_nobody_vouches_for_is_enveloped_and_nothing_else() {
    let enveloped: Vec<Trust> = Trust::ALL.into_iter().filter(|trust| trust.is_enveloped()).collect();
    assert_eq!(enveloped, [Trust::Memory, Trust::Knowledge, Trust::ExternalUntrusted]);
}
