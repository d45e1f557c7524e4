//! Computes an expression to fifty significant digits, in decimal, so that `0.1 + 0.2` is `0.3`.
//!
//! ```text
//! expression := term (("+" | "-") term)*
//! term       := unary (("*" | "/" | "//" | "%") unary)*
//! unary      := ("+" | "-") unary | power
//! power      := primary [("^" | "**") unary]
//! primary    := NUMBER | NAME | call | "(" expression ")"
//! call       := NAME "(" [expression ("," expression)*] ")"
//! NUMBER     := digit+ ["." digit+] [("e" | "E") ["+" | "-"] digit+]
//! NAME       := [a-z][a-z0-9_]*
//! ```
//!
//! `^` and `**` are one operator and group from the right. `//` and `%` floor: `-7 // 2` is `-4` and
//! `-7 % 2` is `1`. Functions: `abs(x)`, `ceil(x)`, `floor(x)`, `round(x)`, `round(x, places)`, `sqrt(x)`,
//! `ln(x)`, `log10(x)`, `exp(x)`, `min(a, …)`, `max(a, …)`. Constants: `pi`, `e`. There is no
//! trigonometry, no variable, no comparison, and no way to run code.
//!
//! ```text
//! 17 * 23        391
//! 1 / 3          0.33333333333333333333333333333333333333333333333333   (not exact)
//! round(2.5)     2                                                      (ties go to the even digit)
//! 10^30          1e+30
//! ```
//!
//! The structured answer has `result` (a string: a JSON number would lose digits), `result_exact`
//! (whether nothing was rounded on the way) and `expression` (as it was given). A failure is one of
//! `tool.invalid_arguments.` `syntax`, `unknown_name`, `arity`, `domain`, `division_by_zero`,
//! `result_out_of_range`, `expression_too_long` (1,024 characters, 512 tokens) and `expression_too_deep`
//! (32 levels). A repetition fails in the same way.

use async_trait::async_trait;
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::spec::{
    Alias, Egress, Idempotency, Risk, SchemaCode, SideEffect, TargetKind, ToolKind, ToolSource, ToolSpec,
};
use mast_kernel::trust::{Sensitivity, Trust};
use serde::Deserialize;
use serde_json::{Value, json};

use super::expression::{Reason, calculate};
use crate::capability::Context;
use crate::tool::{Failure, Output, Tool, opening_of};

const DESCRIPTION: &str = "Computes a mathematical expression in decimal arithmetic with 50 significant digits, \
rounding half to even (round(2.5) is 2). Operators: + - * /, // and % (both floor, so -7 // 2 is -4 and -7 % 2 is 1), \
^ or ** (right-associative; -2^2 is -4). Functions: abs, ceil, exp, floor, ln, log10, max, min, round(x) or \
round(x, places), sqrt. Constants: pi, e. There are no variables, no comparisons, no trigonometry, no implicit \
multiplication, no digit separators and no hexadecimal numbers; a number begins with a digit.";

/// What stands under a result that was rounded.
const ROUNDED: &str = "rounded to 50 significant digits";

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    expression: String,
}

/// `math.calculate`.
#[derive(Debug, Clone, Copy)]
pub struct Calculate;

#[async_trait]
impl Tool for Calculate {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "math.calculate".to_owned(),
            version: "1.0.0".to_owned(),
            description: DESCRIPTION.to_owned(),
            input_schema: input_schema(),
            output_schema: Some(output_schema()),
            side_effect: SideEffect::None,
            risk: Risk::Low,
            idempotency: Idempotency::ReadOnly,
            required_scopes: Vec::new(),
            timeout_seconds: 2,
            maximum_output_bytes: 4_096,
            allow_parallel: true,
            kind: ToolKind::Capability,
            target_kind: TargetKind::InProcess,
            output_trust: Trust::InternalTool,
            output_sensitivity: Sensitivity::Public,
            egress: Egress::None,
            free_arguments: Vec::new(),
            schema_codes: vec![SchemaCode {
                instance: "/expression".to_owned(),
                keyword: "maxLength".to_owned(),
                code: Reason::ExpressionTooLong.code().to_owned(),
            }],
            aliases: vec![Alias::plain("calculate"), Alias::plain("calculator")],
            source: ToolSource::Builtin,
            server_id: None,
            deprecated: false,
        }
    }

    fn manual(&self) -> String {
        opening_of(include_str!("calculate.rs"))
    }

    async fn run(&self, permit: Claimed<Permit>, _context: &Context) -> Result<Output, Failure> {
        answer(&permit.arguments().value())
    }
}

fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "expression": {
                "type": "string",
                "minLength": 1,
                "maxLength": 1024,
                "description": "A mathematical expression, e.g. 17 * 23"
            }
        },
        "required": ["expression"],
        "additionalProperties": false
    })
}

fn output_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "result": {"type": "string"},
            "result_exact": {"type": "boolean"},
            "expression": {"type": "string"}
        },
        "required": ["result", "result_exact", "expression"],
        "additionalProperties": false
    })
}

fn answer(arguments: &Value) -> Result<Output, Failure> {
    let Args { expression } = Args::deserialize(arguments)
        .map_err(|error| Failure::invalid_arguments("tool.invalid_arguments.schema", error.to_string()))?;
    let answer =
        calculate(&expression).map_err(|fault| Failure::invalid_arguments(fault.code(), fault.detail))?;
    let content = if answer.exact { answer.result.clone() } else { format!("{}\n{ROUNDED}", answer.result) };
    let structured = json!({"result": answer.result, "result_exact": answer.exact, "expression": expression});
    Ok(Output::new(content, structured))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use mast_kernel::message::lookup;
    use mast_kernel::schema::{Validator, code_for};

    use super::*;

    fn check(expression: &str, expect: &Expect) {
        let text = match answer(&json!({"expression": expression})) {
            Ok(output) => format!("{}\n{}", output.content, output.structured),
            Err(failure) => format!("{failure} (retryable: {})", failure.retryable),
        };
        expect.assert_eq(&text);
    }

    #[test]
    fn gate_builtin_demonstration() {
        check(
            "17 * 23",
            &expect![[r#"
            391
            {"result":"391","result_exact":true,"expression":"17 * 23"}"#]],
        );
    }

    #[test]
    fn gate_builtin_decimal_exact() {
        check(
            "0.1 + 0.2",
            &expect![[r#"
            0.3
            {"result":"0.3","result_exact":true,"expression":"0.1 + 0.2"}"#]],
        );
    }

    #[test]
    fn what_was_rounded_says_so() {
        check(
            "1 / 3",
            &expect![[r#"
            0.33333333333333333333333333333333333333333333333333
            rounded to 50 significant digits
            {"result":"0.33333333333333333333333333333333333333333333333333","result_exact":false,"expression":"1 / 3"}"#]],
        );
        check("ln(0)", &expect!["tool.invalid_arguments.domain: character 1: ln (retryable: false)"]);
    }

    /// A schema and the struct that reads its arguments must accept the same: what one lets through, the
    /// other would refuse with a code that fits nothing. (A list is left out: only the schema refuses it,
    /// and it is asked first.)
    #[test]
    fn the_arguments_and_their_schema_accept_the_same() {
        let validator = Validator::new(input_schema());
        for arguments in [
            json!({"expression": "1"}),
            json!({"expression": "é".repeat(1024)}),
            json!({}),
            json!({"expression": 1}),
            json!({"expression": null}),
            json!({"expression": ["1"]}),
            json!({"expression": "1", "precision": 9}),
            json!({"Expression": "1"}),
            json!("1"),
            json!(null),
        ] {
            let fits = validator.validate(&arguments).is_ok();
            assert_eq!(fits, Args::deserialize(&arguments).is_ok(), "{arguments}");
        }
    }

    #[test]
    fn every_answer_fits_its_schema() {
        let validator = Validator::new(output_schema());
        for expression in ["1", "1/3", "-1e9999"] {
            let output = answer(&json!({"expression": expression})).unwrap();
            assert!(validator.validate(&output.structured).is_ok(), "{expression}");
        }
    }

    #[test]
    fn every_reason_has_a_message_that_no_retry_can_change() {
        for reason in Reason::ALL {
            let entry = lookup(reason.code()).unwrap();
            assert!(!entry.retryable, "{}", entry.code);
        }
    }

    #[test]
    fn a_long_expression_has_one_code_wherever_it_is_found() {
        let long = json!({"expression": "1".repeat(1025)});
        let violation = Validator::new(input_schema()).validate(&long).unwrap_err();
        let code = code_for(&Calculate.spec().schema_codes, &violation).to_owned();
        assert_eq!(code, "tool.invalid_arguments.expression_too_long");
        assert_eq!(answer(&long).unwrap_err().code, code);
    }
}
