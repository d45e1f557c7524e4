//! What a user of the crate can hold the builtin tools to.

#[cfg(test)]
mod calculate;
#[cfg(test)]
mod current_time;
