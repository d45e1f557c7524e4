//! What is said when a call or a run does not succeed: one fixed sentence for each reason code.
//!
//! The table is one for all tools, tools from outside too, so no entry may carry text of anybody's
//! making: no tool can speak through a failure. The code carries the diagnosis, the sentence the
//! remedy, and neither the input. Rejected: interpolated messages, which are a way into the context
//! for whoever wrote the input. See `docs/spec/messages.md`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::spec::wire_enum;

mod table;

pub use table::TABLE;

wire_enum! {
    /// How a call ended.
    OutcomeStatus {
        /// It did what it was for.
        Succeeded = "succeeded",
        /// It was tried, or could not be tried as asked, and did not do it.
        Failed = "failed",
        /// It may not be done.
        Denied = "denied",
        /// It cannot be done now; nothing was tried.
        Unavailable = "unavailable",
        /// Nobody can say whether it was done.
        Uncertain = "uncertain",
    }
}

wire_enum! {
    /// Why a tool failed: the middle of its reason code, `tool.{kind}.{detail}`.
    FailureKind {
        /// The arguments cannot be acted on.
        InvalidArguments = "invalid_arguments",
        /// What the arguments name is not there. (A tool that is not there is a denial.)
        NotFound = "not_found",
        /// The other side forbids it.
        Permission = "permission",
        /// It took too long.
        Timeout = "timeout",
        /// It produced too much.
        OutputTooLarge = "output_too_large",
        /// It produced something else than it declares.
        OutputInvalid = "output_invalid",
        /// The other side failed.
        UpstreamError = "upstream_error",
        /// The other side could not be reached.
        Transport = "transport",
        /// The tool itself is at fault.
        Internal = "internal",
    }
}

wire_enum! {
    /// What the model can do about it.
    Remediation {
        /// Nothing with this call.
        None = "none",
        /// Have a person asked.
        RequestApproval = "request_approval",
        /// Call again with other arguments.
        ModifyArguments = "modify_arguments",
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The reason code.
    pub code: &'static str,
    /// The sentence that a model and a person read.
    pub message: &'static str,
    /// Whether the very same call may succeed later.
    pub retryable: bool,
    /// What the model can do about it.
    pub remediation: Remediation,
}

/// The code that is used where another has no entry: Mast's own mistake.
const FAULT: Entry = Entry {
    code: "tool.internal.fault",
    message: "The tool failed through a fault of its own.",
    retryable: false,
    remediation: Remediation::None,
};

/// The row of this reason code.
#[must_use]
pub fn lookup(code: &str) -> Option<&'static Entry> {
    let place = TABLE.binary_search_by(|entry| entry.code.cmp(code)).ok()?;
    TABLE.get(place)
}

/// What a model is told of a call that did not succeed: exactly six fields, in this order. Hints and
/// text from outside stand beside it, never in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    status: OutcomeStatus,
    action: String,
    reason_code: Cow<'static, str>,
    message: Cow<'static, str>,
    retryable: bool,
    remediation: Remediation,
}

impl Outcome {
    /// The outcome of the call of the tool `action`, for this reason code. A code without an entry is
    /// Mast's own mistake, and reads `tool.internal.fault`.
    #[must_use]
    pub fn failure(status: OutcomeStatus, action: &str, code: &str) -> Self {
        let entry = lookup(code).copied().unwrap_or(FAULT);
        Self {
            status,
            action: action.to_owned(),
            reason_code: entry.code.into(),
            message: entry.message.into(),
            retryable: entry.retryable,
            remediation: entry.remediation,
        }
    }

    /// How the call ended.
    #[must_use]
    pub const fn status(&self) -> OutcomeStatus {
        self.status
    }

    /// Name of the tool that was called.
    #[must_use]
    pub fn action(&self) -> &str {
        &self.action
    }

    /// Why, as a code.
    #[must_use]
    pub fn reason_code(&self) -> &str {
        &self.reason_code
    }

