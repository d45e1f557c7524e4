//! A question on a terminal: a frame with the whole action, why it is asked, what was read before, until
//! when, and the keys. Pure: from a card to lines, so that tests compare whole frames.

use console::measure_text_width;
use mast_kernel::canonical::Digest;
use mast_kernel::event::Reach;
use mast_kernel::instant::Instant;
use mast_kernel::limits::{GRANT_SECONDS, GRANT_USES_MAX};
use mast_kernel::spec::{Risk, SideEffect};
use mast_runtime::Ask;
use serde_json::Value;

use super::card;
use super::escape::line;
use super::hidden::Sight;
use super::layout::{WIDTH_MIN, pad, row, wrap};

/// Columns of a row's name, and where the terminal is narrow.
const NAME_COLUMNS: usize = 14;
const NAME_COLUMNS_MIN: usize = 12;
/// Columns of a terminal that is not narrow.
const WIDE: usize = 60;
/// Columns before what hangs, where there is no room for a frame.
const INDENT: usize = 4;
/// Most lines of a frame before the rest waits behind a key.
const LINES_MAX: usize = 24;
/// Letters of codes: none of them is a key of the card.
const CODE_LETTERS: &[u8] = b"bfghjkmpvwxz";
/// Letters of a code.
const CODE_CHARS: usize = 4;

/// A question as it is shown now.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The lines of the frame.
    pub(crate) lines: Vec<String>,
    /// Whether anything of the action is not to be seen yet. Then there is no yes.
    pub(crate) is_partial: bool,
}

/// What a person types to allow this; none where a key is enough.
pub(crate) fn code(ask: &Ask) -> Option<String> {
    if !matches!(ask.risk, Risk::High | Risk::Critical) {
        return None;
    }
    let digest = Digest::of(format!("{}\n{}", ask.approval, ask.card).as_bytes());
    let letters = digest.as_bytes().iter().take(CODE_CHARS).map(|byte| {
        let place = usize::from(*byte) % CODE_LETTERS.len();
        CODE_LETTERS.get(place).map_or('x', |letter| char::from(*letter))
    });
    Some(letters.collect())
}

/// Whether a code may hold this letter.
pub(crate) fn is_of_code(key: char) -> bool {
    u8::try_from(key).is_ok_and(|letter| CODE_LETTERS.contains(&letter))
}

/// The furthest that a yes from this terminal may reach.
pub(crate) fn reach(ask: &Ask) -> Reach {
    let reach = ask.card.get("reach").and_then(|reach| serde_json::from_value(reach.clone()).ok());
    // A grave action is allowed once, whatever else the rules would let it.
    if code(ask).is_some() { Reach::Once } else { reach.unwrap_or(Reach::Once) }
}

/// The frame; where there is no room for one, the same lines without it.
pub(crate) fn frame(ask: &Ask, sight: Sight, is_whole: bool, (now, width): (Instant, usize)) -> Shown {
    let is_framed = width >= WIDTH_MIN;
    let name_columns = if width < WIDE { NAME_COLUMNS_MIN } else { NAME_COLUMNS };
    let (name_columns, inner) = if is_framed { (name_columns, width - 4) } else { (INDENT, width) };
    let mut is_partial = false;
    let mut body = Vec::new();
    for card::Shown { name, value, is_hidden } in card::rows(&ask.card, ask.twin, now, sight) {
        is_partial |= is_hidden;
        body.extend(row(&line(&name), &line(&value), (name_columns, inner)));
    }
    if !is_whole && body.len() > LINES_MAX {
        let n_left = body.len() - LINES_MAX;
        body.truncate(LINES_MAX);
        body.extend(wrap(&format!("… {n_left} more lines: press d to see all of it first"), inner));
        is_partial = true;
    }
    body.extend(keys(ask, is_partial, inner));
    let short: String = {
        let id = ask.approval.to_string();
        id.get(id.len().saturating_sub(4)..).unwrap_or_default().to_uppercase()
    };
    let (asked, of) = (question(&ask.card), format!("mast · apr_…{short} · {}", reach(ask)));
    let lines = if is_framed { framed(&body, asked, &of, width) } else { unframed(body, asked, &of, width) };
    Shown { lines, is_partial }
}

