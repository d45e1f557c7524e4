//! The judging half of Mast: what things are called, what may run, and what a record must say.
//!
//! Nothing here performs I/O, starts a task, reads a clock or asks for randomness: every input is an
//! argument, so that a decision can be repeated from its record. (One function, [`permit::claim`], awaits the
//! store that it is handed; it owns no runtime.)
//!
//! | module | the one idea |
//! |---|---|
//! | [`id`] | typed ids and how they are written |
//! | [`name`] | the grammar of tool names, and names that providers accept |
//! | [`trust`] | labels: how far text may be believed, how far it may travel |
//! | [`neutral`] | control markers of chat templates, broken in what a model is shown |
//! | [`spec`] | the full declaration of a tool |
//! | [`registry`] | the seven refusals, versions and aliases |
//! | [`schema`] | JSON Schema 2020-12, closed at every level |
//! | [`canonical`] | one spelling for arguments, and its digests |
//! | [`resource`] | what a call would touch |
//! | [`shell`] | what a command line would run |
//! | [`protected`] | names that no tool may reach |
//! | [`address`] | addresses that no tool may reach |
//! | [`call`] | the states of a call |
//! | [`permit`] | the right to run one call once |
//! | [`policy`] | every layer that may stop a call |
//! | [`approval`] | a sealed question to a person |
//! | [`grant`] | a yes that reaches further than one call |
//! | [`run`] | runs, their status and their turn contract |
//! | [`completion`] | what the end of a run is worth |
//! | [`event`] | the journal's vocabulary and its hash chain |
//! | [`message`] | one static sentence for each reason code |
//! | [`effect`] | what a run did, and how far that is known |
//! | [`assertion`] | what a message says was done, and which receipt says so |
//! | `quotation` | which mark closes which |
//! | [`transcript`] | what another agent's transcript says, and what its results support |
//! | [`budget`], [`breaker`] | when a run must stop |
//! | [`limits`] | every bound, in one file |

pub mod address;
pub mod approval;
pub mod assertion;
pub mod breaker;
pub mod budget;
pub mod call;
pub mod canonical;
pub mod completion;
pub mod effect;
pub mod event;
pub mod grant;
pub mod id;
pub mod instant;
pub mod limits;
pub mod message;
pub mod name;
pub mod neutral;
pub mod permit;
pub mod policy;
pub mod protected;
mod quotation;
pub mod registry;
pub mod resource;
pub mod run;
pub mod schema;
pub mod scope;
pub mod shell;
pub mod spec;
pub mod transcript;
pub mod trust;
