//! What is read back.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::canonical::Digest;
use mast_kernel::event::{ItemKind, Link};
use mast_kernel::id::{ApprovalId, CallId, PrincipalId, RunId, SessionId, TenantId};
use mast_kernel::instant::Instant;
use mast_kernel::run::{Completion, RunStatus};
use mast_store::sign::is_signed;
use mast_store::verify::{Wanted, verify};
use mast_store::{ApprovalFilter, CallFilter, RunFilter, SessionFilter, Store, StoreError};

use super::{begun, sound};
use crate::world::IDENTITY;

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

async fn no_moment_is_before_one_that_is_on_record(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let last = store.events(world.session, 0, 0).await.unwrap().last().unwrap().at;
    assert_eq!(store.last_moment(world.session).await.unwrap(), Some(last));
    let mut late = world.end();
    late.events.iter_mut().for_each(|event| event.at = Instant::from_micros(7));
    store.commit(late).await.unwrap();
    let events = store.events(world.session, 0, 0).await.unwrap();
    assert_eq!(events.last().unwrap().at, last, "a clock that went back is not followed");
    let signed_at = Instant::from_micros(last.micros() + 9);
    store.sign_head(world.session, signed_at).await.unwrap();
    assert_eq!(store.last_moment(world.session).await.unwrap(), Some(signed_at));
    let other = SessionId::from_u128(9);
    assert_eq!(store.last_moment(other).await.unwrap(), Some(signed_at), "heads are of the whole store");
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
    assert_eq!(store.runs(&by_ending(whole.trim_start_matches("RUN_"))).await.unwrap().len(), 1);
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
    let nobody = PrincipalId::from_u128(3);
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

super::on_every_store! {
    a_whole_run_is_read_back,
    what_is_not_there_is_none,
    events_are_numbered_without_gaps_and_chained,
    no_moment_is_before_one_that_is_on_record,
    lists_are_filtered_ordered_and_bounded,
    heads_are_signed_and_chained,
}
