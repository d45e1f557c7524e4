//! What every store must do. Each case is written once and runs on every store in the list at the foot.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::canonical::Digest;
use mast_kernel::event::{CallMarked, EventBody, ItemKind, Link, ResumeCause, RunResumed, RunStopped};
use mast_kernel::id::{ApprovalId, CallId, RunId, SessionId, TenantId};
use mast_kernel::permit::{ClaimLog as _, ClaimRecord, ClaimRefused};
use mast_kernel::run::{Completion, RunStatus};
use mast_store::sign::is_signed;
use mast_store::verify::{Wanted, verify};
use mast_store::{
    ApprovalFilter, CallFilter, Conflict, Durability, PendingClaim, RunFilter, SessionFilter, Store,
    StoreError,
};
use serde_json::json;

use super::world::{IDENTITY, World};

/// A world whose session and run are begun.
async fn begun(store: &dyn Store, number: u32) -> World {
    let mut world = World::new(number);
    for batch in [world.begin(), world.ask()] {
        store.commit(batch).await.unwrap();
    }
    world
}

async fn sound(store: &dyn Store) {
    let report = verify(store, Wanted::default()).await.unwrap();
    assert_eq!(report.findings, []);
}

async fn a_whole_run_is_read_back(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let call = CallId::from_u128(world.next());
    for batch in [world.claim(call), world.mark(call), world.settle(call, true), world.end()] {
        store.commit(batch).await.unwrap();
    }
    let session = store.session(world.session).await.unwrap().unwrap();
    assert_eq!(session.surface, "cli");
    let run = store.run(world.run).await.unwrap().unwrap();
    assert_eq!((run.status, run.completion), (RunStatus::Completed, Some(Completion::Unverified)));
    assert!(run.started_at > Some(run.created_at) && run.ended_at > run.started_at);
    let row = store.call(call).await.unwrap().unwrap();
    assert_eq!((row.status, row.attempt), (CallStatus::Succeeded, 1));
    assert!(row.effect_sent_at > row.started_at && row.completed_at > row.effect_sent_at);
    let outcome = store.content(&row.outcome.unwrap()).await.unwrap().unwrap();
    assert_eq!(outcome.value.as_str(), r#"{"content":"391","status":"succeeded"}"#);
    let kinds: Vec<_> =
        store.items(world.session, 0, 0).await.unwrap().iter().map(|item| (item.place, item.kind)).collect();
    assert_eq!(kinds, [(1, ItemKind::User), (2, ItemKind::ToolResult), (3, ItemKind::Assistant)]);
    assert_eq!(store.items(world.session, 1, 1).await.unwrap()[0].place, 2);
    sound(store).await;
}

async fn what_is_not_there_is_none(store: &dyn Store) {
    assert_eq!(store.session(SessionId::from_u128(9)).await.unwrap(), None);
    assert_eq!(store.run(RunId::from_u128(9)).await.unwrap(), None);
    assert_eq!(store.call(CallId::from_u128(9)).await.unwrap(), None);
    assert_eq!(store.approval(ApprovalId::from_u128(9)).await.unwrap(), None);
    assert_eq!(store.content(&Digest::of(b"")).await.unwrap(), None);
    assert_eq!(store.events(SessionId::from_u128(9), 0, 0).await.unwrap(), []);
    assert_eq!(store.items(SessionId::from_u128(9), 0, 0).await.unwrap(), []);
    assert_eq!(store.heads(0, 0).await.unwrap(), []);
}

async fn events_are_numbered_without_gaps_and_chained(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    store.commit(world.end()).await.unwrap();
    let events = store.events(world.session, 0, 0).await.unwrap();
    let mut link = Link::genesis(TenantId::from_u128(0x7e), world.session, IDENTITY.id);
    for event in &events {
        assert_eq!((event.sequence, event.previous), (link.sequence + 1, link.hash));
        assert_eq!(event.computed_hash().unwrap(), event.hash);
        link = event.link();
    }
    assert_eq!(link.sequence, 6);
    assert_eq!(store.events(world.session, 4, 1).await.unwrap(), events[4..5]);
}

async fn a_batch_that_does_not_fit_leaves_nothing(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let call = CallId::from_u128(world.next());
    let before = store.events(world.session, 0, 0).await.unwrap();
    let mut batch = world.claim(call);
    let value = world.put(&mut batch, &json!("left behind"));
    world.started(&mut batch, call, 2);
    let error = store.commit(batch).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Conflict(Conflict::Transition { from: "running", to: "running", .. })),
        "{error:?}"
    );
    assert!(error.is_refusal());
    assert_eq!(store.events(world.session, 0, 0).await.unwrap(), before);
    assert_eq!(store.call(call).await.unwrap(), None);
    assert_eq!(store.content(&value).await.unwrap(), None);
    store.commit(world.claim(call)).await.unwrap();
    sound(store).await;
}

