//! `mast journal cut`: conversations that are over are taken away, with everything that was said and done in them.

use clap::Args;
use mast_kernel::id::SessionId;
use mast_kernel::instant::Instant;
use mast_store::upkeep::{self, NotCut};
use mast_store::verify::all_sessions;
use serde_json::{Value, json};

use crate::assemble::{Start, open_store, open_to_look};
use crate::commands::approvals::refuse_fixed_clock;
use crate::commands::runs::nothing_yet;
use crate::error::{CliError, Exit};
use crate::ids::{Wanted, find};
use crate::output::Style;
use crate::output::layout::count;

/// A day. For so long at least nothing may have happened in a conversation: whoever has it open writes into it.
const DAY_MICROS: i64 = 24 * 3_600 * 1_000_000;

/// Arguments of `mast journal cut`.
#[derive(Debug, Args)]
pub(super) struct CutArgs {
    /// Only this session; all that are old enough when none is named
    session: Option<String>,
    /// In which nothing happened for so long (`30d`, `12w`, `1y`), or since this day (`2026-01-31`)
    #[arg(long, value_name = "AGE|DATE", value_parser = parse_before)]
    before: Before,
    /// Do it; otherwise it is only said what would be cut
    #[arg(long)]
    apply: bool,
}

/// How old a conversation must be.
#[derive(Debug, Clone, Copy)]
enum Before {
    Days(i64),
    Day(jiff::Timestamp),
}

fn parse_before(text: &str) -> Result<Before, String> {
    let known = || "write an age such as 30d, 12w or 1y, or a day such as 2026-01-31".to_owned();
    if let Ok(begins) = format!("{text}T00:00:00Z").parse::<jiff::Timestamp>() {
        return Ok(Before::Day(begins));
    }
    let unit = text.chars().last().ok_or_else(known)?;
    let number: i64 = text.strip_suffix(unit).and_then(|digits| digits.parse().ok()).ok_or_else(known)?;
    let days = match unit {
        'd' => 1,
        'w' => 7,
        'y' => 365,
        _ => return Err(known()),
    };
    number.checked_mul(days).filter(|days| (1..=36_500).contains(days)).map(Before::Days).ok_or_else(known)
}

/// Cuts, or says what would be cut.
///
/// # Errors
///
/// [`CliError`] when there is nothing on record, or it cannot be written.
pub(super) async fn cut(args: &CutArgs, start: &Start) -> Result<Exit, CliError> {
    refuse_fixed_clock(start)?;
    if open_to_look(start).await?.is_none() {
        return Err(nothing_yet());
    }
    let store = open_store(start).await?;
    let now = start.world().clock.now();
    let before = limit(args.before, now)?;
    let sessions = match &args.session {
        Some(text) => vec![find(&*store, text, Wanted::Either).await?.session()],
        None => all_sessions(&*store).await?,
    };
    let (mut told, mut planned) = (Told::default(), Vec::new());
    for session in sessions {
        match upkeep::cut(&*store, session, (before, now)).await? {
            Ok(one) => {
                planned.push(one);
                told.cut.push(session);
            }
            Err(NotCut::Young) if args.session.is_none() => {}
            Err(why) => told.kept.push((session, why)),
        }
    }
    if args.apply {
        store.keep_up(planned).await?;
    }
    told.print(args, start)
}

fn limit(before: Before, now: Instant) -> Result<Instant, CliError> {
    let ago = |micros: i64| Instant::from_micros(now.micros().saturating_sub(micros));
    let wanted = match before {
        Before::Days(days) => ago(days.saturating_mul(DAY_MICROS)),
        Before::Day(day) => Instant::from_micros(day.as_microsecond()),
    };
    if wanted > ago(DAY_MICROS) {
        let hint = "a conversation of the last day may still be open somewhere";
        return Err(CliError::usage("--before must be at least a day ago", hint));
    }
    Ok(wanted)
}

/// What is told.
#[derive(Debug, Default)]
struct Told {
    cut: Vec<SessionId>,
    kept: Vec<(SessionId, NotCut)>,
}

impl Told {
    fn print(&self, args: &CutArgs, start: &Start) -> Result<Exit, CliError> {
        let printer = &start.printer;
        let exit = if self.kept.is_empty() { Exit::Done } else { Exit::Failed };
        if printer.is_json() {
            let kept =
                self.kept.iter().map(|(session, why)| json!({"session": session, "why": why.to_string()}));
            printer.result_json(&json!({
                "applied": args.apply, "cut": self.cut, "kept": kept.collect::<Vec<Value>>(),
            }))?;
            return Ok(exit);
        }
        let (style, word) = if args.apply { (Style::Warn, "cut") } else { (Style::Plain, "would be cut") };
        for session in &self.cut {
            printer.result_line(&[(style, word), (Style::Plain, &format!("  {session}"))])?;
        }
        for (session, why) in &self.kept {
            printer.result_line(&[(Style::Bad, "kept"), (Style::Plain, &format!("  {session} · {why}"))])?;
        }
        let n_cut = count(self.cut.len() as u64, "conversation");
        let said = match (args.apply, self.cut.is_empty()) {
            (_, true) => "nothing is that old and over".to_owned(),
            (true, false) => format!("{n_cut} cut; their signed heads stay: mast journal verify"),
            (false, false) => format!("{n_cut} would be gone for good   do it: add --apply"),
        };
        printer.note(&[(Style::Dim, &said)]);
        Ok(exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_or_a_day() {
        for text in ["30d", "12w", "1y", "2026-01-31"] {
            assert!(parse_before(text).is_ok(), "{text}");
        }
        for text in ["", "d", "0d", "-1d", "30", "3m", "2026-13-01", "soon", "99999999999999999999d", "é"] {
            assert!(parse_before(text).is_err(), "{text}");
        }
    }
}
