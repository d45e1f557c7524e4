//! The tests of the store as others see it.
#![cfg(test)]

mod conformance;
mod sqlite;
mod tamper;
mod world;