async fn every_move_goes_by_the_tables_of_states(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let call = CallId::from_u128(world.next());
    let refused = |error: StoreError| assert!(matches!(error, StoreError::Conflict(_)), "{error:?}");

    refused(store.commit(world.mark(call)).await.unwrap_err());
    let mut batch = world.batch();
    world.proposed(&mut batch, call);
    store.commit(batch).await.unwrap();
    let mut unauthorized = world.batch();
    world.started(&mut unauthorized, call, 1);
    refused(store.commit(unauthorized).await.unwrap_err());
    let mut again = world.batch();
    world.proposed(&mut again, call);
    refused(store.commit(again).await.unwrap_err());

    let mut batch = world.batch();
    let key = world.key(call);
    world.authorized(&mut batch, call, key);
    store.commit(batch).await.unwrap();
    let mut unclaimed = world.batch();
    let settled = world.settled(&mut unclaimed, call, false);
    world.tell(&mut unclaimed, EventBody::ToolCallCompleted(settled));
    refused(store.commit(unclaimed).await.unwrap_err());
    let mut wrong_attempt = world.batch();
    world.started(&mut wrong_attempt, call, 2);
    refused(store.commit(wrong_attempt).await.unwrap_err());

    let mut batch = world.batch();
    world.started(&mut batch, call, 1);
    store.commit(batch).await.unwrap();
    refused(store.commit(world.settle(call, true)).await.unwrap_err());
    store.commit(world.mark(call)).await.unwrap();
    let marked = store.call(call).await.unwrap().unwrap().effect_sent_at;
    store.commit(world.mark(call)).await.unwrap();
    assert_eq!(store.call(call).await.unwrap().unwrap().effect_sent_at, marked, "the first mark stands");
    refused(store.commit(world.settle(call, false)).await.unwrap_err());
    store.commit(world.settle(call, true)).await.unwrap();
    refused(store.commit(world.settle(call, true)).await.unwrap_err());

    store.commit(world.end()).await.unwrap();
    refused(store.commit(world.claim(CallId::from_u128(77))).await.unwrap_err());
    refused(store.commit(world.end()).await.unwrap_err());
    sound(store).await;
}

async fn a_call_may_run_again_only_after_it_was_authorized_again(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let call = CallId::from_u128(world.next());
    store.commit(world.claim(call)).await.unwrap();
    let mut resumed = world.batch();
    let going_on = RunResumed { cause: ResumeCause::Recovery, policy_version: "default@1".to_owned() };
    world.tell(&mut resumed, EventBody::RunResumed(going_on));
    store.commit(resumed).await.unwrap();
    let key = world.key(call);
    let mut batch = world.batch();
    world.authorized(&mut batch, call, key);
    world.started(&mut batch, call, 2);
    store.commit(batch).await.unwrap();
    assert_eq!(store.call(call).await.unwrap().unwrap().attempt, 2);
    assert_eq!(store.run(world.run).await.unwrap().unwrap().policy_version, "default@1");
    sound(store).await;
}

async fn one_yes_is_used_once(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let (call, approval) = (CallId::from_u128(world.next()), ApprovalId::from_u128(world.next()));
    store.commit(world.park(call, approval)).await.unwrap();
    assert_eq!(store.call(call).await.unwrap().unwrap().status, CallStatus::WaitingForApproval);
    let key = world.key(call);

    let mut unanswered = world.batch();
    world.consumed(&mut unanswered, approval, call);
    store.commit(unanswered).await.unwrap_err();
    store.commit(world.resolve(approval, ApprovalStatus::Consumed)).await.unwrap_err();
    store.commit(world.resolve(approval, ApprovalStatus::Approved)).await.unwrap();
    store.commit(world.resolve(approval, ApprovalStatus::Approved)).await.unwrap_err();

    let mut resumed = world.batch();
    let going_on = RunResumed { cause: ResumeCause::Approval, policy_version: "default@1".to_owned() };
    world.tell(&mut resumed, EventBody::RunResumed(going_on));
    world.authorized(&mut resumed, call, key);
    store.commit(resumed).await.unwrap();
    let mut unused = world.batch();
    world.started(&mut unused, call, 1);
    store.commit(unused).await.unwrap_err();
    let mut batch = world.batch();
    world.consumed(&mut batch, approval, call);
    world.started(&mut batch, call, 1);
    batch.durability = Durability::Full;
    store.commit(batch).await.unwrap();
    let row = store.approval(approval).await.unwrap().unwrap();
    assert_eq!(row.status, ApprovalStatus::Consumed);
    assert!(row.consumed_at > row.resolved_at);
    let mut twice = world.batch();
    world.consumed(&mut twice, approval, call);
    store.commit(twice).await.unwrap_err();
    sound(store).await;
}

