//! JSON Schema 2020-12, closed at every level: what a tool may declare, and whether arguments fit.
//!
//! Declaring and validating are apart on purpose. [`check_declared`] walks a schema as plain JSON, so
//! that a start can check the whole roster; a [`Validator`] is compiled at its first use, because the
//! first compilation of a process costs more than the rest of a small call together. Rejected:
//! compiling the roster at the start, and hand-written validation. See `docs/spec/arguments.md`.

use std::sync::OnceLock;

use serde_json::Value;

use crate::limits;
use crate::spec::SchemaCode;

mod closed;
mod defaults;
mod dialect;
mod shape;

pub use closed::check_declared;
pub use defaults::apply_defaults;

/// The reason code of arguments that do not fit, where the tool names no other.
pub const DEFAULT_CODE: &str = "tool.invalid_arguments.schema";

/// The keyword that a [`Violation`] names where the schema itself cannot be used.
const UNUSABLE: &str = "$schema";

/// Violations that are looked at to find the one that is reported.
const N_VIOLATIONS_MAX: usize = 64;

/// Why a schema may not be declared. Places are JSON Pointers into the schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaFault {
    /// It names another dialect than 2020-12.
    #[error("$schema must be absent or https://json-schema.org/draft/2020-12/schema")]
    Dialect,
    /// Its top level is not `type: object`.
    #[error("the top level must be {{\"type\": \"object\"}}")]
    NotAnObject,
    /// A `$ref` leaves the schema, or points at something in it that is not a schema.
    #[error("the $ref at {at:?} must begin with # and point at a schema inside this document")]
    Reference {
        /// Where.
        at: String,
    },
    /// A chain of references comes back to itself before it reaches anything.
    #[error("the $ref at {at:?} leads back to itself without going deeper into the value")]
    Circular {
        /// Where.
        at: String,
    },
    /// An object level takes members that it does not name.
    #[error("the object at {at:?} must say \"additionalProperties\": false")]
    Open {
        /// Where.
        at: String,
    },
    /// A keyword has a value that it cannot have.
    #[error("the keyword at {at:?} has a value that JSON Schema does not allow")]
    Keyword {
        /// Where.
        at: String,
    },
    /// It is nested too deeply.
    #[error("nested more than {} deep", limits::SCHEMA_DEPTH_MAX)]
    TooDeep,
    /// A foreign one is too large.
    #[error("larger than {} bytes", limits::FOREIGN_SCHEMA_BYTES_MAX)]
    TooLarge,
    /// It has no canonical form, so it cannot be pinned.
    #[error("a value in it has no canonical form")]
    NotCanonical,
    /// The validator does not take it.
    #[error("it does not compile at {at:?}")]
    NotCompiled {
        /// Where.
        at: String,
    },
}

/// What a value violates. It never quotes the value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// JSON Pointer of the faulty place in the value; empty for the whole value.
    pub instance: String,
    /// The keyword of the schema that is violated; `$schema` where the schema cannot be used at all, so
    /// that nothing satisfies it.
    pub keyword: String,
}

/// A schema that is compiled when it is first used.
#[derive(Debug)]
pub struct Validator {
    schema: Value,
    compiled: OnceLock<Result<jsonschema::Validator, SchemaFault>>,
}

impl Validator {
    /// A validator for this schema; nothing is compiled yet.
    #[must_use]
    pub const fn new(schema: Value) -> Self {
        Self { schema, compiled: OnceLock::new() }
    }

    /// The schema.
    #[must_use]
    pub const fn schema(&self) -> &Value {
        &self.schema
    }

    /// Compiles the schema now, if it is not yet.
    ///
    /// # Errors
    ///
    /// [`SchemaFault::NotCompiled`].
    pub fn compile(&self) -> Result<(), SchemaFault> {
        self.compiled().map(|_| ()).map_err(Clone::clone)
    }

    /// Whether the value fits.
    ///
    /// # Errors
    ///
    /// The [`Violation`] that comes first by place and then by keyword, so that the same value is always
    /// refused for the same reason.
    pub fn validate(&self, value: &Value) -> Result<(), Violation> {
        let Ok(compiled) = self.compiled() else {
            return Err(Violation { instance: String::new(), keyword: UNUSABLE.to_owned() });
        };
        if compiled.is_valid(value) {
            return Ok(());
        }
        let first = compiled
            .iter_errors(value)
            .take(N_VIOLATIONS_MAX)
            .map(|error| Violation {
                instance: error.instance_path().as_str().to_owned(),
                keyword: error.kind().keyword().to_owned(),
            })
            .min();
        // Two passes of one validator agree; if they ever did not, the value would still be refused.
        Err(first.unwrap_or_else(|| Violation { instance: String::new(), keyword: UNUSABLE.to_owned() }))
    }

    fn compiled(&self) -> Result<&jsonschema::Validator, &SchemaFault> {
        self.compiled.get_or_init(|| compile(&self.schema)).as_ref()
    }
}

/// Compiles with no way out of the document, and with an engine for patterns that is linear on any input,
/// because arguments are written by a model and foreign patterns by a stranger.
fn compile(schema: &Value) -> Result<jsonschema::Validator, SchemaFault> {
    dialect::options(schema)
        .offline()
        .with_pattern_options(jsonschema::PatternOptions::regex().size_limit(limits::PATTERN_BYTES_MAX))
        .build(schema)
        .map_err(|error| SchemaFault::NotCompiled { at: error.instance_path().as_str().to_owned() })
}

