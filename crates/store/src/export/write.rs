//! Writing an export.

use std::io::Write;

use mast_kernel::canonical::{Hashing, NotCanonical};
use mast_kernel::event::{Disclosure, Event};
use mast_kernel::id::SessionId;

use super::{First, Last, Line};
use crate::READ_ROWS_MAX;
use crate::error::StoreError;
use crate::sign::Signer;
use crate::traits::JournalReader;

/// What is shown of each event besides what always is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shown {
    /// Fields that are withheld, by the chain's names, such as `payload.tool`.
    pub withheld: Vec<String>,
}

/// Why an export was not written whole.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An event that has no canonical form.
    #[error("an event of {0} cannot be written: run `mast journal verify`")]
    Event(SessionId, #[source] NotCanonical),
    /// Whoever takes the lines.
    #[error("the export cannot be written: {0}")]
    Write(#[from] std::io::Error),
    /// A line has no text.
    #[error("a line of the export cannot be written: {0}")]
    Line(#[from] serde_json::Error),
}

/// Lines that were written, and their digest.
struct Lines<'a, W> {
    to: &'a mut W,
    hashing: Hashing,
}

impl<W: Write> Lines<'_, W> {
    fn line(&mut self, line: &Line) -> Result<(), Failed> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.hashing.add(&text);
        Ok(self.to.write_all(&text)?)
    }
}

/// Writes the export of these sessions, whose last events should be under a head; gives how many events.
///
/// # Errors
///
/// [`Failed`] where the store cannot be read or the lines cannot be written. What is there then has no last
/// line, and is no export.
pub async fn write(
    journal: &dyn JournalReader,
    sessions: &[SessionId],
    shown: &Shown,
    signer: &Signer,
    to: &mut (impl Write + Send),
) -> Result<u64, Failed> {
    let mut lines = Lines { to, hashing: Hashing::default() };
    lines.line(&Line::MastJournal(First::of(&journal.seal())))?;
    let mut counts = [sessions.len() as u64, 0, 0];
    let mut after = 0;
    while let Some(page) = full(journal.heads(after, READ_ROWS_MAX).await?) {
        for head in page {
            after = head.number;
            counts[1] += 1;
            lines.line(&Line::Head(head))?;
        }
    }
    for session in sessions {
        let mut after = 0;
        while let Some(page) = full(journal.events(*session, after, READ_ROWS_MAX).await?) {
            for event in page {
                after = event.sequence;
                counts[2] += 1;
                let told = disclosed(&event, shown).map_err(|fault| Failed::Event(*session, fault))?;
                lines.line(&Line::Event(told))?;
            }
        }
    }
    let Lines { to, hashing } = lines;
    let last = Line::End(Last::signed(counts, hashing.digest(), signer));
    let mut text = serde_json::to_vec(&last)?;
    text.push(b'\n');
    to.write_all(&text)?;
    to.flush()?;
    Ok(counts[2])
}

fn full<T>(page: Vec<T>) -> Option<Vec<T>> {
    (!page.is_empty()).then_some(page)
}

/// The event as it is shown. What binds a session to its store is shown whatever is asked.
fn disclosed(event: &Event, shown: &Shown) -> Result<Disclosure, NotCanonical> {
    let binds = |name: &str| event.sequence == 1 && matches!(name, "payload.tenant" | "payload.store");
    Disclosure::of(event, |name| binds(name) || !shown.withheld.iter().any(|withheld| withheld == name))
}