async fn a_key_is_used_by_one_call(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let (call, other) = (CallId::from_u128(world.next()), CallId::from_u128(world.next()));
    let key = world.key(call);
    store.commit(world.claim(call)).await.unwrap();
    store.commit(world.settle(call, false)).await.unwrap();
    let mut batch = world.batch();
    world.proposed(&mut batch, other);
    store.commit(batch).await.unwrap();
    let mut batch = world.batch();
    world.authorized(&mut batch, other, key);
    let error = store.commit(batch).await.unwrap_err();
    assert!(matches!(error, StoreError::DuplicateKey { existing } if existing == call), "{error:?}");
    let found = CallFilter { idempotency_key: Some(key), ..CallFilter::default() };
    assert_eq!(store.calls(&found).await.unwrap()[0].id, call);
    let own = world.key(other);
    let mut batch = world.batch();
    world.authorized(&mut batch, other, own);
    store.commit(batch).await.unwrap();
    sound(store).await;
}

async fn a_claim_is_of_exactly_its_call(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let call = CallId::from_u128(world.next());
    let record =
        |call, key| ClaimRecord { call, idempotency_key: key, argument_digest: Digest::of(b"arguments") };
    let (key, batch) = (world.key(call), world.claim(call));

    let of_another = PendingClaim::new(store, batch.clone());
    let refused = of_another.commit_claim(&record(CallId::from_u128(5), key)).await;
    assert!(matches!(refused, Err(ClaimRefused::Mismatch)));
    let of_another_key = PendingClaim::new(store, batch.clone());
    let refused = of_another_key.commit_claim(&record(call, Digest::of(b"key"))).await;
    assert!(matches!(refused, Err(ClaimRefused::Lost)));
    assert_eq!(store.call(call).await.unwrap(), None);

    let claim = PendingClaim::new(store, batch.clone());
    claim.commit_claim(&record(call, key)).await.unwrap();
    assert_eq!(claim.committed().unwrap().events.len(), 3);
    assert!(matches!(claim.commit_claim(&record(call, key)).await, Err(ClaimRefused::Lost)));
    let again = PendingClaim::new(store, batch);
    assert!(matches!(again.commit_claim(&record(call, key)).await, Err(ClaimRefused::Lost)));
}

async fn only_one_of_two_claims_is_committed(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let call = CallId::from_u128(world.next());
    let (key, mut batch) = (world.key(call), world.batch());
    world.proposed(&mut batch, call);
    world.authorized(&mut batch, call, key);
    store.commit(batch).await.unwrap();
    let (mut one, mut other) = (world.batch(), world.batch());
    world.started(&mut one, call, 1);
    world.started(&mut other, call, 1);
    let (one, other) = tokio::join!(store.commit(one), store.commit(other));
    assert!(one.is_ok() && matches!(other, Err(StoreError::Conflict(_))));
    sound(store).await;
}

async fn a_session_is_bound_to_its_store_and_begins_once(store: &dyn Store) {
    let mut world = World::new(1);
    let early = store.commit(world.ask()).await.unwrap_err();
    assert!(matches!(early, StoreError::Conflict(Conflict::Missing(_))), "{early:?}");
    let mut elsewhere = world.begin();
    if let EventBody::SessionCreated(created) = &mut elsewhere.events[0].body {
        created.store = mast_kernel::id::StoreId::from_u128(1);
    }
    assert!(matches!(store.commit(elsewhere).await.unwrap_err(), StoreError::OtherStore { .. }));
    store.commit(world.begin()).await.unwrap();
    let twice = store.commit(world.begin()).await.unwrap_err();
    assert!(matches!(twice, StoreError::Conflict(Conflict::Exists(_))), "{twice:?}");
    sound(store).await;
}