/// The body in its frame. Whose question it is stands above, or below where there is no room above.
fn framed(body: &[String], asked: &str, of: &str, width: usize) -> Vec<String> {
    let (asked, of) = (format!(" {asked} "), format!(" {of} "));
    let is_above = measure_text_width(&asked) + measure_text_width(&of) + 5 <= width;
    let (above, below) = if is_above { (of.as_str(), "") } else { ("", of.as_str()) };
    let rule = |texts: &str| "─".repeat(width.saturating_sub(4 + measure_text_width(texts)));
    let mut lines = vec![format!("╭─{asked}{}{above}─╮", rule(&format!("{asked}{above}")))];
    lines.extend(body.iter().map(|text| format!("│ {} │", pad(text, width.saturating_sub(4)))));
    lines.push(format!("╰─{}{below}─╯", rule(below)));
    lines
}

fn unframed(body: Vec<String>, asked: &str, of: &str, width: usize) -> Vec<String> {
    [asked, of].iter().flat_map(|text| wrap(text, width)).chain(body).collect()
}

/// What is asked, in words, by the class of the action.
fn question(card: &Value) -> &'static str {
    let effect = card.get("side_effect").and_then(|effect| serde_json::from_value(effect.clone()).ok());
    match effect {
        Some(SideEffect::ExternalMessage) => "send a message?",
        Some(SideEffect::ExternalWrite) => "write to an outside service?",
        Some(SideEffect::ExternalDelete) => "delete something outside?",
        Some(SideEffect::Financial) => "spend money?",
        Some(SideEffect::Publication) => "publish this?",
        Some(SideEffect::WorkspaceWrite) => "change a file?",
        Some(SideEffect::CodeExecution) => "run this?",
        Some(SideEffect::NetworkRead) => "fetch this address?",
        _ => "do this?",
    }
}

/// The keys, and what they do: as many on a line as fit.
fn keys(ask: &Ask, is_partial: bool, columns: usize) -> Vec<String> {
    let code = code(ask).map(|code| format!("type {code} to allow once"));
    let mut keys: Vec<&str> = match (code.as_deref(), reach(ask)) {
        _ if is_partial => vec!["yes only after you have seen all of it"],
        (Some(code), _) => vec![code],
        (None, Reach::Once) => vec!["y allow once"],
        (None, Reach::Task) => vec!["y allow once", "t for this run"],
        (None, Reach::Session) => vec!["y allow once", "t for this run", "s for this session"],
    };
    keys.extend(["n no", "d details"]);
    let mut lines: Vec<String> = Vec::new();
    for key in keys {
        match lines.last_mut() {
            Some(line) if measure_text_width(line) + 3 + measure_text_width(key) <= columns => {
                line.push_str("   ");
                line.push_str(key);
            }
            _ => lines.extend(wrap(key, columns)),
        }
    }
    lines
}

/// What a yes that reaches further would let through, before it is given.
pub(crate) fn grant_lines(ask: &Ask, reach: Reach, width: usize) -> Vec<String> {
    let far = if reach == Reach::Task { "this run" } else { "this session" };
    let hours = GRANT_SECONDS / 3_600;
    let text = format!(
        "{} with these arguments, here, is then not asked about again in {far}: at most {GRANT_USES_MAX} times \
         and {hours} hours. Only what the tool leaves free may differ. See or end it: mast grants",
        line(&ask.tool)
    );
    let mut lines = words(&text, width.saturating_sub(4));
    lines.push("y grant it   any other key: back".to_owned());
    lines.iter().map(|text| format!("  {text}")).collect()
}

