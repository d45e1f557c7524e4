//! The tests of the store as others see it.
#![cfg(test)]

mod conformance;
mod export;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod server;
mod sqlite;
mod tamper;
#[cfg(feature = "postgres")]
mod wire;
mod world;
