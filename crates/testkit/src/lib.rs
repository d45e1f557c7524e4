//! A closed world for the tests of Mast: a clock that moves by hand, ids that are counted, a model that
//! is scripted, and a store that can be broken. Nothing here is in the product.
//!
//! | module | the one idea |
//! |---|---|
//! | [`mod@world`] | counted ids, a clock that ticks a millisecond a look |
//! | [`story`] | what the user said and the model proposed, and what the journal then holds |
//! | [`probe`] | a tool of any class that counts how often it ran |
//! | [`props`] | tools that stand in for every kind of effect, and write down what they did |
//! | [`folder`] | a folder in memory, whose files a run can change, and a command that judges a frozen copy
//! | [`gullible`] | a model that obeys whatever it reads |
//! | [`orders`], [`coded`] | what it takes for an order, and how that and a secret may be disguised |
//! | [`broken`] | a store that fails when it is told to |
//! | [`server`] | stores on the Postgres server of the tests |
//! | [`mod@say`] | a table that a reader of the test run must see |
//! | [`sim`] | short runs with everything going wrong at once, from a seed |

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that cannot be set up, or a probe that is told to, must stop there"
)]

pub mod broken;
pub mod coded;
pub mod folder;
pub mod gullible;
pub mod orders;
pub mod probe;
pub mod props;
pub mod say;
pub mod server;
pub mod sim;
pub mod story;
pub mod world;

pub use broken::{BrokenStore, Fault};
pub use folder::Folder;
pub use gullible::{Gullible, Step};
pub use probe::Probe;
pub use props::{Ready, Scene, Trace};
pub use say::say;
pub use story::{Story, Told, line};
pub use world::{CountedIds, ManualClock, START_MICROS, file_store, memory_store, world};
