//! The state of each effect, from all receipts of a run.

use super::{EffectState, Receipt};
use crate::limits::ABSENCE_LOOKS_MIN;
use crate::message::OutcomeStatus;
use crate::resource::Resource;
use crate::spec::SideEffect;

/// The state of each receipt's effect, by its place in the list, with a plain sentence that says why.
///
/// A look counts for an effect only if it began after the effect ended, names the same thing, took it in
/// whole, and nothing that may have changed the thing ended after the look began. That the receipts are
/// those of one run, in the order of their calls, is the caller's to see to.
#[must_use]
pub fn states(receipts: &[Receipt]) -> Vec<(usize, EffectState, String)> {
    let judged = receipts.iter().enumerate().map(|(place, receipt)| {
        let (state, why) = state(receipts, place, receipt);
        (place, state, why)
    });
    judged.collect()
}

/// The state of one of the receipts, the one at this place, with why.
pub(crate) fn state(all: &[Receipt], place: usize, receipt: &Receipt) -> (EffectState, String) {
    let Some(_) = receipt.started_at else {
        return (EffectState::Intended, "it was asked for and never begun".to_owned());
    };
    match receipt.status {
        OutcomeStatus::Denied | OutcomeStatus::Unavailable => {
            (EffectState::Intended, "it was asked for and never begun".to_owned())
        }
        OutcomeStatus::Uncertain => (EffectState::Unknown, "nobody knows whether it happened".to_owned()),
        OutcomeStatus::Failed if receipt.side_effect.is_read() => {
            (EffectState::Executed, "it failed, and it changes nothing".to_owned())
        }
        OutcomeStatus::Failed => {
            (EffectState::Unknown, "it failed after it had begun, so part of it may have happened".to_owned())
        }
        OutcomeStatus::Succeeded if receipt.completed_at.is_none() => {
            (EffectState::Unknown, "it is not on record that it ended".to_owned())
        }
        OutcomeStatus::Succeeded if receipt.side_effect.is_read() => looked(all, place, receipt),
        OutcomeStatus::Succeeded => changed(all, place, receipt),
    }
}

/// A read: what it saw still holds, or it does not.
fn looked(all: &[Receipt], place: usize, receipt: &Receipt) -> (EffectState, String) {
    if receipt.side_effect == SideEffect::None {
        return (EffectState::Observed, "its result is on record".to_owned());
    }
    if let Some(later) = change_since(all, place, receipt) {
        return (EffectState::Executed, format!("{} changed it, or may have, after it was read", later.tool));
    }
    if receipt.is_whole {
        (EffectState::Observed, "it was read whole, and nothing changed it since".to_owned())
    } else {
        (EffectState::Executed, "only a part was read".to_owned())
    }
}

/// A change: whether somebody looked afterwards, and what they saw.
fn changed(all: &[Receipt], place: usize, receipt: &Receipt) -> (EffectState, String) {
    if !is_inside(receipt.side_effect) {
        let why = "the other side said yes; nobody here can look whether it is so";
        return (EffectState::Unverified, why.to_owned());
    }
    let states = written(receipt).map(|target| one_target(all, place, receipt, target));
    let worst = states.min_by_key(|(state, _)| rank(*state));
    worst.unwrap_or_else(|| {
        (EffectState::Executed, "it ended well; it does not say what it changed".to_owned())
    })
}

/// How good a state is for an effect of which another part is in another state.
const fn rank(state: EffectState) -> u8 {
    match state {
        EffectState::Unknown => 0,
        EffectState::Unverified => 1,
        EffectState::Intended => 2,
        EffectState::Executed => 3,
        EffectState::Observed => 4,
        EffectState::Verified => 5,
    }
}

