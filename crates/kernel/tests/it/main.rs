//! What the kernel promises, seen from outside.
#![cfg(test)]

mod message_table;
mod permit;
