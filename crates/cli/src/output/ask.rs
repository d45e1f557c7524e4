//! A question on a terminal: a frame with the whole action, why it is asked, what was read before, until
//! when, and the keys. Pure: from a card to lines, so that tests compare whole frames.

use console::measure_text_width;
use mast_kernel::canonical::Digest;
use mast_kernel::event::Reach;
use mast_kernel::instant::Instant;
use mast_kernel::spec::{Risk, SideEffect};
use mast_runtime::Ask;
use serde_json::Value;

use super::card;
use super::escape::line;
use super::hidden::Sight;
use super::layout::{cut, pad};

/// Columns of a row's name.
const NAME_COLUMNS: usize = 12;
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

/// The furthest that a yes from this terminal may reach.
pub(crate) fn reach(ask: &Ask) -> Reach {
    let reach = ask.card.get("reach").and_then(|reach| serde_json::from_value(reach.clone()).ok());
    // A grave action is allowed once, whatever else the rules would let it.
    if code(ask).is_some() { Reach::Once } else { reach.unwrap_or(Reach::Once) }
}

/// The frame.
pub(crate) fn frame(ask: &Ask, sight: &Sight, is_whole: bool, (now, width): (Instant, usize)) -> Shown {
    let inner = width.saturating_sub(4);
    let mut is_partial = false;
    let mut body = Vec::new();
    for card::Shown { name, value, is_hidden } in card::rows(&ask.card, now, sight) {
        is_partial |= is_hidden;
        let mut name = line(&name);
        if measure_text_width(&name) >= NAME_COLUMNS {
            body.extend(wrap(&std::mem::take(&mut name), inner));
        }
        for part in wrap(&line(&value), inner.saturating_sub(NAME_COLUMNS)) {
            body.push(format!("{}{part}", pad(&std::mem::take(&mut name), NAME_COLUMNS)));
        }
    }
    if !is_whole && body.len() > LINES_MAX {
        let n_left = body.len() - LINES_MAX;
        body.truncate(LINES_MAX);
        body.push(format!("… {n_left} more lines: press d to see all of it first"));
        is_partial = true;
    }
    body.extend(wrap(&keys(ask, is_partial), inner));
    let short: String = {
        let id = ask.approval.to_string();
        id.get(id.len().saturating_sub(4)..).unwrap_or_default().to_uppercase()
    };
    let tail = format!(" mast · apr_…{short} · {} ", reach(ask));
    let room = width.saturating_sub(6 + measure_text_width(&tail));
    let title = format!(" {} ", cut(question(&ask.card), room));
    let rule = width.saturating_sub(4 + measure_text_width(&title) + measure_text_width(&tail));
    let mut lines = vec![format!("╭─{title}{}{tail}─╮", "─".repeat(rule))];
    lines.extend(body.iter().map(|text| format!("│ {} │", pad(text, inner))));
    lines.push(format!("╰{}╯", "─".repeat(width.saturating_sub(2))));
    Shown { lines, is_partial }
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

/// The keys, and what they do.
fn keys(ask: &Ask, is_partial: bool) -> String {
    let yes = match code(ask) {
        _ if is_partial => "yes only after you have seen all of it".to_owned(),
        Some(code) => format!("type {code} to allow once"),
        None => match reach(ask) {
            Reach::Once => "y allow once".to_owned(),
            Reach::Task => "y allow once   t for this run".to_owned(),
            Reach::Session => "y allow once   t for this run   s for this session".to_owned(),
        },
    };
    format!("{yes}   n no   d details")
}

/// The text in lines of so many columns.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    let (mut lines, mut current, mut taken) = (Vec::new(), String::new(), 0);
    for character in text.chars() {
        let wide = measure_text_width(character.encode_utf8(&mut [0; 4]));
        if taken + wide > columns {
            lines.push(std::mem::take(&mut current));
            taken = 0;
        }
        current.push(character);
        taken += wide;
    }
    lines.push(current);
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
        }
    }

    fn shown(ask: &Ask, is_whole: bool) -> Shown {
        let now = Instant::from_micros(1_499_999_000_000_000);
        frame(ask, &Sight::default(), is_whole, (now, 80))
    }

    #[test]
    fn a_grave_action_shows_a_code() {
        let shown = shown(&ask(Risk::High, "once", "hello"), false);
        assert!(!shown.is_partial);
        expect![[r#"
            ╭─ write to an outside service? ───────────────────── mast · apr_…JJJ1 · once ─╮
            │ tool        demo.external_write 1.0.0                                        │"#]]
        .assert_eq(&shown.lines[..2].join("\n"));
    }

    #[test]
    fn every_line_is_as_wide_as_the_terminal() {
        for width in [60, 80, 120] {
            for content in ["hello", "日本語".repeat(40).as_str(), "\u{1b}[2J\u{202e}evil"] {
                let now = Instant::from_micros(0);
                let mut ask = ask(Risk::Medium, "session", content);
                let fields = ask.card["arguments"].as_object_mut().unwrap();
                fields.insert("a name that is longer than its column, by far ".repeat(3), json!(1));
                let shown = frame(&ask, &Sight::default(), true, (now, width));
                for line in shown.lines {
                    assert_eq!(measure_text_width(&line), width, "{line}");
                }
            }
        }
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