fn one_target(all: &[Receipt], place: usize, effect: &Receipt, target: &str) -> (EffectState, String) {
    let mut others = all.iter().enumerate().filter(|(at, other)| {
        *at != place && may_change(other, target) && !is_before((*at, other), (place, effect))
    });
    if let Some((_, later)) = others.next_back() {
        return (EffectState::Executed, format!("{} changed it, or may have, afterwards", later.tool));
    }
    let after = |(at, look): &(usize, &Receipt)| {
        is_before((place, effect), (*at, look)) && names(look, target) && look.side_effect.is_read()
    };
    if is_deletion(effect) {
        return gone(all.iter().enumerate().filter(after).map(|(_, look)| look));
    }
    let mut looks = all.iter().enumerate().filter(after).map(|(_, look)| look);
    // The newest look decides: a later one that saw less, or nothing, is not passed over for an older one.
    let Some(look) = looks.next_back() else {
        return (EffectState::Executed, "nobody looked at it afterwards".to_owned());
    };
    if is_not_found(look) {
        return (EffectState::Unverified, "a later look did not find it".to_owned());
    }
    if look.status != OutcomeStatus::Succeeded {
        return (EffectState::Executed, "a later look failed".to_owned());
    }
    if !look.is_whole {
        return (EffectState::Executed, "only a part of it was looked at afterwards".to_owned());
    }
    match (digest(effect), digest(look)) {
        (Some(meant), Some(seen)) if meant == seen => {
            (EffectState::Verified, "it was read back whole, and it is what was written".to_owned())
        }
        (Some(_), Some(_)) => {
            (EffectState::Unverified, "it was read back whole, and it is something else".to_owned())
        }
        (None, _) | (_, None) => (EffectState::Observed, "it was looked at whole afterwards".to_owned()),
    }
}

/// Whether looks after a deletion prove it: so many in a row, up to the newest, that found nothing.
fn gone<'a>(looks: impl DoubleEndedIterator<Item = &'a Receipt>) -> (EffectState, String) {
    let mut n_missed = 0_u32;
    for look in looks.rev() {
        if is_not_found(look) && look.is_whole {
            n_missed += 1;
        } else if look.status == OutcomeStatus::Succeeded && n_missed == 0 {
            return (EffectState::Unverified, "a later look found it".to_owned());
        } else {
            break;
        }
    }
    match n_missed {
        0 => (EffectState::Executed, "nobody looked whether it is gone".to_owned()),
        n if n < ABSENCE_LOOKS_MIN => {
            (EffectState::Observed, "one look did not find it, which is too little".to_owned())
        }
        _ => (EffectState::Verified, "looks afterwards did not find it".to_owned()),
    }
}

/// The last receipt that may have changed what a read saw.
fn change_since<'a>(all: &'a [Receipt], place: usize, read: &Receipt) -> Option<&'a Receipt> {
    let touched: Vec<&str> = paths(read).map(|(path, _)| path).collect();
    let is_of_it = |other: &Receipt| touched.is_empty() || touched.iter().any(|path| may_change(other, path));
    later_changes(all, place, read).map(|(_, other)| other).filter(|other| is_of_it(other)).last()
}

/// The receipts that may have changed something after a call began, each with its place.
pub(crate) fn later_changes<'a>(
    all: &'a [Receipt],
    place: usize,
    call: &Receipt,
) -> impl Iterator<Item = (usize, &'a Receipt)> {
    all.iter().enumerate().filter(move |(at, other)| {
        *at != place && is_change(other) && !ends_before_start((*at, other), (place, call))
    })
}

/// Whether the first ended before the second began. Equal moments are told apart by their places.
fn is_before(first: (usize, &Receipt), second: (usize, &Receipt)) -> bool {
    ends_before_start(first, second)
}

fn ends_before_start((at, first): (usize, &Receipt), (place, second): (usize, &Receipt)) -> bool {
    match (first.completed_at, second.started_at) {
        (Some(end), Some(start)) => end < start || (end == start && at < place),
        (None, _) | (_, None) => false,
    }
}

