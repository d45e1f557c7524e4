//! The binary `mast` as a person meets it: whole outputs and exit codes, in a world of its own.
#![cfg(test)]

mod approvals;
mod call;
mod completion;
mod config;
mod disk;
mod export;
mod inspect;
mod mistakes;
mod policy;
mod recovery;
mod run;
mod secrets;
mod served;
mod server;
mod workers;
mod workspace;
mod world;
