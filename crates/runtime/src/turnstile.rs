//! The order within a batch: all calls of one reply are decided before any runs, and then they go
//! through side by side, or one after the other, or wait.
//!
//! Each call of the batch is a future of its own that passes the gate; the turnstile is where they
//! meet. Rejected: a gate that is cut in two halves with a loop between them, because then the fourteen
//! steps stand nowhere in one place.

use std::sync::Mutex;

use mast_kernel::limits;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

/// What a decided call wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// To run, and it may run beside others.
    RunBeside,
    /// To run, alone.
    RunAlone,
    /// To ask a person.
    Ask,
    /// Nothing: it was stopped before.
    Nothing,
}

/// What a call is told at the turnstile.
#[derive(Debug)]
pub(crate) enum Turn<'a> {
    /// It may go on, and holds this place until it is done.
    Go { _place: Option<SemaphorePermit<'a>> },
    /// A sibling asks a person, and this call must wait until that is answered.
    Wait,
}

/// Where the calls of one batch meet.
#[derive(Debug)]
pub(crate) struct Turnstile {
    state: Mutex<State>,
    changed: Notify,
    places: Semaphore,
}

#[derive(Debug)]
struct State {
    wishes: Vec<Option<Wish>>,
    begun: Vec<bool>,
    done: Vec<bool>,
}

impl State {
    /// What the call at `index` may do now; none while that is open.
    fn turn(&self, index: usize) -> Option<Ordered> {
        let wishes: Vec<Wish> = self.wishes.iter().copied().collect::<Option<_>>()?;
        let wish = wishes.get(index).copied()?;
        let some_ask = wishes.contains(&Wish::Ask);
        let all_beside = wishes.iter().all(|wish| matches!(wish, Wish::RunBeside | Wish::Nothing));
        match wish {
            Wish::Ask | Wish::Nothing => Some(Ordered::Go),
            Wish::RunAlone if some_ask => Some(Ordered::Wait),
            Wish::RunBeside if all_beside || some_ask => {
                // Side by side, and yet begun in the order of the calls, so that a journal reads alike.
                let mut earlier = wishes.iter().zip(&self.begun).take(index);
                let next = earlier.all(|(wish, begun)| *begun || *wish != Wish::RunBeside);
                next.then_some(Ordered::GoBeside)
            }
            Wish::RunAlone | Wish::RunBeside => {
                let earlier_done = self.done.iter().take(index).all(|done| *done);
                earlier_done.then_some(Ordered::Go)
            }
        }
    }
}

enum Ordered {
    Go,
    GoBeside,
    Wait,
}

impl Turnstile {
    /// A turnstile for so many calls.
    pub(crate) fn new(n_calls: usize) -> Self {
        let (begun, done) = (vec![false; n_calls], vec![false; n_calls]);
        let state = State { wishes: vec![None; n_calls], begun, done };
        let places = Semaphore::new(limits::PARALLEL_MAX);
        Self { state: Mutex::new(state), changed: Notify::new(), places }
    }

    /// The ticket of the call at `index`.
    pub(crate) fn ticket(&self, index: usize) -> Ticket<'_> {
        Ticket { turnstile: self, index }
    }

    fn change(&self, apply: impl FnOnce(&mut State)) {
        // A panic while the lock was held cannot leave a half change: each is one assignment.
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        apply(&mut state);
        drop(state);
        self.changed.notify_waiters();
    }

    fn ordered(&self, index: usize) -> Option<Ordered> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner).turn(index)
    }
}

/// One call's ticket. Dropping it tells the others that the call is done.
#[derive(Debug)]
pub(crate) struct Ticket<'a> {
    turnstile: &'a Turnstile,
    index: usize,
}

impl<'a> Ticket<'a> {
    /// Whether this call is the only one of its batch.
    pub(crate) fn is_alone(&self) -> bool {
        let state = self.turnstile.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.wishes.len() == 1
    }

    /// Says what the call wants, and waits for its turn.
    pub(crate) async fn enter(&self, wish: Wish) -> Turn<'a> {
        let index = self.index;
        self.turnstile.change(|state| {
            if let Some(slot) = state.wishes.get_mut(index) {
                *slot = Some(wish);
            }
        });
        loop {
            let changed = self.turnstile.changed.notified();
            match self.turnstile.ordered(index) {
                Some(Ordered::Go) => return Turn::Go { _place: None },
                Some(Ordered::GoBeside) => {
                    let place = self.turnstile.places.acquire().await.ok();
                    self.turnstile.change(|state| set(&mut state.begun, index));
                    return Turn::Go { _place: place };
                }
                Some(Ordered::Wait) => return Turn::Wait,
                None => changed.await,
            }
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let index = self.index;
        self.turnstile.change(|state| {
            if let Some(slot) = state.wishes.get_mut(index) {
                slot.get_or_insert(Wish::Nothing);
            }
            set(&mut state.begun, index);
            set(&mut state.done, index);
        });
    }
}

fn set(flags: &mut [bool], index: usize) {
    if let Some(flag) = flags.get_mut(index) {
        *flag = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;
    use std::sync::Arc;

    /// Runs a batch with these wishes; answers which calls began and ended, in order.
    async fn check(wishes: &[Wish]) -> String {
        let turnstile = Turnstile::new(wishes.len());
        let log = Arc::new(Mutex::new(Vec::new()));
        let calls = wishes.iter().enumerate().map(|(index, wish)| {
            let ticket = turnstile.ticket(index);
            let log = Arc::clone(&log);
            async move {
                if *wish == Wish::Nothing {
                    return;
                }
                match ticket.enter(*wish).await {
                    Turn::Wait => log.lock().unwrap().push(format!("{index} waits")),
                    Turn::Go { _place } => {
                        log.lock().unwrap().push(format!("{index} begins"));
                        tokio::task::yield_now().await;
                        log.lock().unwrap().push(format!("{index} ends"));
                    }
                }
            }
        });
        join_all(calls).await;
        let log = log.lock().unwrap();
        log.join(", ")
    }

    #[tokio::test]
    async fn readers_go_side_by_side() {
        let log = check(&[Wish::RunBeside, Wish::Nothing, Wish::RunBeside]).await;
        assert_eq!(log, "0 begins, 2 begins, 0 ends, 2 ends");
    }

    #[tokio::test]
    async fn one_writer_puts_the_whole_batch_in_order() {
        let log = check(&[Wish::RunBeside, Wish::RunAlone, Wish::RunBeside]).await;
        assert_eq!(log, "0 begins, 0 ends, 1 begins, 1 ends, 2 begins, 2 ends");
    }

    #[tokio::test]
    async fn while_one_asks_readers_go_and_writers_wait() {
        let mut log: Vec<String> = check(&[Wish::RunAlone, Wish::Ask, Wish::RunBeside])
            .await
            .split(", ")
            .map(str::to_owned)
            .collect();
        log.sort();
        assert_eq!(log, ["0 waits", "1 begins", "1 ends", "2 begins", "2 ends"]);
    }

    #[tokio::test]
    async fn at_most_eight_go_side_by_side() {
        let log = check(&[Wish::RunBeside; 9]).await;
        let first_end = log.find("ends").unwrap();
        assert_eq!(log.split_at(first_end).0.matches("begins").count(), limits::PARALLEL_MAX);
    }
}