async fn an_id_is_used_once_in_the_whole_store(store: &dyn Store) {
    let mut one = begun(store, 1).await;
    let mut other = begun(store, 2).await;
    let call = CallId::from_u128(one.next());
    store.commit(one.claim(call)).await.unwrap();
    let mut batch = other.batch();
    other.proposed(&mut batch, call);
    let error = store.commit(batch).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict(Conflict::Exists(_))), "{error:?}");
    let error = store.commit(other.mark(call)).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict(Conflict::Missing(_))), "{error:?}");
    assert_eq!(store.call(call).await.unwrap().unwrap().session, one.session);
    sound(store).await;
}

async fn a_nul_is_never_stored(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let mut batch = world.batch();
    let stopped = RunStopped { reason_code: "run.\0".to_owned() };
    world.tell(&mut batch, EventBody::RunFailed(stopped));
    assert!(matches!(store.commit(batch).await.unwrap_err(), StoreError::NulInText));
    let mut batch = world.batch();
    let item = world.item(&mut batch, ItemKind::User, &json!("a value may hold \u{0}, escaped"));
    let content = item.content;
    world.tell(&mut batch, EventBody::UserMessageCreated(item));
    store.commit(batch).await.unwrap();
    let value = store.content(&content).await.unwrap().unwrap().value;
    assert_eq!(value.as_str(), r#""a value may hold \u0000, escaped""#);
}

async fn a_batch_has_a_bound(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let call = CallId::from_u128(world.next());
    store.commit(world.claim(call)).await.unwrap();
    let mut batch = world.batch();
    for _ in 0..mast_store::BATCH_EVENTS_MAX {
        world.tell(&mut batch, EventBody::CallMarked(CallMarked { call }));
    }
    store.commit(batch.clone()).await.unwrap();
    world.tell(&mut batch, EventBody::CallMarked(CallMarked { call }));
    assert!(matches!(store.commit(batch).await.unwrap_err(), StoreError::BatchTooLarge { .. }));
}

async fn what_is_posted_is_written_in_order(store: &dyn Store) {
    let mut world = World::new(1);
    let call = CallId::from_u128(900);
    for batch in [world.begin(), world.ask(), world.claim(call), world.settle(call, false)] {
        store.post(batch);
    }
    store.commit(world.end()).await.unwrap();
    assert_eq!(store.run(world.run).await.unwrap().unwrap().status, RunStatus::Completed);
    store.post(World::new(2).begin());
    store.flush().await.unwrap();
    assert_eq!(store.sessions(&SessionFilter::default()).await.unwrap().len(), 2);
    sound(store).await;
}

async fn what_cannot_be_posted_poisons_the_store(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    store.post(world.mark(CallId::from_u128(5)));
    assert!(matches!(store.flush().await.unwrap_err(), StoreError::Poisoned(_)));
    assert!(matches!(store.commit(world.end()).await.unwrap_err(), StoreError::Poisoned(_)));
    let head = store.sign_head(world.session, world.now()).await;
    assert!(matches!(head.unwrap_err(), StoreError::Poisoned(_)));
    assert_eq!(store.run(world.run).await.unwrap().unwrap().status, RunStatus::Running, "it can be read");
    sound(store).await;
}

async fn a_refused_batch_takes_no_neighbour_down(store: &dyn Store) {
    let mut worlds = Vec::new();
    for number in 1..=4 {
        worlds.push(begun(store, number).await);
    }
    let mut batches = Vec::new();
    for world in &mut worlds {
        let call = CallId::from_u128(world.next());
        batches.push(world.claim(call));
    }
    let lost = worlds[1].mark(CallId::from_u128(5));
    let unknown = World::new(9).ask();
    let [a, b, c, d] = batches.try_into().unwrap();
    let results = tokio::join!(
        store.commit(a),
        store.commit(lost),
        store.commit(b),
        store.commit(unknown),
        store.commit(c),
        store.commit(d)
    );
    assert!(results.0.is_ok() && results.2.is_ok() && results.4.is_ok() && results.5.is_ok());
    assert!(results.1.is_err() && results.3.is_err());
    let running = CallFilter { status: Some(CallStatus::Running), ..CallFilter::default() };
    assert_eq!(store.calls(&running).await.unwrap().len(), 4);
    sound(store).await;
}

async fn eight_tasks_commit_at_once(store: &dyn Store) {
    let work = |number: u32| async move {
        let mut world = begun(store, number).await;
        for _ in 0..5 {
            let call = CallId::from_u128(world.next());
            store.commit(world.claim(call)).await.unwrap();
            store.commit(world.settle(call, false)).await.unwrap();
        }
        store.commit(world.end()).await.unwrap();
    };
    tokio::join!(work(1), work(2), work(3), work(4), work(5), work(6), work(7), work(8));
    let done = RunFilter { status: Some(RunStatus::Completed), ..RunFilter::default() };
    assert_eq!(store.runs(&done).await.unwrap().len(), 8);
    let report = verify(store, Wanted::default()).await.unwrap();
    assert_eq!((report.findings, report.n_events), (Vec::new(), 8 * (4 + 5 * 5 + 2)));
}

async fn ten_thousand_events_are_one_chain(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let call = CallId::from_u128(world.next());
    store.commit(world.claim(call)).await.unwrap();
    for _ in 0..10 {
        let mut batch = world.batch();
        for _ in 0..1_000 {
            world.tell(&mut batch, EventBody::CallMarked(CallMarked { call }));
        }
        store.post(batch);
    }
    store.flush().await.unwrap();
    let report = verify(store, Wanted::default()).await.unwrap();
    assert_eq!((report.findings, report.n_events), (Vec::new(), 10_007));
    assert_eq!(store.events(world.session, 0, 0).await.unwrap().len(), 1_000, "page by page");
    assert_eq!(store.events(world.session, 10_000, 0).await.unwrap().len(), 7);
}

async fn lists_are_filtered_ordered_and_bounded(store: &dyn Store) {
    let mut worlds = Vec::new();
    for number in 1..=3 {
        worlds.push(begun(store, number).await);
    }
    let world = &mut worlds[0];
    let calls = [CallId::from_u128(world.next()), CallId::from_u128(world.next())];
    let approval = ApprovalId::from_u128(world.next());
    store.commit(world.claim(calls[0])).await.unwrap();
    store.commit(world.park(calls[1], approval)).await.unwrap();

    let ids = |rows: Vec<mast_store::RunRow>| rows.iter().map(|row| row.id).collect::<Vec<_>>();
    let all = RunFilter::default();
    assert_eq!(
        ids(store.runs(&all).await.unwrap()),
        [RunId::from_u128((3 << 64) + 2), RunId::from_u128((2 << 64) + 2), RunId::from_u128((1 << 64) + 2)]
    );
    assert_eq!(store.runs(&RunFilter { limit: 2, ..all.clone() }).await.unwrap().len(), 2);
    let waiting = RunFilter { status: Some(RunStatus::WaitingForApproval), ..all.clone() };
    assert_eq!(ids(store.runs(&waiting).await.unwrap()), [RunId::from_u128((1 << 64) + 2)]);
    let of_session = RunFilter { session: Some(SessionId::from_u128((2 << 64) + 1)), ..all.clone() };
    assert_eq!(ids(store.runs(&of_session).await.unwrap()), [RunId::from_u128((2 << 64) + 2)]);
    let whole = RunId::from_u128((2 << 64) + 2).to_string().to_uppercase();
    let by_ending = |ending: &str| RunFilter { ending: Some(ending.to_owned()), ..all.clone() };
    assert_eq!(store.runs(&by_ending(&whole[10..])).await.unwrap().len(), 1);
    assert_eq!(store.runs(&by_ending("0002")).await.unwrap().len(), 3);
    for hostile in ["%", "_002", "'; DROP TABLE runs; --", "*", "\\"] {
        assert_eq!(store.runs(&by_ending(hostile)).await.unwrap(), [], "{hostile}");
    }

    let found = |filter: CallFilter| async move {
        store.calls(&filter).await.unwrap().iter().map(|row| row.id).collect::<Vec<_>>()
    };
    let run = Some(RunId::from_u128((1 << 64) + 2));
    assert_eq!(found(CallFilter { run, ..CallFilter::default() }).await, calls);
    let status = Some(CallStatus::WaitingForApproval);
    assert_eq!(found(CallFilter { run, status, ..CallFilter::default() }).await, calls[1..]);
    assert_eq!(found(CallFilter { status, ..CallFilter::default() }).await, calls[1..]);
    let status = Some(CallStatus::Denied);
    assert_eq!(found(CallFilter { status, ..CallFilter::default() }).await, []);
    let session = Some(SessionId::from_u128((3 << 64) + 1));
    assert_eq!(found(CallFilter { session, ..CallFilter::default() }).await, []);
    assert_eq!(found(CallFilter { limit: 1, ..CallFilter::default() }).await, calls[..1]);

    let pending = ApprovalFilter { status: Some(ApprovalStatus::Pending), ..ApprovalFilter::default() };
    assert_eq!(store.approvals(&pending).await.unwrap()[0].id, approval);
    let of_call = ApprovalFilter { call: Some(calls[1]), ..ApprovalFilter::default() };
    assert_eq!(store.approvals(&of_call).await.unwrap()[0].id, approval);
    let denied = ApprovalFilter { status: Some(ApprovalStatus::Denied), run, ..ApprovalFilter::default() };
    assert_eq!(store.approvals(&denied).await.unwrap(), []);
    let sessions = store.sessions(&SessionFilter::default()).await.unwrap();
    assert_eq!(sessions.iter().map(|row| row.id.as_u128() >> 64).collect::<Vec<_>>(), [3, 2, 1]);
    let nobody = mast_kernel::id::PrincipalId::from_u128(3);
    let of_nobody = SessionFilter { principal: Some(nobody), ..SessionFilter::default() };
    assert_eq!(store.sessions(&of_nobody).await.unwrap(), []);
}

async fn heads_are_signed_and_chained(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let other = begun(store, 2).await;
    let unknown = store.sign_head(SessionId::from_u128(9), world.now()).await.unwrap_err();
    assert!(matches!(unknown, StoreError::NoSuchSession(_)));
    let first = store.sign_head(world.session, world.now()).await.unwrap();
    store.post(world.end());
    let second = store.sign_head(world.session, world.now()).await.unwrap();
    let third = store.sign_head(other.session, world.now()).await.unwrap();
    assert_eq!((first.number, first.sequence, first.previous_head), (1, 4, store.seal().genesis()));
    assert_eq!((second.number, second.sequence, second.previous_head), (2, 6, first.digest()));
    assert_eq!((third.number, third.sequence, third.previous_head), (3, 4, second.digest()));
    assert!([first, second, third].iter().all(is_signed));
    assert_eq!(store.heads(0, 0).await.unwrap(), [first, second, third]);
    assert_eq!(store.heads(1, 1).await.unwrap(), [second]);

    for known in [first.digest(), third.digest(), second.hash] {
        let wanted = Wanted { head: Some(known), ..Wanted::default() };
        let report = verify(store, wanted).await.unwrap();
        assert_eq!((report.findings, report.last_head), (Vec::new(), Some(third.digest())));
    }
    let wanted = Wanted { head: Some(Digest::of(b"another")), session: Some(world.session) };
    let report = verify(store, wanted).await.unwrap();
    expect_test::expect!["dropped tail in ses_0000000000000g000000000001: the head that was given is not in this journal: its end was dropped or replaced"]
        .assert_eq(&report.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
}

/// Runs every case on every store.
macro_rules! on_every_store {
    ($($case:ident,)*) => {
        mod memory {
            $(#[tokio::test]
            async fn $case() {
                super::$case(&crate::world::memory()).await;
            })*
        }
        mod sqlite {
            $(#[tokio::test]
            async fn $case() {
                let folder = tempfile::tempdir().unwrap();
                super::$case(&crate::world::sqlite(&folder).await).await;
            })*
        }
    };
}

on_every_store! {
    a_whole_run_is_read_back,
    what_is_not_there_is_none,
    events_are_numbered_without_gaps_and_chained,
    a_batch_that_does_not_fit_leaves_nothing,
    every_move_goes_by_the_tables_of_states,
    a_call_may_run_again_only_after_it_was_authorized_again,
    one_yes_is_used_once,
    a_key_is_used_by_one_call,
    a_claim_is_of_exactly_its_call,
    only_one_of_two_claims_is_committed,
    a_session_is_bound_to_its_store_and_begins_once,
    an_id_is_used_once_in_the_whole_store,
    a_nul_is_never_stored,
    a_batch_has_a_bound,
    what_is_posted_is_written_in_order,
    what_cannot_be_posted_poisons_the_store,
    a_refused_batch_takes_no_neighbour_down,
    eight_tasks_commit_at_once,
    ten_thousand_events_are_one_chain,
    lists_are_filtered_ordered_and_bounded,
    heads_are_signed_and_chained,
}
