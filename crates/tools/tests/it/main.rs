//! What a user of the crate can hold the builtin tools to.

mod calculate;
mod current_time;
