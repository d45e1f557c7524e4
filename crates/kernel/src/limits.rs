//! Every bound of Mast, in one file, so that a reviewer can see that there is one for everything.
//! Sizes are bytes of UTF-8 unless the name says otherwise. See `docs/spec/bounds.md`.

/// Longest registry name of a tool, in characters.
pub const TOOL_NAME_CHARS_MAX: usize = 96;
/// Longest expression of the calculator, in characters.
pub const EXPRESSION_CHARS_MAX: usize = 1_024;
/// Most tokens of an expression.
pub const EXPRESSION_TOKENS_MAX: usize = 512;
/// Deepest nesting of an expression.
pub const EXPRESSION_DEPTH_MAX: usize = 32;
/// Largest arguments of one call.
pub const ARGUMENTS_BYTES_MAX: usize = 1_048_576;
/// Deepest nesting of the arguments of one call.
pub const ARGUMENTS_DEPTH_MAX: usize = 64;
/// Deepest nesting of anything that has a canonical form: arguments inside a record.
pub const CANONICAL_DEPTH_MAX: usize = 96;
/// Largest `maximum_output_bytes` that a tool may declare.
pub const OUTPUT_BYTES_MAX: u64 = 4_194_304;
/// A call whose output passes its limit this many times over is cancelled.
pub const OUTPUT_CEILING_FACTOR: u64 = 4;
/// How much of a result a model sees at once.
pub const INLINE_BYTES_MAX: usize = 16_384;
/// Calls of one batch that run at the same time.
pub const PARALLEL_MAX: usize = 8;
/// Calls that one reply of a model may propose; further ones are answered, not run.
pub const BATCH_CALLS_MAX: usize = 128;
/// Calls that a reply may hold at all; a reply with more is not taken.
pub const REPLY_CALLS_MAX: usize = 1_024;
/// Steps of a run, when nothing else is said.
pub const STEPS_DEFAULT: u32 = 32;
/// Model calls of a run, when nothing else is said.
pub const MODEL_CALLS_DEFAULT: u32 = 24;
/// Tool calls of a run, when nothing else is said.
pub const TOOL_CALLS_DEFAULT: u32 = 64;
/// Most steps that a setting may allow.
pub const STEPS_MAX: u32 = 200;
/// Most model calls that a setting may allow.
pub const MODEL_CALLS_MAX: u32 = 200;
/// Most tool calls that a setting may allow.
pub const TOOL_CALLS_MAX: u32 = 1_000;
/// Identical denials before a run is stopped.
pub const IDENTICAL_DENIALS_MAX: u32 = 3;
/// Identical calls without a success between, before a run is stopped.
pub const IDENTICAL_CALLS_MAX: u32 = 5;
/// Repeats of a call whose outcome is unknown: the first is refused.
pub const REPEATS_AFTER_UNCERTAIN_MAX: u32 = 1;
/// Open approvals of one run.
pub const OPEN_ASKS_MAX: usize = 8;
/// A tool schema from outside, in bytes.
pub const FOREIGN_SCHEMA_BYTES_MAX: usize = 32_768;
/// Deepest nesting of any tool schema.
pub const SCHEMA_DEPTH_MAX: usize = 16;
/// Largest text that a person may give a run at once.
pub const PROMPT_BYTES_MAX: usize = 4_194_304;
/// Largest reply of a model: text, reasoning and arguments together.
pub const REPLY_BYTES_MAX: usize = 8_388_608;
/// Largest exponent of a number in arguments, so that its value stays writable.
pub const NUMBER_EXPONENT_MAX: i64 = 100_000;
/// Largest configuration or script file.
pub const CONFIG_BYTES_MAX: usize = 1_048_576;
/// Largest line that `call --stdin` reads.
pub const LINE_BYTES_MAX: usize = 2_097_152;
/// Largest compiled pattern of a schema.
pub const PATTERN_BYTES_MAX: usize = 1_048_576;
/// Model calls that a run keeps for its answer.
pub const MODEL_CALLS_RESERVE: u32 = 2;
/// Longest name of a policy profile, in characters.
pub const PROFILE_NAME_CHARS_MAX: usize = 64;
/// Most rules of a policy profile: those of tools, servers, resources and sequences together.
pub const PROFILE_RULES_MAX: usize = 1_000;
/// Most tests of a policy profile.
pub const PROFILE_TESTS_MAX: usize = 1_000;
/// Longest reason that a rule gives, in characters.
pub const PROFILE_WHY_CHARS_MAX: usize = 200;
/// Seconds that a grant lasts at most.
pub const GRANT_SECONDS: u32 = 28_800;
/// Times that a grant may be used.
pub const GRANT_USES_MAX: u32 = 200;
/// Grants of a session that are looked at.
pub const GRANTS_MAX: usize = 64;
/// Seconds for which others keep away from a run after its worker was last heard of.
pub const LEASE_SECONDS: u32 = 15;
/// How often a call is claimed at most: what was interrupted so often is not tried again.
pub const ATTEMPTS_MAX: u32 = 3;
/// How often a run is taken up in which nothing came to its end since it was taken up last: what ends every process
/// that works on it is not tried for ever.
pub const RECOVERIES_MAX: u32 = 5;
/// Refusals of a tool and target after which a run is not asked about it again.
pub const REFUSALS_MAX: u32 = 2;
/// Bytes of a person's words to the model beside a no.
pub const WORDS_BYTES_MAX: usize = 4_096;
/// Seconds by which the clock may seem to go back before pending approvals are void.
pub const CLOCK_BACK_SECONDS: u32 = 5;
/// Largest shell text that is parted into commands; a longer one is unclear, and asks.
pub const SHELL_TEXT_BYTES_MAX: usize = 8_192;
/// Deepest nesting of the tree of a shell text.
pub const SHELL_TREE_DEPTH_MAX: usize = 256;
/// How often a command may be opened to see what it runs: `sudo env sh -c …` is three.
pub const SHELL_DEPTH_MAX: usize = 8;
/// Seconds that a reviewer has to say something.
pub const REVIEW_SECONDS: u64 = 5;
/// Looks that must find nothing before something counts as gone.
pub const ABSENCE_LOOKS_MIN: u32 = 2;
/// Assertions of one message that are looked at.
pub const ASSERTIONS_MAX: usize = 256;
/// Assertions that a model may attach in one call.
pub const ATTACHED_MAX: usize = 64;
