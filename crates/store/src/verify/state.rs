//! The rows of the state against what the events say.

use std::collections::BTreeMap;

use mast_kernel::id::SessionId;

use super::{Audit, Shelf, Wrong};
use crate::audit::{Cells, Row, Table};
use crate::error::StoreError;
use crate::fold::State;
use crate::traits::JournalReader;

/// Compares the rows of a session with the fold of its events.
pub(super) async fn verify(
    journal: &dyn JournalReader,
    audit: &mut Audit,
    session: SessionId,
    folded: &State,
) -> Result<(), StoreError> {
    let tables = [
        (Table::Runs, expected(folded.runs.values())),
        (Table::Calls, expected(folded.calls.values())),
        (Table::Approvals, expected(folded.approvals.values())),
        (Table::Grants, expected(folded.grants.values())),
        (Table::Items, expected(folded.items.iter())),
    ];
    for (table, expected) in tables {
        compare(journal, audit, (table, session), expected).await?;
    }
    Ok(())
}

/// The rows that there must be, by id.
fn expected<'a, T: Row + 'a>(rows: impl Iterator<Item = &'a T>) -> BTreeMap<String, Cells> {
    rows.filter_map(Row::cells).map(|cells| (id_of(&cells), cells)).collect()
}

fn id_of(cells: &Cells) -> String {
    cells.first().cloned().flatten().unwrap_or_default()
}

async fn compare(
    journal: &dyn JournalReader,
    audit: &mut Audit,
    (table, session): (Table, SessionId),
    mut expected: BTreeMap<String, Cells>,
) -> Result<(), StoreError> {
    let name = table.name();
    let mut rows = Shelf::new(table, Some(session));
    while let Some(cells) = rows.next(journal).await? {
        let detail = match expected.remove(&id_of(&cells)) {
            Some(wanted) if wanted == cells => continue,
            Some(wanted) => format!("{} of {name} is not what the events say", id_of(&wanted)),
            None => format!("a row of {name} is in no event"),
        };
        audit.report.add(Wrong::StateDiffers, (Some(session), None), detail);
    }
    for id in expected.into_keys() {
        let detail = format!("{id} is missing in {name}");
        audit.report.add(Wrong::StateDiffers, (Some(session), None), detail);
    }
    Ok(())
}
