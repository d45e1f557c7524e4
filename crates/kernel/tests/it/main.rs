//! What the kernel promises, seen from outside.
#![cfg(test)]

mod journal;
mod message_table;
mod permit;
mod policy;
mod shell;