    /// Why, as a sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the very same call may succeed later.
    #[must_use]
    pub const fn retryable(&self) -> bool {
        self.retryable
    }

    /// What the model can do about it.
    #[must_use]
    pub const fn remediation(&self) -> Remediation {
        self.remediation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_row_is_found() {
        assert!(TABLE.is_sorted_by(|a, b| a.code < b.code));
        for entry in TABLE {
            assert_eq!(lookup(entry.code), Some(entry));
        }
        assert_eq!(lookup("tool.invalid_arguments"), None);
        assert_eq!(lookup(""), None);
    }

    #[test]
    fn every_code_has_a_known_shape() {
        for entry in TABLE {
            let segments: Vec<&str> = entry.code.split('.').collect();
            let plain =
                |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            assert!(segments.len() >= 2 && segments.iter().all(plain), "{}", entry.code);
            assert!(["approval", "policy", "run", "tool"].contains(&segments[0]), "{}", entry.code);
        }
    }

    #[test]
    fn a_message_is_one_plain_text_without_a_gap_to_fill() {
        for Entry { code, message, .. } in TABLE {
            assert!(message.ends_with('.'), "{code}");
            let gap = message.chars().any(|letter| "{}%$<>`\\".contains(letter) || letter.is_control());
            assert!(!gap && message.is_ascii() && !message.contains("  "), "{code}: {message}");
        }
    }

    #[test]
    fn what_can_be_repeated_needs_no_other_arguments() {
        for entry in TABLE {
            assert!(!entry.retryable || entry.remediation == Remediation::None, "{}", entry.code);
        }
    }

    #[test]
    fn an_outcome_has_exactly_six_fields() {
        let outcome =
            Outcome::failure(OutcomeStatus::Failed, "math.calculate", "tool.invalid_arguments.syntax");
        let text = serde_json::to_string(&outcome).unwrap();
        expect_test::expect![[r#"{"status":"failed","action":"math.calculate","reason_code":"tool.invalid_arguments.syntax","message":"The expression could not be parsed.","retryable":false,"remediation":"modify_arguments"}"#]]
            .assert_eq(&text);
        assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), outcome);
        let with_hint = text.replace("}", r#","hint":"x"}"#);
        assert!(serde_json::from_str::<Outcome>(&with_hint).is_err());
    }

    #[test]
    fn a_code_without_a_row_is_a_fault_of_the_tool() {
        let outcome = Outcome::failure(OutcomeStatus::Failed, "a.b", "no.such.code");
        assert_eq!(outcome.reason_code(), "tool.internal.fault");
        assert_eq!(lookup(FAULT.code), Some(&FAULT));
    }

    #[test]
    fn what_the_specification_states_word_for_word() {
        let check = |code: &str, message: &str| {
            let entry = lookup(code).unwrap();
            assert_eq!((entry.message, entry.retryable), (message, false), "{code}");
        };
        for (detail, message) in [
            ("syntax", "The expression could not be parsed."),
            (
                "unknown_name",
                "Unknown function or constant. Functions: abs, ceil, exp, floor, ln, log10, max, min, round, sqrt. \
                 Constants: pi, e.",
            ),
            ("arity", "Wrong number of arguments for that function."),
            ("domain", "An argument is outside the function's domain."),
            ("division_by_zero", "Division by zero."),
            ("result_out_of_range", "The result is too large or too small to represent."),
            ("expression_too_long", "The expression is longer than 1024 characters."),
            ("expression_too_deep", "The expression is nested more than 32 levels deep."),
            (
                "unknown_timezone",
                "Unknown timezone. Provide an IANA name such as UTC, America/New_York, or Europe/London.",
            ),
            ("not_text", "Not a UTF-8 text file. This tool reads text only."),
            ("not_a_file", "That path is a directory."),
            ("not_a_directory", "That path is a file. Use workspace.read_text."),
        ] {
            check(&format!("tool.invalid_arguments.{detail}"), message);
        }
        check("tool.not_found.no_such_path", "No such path in the workspace.");
    }
}
