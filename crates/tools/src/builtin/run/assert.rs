//! Attaches to the answer what it says was done, so that it can be held against what is on record.
//!
//! Each assertion has a `kind`, a `subject` (the path, the command, the number, the recipient; left out
//! where there is none) and, if the answer says it in certain words, these as `text`. The tool stores them
//! and does nothing else. When the run ends, each is held against the receipts of the calls that were
//! made, and stands beside the answer as supported, unsupported or not checkable. Asserting something
//! makes it no more so: an assertion without a receipt is marked, whoever makes it.
//!
//! ```text
//! {"assertions": [{"kind": "tests_passed", "subject": "42", "text": "all 42 tests pass"},
//!                 {"kind": "file_written", "subject": "report.md"}]}
//! ```

use async_trait::async_trait;
use mast_kernel::assertion::{AssertionKind, TOOL};
use mast_kernel::limits::ATTACHED_MAX;
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::spec::{ToolKind, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::capability::Context;
use crate::tool::{Failure, Output, Tool, opening_of};

const DESCRIPTION: &str = "Attaches to your answer what it says was done: files written, read or deleted, commands run, \
tests passed, messages sent and the like. Call it once, before you answer. Each is checked against what is on record \
of this run, and marked if nothing supports it.";

/// Longest subject, in characters.
const SUBJECT_CHARS_MAX: usize = 1_024;
/// Longest quotation of the answer, in characters.
const TEXT_CHARS_MAX: usize = 2_048;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    assertions: Vec<One>,
}

/// One assertion.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct One {
    kind: AssertionKind,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    text: Option<String>,
}

/// A text that is there, and so is no null: the schema has none either.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

/// `run.assert`.
#[derive(Debug, Clone, Copy)]
pub struct Assert;

#[async_trait]
impl Tool for Assert {
    fn spec(&self) -> ToolSpec {
        let output = json!({
            "type": "object",
            "properties": {"assertions": list()},
            "required": ["assertions"],
            "additionalProperties": false
        });
        ToolSpec {
            kind: ToolKind::Control,
            allow_parallel: false,
            ..ToolSpec::pure(TOOL, DESCRIPTION, output.clone(), output)
        }
    }

    fn manual(&self) -> String {
        opening_of(include_str!("assert.rs"))
    }

    async fn run(&self, permit: Claimed<Permit>, _: &Context) -> Result<Output, Failure> {
        store(&permit.arguments().value())
    }
}

fn list() -> Value {
    let kinds: Vec<&str> = AssertionKind::ALL.iter().map(|kind| kind.as_str()).collect();
    json!({
        "type": "array",
        "minItems": 1,
        "maxItems": ATTACHED_MAX,
        "items": {
            "type": "object",
            "properties": {
                "kind": {"enum": kinds},
                "subject": {
                    "type": "string",
                    "maxLength": SUBJECT_CHARS_MAX,
                    "description": "The path, command, number or recipient"
                },
                "text": {
                    "type": "string",
                    "maxLength": TEXT_CHARS_MAX,
                    "description": "The words of the answer that say it"
                }
            },
            "required": ["kind"],
            "additionalProperties": false
        }
    })
}

/// The result: what was asserted, as it stands.
fn store(arguments: &Value) -> Result<Output, Failure> {
    let Args { assertions } = Args::deserialize(arguments)
        .map_err(|error| Failure::invalid_arguments("tool.invalid_arguments.schema", error.to_string()))?;
    let content = format!("{} assertions are noted and will be checked.", assertions.len());
    Ok(Output::new(content, json!({"assertions": assertions})))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use mast_kernel::schema::Validator;

    use super::*;

    fn check(arguments: &Value, expect: &Expect) {
        let text = match store(arguments) {
            Ok(output) => format!("{}\n{}", output.content, output.structured),
            Err(failure) => failure.code.to_owned(),
        };
        expect.assert_eq(&text);
    }

    #[test]
    fn what_is_asserted_is_stored_as_it_stands() {
        check(
            &json!({"assertions": [
                {"kind": "tests_passed", "subject": "42", "text": "all 42 tests pass"},
                {"kind": "file_written", "subject": "report.md"},
            ]}),
            &expect![[r#"
                2 assertions are noted and will be checked.
                {"assertions":[{"kind":"tests_passed","subject":"42","text":"all 42 tests pass"},{"kind":"file_written","subject":"report.md"}]}"#]],
        );
        check(&json!({"assertions": [{"kind": "world_saved"}]}), &expect!["tool.invalid_arguments.schema"]);
    }

    #[test]
    fn the_arguments_and_their_schema_accept_the_same() {
        let spec = Assert.spec();
        let validator = Validator::new(spec.input_schema);
        for arguments in [
            json!({"assertions": [{"kind": "file_read"}]}),
            json!({"assertions": [{"kind": "file_read", "subject": null}]}),
            json!({"assertions": [{"kind": "file_read", "subject": 1}]}),
            json!({"assertions": [{"kind": "read"}]}),
            json!({"assertions": [{"kind": "file_read", "path": "a"}]}),
            json!({"assertions": [{}]}),
            json!({"assertions": "all"}),
            json!({}),
            json!(null),
        ] {
            let fits = validator.validate(&arguments).is_ok();
            assert_eq!(fits, Args::deserialize(&arguments).is_ok(), "{arguments}");
        }
    }

    #[test]
    fn what_it_answers_fits_its_schema() {
        let output = store(&json!({"assertions": [{"kind": "message_sent", "subject": "Anna"}]})).unwrap();
        let schema = Assert.spec().output_schema.unwrap();
        assert!(Validator::new(schema).validate(&output.structured).is_ok());
    }
}