/// Whether a call of this class acts where the run can look: in the workspace, the sandbox or the run.
const fn is_inside(side_effect: SideEffect) -> bool {
    matches!(
        side_effect,
        SideEffect::None
            | SideEffect::WorkspaceRead
            | SideEffect::WorkspaceWrite
            | SideEffect::NetworkRead
            | SideEffect::CodeExecution
            | SideEffect::PackageInstall
    )
}

/// Whether it may have changed anything: it began, and its class is not one that only looks.
pub(crate) const fn is_change(receipt: &Receipt) -> bool {
    receipt.started_at.is_some()
        && !receipt.side_effect.is_read()
        && !matches!(receipt.status, OutcomeStatus::Denied | OutcomeStatus::Unavailable)
}

/// Whether it may have changed this path: it names it or a folder above or below it as written, or it is of
/// a class that runs programs, which may write anywhere.
fn may_change(receipt: &Receipt, path: &str) -> bool {
    if !is_change(receipt) {
        return false;
    }
    match receipt.side_effect {
        SideEffect::WorkspaceWrite => {
            let mut named = written(receipt).peekable();
            named.peek().is_none() || named.any(|other| overlaps(other, path))
        }
        SideEffect::CodeExecution
        | SideEffect::PackageInstall
        | SideEffect::SandboxNetwork
        | SideEffect::HostAccess
        | SideEffect::Privileged => true,
        SideEffect::None
        | SideEffect::WorkspaceRead
        | SideEffect::NetworkRead
        | SideEffect::ExternalMessage
        | SideEffect::ExternalWrite
        | SideEffect::ExternalDelete
        | SideEffect::Financial
        | SideEffect::Publication
        | SideEffect::CredentialAccess => false,
    }
}

fn overlaps(one: &str, other: &str) -> bool {
    let below = |path: &str, folder: &str| {
        folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    one == other || below(one, other) || below(other, one)
}

/// The paths that a receipt names, cleaned, with whether they are written.
pub(crate) fn paths(receipt: &Receipt) -> impl Iterator<Item = (&str, bool)> {
    receipt.resources.iter().filter_map(|resource| match resource {
        Resource::Path { path, write } | Resource::Redirect { path, write } => Some((clean(path), *write)),
        Resource::Host { .. } | Resource::Record { .. } | Resource::Command { .. } => None,
    })
}

/// The paths that it writes.
pub(crate) fn written(receipt: &Receipt) -> impl Iterator<Item = &str> {
    paths(receipt).filter(|(_, write)| *write).map(|(path, _)| path)
}

/// A path without `./` before and `/` after it.
pub(crate) fn clean(path: &str) -> &str {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    path.trim_end_matches('/')
}

fn names(receipt: &Receipt, path: &str) -> bool {
    paths(receipt).any(|(other, _)| other == path)
}

/// Whether the receipt is of a look that found nothing there.
pub(crate) fn is_not_found(receipt: &Receipt) -> bool {
    receipt.status == OutcomeStatus::Failed
        && receipt.reason_code.as_deref().is_some_and(|code| code.starts_with("tool.not_found."))
        || receipt.status == OutcomeStatus::Succeeded
            && receipt.facts.get("exists").and_then(serde_json::Value::as_bool) == Some(false)
}

/// Whether the receipt is of a call that takes something away.
pub(crate) fn is_deletion(receipt: &Receipt) -> bool {
    let fact = |key: &str| receipt.facts.get(key).and_then(serde_json::Value::as_bool) == Some(true);
    let action = receipt.tool.rsplit('.').next().unwrap_or_default();
    receipt.side_effect == SideEffect::ExternalDelete
        || fact("deleted")
        || fact("removed")
        || action.split('_').any(|word| matches!(word, "delete" | "remove"))
}

/// The digest of the bytes that a receipt wrote or saw.
fn digest(receipt: &Receipt) -> Option<&str> {
    ["checksum", "sha256", "digest"].iter().find_map(|key| receipt.facts.get(*key)?.as_str())
}
