//! Tells the time in a time zone, and the day of the week.
//!
//! `timezone` is a name of the IANA time zone database in its exact spelling, such as
//! `America/New_York` or `Etc/GMT+5`, and `UTC` if it is left out. Abbreviations (`EST`), offsets
//! (`+05:30`) and `local` are not names. The zone of the machine is never used.
//!
//! ```text
//! {}                                  2026-07-25T13:03:11.482913+00:00 (UTC, Saturday)
//! {"timezone": "America/New_York"}    2026-07-25T09:03:11.482913-04:00 (America/New_York, Saturday)
//! ```
//!
//! The structured answer has `iso8601`, `timezone`, `utc_offset`, `unix_seconds` (whole seconds, rounded
//! down) and `weekday` (in English). The one failure is `tool.invalid_arguments.unknown_timezone`.
//! The answer is a function of the platform's clock, the argument and the database that is compiled in.

use async_trait::async_trait;
use mast_kernel::instant::Instant;
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::spec::{
    Alias, Egress, Idempotency, Risk, SideEffect, TargetKind, ToolKind, ToolSource, ToolSpec,
};
use mast_kernel::trust::{Sensitivity, Trust};
use serde::Deserialize;
use serde_json::{Value, json};

use super::zone::{NoLocalTime, local_time};
use crate::capability::Context;
use crate::tool::{Failure, Output, Tool, opening_of};

const DESCRIPTION: &str = "Tells the current date, time and weekday in a time zone. The zone is an IANA name in its \
exact spelling, such as UTC, America/New_York or Etc/GMT+5; without one, UTC. Abbreviations such as EST, offsets such \
as +05:30 and the server's local zone are not accepted.";

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "utc")]
    timezone: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// `system.current_time`.
#[derive(Debug, Clone, Copy)]
pub struct CurrentTime;

#[async_trait]
impl Tool for CurrentTime {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "system.current_time".to_owned(),
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
            schema_codes: Vec::new(),
            aliases: vec![Alias::plain("current_time"), Alias::plain("get_current_time")],
            source: ToolSource::Builtin,
            server_id: None,
            deprecated: false,
        }
    }

    fn manual(&self) -> String {
        opening_of(include_str!("current_time.rs"))
    }

    async fn run(&self, permit: Claimed<Permit>, context: &Context) -> Result<Output, Failure> {
        tell(&permit.arguments().value(), context.now())
    }
}

fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "timezone": {
                "type": "string",
                "maxLength": 64,
                "default": "UTC",
                "description": "IANA name, e.g. UTC or America/New_York"
            }
        },
        "required": [],
        "additionalProperties": false
    })
}

fn output_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "iso8601": {"type": "string"},
            "timezone": {"type": "string"},
            "utc_offset": {"type": "string"},
            "unix_seconds": {"type": "integer"},
            "weekday": {"type": "string"}
        },
        "required": ["iso8601", "timezone", "utc_offset", "unix_seconds", "weekday"],
        "additionalProperties": false
    })
}

/// The answer at the moment `now`.
fn tell(arguments: &Value, now: Instant) -> Result<Output, Failure> {
    let Args { timezone } = Args::deserialize(arguments)
        .map_err(|error| Failure::invalid_arguments("tool.invalid_arguments.schema", error.to_string()))?;
    let local = local_time(now, &timezone).map_err(|error| match error {
        NoLocalTime::UnknownTimezone => {
            Failure::invalid_arguments("tool.invalid_arguments.unknown_timezone", error.to_string())
        }
        NoLocalTime::OutOfRange => Failure::internal(error.to_string()),
    })?;
    let content = format!("{} ({timezone}, {})", local.iso8601, local.weekday);
    let structured = json!({
        "iso8601": local.iso8601,
        "timezone": timezone,
        "utc_offset": local.utc_offset,
        "unix_seconds": local.unix_seconds,
        "weekday": local.weekday,
    });
    Ok(Output::new(content, structured))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use mast_kernel::message::lookup;
    use mast_kernel::schema::Validator;

    use super::*;

    /// The moment of the examples above.
    const NOW: Instant = Instant::from_micros(1_784_984_591_482_913);

    fn check(arguments: &Value, expect: &Expect) {
        let text = match tell(arguments, NOW) {
            Ok(output) => format!("{}\n{}", output.content, output.structured),
            Err(failure) => format!("{failure} (retryable: {})", failure.retryable),
        };
        expect.assert_eq(&text);
    }

    #[test]
    fn what_it_answers() {
        check(
            &json!({}),
            &expect![[r#"
            2026-07-25T13:03:11.482913+00:00 (UTC, Saturday)
            {"iso8601":"2026-07-25T13:03:11.482913+00:00","timezone":"UTC","utc_offset":"+00:00","unix_seconds":1784984591,"weekday":"Saturday"}"#]],
        );
        check(
            &json!({"timezone": "America/New_York"}),
            &expect![[r#"
            2026-07-25T09:03:11.482913-04:00 (America/New_York, Saturday)
            {"iso8601":"2026-07-25T09:03:11.482913-04:00","timezone":"America/New_York","utc_offset":"-04:00","unix_seconds":1784984591,"weekday":"Saturday"}"#]],
        );
        check(
            &json!({"timezone": "EST"}),
            &expect![
                "tool.invalid_arguments.unknown_timezone: no time zone has this name (retryable: false)"
            ],
        );
    }

    #[test]
    fn a_clock_that_is_off_by_ages_is_a_fault_and_no_panic() {
        let failure = tell(&json!({}), Instant::from_micros(i64::MAX)).unwrap_err();
        assert_eq!(failure.code, "tool.internal.fault");
    }

    /// A schema and the struct that reads its arguments must accept the same: what one lets through, the
    /// other would refuse with a code that fits nothing. (A list is left out: only the schema refuses it,
    /// and it is asked first.)
    #[test]
    fn the_arguments_and_their_schema_accept_the_same() {
        let validator = Validator::new(input_schema());
        for arguments in [
            json!({}),
            json!({"timezone": "UTC"}),
            json!({"timezone": ""}),
            json!({"timezone": 1}),
            json!({"timezone": null}),
            json!({"zone": "UTC"}),
            json!({"timezone": "UTC", "format": "iso"}),
            json!("UTC"),
            json!(null),
        ] {
            let fits = validator.validate(&arguments).is_ok();
            assert_eq!(fits, Args::deserialize(&arguments).is_ok(), "{arguments}");
        }
    }

    #[test]
    fn every_answer_fits_its_schema() {
        let validator = Validator::new(output_schema());
        for timezone in ["UTC", "Asia/Kathmandu"] {
            let output = tell(&json!({"timezone": timezone}), NOW).unwrap();
            assert!(validator.validate(&output.structured).is_ok(), "{timezone}");
        }
    }

    #[test]
    fn the_reason_has_a_message_that_no_retry_can_change() {
        let failure = tell(&json!({"timezone": "Mars/Olympus"}), NOW).unwrap_err();
        assert!(!lookup(failure.code).unwrap().retryable && !failure.retryable);
    }
}