/// Mast's own words in lines of so many columns, broken between words.
fn words(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if measure_text_width(line) + 1 + measure_text_width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.extend(wrap(word, columns)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use mast_kernel::id::{ApprovalId, CallId};
    use serde_json::json;

    use super::*;

    fn ask(risk: Risk, reach: &str, content: &str) -> Ask {
        Ask {
            approval: ApprovalId::from_u128(0x9_4a41),
            call: CallId::from_u128(1),
            tool: "demo.external_write".to_owned(),
            risk,
            card: json!({
                "tool": "demo.external_write", "version": "1.0.0", "side_effect": "external_write",
                "risk": risk, "arguments": {"content": content, "destination": "ops"}, "resources": [],
                "origin": "user", "source": "typed", "sensitivity": "public", "reach": reach,
                "reason_code": "policy.matrix.external_write",
                "expires_at": Instant::from_micros(1_500_000_000_000_000),
            }),
            expires_at: Instant::from_micros(1_500_000_000_000_000),
            twin: None,
        }
    }

    fn shown(ask: &Ask, is_whole: bool) -> Shown {
        let now = Instant::from_micros(1_499_999_000_000_000);
        frame(ask, Sight::default(), is_whole, (now, 80))
    }

    #[test]
    fn a_grave_action_shows_a_code() {
        let shown = shown(&ask(Risk::High, "once", "hello"), false);
        assert!(!shown.is_partial);
        expect![[r#"
            ╭─ write to an outside service? ───────────────────── mast · apr_…JJJ1 · once ─╮
            │ tool          demo.external_write 1.0.0                                      │"#]]
        .assert_eq(&shown.lines[..2].join("\n"));
    }

    /// What an attacker puts where they can.
    fn hostile(risk: Risk, content: &str) -> Ask {
        let mut ask = ask(risk, "session", content);
        let fields = ask.card["arguments"].as_object_mut().unwrap();
        fields.insert("a name that is longer than its column, by far ".repeat(3), json!(1));
        ask
    }

    #[test]
    fn every_line_is_as_wide_as_the_terminal() {
        let now = Instant::from_micros(0);
        for width in (40..=60).chain([80, 120]) {
            for content in ["hello", "日本語".repeat(40).as_str(), "\u{1b}[2J\u{202e}evil"] {
                for risk in [Risk::Medium, Risk::High] {
                    let shown = frame(&hostile(risk, content), Sight::default(), true, (now, width));
                    for line in shown.lines {
                        assert_eq!(measure_text_width(&line), width, "{line}");
                    }
                }
            }
        }
        for width in [12, 20, 39] {
            let shown = frame(&hostile(Risk::Medium, "日本語"), Sight::default(), true, (now, width));
            assert!(!shown.lines.concat().contains('│'));
            for line in shown.lines.iter().chain(&grant_lines(&hostile(Risk::Low, ""), Reach::Task, width)) {
                assert!(measure_text_width(line) <= width.max(34), "{width}: {line}");
            }
        }
    }

    #[test]
    fn a_card_of_forty_columns() {
        let now = Instant::from_micros(1_499_999_000_000_000);
        let mut ask = ask(Risk::Medium, "session", &format!("hi{}expires     never", " ".repeat(40)));
        ask.card["arguments"]["why asked   you said so"] = json!(true);
        let shown = frame(&ask, Sight::default(), false, (now, 40));
        expect![[r#"
            ╭─ write to an outside service? ───────╮
            │ tool        demo.external_write      │
            │             1.0.0                    │
            │ effect      external_write · risk    │
            │             medium                   │
            │ content =   "hi                      │
            │                                      │
            │             expires     never"       │
            │             (59 bytes, whole)        │
            │ destination =                        │
            │             "ops"   (3 bytes, whole) │
            │ "why asked   you said so" =          │
            │             true   (4 bytes, whole)  │
            │ why asked   This changes something   │
            │             outside. A person must   │
            │             approve it first.        │
            │             (policy.matrix.external_ │
            │             write)                   │
            │ read before nothing from outside     │
            │ expires     02:40 UTC                │
            │ y allow once   t for this run        │
            │ s for this session   n no            │
            │ d details                            │
            ╰───────── mast · apr_…JJJ1 · session ─╯"#]]
        .assert_eq(&shown.lines.join("\n"));
        let shown =
            grant_lines(&ask, Reach::Session, 60).iter().map(|line| format!("|{line}")).collect::<Vec<_>>();
        expect![[r#"
            |  demo.external_write with these arguments, here, is then
            |  not asked about again in this session: at most 200 times
            |  and 8 hours. Only what the tool leaves free may differ.
            |  See or end it: mast grants
            |  y grant it   any other key: back"#]]
        .assert_eq(&shown.join("\n"));
    }

    #[test]
    fn what_is_long_must_be_seen_before_a_yes() {
        let ask = ask(Risk::Low, "session", &"x".repeat(5_000));
        let cut = shown(&ask, false);
        assert!(cut.is_partial && cut.lines.iter().any(|line| line.contains("more lines: press d")));
        assert!(!cut.lines.iter().any(|line| line.contains("y allow")));
        let whole = shown(&ask, true);
        assert!(!whole.is_partial && whole.lines.iter().any(|line| line.contains("s for this session")));
        let n_shown: usize = whole.lines.iter().map(|line| line.matches('x').count()).sum();
        assert!(n_shown >= 5_000, "{n_shown}");
    }

    #[test]
    fn a_code_has_letters_that_are_no_keys_and_is_of_this_question() {
        let one = code(&ask(Risk::High, "once", "hello")).unwrap();
        let other = code(&ask(Risk::High, "once", "hullo")).unwrap();
        assert_ne!(one, other);
        assert!(one.len() == CODE_CHARS && one.bytes().all(|letter| CODE_LETTERS.contains(&letter)));
        assert!(!CODE_LETTERS.iter().any(|letter| b"ytsndrq".contains(letter)));
        assert_eq!(code(&ask(Risk::Medium, "once", "hello")), None);
    }
}
