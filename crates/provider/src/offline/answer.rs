//! What the offline provider says. Every statement is taken from a tool's result or is about itself.

use serde_json::Value;

use super::sentence::{CLOCK, FORMS};

/// What is said of a result of `tool`: the tool's own words, the clock's made easier to read.
pub(super) fn of_result(tool: &str, content: &str) -> String {
    // What a tainted run computes comes in an envelope too; the frame is for a model, not for a person.
    let content = enveloped(content).trim();
    match tool {
        CLOCK => clock(content).unwrap_or_else(|| content.to_owned()),
        _ => content.to_owned(),
    }
}

/// What is said when the call did not succeed.
pub(super) fn of_failure(tool: &str, content: &str) -> String {
    let outcome: Option<Value> = serde_json::from_str(content).ok();
    let field = |name: &str| outcome.as_ref().and_then(|fields| fields.get(name)?.as_str());
    let happened = match field("status") {
        Some("denied") => "was not allowed",
        Some("uncertain") => "may or may not have happened",
        Some("unavailable") => "is not available",
        _ => "did not succeed",
    };
    let why = field("message").unwrap_or(content).trim();
    let code = field("reason_code").map_or_else(String::new, |code| format!(" ({code})"));
    format!("The call of {tool} {happened}: {why}{code}")
}

/// What is said of a sentence that is none of the forms.
pub(super) fn not_understood(offered: impl Fn(&str) -> bool) -> String {
    let mut out = "I am Mast's built-in offline answerer. There is no language model behind me; I \
                   understand only these forms:\n"
        .to_owned();
    for (_, form) in FORMS.iter().filter(|(tool, _)| offered(tool)) {
        out.push_str("  ");
        out.push_str(form);
        out.push('\n');
    }
    if !FORMS.iter().any(|(tool, _)| offered(tool)) {
        out.push_str("  (none here: no tool that I can use is on offer)\n");
    }
    out.push_str("For anything else, set up a model: mast config use NAME");
    out
}

/// What is said when the form is understood and its tool is not there.
pub(super) fn not_offered(tool: &str) -> String {
    format!("That needs the tool {tool}, which is not on offer in this run. I make up no answer without it.")
}

/// What is said when no call may be made any more.
pub(super) fn no_calls_now(tool: &str) -> String {
    format!("That needs a call of {tool}, and no further call may be made in this run.")
}

/// What is said of a place that is not in the table.
pub(super) fn unknown_place(place: &str) -> String {
    format!(
        "I do not know the time zone of {place}. Ask with the zone's name, for example: time in America/New_York"
    )
}

/// `2026-07-25T09:03:11.482913-04:00 (America/New_York, Saturday)` as a sentence.
fn clock(content: &str) -> Option<String> {
    let (stamp, rest) = content.trim().split_once(" (")?;
    let (zone, weekday) = rest.strip_suffix(')')?.split_once(", ")?;
    let (date, time) = stamp.split_once('T')?;
    let minutes = time.get(..5)?;
    let offset = time.get(time.rfind(['+', '-'])?..)?;
    Some(format!("{minutes} on {weekday}, {date} ({zone}, UTC{offset})"))
}

/// The text inside an envelope, or the text itself.
fn enveloped(content: &str) -> &str {
    let content = content.trim_end();
    let inner = content
        .strip_prefix("<untrusted ")
        .and_then(|rest| rest.split_once('>'))
        .and_then(|(_, inner)| inner.rfind("</untrusted").and_then(|end| inner.get(..end)));
    inner.map_or(content, |inner| inner.trim_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::super::sentence::{CALCULATE, READ, SEND};
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn results_are_told_and_nothing_is_added() {
        assert_eq!(of_result(CALCULATE, "391"), "391");
        assert_eq!(
            of_result(CLOCK, "2026-07-25T09:03:11.482913-04:00 (America/New_York, Saturday)"),
            "09:03 on Saturday, 2026-07-25 (America/New_York, UTC-04:00)"
        );
        assert_eq!(of_result(CLOCK, "another form"), "another form");
        let framed = "<untrusted kind=\"tool\" id=\"item_1\" nonce=\"9f\">\n4\n</untrusted nonce=\"9f\">";
        assert_eq!(of_result(CALCULATE, framed), "4");
        assert_eq!(
            of_result(READ, "<untrusted kind=\"tool\" nonce=\"9f\">\nline\n</untrusted nonce=\"9f\">"),
            "line"
        );
        assert_eq!(of_result(SEND, "Recorded, not sent: 5 bytes."), "Recorded, not sent: 5 bytes.");
    }

    #[test]
    fn a_failure_is_told_plainly() {
        let denied =
            json!({"status": "denied", "reason_code": "approval.denied", "message": "A person said no."});
        expect!["The call of demo.external_write was not allowed: A person said no. (approval.denied)"]
            .assert_eq(&of_failure(SEND, &denied.to_string()));
        expect!["The call of math.calculate did not succeed: out of order"]
            .assert_eq(&of_failure(CALCULATE, "out of order"));
    }

    #[test]
    fn it_says_what_it_is() {
        expect![[r"
            I am Mast's built-in offline answerer. There is no language model behind me; I understand only these forms:
              What is 17 multiplied by 23?   (also: calculate 2^10 · 15 percent of 80 · square root of 2)
            For anything else, set up a model: mast config use NAME"]]
        .assert_eq(&not_understood(|tool| tool == CALCULATE));
        assert!(not_understood(|_| false).contains("none here"));
    }
}
