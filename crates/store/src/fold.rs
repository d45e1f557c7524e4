//! How an event changes the rows of its session, and when it may not.
//!
//! Pure, and the same for every store and for the verifier: the rows that a store writes and the rows
//! that the verifier expects come out of this one function. What an event makes or changes is gathered
//! in a [`Delta`] above the unchanged [`State`], so that a batch that does not fit is dropped whole.

mod apply;
mod approval;
mod call;
mod delta;
mod grant;
mod run;
mod state;

pub(crate) use apply::{Moment, apply};
pub(crate) use delta::{Changed, Delta, View};
pub(crate) use run::held;
pub(crate) use state::{State, needs};
