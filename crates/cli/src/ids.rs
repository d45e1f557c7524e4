//! From what a person writes to one run or session: a whole id, any unique ending of it with at least
//! four characters, a unique beginning, or `latest`. Endings differ soonest, since an id begins with its
//! time; so they are looked for first.

use mast_kernel::call::CallStatus;
use mast_kernel::id::SessionId;
use mast_store::{
    ApprovalFilter, ApprovalRow, CallFilter, CallRow, GrantFilter, GrantRow, RunFilter, RunRow,
    SessionFilter, SessionRow, Store,
};

use crate::error::CliError;

/// Fewest characters of an ending.
const ENDING_CHARS_MIN: usize = 4;

/// A run or a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// A run.
    Run(RunRow),
    /// A session.
    Session(SessionRow),
}

impl Found {
    /// The session that it is, or that it belongs to.
    pub(crate) const fn session(&self) -> SessionId {
        match self {
            Self::Run(run) => run.session,
            Self::Session(session) => session.id,
        }
    }
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A run.
    Run,
    /// A session.
    Session,
    /// Either; a run where both fit.
    Either,
}

impl Wanted {
    const fn noun(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Session => "session",
            Self::Either => "run or session",
        }
    }
}

/// Finds what `text` names.
///
/// # Errors
///
/// [`CliError`] when nothing fits, more than one fits, or the store cannot be read.
pub(crate) async fn find(store: &dyn Store, text: &str, wanted: Wanted) -> Result<Found, CliError> {
    let ending = if text == "latest" { None } else { Some(ending(text, wanted)?) };
    let limit = if ending.is_some() { 2 } else { 1 };
    let mut found = Vec::new();
    if wanted != Wanted::Session && !text.starts_with("ses_") {
        let filter = RunFilter { ending: ending.clone(), limit, ..RunFilter::default() };
        found.extend(store.runs(&filter).await?.into_iter().map(Found::Run));
    }
    let runs_suffice = wanted == Wanted::Either && text == "latest" && !found.is_empty();
    if wanted != Wanted::Run && !text.starts_with("run_") && !runs_suffice {
        let filter = SessionFilter { ending: ending.clone(), limit, ..SessionFilter::default() };
        found.extend(store.sessions(&filter).await?.into_iter().map(Found::Session));
    }
    if found.is_empty()
        && let Some(beginning) = &ending
    {
        found = beginning_with(store, beginning, text, wanted).await?;
    }
    let (noun, see) = (wanted.noun(), "see: mast runs");
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            Err(CliError::usage(format!("more than one {noun} fits `{text}`"), "write more of it"))
        }
        (None, _) if text == "latest" => {
            Err(CliError::failed(format!("there is no {noun} yet"), "begin with: mast run \"…\""))
        }
        (None, _) => Err(CliError::failed(format!("there is no {noun} `{text}`"), see)),
    }
}

/// What begins with these characters, at most two.
async fn beginning_with(
    store: &dyn Store,
    beginning: &str,
    text: &str,
    wanted: Wanted,
) -> Result<Vec<Found>, CliError> {
    let fits = |id: String| id.split_once('_').is_some_and(|(_, bits)| bits.starts_with(beginning));
    let mut found = Vec::new();
    if wanted != Wanted::Session && !text.starts_with("ses_") {
        let runs = store.runs(&RunFilter::default()).await?;
        found.extend(runs.into_iter().filter(|run| fits(run.id.to_string())).map(Found::Run));
    }
    if wanted != Wanted::Run && !text.starts_with("run_") {
        let sessions = store.sessions(&SessionFilter::default()).await?;
        found.extend(sessions.into_iter().filter(|one| fits(one.id.to_string())).map(Found::Session));
    }
    found.truncate(2);
    Ok(found)
}

/// The question that `text` names: a whole id, a unique ending of it, or `latest`.
///
/// # Errors
///
/// As [`find`].
pub(crate) async fn find_approval(store: &dyn Store, text: &str) -> Result<ApprovalRow, CliError> {
    let ending = bare_ending(text, "apr_", "approval")?;
    let limit = if ending.is_some() { 2 } else { 1 };
    let filter = ApprovalFilter { ending, limit, ..ApprovalFilter::default() };
    only(store.approvals(&filter).await?, text, ("approval", "see: mast approvals"))
}

/// The grant that `text` names.
///
/// # Errors
///
/// As [`find`].
pub(crate) async fn find_grant(store: &dyn Store, text: &str) -> Result<GrantRow, CliError> {
    let ending = bare_ending(text, "grt_", "grant")?;
    let limit = if ending.is_some() { 2 } else { 1 };
    let filter = GrantFilter { ending, limit, ..GrantFilter::default() };
    only(store.grants(&filter).await?, text, ("grant", "see: mast grants"))
}

/// The call that `text` names.
///
/// # Errors
///
/// As [`find`].
pub(crate) async fn find_call(store: &dyn Store, text: &str) -> Result<CallRow, CliError> {
    let see = ("call", "see: mast runs reconcile");
    let Some(ending) = bare_ending(text, "call_", "call")? else {
        let filter = CallFilter { status: Some(CallStatus::Uncertain), ..CallFilter::default() };
        let newest = store.calls(&filter).await?.pop();
        return newest.ok_or_else(|| CliError::failed("no call is in doubt", "see: mast runs"));
    };
    let filter = CallFilter { ending: Some(ending), limit: 2, ..CallFilter::default() };
    only(store.calls(&filter).await?, text, see)
}

fn only<T>(found: Vec<T>, text: &str, (noun, see): (&str, &str)) -> Result<T, CliError> {
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            Err(CliError::usage(format!("more than one {noun} fits `{text}`"), "write more of it"))
        }
        (None, _) => Err(CliError::failed(format!("there is no {noun} `{text}`"), see)),
    }
}

/// What is compared of an id of this kind; none for `latest`.
fn bare_ending(text: &str, prefix: &str, noun: &str) -> Result<Option<String>, CliError> {
    if text == "latest" {
        return Ok(None);
    }
    let bare = text.strip_prefix(prefix).unwrap_or(text);
    let is_id = bare.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if bare.len() < ENDING_CHARS_MIN || !is_id {
        let message = format!("`{text}` is not the id of an {noun}")
            .replace("an grant", "a grant")
            .replace("an call", "a call");
        return Err(CliError::usage(message, "write the last four or more of its characters, or: latest"));
    }
    Ok(Some(bare.to_ascii_lowercase()))
}

/// The part of an id that is compared: what follows the kind prefix.
fn ending(text: &str, wanted: Wanted) -> Result<String, CliError> {
    let bare = text.strip_prefix("run_").or_else(|| text.strip_prefix("ses_")).unwrap_or(text);
    let is_id = bare.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if bare.len() < ENDING_CHARS_MIN || !is_id {
        let message = format!("`{text}` is not the id of a {}", wanted.noun());
        return Err(CliError::usage(message, "write the last four or more of its characters, or: latest"));
    }
    Ok(bare.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_has_four_characters_or_more() {
        assert_eq!(ending("run_01JDX", Wanted::Run).unwrap(), "01jdx");
        for bad in ["", "run_", "x7k", "run_abc", "a/../b", "%%%%"] {
            assert!(ending(bad, Wanted::Run).is_err(), "{bad}");
        }
    }
}
