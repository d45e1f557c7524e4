//! Conversations cut off, and rows made anew.

use mast_kernel::event::{EventBody, Head, Link, ToolCallSettled};
use mast_kernel::id::CallId;
use mast_kernel::instant::Instant;
use mast_kernel::message::OutcomeStatus;
use mast_store::upkeep::{NotCut, cut, rebuild};
use mast_store::verify::{Wanted, all_sessions, verify};
use mast_store::{Conflict, Store, StoreError};
use serde_json::json;

use super::{begun, sound};
use crate::world::World;

/// A moment after everything that happens in these worlds.
const LATER: Instant = Instant::from_micros(1_800_000_000_000_000);

async fn ended(store: &dyn Store, number: u32) -> World {
    let mut world = begun(store, number).await;
    store.commit(world.end()).await.unwrap();
    world
}

async fn a_cut_takes_a_conversation_away_and_leaves_signed_what_was_there(store: &dyn Store) {
    let (gone, stays) = (ended(store, 1).await, ended(store, 2).await);
    store.sign_head(gone.session, LATER).await.unwrap();
    let last = store.events(gone.session, 0, 0).await.unwrap().pop().unwrap();
    let kept = store.events(stays.session, 0, 0).await.unwrap();
    let n_contents = verify(store, Wanted::default()).await.unwrap().n_contents;
    let planned = cut(store, gone.session, (LATER, LATER)).await.unwrap().unwrap();
    store.keep_up(vec![planned.clone()]).await.unwrap();

    assert_eq!(all_sessions(store).await.unwrap(), [stays.session]);
    assert_eq!(store.events(gone.session, 0, 0).await.unwrap(), []);
    assert_eq!(store.items(gone.session, 0, 0).await.unwrap(), []);
    assert_eq!(store.run(gone.run).await.unwrap(), None);
    assert_eq!(store.events(stays.session, 0, 0).await.unwrap(), kept);
    let heads = store.heads(0, 0).await.unwrap();
    let said = heads.last().map(|head| (head.session, head.sequence, head.hash));
    assert_eq!(said, Some((gone.session, last.sequence, Head::cut_behind(&last.hash))));
    sound(store).await;
    let report = verify(store, Wanted::default()).await.unwrap();
    assert!(report.n_contents * 2 <= n_contents + 1, "its values are gone too: {report:?}");
    let again = store.keep_up(vec![planned]).await.unwrap_err();
    assert!(
        matches!(again, StoreError::NoSuchSession(_) | StoreError::Conflict(Conflict::Overtaken)),
        "{again:?}"
    );
    ended(store, 3).await;
    sound(store).await;
}

async fn what_is_open_young_or_in_doubt_is_not_cut(store: &dyn Store) {
    let mut world = begun(store, 1).await;
    let why = async |before: Instant| cut(store, world.session, (before, LATER)).await.unwrap().unwrap_err();
    assert_eq!(why(LATER).await, NotCut::Open);
    let first = store.events(world.session, 0, 1).await.unwrap().pop().unwrap().at;
    assert_eq!(why(first).await, NotCut::Young);
    let call = CallId::from_u128(world.next());
    store.commit(world.claim(call)).await.unwrap();
    store.commit(world.mark(call)).await.unwrap();
    let mut batch = world.batch();
    let settled = world.settled(&mut batch, call, true);
    let (outcome_status, reason_code) = (OutcomeStatus::Uncertain, Some("tool.outcome_unknown".to_owned()));
    let settled = ToolCallSettled { outcome_status, reason_code, ..settled };
    world.tell(&mut batch, EventBody::ToolCallUncertain(settled));
    store.commit(batch).await.unwrap();
    store.commit(world.end()).await.unwrap();
    let why = cut(store, world.session, (LATER, LATER)).await.unwrap().unwrap_err();
    assert_eq!(why, NotCut::InDoubt);
}

async fn what_was_planned_is_not_done_to_a_conversation_that_went_on(store: &dyn Store) {
    let mut world = ended(store, 1).await;
    let planned = [
        cut(store, world.session, (LATER, LATER)).await.unwrap().unwrap(),
        rebuild(store, world.session).await.unwrap().unwrap(),
    ];
    let mut batch = world.batch();
    let item = world.item(&mut batch, mast_kernel::event::ItemKind::User, &json!("And now?"));
    world.tell(&mut batch, EventBody::UserMessageCreated(item));
    store.commit(batch).await.unwrap();
    for planned in planned {
        let error = store.keep_up(vec![planned]).await.unwrap_err();
        assert!(matches!(error, StoreError::Conflict(Conflict::Overtaken)), "{error:?}");
    }
    let end = store.events(world.session, 0, 0).await.unwrap().pop().unwrap();
    assert_eq!(end.link(), Link { sequence: end.sequence, hash: end.hash });
    sound(store).await;
}

async fn rows_made_anew_are_those_that_were_there(store: &dyn Store) {
    let world = ended(store, 1).await;
    let (run, items) = (store.run(world.run).await.unwrap(), store.items(world.session, 0, 0).await.unwrap());
    store.keep_up(vec![rebuild(store, world.session).await.unwrap().unwrap()]).await.unwrap();
    assert_eq!(store.run(world.run).await.unwrap(), run);
    assert_eq!(store.items(world.session, 0, 0).await.unwrap(), items);
    sound(store).await;
}

super::on_every_store! {
    a_cut_takes_a_conversation_away_and_leaves_signed_what_was_there,
    what_is_open_young_or_in_doubt_is_not_cut,
    what_was_planned_is_not_done_to_a_conversation_that_went_on,
    rows_made_anew_are_those_that_were_there,
}
