//! The chain of signed heads.

use mast_kernel::event::Head;

use super::{Audit, Shelf, Wrong};
use crate::audit::{Row as _, Table};
use crate::error::StoreError;
use crate::sign::is_signed;
use crate::traits::JournalReader;

/// Checks every head, and remembers what each says of its session.
pub(super) async fn verify(journal: &dyn JournalReader, audit: &mut Audit) -> Result<(), StoreError> {
    let seal = journal.seal();
    let (mut number, mut digest) = (0_u64, seal.genesis());
    let mut heads = Shelf::new(Table::Heads, None);
    while let Some(cells) = heads.next(journal).await? {
        audit.report.n_heads += 1;
        let Some(head) = Head::read(&cells) else {
            let detail = "a row of heads is not what mast writes";
            audit.report.add(Wrong::ChangedHead, (None, None), detail);
            continue;
        };
        let place = (Some(head.session), Some(head.sequence));
        if head.key != seal.key {
            let detail = format!("head {} is signed with another key than the store's", head.number);
            audit.report.add(Wrong::ForeignKey, place, detail);
        } else if !is_signed(&head) {
            let detail = format!("head {} is not what was signed", head.number);
            audit.report.add(Wrong::ChangedHead, place, detail);
        } else {
            audit.see(&head.digest());
            let signed = (head.number, head.sequence, head.hash);
            audit.signed.entry(head.session).or_default().push(signed);
        }
        if head.number != number.saturating_add(1) || head.previous_head != digest {
            let detail = format!("head {} does not follow head {number}", head.number);
            audit.report.add(Wrong::ChangedHead, place, detail);
        }
        number = head.number;
        digest = head.digest();
        audit.report.last_head = Some(digest);
    }
    Ok(())
}
