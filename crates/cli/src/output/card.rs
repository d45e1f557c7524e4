//! An approval's card as lines: the whole action, so that nobody judges what they have not seen. Nothing
//! is cut here, however long it is: what is cut is what an attacker puts at the end.

use mast_kernel::id::CallId;
use mast_kernel::instant::Instant;
use mast_kernel::message::lookup;
use mast_kernel::policy::MATRIX;
use mast_kernel::trust::Trust;
use serde_json::Value;

use super::hidden::Sight;
use super::layout::count;

/// One row of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// What it is.
    pub(crate) name: String,
    /// What it says.
    pub(crate) value: String,
    /// Whether a part of it waits behind a key.
    pub(crate) is_hidden: bool,
}

/// The rows of a card, and of an earlier call like it whose outcome nobody knows. `now` tells whether a date is
/// needed with the time.
pub(crate) fn rows(card: &Value, twin: Option<CallId>, now: Instant, sight: Sight) -> Vec<Shown> {
    let text = |key: &str| card.get(key).and_then(Value::as_str).unwrap_or("not said").to_owned();
    let mut rows = vec![
        row("tool", format!("{} {}", text("tool"), text("version"))),
        row("effect", format!("{} · risk {}", text("side_effect"), text("risk"))),
    ];
    if let Some(Value::Object(arguments)) = card.get("arguments") {
        rows.extend(arguments.iter().map(|(name, value)| argument(name, value, sight)));
    }
    rows.extend(twin.map(|twin| row("caution", doubt(twin))));
    rows.push(row("why asked", why_asked(&text("reason_code"))));
    rows.push(row("read before", read_before(card)));
    if let Some(at) = card.get("expires_at").and_then(|at| serde_json::from_value(at.clone()).ok()) {
        rows.push(row("expires", until(at, now)));
    }
    rows
}

/// What is to be known before a call is allowed that may have happened already.
fn doubt(twin: CallId) -> String {
    format!("the same call may have happened already; if you know: mast runs reconcile {twin}")
}

/// `asks · writes outside this machine · text from outside was read before`.
pub(crate) fn why_line(card: &Value) -> String {
    let effect = card.get("side_effect").and_then(Value::as_str).unwrap_or_default();
    let code = card.get("reason_code").and_then(Value::as_str).unwrap_or_default();
    let does = match lookup(code) {
        Some(entry) if !code.starts_with("policy.matrix.") => entry.message.trim_end_matches('.'),
        _ => MATRIX.iter().find(|row| row.side_effect.as_str() == effect).map_or("", |row| row.why),
    };
    let read = if is_tainted(card) { " · text from outside was read before" } else { "" };
    format!("asks · {does}{read}")
}

/// A moment of the near future: the time of day, and the date where it is not today.
pub(crate) fn until(at: Instant, now: Instant) -> String {
    let moment = |at: Instant| jiff::Timestamp::from_microsecond(at.micros()).ok();
    let day = |at: jiff::Timestamp| at.strftime("%Y-%m-%d").to_string();
    match (moment(at), moment(now)) {
        (Some(at), Some(now)) if day(at) == day(now) => at.strftime("%H:%M UTC").to_string(),
        (Some(at), _) => at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        (None, _) => format!("{} µs", at.micros()),
    }
}

/// Whether text that nobody vouches for could have shaped the call. A card that does not say so is taken
/// for the worse.
fn is_tainted(card: &Value) -> bool {
    let origin = card.get("origin").and_then(|origin| serde_json::from_value::<Trust>(origin.clone()).ok());
    origin.is_none_or(Trust::is_tainted)
}

fn why_asked(code: &str) -> String {
    lookup(code).map_or_else(|| code.to_owned(), |entry| format!("{} ({code})", entry.message))
}

