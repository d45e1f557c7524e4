//! The providers through their public face: the HTTP ones against a server on the loopback interface
//! that plays back what servers send.
#![cfg(test)]

mod conformance;
mod failures;
mod scripted;
mod server;
mod shapes;
mod world;
