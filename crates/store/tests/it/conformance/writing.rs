//! How batches are written.

use mast_kernel::call::CallStatus;
use mast_kernel::event::{CallMarked, EventBody, ItemKind, RunStopped};
use mast_kernel::id::CallId;
use mast_kernel::run::RunStatus;
use mast_store::verify::{Wanted, verify};
use mast_store::{CallFilter, Conflict, RunFilter, SessionFilter, Store, StoreError};
use serde_json::json;

use super::{begun, sound};
use crate::world::World;

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

super::on_every_store! {
    a_batch_that_does_not_fit_leaves_nothing,
    a_nul_is_never_stored,
    a_batch_has_a_bound,
    what_is_posted_is_written_in_order,
    what_cannot_be_posted_poisons_the_store,
    a_refused_batch_takes_no_neighbour_down,
    eight_tasks_commit_at_once,
    ten_thousand_events_are_one_chain,
}
