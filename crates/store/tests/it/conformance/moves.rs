//! What the state of a session allows.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::call::CallStatus;
use mast_kernel::canonical::Digest;
use mast_kernel::event::{
    CallReconciled, EventBody, Reconciled, ReconciledBy, ResumeCause, RunResumed, ToolCallSettled,
};
use mast_kernel::id::{ApprovalId, CallId, PrincipalId};
use mast_kernel::message::OutcomeStatus;
use mast_kernel::permit::{ClaimLog as _, ClaimRecord, ClaimRefused};
use mast_store::{CallFilter, Conflict, Durability, PendingClaim, Store, StoreError};

use super::{begun, sound};
use crate::world::World;

fn refused(error: StoreError) {
    assert!(matches!(error, StoreError::Conflict(_)), "{error:?}");
}

async fn every_move_goes_by_the_tables_of_states(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let call = CallId::from_u128(world.next());
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

async fn what_may_have_happened_is_never_authorized_again_and_is_reconciled_once(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let call = CallId::from_u128(world.next());
    store.commit(world.claim(call)).await.unwrap();
    store.commit(world.mark(call)).await.unwrap();
    let mut again = world.batch();
    let key = world.key(call);
    world.authorized(&mut again, call, key);
    refused(store.commit(again).await.unwrap_err());

    let reconciled = |world: &mut World| {
        let mut batch = world.batch();
        let (verdict, found_by) = (Reconciled::DidNot, ReconciledBy::Person);
        let told = CallReconciled { call, verdict, found_by, principal: PrincipalId::from_u128(0xa1) };
        world.tell(&mut batch, EventBody::CallReconciled(told));
        batch
    };
    refused(store.commit(reconciled(&mut world)).await.unwrap_err());
    let mut doubtful = world.batch();
    let (outcome_status, reason_code) = (OutcomeStatus::Uncertain, Some("tool.outcome_unknown".to_owned()));
    let settled = world.settled(&mut doubtful, call, true);
    let settled = ToolCallSettled { outcome_status, reason_code, ..settled };
    world.tell(&mut doubtful, EventBody::ToolCallUncertain(settled));
    store.commit(doubtful).await.unwrap();
    store.commit(reconciled(&mut world)).await.unwrap();
    let row = store.call(call).await.unwrap().unwrap();
    assert_eq!((row.status, row.reconciled), (CallStatus::Failed, Some(Reconciled::DidNot)));
    refused(store.commit(reconciled(&mut world)).await.unwrap_err());
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

super::on_every_store! {
    every_move_goes_by_the_tables_of_states,
    a_call_may_run_again_only_after_it_was_authorized_again,
    what_may_have_happened_is_never_authorized_again_and_is_reconciled_once,
    one_yes_is_used_once,
    a_key_is_used_by_one_call,
    a_claim_is_of_exactly_its_call,
    only_one_of_two_claims_is_committed,
    a_session_is_bound_to_its_store_and_begins_once,
    an_id_is_used_once_in_the_whole_store,
}
