//! The script of the `scripted` provider: a YAML list of turns, read once into [`Script`].
//!
//! The format is told in `docs/spec/providers.md`. Unknown keys are errors, since a misspelt `expect`
//! that checks nothing would be worse than none. A script is a person's file, but its reader is
//! bounded all the same: size, depth and aliases.

use std::time::Duration;

use mast_kernel::limits;
use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::Spanned;
use thiserror::Error;

use crate::error::{ProviderError, TimeLimit};
use crate::reply::{Stop, Usage};

/// A script that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub(crate) turns: Vec<ScriptTurn>,
}

/// One turn of a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScriptTurn {
    pub(crate) line: u64,
    pub(crate) text: String,
    pub(crate) reasoning: Option<String>,
    pub(crate) calls: Vec<ScriptCall>,
    pub(crate) error: Option<ScriptError>,
    pub(crate) delay: Duration,
    pub(crate) expect: Option<Expect>,
    pub(crate) stop: Option<Stop>,
    pub(crate) usage: Usage,
}

/// One call of a turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScriptCall {
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) id: Option<String>,
}

/// How a turn fails, after how many bytes of its text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptError {
    kind: Kind,
    #[serde(default)]
    pub(crate) after_bytes: usize,
    #[serde(default)]
    retry_after_seconds: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Unreachable,
    Timeout,
    RateLimited,
    ServerFailed,
    InvalidRequest,
    Authentication,
    Protocol,
    CutShort,
    TooLarge,
}

impl ScriptError {
    /// The error as the runtime sees it.
    pub(crate) fn to_error(&self) -> ProviderError {
        let provider = crate::scripted::NAME.to_owned();
        let detail = "the script says so".to_owned();
        let retry_after = self.retry_after_seconds.map(Duration::from_secs);
        match self.kind {
            Kind::Unreachable => ProviderError::Unreachable { endpoint: provider, why: detail },
            Kind::Timeout => ProviderError::Timeout {
                endpoint: provider,
                limit: TimeLimit::Idle,
                after: Duration::from_secs(1),
            },
            Kind::RateLimited => ProviderError::RateLimited { provider, retry_after, detail },
            Kind::ServerFailed => ProviderError::ServerFailed { provider, status: 500, detail, retry_after },
            Kind::InvalidRequest => ProviderError::InvalidRequest { provider, status: 400, detail },
            Kind::Authentication => ProviderError::Authentication { provider, status: 401 },
            Kind::Protocol => ProviderError::Protocol { provider, what: detail },
            Kind::CutShort => ProviderError::CutShort { provider, what: detail },
            Kind::TooLarge => ProviderError::TooLarge {
                provider,
                limit: limits::REPLY_BYTES_MAX,
                what: "the script says so",
            },
        }
    }
}

/// What a turn expects of the request that asks for it.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    /// Texts that the last item holds.
    #[serde(default)]
    pub(crate) contains: OneOrMany,
    /// Texts that it does not hold.
    #[serde(default)]
    pub(crate) lacks: OneOrMany,
    /// Whether the last item is a result that reports an error.
    #[serde(default)]
    pub(crate) is_error: Option<bool>,
    /// Tools that are offered.
    #[serde(default)]
    pub(crate) offers: OneOrMany,
}

/// A text, or a list of texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct OneOrMany(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Shape {
            One(String),
            Many(Vec<String>),
        }
        Ok(match Shape::deserialize(deserializer)? {
            Shape::One(text) => Self(vec![text]),
            Shape::Many(texts) => Self(texts),
        })
    }
}

/// A turn as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTurn {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    calls: Vec<Spanned<WrittenCall>>,
    #[serde(default)]
    error: Option<ScriptError>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    expect: Option<Expect>,
    #[serde(default)]
    stop: Option<WrittenStop>,
    #[serde(default)]
    usage: Option<WrittenUsage>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    tool: String,
    #[serde(default)]
    args: Option<Value>,
    #[serde(default)]
    raw: Option<String>,
    #[serde(default)]
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenStop {
    End,
    Length,
    Filtered,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cached_input_tokens: Option<u64>,
    cost_micro_usd: Option<u64>,
}

