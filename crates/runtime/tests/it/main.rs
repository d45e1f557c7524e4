//! Stories: what the user said, what the model proposed, what Mast decided, what the journal holds.

#![cfg(test)]

mod approvals;
mod batch;
mod completion;
mod desk;
mod failure;
mod gate;
mod injection;
mod invariant;
mod labels;
mod recovery;
mod render;
mod run_loop;
mod scenario;
mod sim;
mod workspace;
