//! What no tool may do to the machine, tried.
#![cfg(test)]

mod workspace;