/// The reason code of a violation: the tool's own where it names this place and keyword, else
/// [`DEFAULT_CODE`].
#[must_use]
pub fn code_for<'a>(codes: &'a [SchemaCode], violation: &Violation) -> &'a str {
    codes
        .iter()
        .find(|code| code.instance == violation.instance && code.keyword == violation.keyword)
        .map_or(DEFAULT_CODE, |code| code.code.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_strict;
    use serde_json::json;

    fn validator(properties: &Value) -> Validator {
        Validator::new(json!({"type": "object", "properties": properties, "additionalProperties": false}))
    }

    fn check(validator: &Validator, text: &str, expect: Result<(), (&str, &str)>) {
        let value = parse_strict(text).unwrap();
        let seen = validator.validate(&value);
        let seen = seen.as_ref().copied().map_err(|found| (found.instance.as_str(), found.keyword.as_str()));
        assert_eq!(seen, expect, "{text}");
    }

    #[test]
    fn a_violation_says_where_and_which_keyword_and_never_what() {
        let schema = validator(&json!({
            "expression": {"type": "string", "minLength": 1, "maxLength": 4},
            "deep": {"type": "array", "items": {"enum": [1, 2]}},
        }));
        check(&schema, r#"{"expression":"1+1"}"#, Ok(()));
        check(&schema, r#"{"expression":"12345"}"#, Err(("/expression", "maxLength")));
        check(&schema, r#"{"expression":""}"#, Err(("/expression", "minLength")));
        check(&schema, r#"{"expression":7}"#, Err(("/expression", "type")));
        check(&schema, r#"{"deep":[1,3]}"#, Err(("/deep/1", "enum")));
        check(&schema, r#"{"other":"secret"}"#, Err(("", "additionalProperties")));
        check(&schema, "[]", Err(("", "type")));
        // Lengths are characters, not bytes.
        check(&schema, r#"{"expression":"éééé"}"#, Ok(()));
    }

    #[test]
    fn of_several_violations_the_first_by_place_and_keyword_is_named() {
        let schema = validator(&json!({
            "b": {"type": "string", "pattern": "^x", "maxLength": 1},
            "a": {"type": "integer"},
        }));
        check(&schema, r#"{"b":"yy","a":"z"}"#, Err(("/a", "type")));
        check(&schema, r#"{"b":"yy"}"#, Err(("/b", "maxLength")));
        check(&schema, r#"{"b":"yy","a":"z","c":1}"#, Err(("", "additionalProperties")));
    }

    #[test]
    fn a_number_is_judged_by_its_value_and_nothing_is_rounded() {
        let schema = validator(&json!({
            "n": {"type": "integer", "minimum": 1, "maximum": 9_007_199_254_740_992_u64},
            "m": {"type": "number", "multipleOf": 0.01},
        }));
        for whole in ["1", "1.0", "10e-1", "9007199254740992"] {
            check(&schema, &format!("{{\"n\":{whole}}}"), Ok(()));
        }
        check(&schema, r#"{"n":1.5}"#, Err(("/n", "type")));
        check(&schema, r#"{"n":9007199254740993}"#, Err(("/n", "maximum")));
        check(&schema, r#"{"n":0.99999999999999999999}"#, Err(("/n", "minimum")));
        check(&schema, r#"{"m":4.35}"#, Ok(()));
        check(&schema, r#"{"m":4.351}"#, Err(("/m", "multipleOf")));
    }

    #[test]
    fn a_schema_that_cannot_be_used_lets_nothing_through() {
        for schema in
            [json!({"pattern": "("}), json!({"pattern": "(?=x)"}), json!({"$ref": "https://example.com/a"})]
        {
            let broken = Validator::new(schema);
            assert!(matches!(broken.compile(), Err(SchemaFault::NotCompiled { .. })));
            check(&broken, "{}", Err(("", "$schema")));
        }
    }

    #[test]
    fn a_pattern_takes_no_longer_for_a_hostile_text() {
        let schema = validator(&json!({"x": {"type": "string", "pattern": "^(a+)+$"}}));
        let hostile = format!("{{\"x\":\"{}!\"}}", "a".repeat(100_000));
        check(&schema, &hostile, Err(("/x", "pattern")));
    }

    #[test]
    fn a_tool_names_its_own_codes() {
        let own = SchemaCode {
            instance: "/expression".to_owned(),
            keyword: "maxLength".to_owned(),
            code: "tool.invalid_arguments.expression_too_long".to_owned(),
        };
        let violation = |instance: &str, keyword: &str| Violation {
            instance: instance.to_owned(),
            keyword: keyword.to_owned(),
        };
        let codes = [own.clone()];
        assert_eq!(code_for(&codes, &violation("/expression", "maxLength")), own.code);
        assert_eq!(code_for(&codes, &violation("/expression", "minLength")), DEFAULT_CODE);
        assert_eq!(code_for(&codes, &violation("/other", "maxLength")), DEFAULT_CODE);
        assert_eq!(code_for(&[], &violation("", "type")), DEFAULT_CODE);
    }

    #[test]
    fn huge_exponents_are_judged_without_being_written_out() {
        let schema = validator(&json!({
            "n": {"type": "integer", "multipleOf": 3, "minimum": 0, "maximum": 10},
            "m": {"type": "number", "multipleOf": 0.1, "exclusiveMaximum": 10},
        }));
        for text in [r#"{"n":1e100000}"#, r#"{"n":1e-100000}"#, r#"{"m":1e100000}"#, r#"{"m":1e-100000}"#] {
            assert!(schema.validate(&parse_strict(text).unwrap()).is_err(), "{text}");
        }
    }
}
