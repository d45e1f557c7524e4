//! What a batch makes and changes, above rows that stay as they are until it is committed.

use std::collections::BTreeMap;

use mast_kernel::id::{ApprovalId, CallId, GrantId, RunId, SessionId};
use mast_kernel::instant::Instant;

use super::State;
use crate::error::Conflict;
use crate::record::{ApprovalRow, CallRow, GrantRow, ItemRow, RunRow, SessionRow};

/// A row that was made or changed.
#[derive(Debug, Clone)]
pub(crate) struct Changed<T> {
    pub(crate) row: T,
    pub(crate) is_new: bool,
}

/// What was made and changed in one session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delta {
    pub(crate) session: Option<SessionRow>,
    pub(crate) runs: BTreeMap<RunId, Changed<RunRow>>,
    pub(crate) calls: BTreeMap<CallId, Changed<CallRow>>,
    pub(crate) approvals: BTreeMap<ApprovalId, Changed<ApprovalRow>>,
    pub(crate) grants: BTreeMap<GrantId, Changed<GrantRow>>,
    pub(crate) items: Vec<ItemRow>,
    pub(crate) last_place: Option<u64>,
    pub(crate) last_at: Option<Instant>,
}

/// The rows of a session as a batch sees them: its own changes first, then what was there.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) id: SessionId,
    pub(crate) state: &'a State,
    pub(crate) delta: &'a mut Delta,
}

/// Reads and writes one kind of row.
macro_rules! rows {
    ($read:ident, $make:ident, $change:ident, $field:ident, $id:ty, $row:ty, $what:literal) => {
        /// The row as it is now.
        pub(crate) fn $read(&self, id: $id) -> Result<&$row, Conflict> {
            let changed = self.delta.$field.get(&id).map(|changed| &changed.row);
            changed
                .or_else(|| self.state.$field.get(&id))
                .filter(|row| row.session == self.id)
                .ok_or_else(|| Conflict::Missing(format!(concat!($what, " {}"), id)))
        }

        /// Makes a row.
        pub(crate) fn $make(&mut self, row: $row) -> Result<(), Conflict> {
            if self.delta.$field.contains_key(&row.id) || self.state.$field.contains_key(&row.id) {
                return Err(Conflict::Exists(format!(concat!($what, " {}"), row.id)));
            }
            self.delta.$field.insert(row.id, Changed { row, is_new: true });
            Ok(())
        }

        /// Replaces a row that is there.
        pub(crate) fn $change(&mut self, row: $row) {
            let is_new = self.delta.$field.get(&row.id).is_some_and(|changed| changed.is_new);
            self.delta.$field.insert(row.id, Changed { row, is_new });
        }
    };
}

impl View<'_> {
    rows!(run, make_run, change_run, runs, RunId, RunRow, "run");
    rows!(call, make_call, change_call, calls, CallId, CallRow, "call");
    rows!(approval, make_approval, change_approval, approvals, ApprovalId, ApprovalRow, "approval");
    rows!(grant, make_grant, change_grant, grants, GrantId, GrantRow, "grant");

    /// The session, once it is made.
    pub(crate) fn session(&self) -> Option<&SessionRow> {
        self.delta.session.as_ref().or(self.state.session.as_ref())
    }

    /// The greatest place of an item.
    pub(crate) fn last_place(&self) -> u64 {
        self.delta.last_place.unwrap_or(self.state.last_place)
    }

    /// When something happens: at its own moment, but never before what is on record. So no clock that went
    /// back makes anything young again.
    pub(crate) fn moment(&mut self, said: Instant) -> Instant {
        let at = [self.state.last_at, self.delta.last_at].into_iter().flatten().fold(said, Instant::max);
        self.delta.last_at = Some(at);
        at
    }
}
