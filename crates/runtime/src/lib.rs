//! The run loop of Mast and the gate: the only place that runs a tool.
//!
//! What cannot happen here: a second way to a tool. The loop, a typed call, and later every other
//! surface pass `gate`, one function of fourteen steps.
//!
//! | module | the one idea |
//! |---|---|
//! | [`runtime`] | a store, tools, a policy and a world, put together |
//! | [`session`] | a conversation, and the tools that it pins |
//! | [`run_loop`] | model, calls, results, again |
//! | [`review`] | the port of a reviewer who may only tighten |
//! | [`verdict`] | a person's yes or no, and grants taken back |
//! | [`completion`] | receipts, and what the end of a run is worth |
//! | [`desk`] | single calls that a person types |
//! | `gate` | the fourteen steps of a call |
//! | `hands` | what calls have besides their arguments: the clock, the word to stop, the folder of the run |
//! | `history` | what a session's calls have done so far |
//! | `turnstile` | the order within a batch |
//! | [`context`] | what a model is shown |
//! | [`envelope`] | how others' text is kept apart |
//! | [`bus`] | what a surface hears |
//! | [`clock`] | the only reader of clock and randomness |
//! | [`error`] | why the runtime itself cannot go on |

pub mod bus;
pub mod clock;
pub mod completion;
pub mod context;
pub mod desk;
pub mod envelope;
pub mod error;
mod gate;
mod hands;
mod history;
mod lease;
pub mod reconcile;
pub mod review;
pub mod run_loop;
pub mod runtime;
mod scribe;
pub mod session;
mod turnstile;
pub mod verdict;
pub mod worker;

pub use bus::{Ask, Judge, Observer, Progress, Silent};
pub use clock::{FixedClock, IdSource, SystemClock, SystemIds, World};
pub use completion::{Artifacts, CannotLook, CheckCall, Frozen, NotVerified, Report, Verifier};
pub use desk::{Desk, DirectCall, Disposition};
pub use error::RuntimeError;
pub use gate::Settled;
pub use hands::Workspaces;
pub use reconcile::NotReconciled;
pub use review::{ReviewFailed, Reviewed, Reviewer};
pub use run_loop::{Answerer, Resumption, RunEnd, RunFailure, RunRequest, Said, Surface};
pub use runtime::Runtime;
pub use session::{NewSession, Session};
pub use verdict::{Answer, NotTaken, Verdict};
pub use worker::{Crew, Crews, Slots};

/// Which version of Mast acts: approvals are sealed with it.
pub const AGENT_VERSION: &str = concat!("mast/", env!("CARGO_PKG_VERSION"));
