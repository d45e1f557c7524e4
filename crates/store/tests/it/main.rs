//! The tests of the store as others see it.

mod conformance;
mod sqlite;
mod tamper;
mod world;
