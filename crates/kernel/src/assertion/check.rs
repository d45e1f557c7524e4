//! Whether a receipt says what an assertion says.

use super::{Assertion, Checked, Receipt, Support};
use crate::message::OutcomeStatus;
use crate::spec::SideEffect;

/// Each assertion with what the receipts of its run say of it.
#[must_use]
pub fn check(assertions: Vec<Assertion>, receipts: &[Receipt]) -> Vec<Checked> {
    let one = |assertion: Assertion| {
        let ran = receipts.iter().rev().find(|receipt| {
            receipt.side_effect == SideEffect::CodeExecution && receipt.status == OutcomeStatus::Succeeded
        });
        let support = match ran {
            Some(receipt) => Support::Supported { by: receipt.call, statement: receipt.statement.clone() },
            None => Support::Unsupported { why: "no test command ran in this run".to_owned() },
        };
        Checked { assertion, support }
    };
    assertions.into_iter().map(one).collect()
}
