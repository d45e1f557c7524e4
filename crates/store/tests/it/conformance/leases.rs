//! Who works on a run, and what becomes of the words of somebody who has lost it.

use mast_kernel::approval::ApprovalStatus;
use mast_kernel::event::{EventBody, ResumeCause, RunResumed, RunStopped};
use mast_kernel::id::{ApprovalId, CallId};
use mast_kernel::instant::Instant;
use mast_kernel::run::{Priority, RunStatus};
use mast_store::lease::Wanted;
use mast_store::{Conflict, Fence, Lease, Store, StoreError};

use super::{begun, sound};
use crate::world::World;

fn at(seconds: u32) -> Instant {
    Instant::from_micros(1_785_000_000_000_000).plus_seconds(seconds)
}

fn wanted(owner: &str, now: u32) -> Wanted<'_> {
    Wanted { owner, now: at(now), until: at(now + 10), priority: Priority::Normal }
}

async fn a_lease_is_ones_own_until_it_is_over(store: &dyn Store) {
    let world = begun(store, 1).await;
    let lease = |owner: &str, until| Lease { run: world.run, owner: owner.to_owned(), until: at(until) };
    assert!(store.take(&lease("a", 10), at(0)).await.unwrap());
    assert!(!store.take(&lease("b", 19), at(9)).await.unwrap(), "it is somebody else's");
    assert!(store.take(&lease("a", 19), at(9)).await.unwrap(), "a heartbeat");
    assert_eq!(store.lease(world.run).await.unwrap(), Some(lease("a", 19)));
    assert!(store.take(&lease("b", 29), at(19)).await.unwrap(), "it is over");
    store.release(world.run, "a").await.unwrap();
    assert_eq!(store.lease(world.run).await.unwrap(), Some(lease("b", 29)), "it is not a's to give back");
    store.release(world.run, "b").await.unwrap();
    assert_eq!(store.lease(world.run).await.unwrap(), None);
}

async fn the_next_run_is_the_oldest_that_nobody_works_on(store: &dyn Store) {
    let (first, second) = (begun(store, 1).await, begun(store, 2).await);
    let mut third = World::new(3);
    let (call, approval) = (CallId::from_u128(third.next()), ApprovalId::from_u128(third.next()));
    for batch in [third.begin(), third.ask(), third.park(call, approval)] {
        store.commit(batch).await.unwrap();
    }
    let next =
        async |owner: &'static str, now| store.next(&wanted(owner, now)).await.unwrap().map(|run| run.id);
    assert_eq!(next("a", 0).await, Some(first.run));
    assert_eq!(next("b", 1).await, Some(second.run));
    assert_eq!(next("c", 2).await, None, "the third waits for a person");
    assert_eq!(next("c", 10).await, Some(first.run), "its owner was not heard of for too long");
    let background = Wanted { priority: Priority::Background, ..wanted("c", 99) };
    assert_eq!(store.next(&background).await.unwrap(), None);
    let mut ends = second.clone();
    let mut batch = ends.batch();
    ends.tell(&mut batch, EventBody::RunFailed(RunStopped { reason_code: "run.internal_error".to_owned() }));
    store.commit(batch).await.unwrap();
    assert_eq!(next("d", 12).await, None, "what has ended is not taken up");

    store.commit(third.resolve(approval, ApprovalStatus::Approved)).await.unwrap();
    assert_eq!(next("d", 12).await, Some(third.run), "every question is settled");
    sound(store).await;
}

async fn who_lost_a_run_writes_nothing_more_of_it(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let fence = |epoch| Some(Fence { run: world.run, epoch });
    let (of_old, of_new) = (fence(0), fence(1));
    let mut taken = world.batch();
    taken.fence = of_old;
    let (cause, policy_version) = (ResumeCause::Recovery, "default@000000000000+h00000000".to_owned());
    world.tell(&mut taken, EventBody::RunResumed(RunResumed { cause, policy_version }));
    let second = taken.clone();
    store.commit(taken).await.unwrap();
    let run = store.run(world.run).await.unwrap().unwrap();
    assert_eq!((run.status, run.epoch), (RunStatus::Running, 1));

    let refused = store.commit(second).await;
    let lost = world.run;
    let is_fenced =
        |error: &StoreError| matches!(error, StoreError::Conflict(Conflict::Fenced { run }) if *run == lost);
    assert!(refused.as_ref().is_err_and(is_fenced), "of two who take it up one has it: {refused:?}");
    let call = CallId::from_u128(world.next());
    let mut late = world.clone().batch();
    world.clone().proposed(&mut late, call);
    late.fence = of_old;
    assert!(store.commit(late.clone()).await.as_ref().is_err_and(is_fenced));
    // What is posted is not missing afterwards: it never happened.
    store.post(late.clone());
    store.flush().await.unwrap();
    assert_eq!(store.call(call).await.unwrap(), None);
    late.fence = of_new;
    store.commit(late).await.unwrap();
    sound(store).await;
}

super::on_every_store! {
    a_lease_is_ones_own_until_it_is_over,
    the_next_run_is_the_oldest_that_nobody_works_on,
    who_lost_a_run_writes_nothing_more_of_it,
}
