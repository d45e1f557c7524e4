//! The process is killed in the middle of a run, and the run is taken up by the next command.

use serde_json::Value;

use super::world::World;

const SCRIPT: &str = "\
- calls: [{tool: demo.external_write, args: {destination: ops, content: hello}}]
- text: ops has your message.
";

/// The id after this kind's prefix that a text names first.
fn id(text: &str, kind: &str) -> String {
    let at = text.find(&format!("{kind}_")).unwrap_or_else(|| panic!("no {kind} in: {text}"));
    text.split_at(at).1.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}

/// The world after a run whose process died there, when a person had said yes.
fn died(at: &str) -> (World, String) {
    let world = World::new();
    let script = world.file("write.yaml", SCRIPT);
    let asked = world.mast(&["run", "--script", &script, "Tell ops hello"]);
    let (approval, run) = (id(&asked.err, "apr"), id(&asked.err, "run"));
    assert_eq!(world.mast(&["approvals", "approve", &approval]).code, 0);
    let ran = world.mast_dying(at, &["runs", "resume", &run]);
    assert_eq!(ran.code, 137, "{at}: {}", ran.err);
    (world, run)
}

fn count(world: &World, run: &str, kind: &str) -> usize {
    let shown = world.mast(&["journal", "show", run, "--json"]).out;
    let events: Vec<Value> = serde_json::from_str(&shown).unwrap();
    events.iter().filter(|event| event["type"] == kind).count()
}

#[test]
fn killed_before_the_mark_the_effect_happens_once() {
    for at in
        ["run.resumed:after", "tool.call.authorized:after", "approval.consumed:after", "call.marked:before"]
    {
        let (world, run) = died(at);
        let listed = world.mast(&["runs"]);
        assert!(listed.out.contains("interrupted"), "{at}: {}", listed.out);
        let resumed = world.mast(&["runs", "resume", &run]);
        assert_eq!(
            (resumed.code, resumed.out.as_str()),
            (0, "ops has your message.\n"),
            "{at}: {}",
            resumed.err
        );
        assert!(resumed.err.contains("going on where it stopped"), "{}", resumed.err);
        assert_eq!(count(&world, &run, "call.marked"), 1, "{at}");
        assert_eq!(count(&world, &run, "approval.consumed"), 1, "one yes is used once: {at}");
        assert_eq!(world.mast(&["journal", "verify"]).code, 0);
    }
}

#[test]
fn killed_between_the_mark_and_the_record_nobody_knows_and_a_person_settles_it() {
    for (at, verdict) in [("call.marked:after", "--did-not"), ("tool.call.completed:before", "--happened")] {
        let (world, run) = died(at);
        let resumed = world.mast(&["runs", "resume", &run]);
        assert_eq!(resumed.code, 0, "{at}: {}", resumed.err);
        assert_eq!(count(&world, &run, "tool.call.uncertain"), 1, "{at}");
        assert_eq!(count(&world, &run, "call.marked"), 1, "it is not repeated: {at}");

        let listed = world.mast(&["runs"]);
        assert!(listed.err.contains("nobody knows the outcome of 1 call"), "{}", listed.err);
        let doubtful = world.mast(&["runs", "reconcile"]);
        let call = id(&doubtful.out, "call");
        assert!(doubtful.out.contains("demo.external_write"), "{}", doubtful.out);
        let unsaid = world.mast(&["runs", "reconcile", &call]);
        assert_eq!(unsaid.code, 2, "{}", unsaid.err);
        let looked = world.mast(&["runs", "reconcile", &call, "--probe"]);
        assert_eq!(looked.code, 1, "the tool cannot look: {}", looked.err);
        let settled = world.mast(&["runs", "reconcile", &call, verdict]);
        assert_eq!(settled.code, 0, "{}", settled.err);
        assert_eq!(world.mast(&["runs", "reconcile", &call, verdict]).code, 1, "it is settled once");
        assert!(world.mast(&["runs", "reconcile"]).out.is_empty());
        assert_eq!(world.mast(&["journal", "verify"]).code, 0);
    }
}

#[test]
fn killed_after_the_record_the_result_is_not_lost() {
    for at in ["tool.call.completed:after", "context.item.appended:before", "run.completed:before"] {
        let (world, run) = died(at);
        let resumed = world.mast(&["runs", "resume", &run]);
        assert_eq!(
            (resumed.code, resumed.out.as_str()),
            (0, "ops has your message.\n"),
            "{at}: {}",
            resumed.err
        );
        assert_eq!(count(&world, &run, "tool.call.completed"), 1, "{at}");
        assert_eq!(count(&world, &run, "call.marked"), 1, "{at}");
        assert_eq!(world.mast(&["journal", "verify"]).code, 0);
    }
}

#[test]
fn a_worker_takes_up_what_is_queued_and_what_was_left_behind() {
    let world = World::new();
    let script = world.file(
        "sum.yaml",
        "- calls: [{tool: math.calculate, args: {expression: \"17*23\"}}]\n- text: It is 391.\n",
    );
    let queued = world.mast(&["run", "--detach", "--script", &script, "What is 17 multiplied by 23?"]);
    let run = id(&queued.out, "run");
    assert!(world.mast(&["runs"]).out.contains("queued"));
    let left = world.mast_dying("tool.call.started:after", &["worker", "--drain"]);
    assert_eq!(left.code, 137, "{}", left.err);
    // The worker is gone, but a lease is only given back early by whoever names the run.
    let resumed = world.mast(&["runs", "resume", &run]);
    assert_eq!((resumed.code, resumed.out.as_str()), (0, "It is 391.\n"), "{}", resumed.err);

    let queued = world.mast(&["run", "--detach", "--script", &script, "--priority", "background", "Again?"]);
    let worked = world.mast(&["worker", "--drain"]);
    assert_eq!(worked.code, 0, "{}", worked.err);
    let shown = world.mast(&["runs", "show", &id(&queued.out, "run")]);
    assert!(shown.out.contains("completed"), "{}", shown.out);
}