/// What of others' making could have shaped the call.
fn read_before(card: &Value) -> String {
    if !is_tainted(card) {
        return "nothing from outside".to_owned();
    }
    let whose = match card.get("source").and_then(Value::as_str) {
        Some("piped") => "what was piped in",
        Some("tool") => "what a tool brought from outside",
        Some("caller") => "what another program sent",
        _ => "text of others",
    };
    format!("text from outside: {whose}")
}

fn row(name: &str, value: String) -> Shown {
    Shown { name: name.to_owned(), value, is_hidden: false }
}

/// A value as JSON, and how much of it there is: a person should see at once what was not meant to be
/// noticed.
fn argument(name: &str, value: &Value, sight: Sight) -> Shown {
    let bytes = match value {
        Value::String(text) => text.len(),
        other => other.to_string().len(),
    };
    let (text, is_hidden) = sight.of(name, value);
    let size = count(bytes as u64, "byte");
    let value = if is_hidden { format!("{text}   ({size})") } else { format!("{text}   ({size}, whole)") };
    // A name of the tool's making must not be taken for a row of Mast's own.
    let name = if is_plain(name) { name.to_owned() } else { Value::from(name).to_string() };
    Shown { name: format!("{name} ="), value, is_hidden }
}

/// Whether a name is a word as programs use them. Any other is shown between quotes.
fn is_plain(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    begins && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn card(origin: &str) -> Value {
        json!({
            "tool": "demo.external_write", "version": "1.0.0", "side_effect": "external_write", "risk": "high",
            "arguments": {"content": "two\nlines", "count": 3, "destination": "é"}, "resources": [],
            "origin": origin, "sensitivity": "private", "reason_code": "policy.matrix.external_write",
            "expires_at": Instant::from_micros(1_500_000_000_000_000),
        })
    }

    #[test]
    fn the_whole_action_is_shown() {
        let rows = rows(
            &card("user"),
            Some(CallId::from_u128(7)),
            Instant::from_micros(1_499_990_000_000_000),
            Sight::default(),
        );
        let shown: Vec<String> = rows.iter().map(|row| format!("{} | {}", row.name, row.value)).collect();
        expect_test::expect![[r#"
            tool | demo.external_write 1.0.0
            effect | external_write · risk high
            content = | "two\nlines"   (9 bytes, whole)
            count = | 3   (1 byte, whole)
            destination = | "é"   (2 bytes, whole)
            caution | the same call may have happened already; if you know: mast runs reconcile call_00000000000000000000000007
            why asked | This changes something outside. A person must approve it first. (policy.matrix.external_write)
            read before | nothing from outside
            expires | 2017-07-14 02:40 UTC"#]]
        .assert_eq(&shown.join("\n"));
    }

    #[test]
    fn a_name_that_is_no_plain_word_is_quoted() {
        for (name, shown) in [
            ("content", "content ="),
            ("max-size.kb_2", "max-size.kb_2 ="),
            ("why asked", "\"why asked\" ="),
            ("", "\"\" ="),
            ("1", "\"1\" ="),
            ("a\nexpires", "\"a\\nexpires\" ="),
            ("tоol", "\"tоol\" ="),
        ] {
            assert_eq!(argument(name, &json!(1), Sight::default()).name, shown);
        }
    }

    #[test]
    fn foreign_text_is_named() {
        let tainted = |origin: &str| why_line(&card(origin)).contains("text from outside was read before");
        for (origin, expect) in [
            ("user", false),
            ("internal_tool", false),
            ("knowledge", true),
            ("external_untrusted", true),
            ("a word that is none", true),
        ] {
            assert_eq!(tainted(origin), expect, "{origin}");
        }
        assert_eq!(why_line(&card("user")), "asks · writes outside this machine");
    }

    #[test]
    fn a_date_stands_only_where_it_is_not_today() {
        let at = Instant::from_micros(1_500_000_000_000_000);
        assert_eq!(until(at, at), "02:40 UTC");
        assert_eq!(until(at, Instant::from_micros(0)), "2017-07-14 02:40 UTC");
    }
}
