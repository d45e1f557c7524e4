//! What the kernel promises, seen from outside.
#![cfg(test)]

mod approval;
mod assertion;
mod assertion_check;
mod effect;
mod journal;
mod message_table;
mod permit;
mod policy;
mod policy_gates;
mod policy_profile;
mod policy_spelling;
mod policy_table;
mod record;
mod shell;
mod transcript;