/// Why a script cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScriptFault {
    /// It is too large.
    #[error("the script has {bytes} bytes; {limit} is the most that is read")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
    /// It is not YAML, or not a list of turns.
    #[error("the script, line {line}: {what}")]
    Syntax {
        /// Counted from 1; 0 where there is no place to point at.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// A turn contradicts itself.
    #[error("the script, line {line}: {what}")]
    Turn {
        /// Counted from 1.
        line: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// It has no turn.
    #[error("the script has no turn; write a list, each turn with `text`, `calls` or `error`")]
    Empty,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// The first fault, with its line.
    pub fn parse(text: &str) -> Result<Self, ScriptFault> {
        if text.len() > limits::CONFIG_BYTES_MAX {
            return Err(ScriptFault::TooLarge { bytes: text.len(), limit: limits::CONFIG_BYTES_MAX });
        }
        if text.trim().is_empty() {
            return Err(ScriptFault::Empty);
        }
        let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
        let written: Vec<Spanned<WrittenTurn>> =
            serde_saphyr::from_str_with_options(text, options).map_err(|fault| syntax(&fault))?;
        if written.is_empty() {
            return Err(ScriptFault::Empty);
        }
        let turns = written.into_iter().map(read_turn).collect::<Result<_, _>>()?;
        Ok(Self { turns })
    }

    /// How many turns it has.
    #[must_use]
    pub fn n_turns(&self) -> usize {
        self.turns.len()
    }
}

fn syntax(fault: &serde_saphyr::Error) -> ScriptFault {
    let line = fault.location().map_or(0, |place| place.line());
    // The reader repeats the place at the end, and names options that only a programmer has.
    let told = fault.to_string();
    let told = told.lines().next().unwrap_or("not readable");
    let told = told.rsplit_once(" at line ").map_or(told, |(before, _)| before);
    let told = told.split_once(", set DuplicateKeyPolicy").map_or(told, |(before, _)| before);
    let what =
        told.replace("expected sequence start", "expected a list, each turn of which begins with `- `");
    ScriptFault::Syntax { line, what }
}

fn read_turn(written: Spanned<WrittenTurn>) -> Result<ScriptTurn, ScriptFault> {
    let line = written.referenced.line();
    let turn = written.value;
    let says_nothing = turn.text.is_none() && turn.reasoning.is_none() && turn.calls.is_empty();
    let fault = |what| ScriptFault::Turn { line, what };
    if says_nothing && turn.error.is_none() {
        return Err(fault(
            "a turn needs `text`, `reasoning`, `calls` or `error` (an empty one says `text: \"\"`)",
        ));
    }
    let text = turn.text.unwrap_or_default();
    if turn.error.as_ref().is_some_and(|error| error.after_bytes > text.len()) {
        return Err(fault("`after_bytes` is larger than the text"));
    }
    if turn.error.is_some() && !turn.calls.is_empty() {
        return Err(fault("a turn with `error` has no `calls`, since it never ends"));
    }
    let usage = turn.usage.map_or_else(Usage::default, |usage| Usage {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cached_input_tokens: usage.cached_input_tokens,
        cost_micro_usd: usage.cost_micro_usd,
    });
    Ok(ScriptTurn {
        line,
        text,
        reasoning: turn.reasoning,
        calls: turn.calls.into_iter().map(read_call).collect::<Result<_, _>>()?,
        error: turn.error,
        delay: Duration::from_millis(turn.delay_ms),
        expect: turn.expect,
        stop: turn.stop.map(|stop| match stop {
            WrittenStop::End => Stop::End,
            WrittenStop::Length => Stop::Length,
            WrittenStop::Filtered => Stop::Filtered,
        }),
        usage,
    })
}

fn read_call(written: Spanned<WrittenCall>) -> Result<ScriptCall, ScriptFault> {
    let fault = |what| ScriptFault::Turn { line: written.referenced.line(), what };
    let call = written.value;
    let arguments = match (call.args, call.raw) {
        (Some(_), Some(_)) => return Err(fault("a call has `args` or `raw`, not both")),
        (Some(args), None) => args.to_string(),
        (None, Some(raw)) => raw,
        (None, None) => "{}".to_owned(),
    };
    if call.tool.is_empty() {
        return Err(fault("`tool` is empty"));
    }
    Ok(ScriptCall { tool: call.tool, arguments, id: call.id })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect as Snapshot, expect};

    fn check(text: &str, fault: &Snapshot) {
        fault.assert_eq(&Script::parse(text).unwrap_err().to_string());
    }

    #[test]
    fn a_script_reads_its_turns() {
        let script = Script::parse(
            "# a comment\n\
             - reasoning: A product.\n  calls:\n    - {tool: math.calculate, args: {expression: 17 * 23}}\n    \
             - {tool: bash, raw: '{\"cut', id: x1}\n\
             - expect: {contains: '391', is_error: false}\n  text: |-\n    391\n",
        )
        .unwrap();
        assert_eq!(script.n_turns(), 2);
        assert_eq!(script.turns[0].line, 2);
        assert_eq!(script.turns[0].calls[0].arguments, "{\"expression\":\"17 * 23\"}");
        assert_eq!(script.turns[0].calls[1].arguments, "{\"cut");
        assert_eq!(script.turns[1].text, "391");
        assert_eq!(script.turns[1].expect.as_ref().unwrap().contains.0, ["391"]);
    }

    #[test]
    fn words_and_numbers_stay_what_they_are() {
        let script =
            Script::parse("- text: no\n  calls: [{tool: t.x, args: {a: no, b: true, c: 12, d: 1.5}}]")
                .unwrap();
        assert_eq!(script.turns[0].text, "no");
        assert_eq!(script.turns[0].calls[0].arguments, r#"{"a":"no","b":true,"c":12,"d":1.5}"#);
    }

    #[test]
    fn a_fault_names_its_line() {
        check(
            "",
            &expect!["the script has no turn; write a list, each turn with `text`, `calls` or `error`"],
        );
        check(
            "[]",
            &expect!["the script has no turn; write a list, each turn with `text`, `calls` or `error`"],
        );
        check(
            "text: hello",
            &expect!["the script, line 1: expected a list, each turn of which begins with `- `"],
        );
        check(
            "- text: a\n- txt: b\n",
            &expect![
                "the script, line 2: unknown field `txt`, expected one of text, reasoning, calls, error, delay_ms, expect, stop, usage"
            ],
        );
        check("- text: a\n- delay_ms: soon\n", &expect!["the script, line 2: invalid u64"]);
        check("- text: a\n- text: \"open\n", &expect!["the script, line 2: unclosed quote"]);
        check(
            "- text: a\n- delay_ms: 5\n",
            &expect![[
                r#"the script, line 2: a turn needs `text`, `reasoning`, `calls` or `error` (an empty one says `text: ""`)"#
            ]],
        );
        check("- text: a\n  text: b\n", &expect!["the script, line 2: duplicate mapping key: text"]);
        check(
            "- calls:\n  - {tool: a.b, args: {}, raw: '{}'}\n",
            &expect!["the script, line 2: a call has `args` or `raw`, not both"],
        );
        check(
            "- error: {kind: bad_luck}\n",
            &expect![
                "the script, line 1: unknown variant `bad_luck`, expected one of unreachable, timeout, rate_limited, server_failed, invalid_request, authentication, protocol, cut_short, too_large"
            ],
        );
        check(
            "- text: abc\n  error: {kind: cut_short, after_bytes: 4}\n",
            &expect!["the script, line 1: `after_bytes` is larger than the text"],
        );
    }

    #[test]
    fn the_size_is_bounded() {
        let turn = |n: usize| format!("- text: {}", "a".repeat(n - 8));
        assert!(Script::parse(&turn(limits::CONFIG_BYTES_MAX)).is_ok());
        assert!(Script::parse(&turn(limits::CONFIG_BYTES_MAX + 1)).is_err());
        let deep = format!("- calls: [{{tool: a.b, args: {}{}}}]", "[".repeat(100_000), "]".repeat(100_000));
        assert!(Script::parse(&deep).is_err(), "deep nesting ends in an error, not in a crash");
        let bomb = "- calls:\n  - tool: a.b\n    args:\n      a: &a [x,x,x,x,x,x,x,x,x,x]\n      b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n      \
                    c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n      d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n      \
                    e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n      f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n      \
                    g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\n      h: &h [*g,*g,*g,*g,*g,*g,*g,*g,*g,*g]\n";
        assert!(Script::parse(bomb).is_err(), "aliases are bounded");
    }
}
