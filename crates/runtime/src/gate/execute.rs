//! Gate steps 10, 11 and 12: the body under its deadline, and what is made of its result.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use mast_kernel::limits;
use mast_kernel::message::OutcomeStatus;
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::spec::{Idempotency, SideEffect};
use mast_kernel::trust::{Label, SourceKind};
use mast_tools::{Context, Output};
use serde_json::Value;

use super::named::Found;
use super::{Ending, Gate, Record, Stop};
use crate::hands::Hands;

/// A result that fits its schema.
#[derive(Debug)]
pub(super) struct Checked {
    output: Output,
    label: Label,
}

/// A result that fits its bounds.
#[derive(Debug)]
pub(super) struct Bounded {
    pub(super) content: String,
    pub(super) structured: Value,
    pub(super) label: Label,
    pub(super) output_bytes: u64,
    pub(super) truncated: bool,
    /// All of the content, where the model is shown less.
    pub(super) whole: Option<String>,
}

impl Gate<'_> {
    /// Step 10. A body that panics or takes too long ends its call, not the process.
    pub(super) async fn execute(
        &self,
        tool: &Found<'_>,
        claimed: Claimed<Permit>,
        record: &Record<'_>,
    ) -> Result<Output, Ending> {
        let spec = &tool.registered.spec;
        let time_left = Duration::from_secs(u64::from(spec.timeout_seconds));
        let Hands { tool_clock, cancellation, workspace } = self.frame.hands.clone();
        // Only a tool that says so gets to the files.
        let touches = matches!(spec.side_effect, SideEffect::WorkspaceRead | SideEffect::WorkspaceWrite);
        let context = Context::new(tool_clock, record.mark_log(), cancellation, time_left)
            .within(workspace.filter(|_| touches), self.frame.origin);
        let body = AssertUnwindSafe(tool.body.run(claimed, &context)).catch_unwind();
        let ended = match tokio::time::timeout(time_left, body).await {
            Ok(Ok(Ok(output))) => return Ok(output),
            Ok(Ok(Err(failure))) => Ending::from(failure),
            Ok(Err(_)) => Ending::failed("tool.internal.fault").detail("the tool's body panicked"),
            Err(_) => Ending::failed("tool.timeout.deadline"),
        };
        let broke_off = matches!(ended.code.as_str(), "tool.internal.fault" | "tool.timeout.deadline");
        if broke_off && record.is_marked() && spec.idempotency == Idempotency::NonIdempotent {
            return Err(Ending::new(OutcomeStatus::Uncertain, "tool.outcome_unknown").detail(ended.detail));
        }
        Err(ended)
    }
}

/// Step 11. The output schema, the mark that the class asks for, and the label, which can only get worse:
/// by what the tool says of itself, and by what the call came from.
pub(super) fn check(
    ran: Result<Output, Ending>,
    tool: &Found<'_>,
    is_marked: bool,
    origin: Label,
) -> Result<Checked, Stop> {
    let spec = &tool.registered.spec;
    let output = ran?;
    if spec.idempotency == Idempotency::NonIdempotent && !is_marked {
        return Err(Ending::failed("tool.contract.no_watermark").into());
    }
    tool.registered
        .check_output(&output.structured)
        .map_err(|violation| Ending::failed("tool.output_invalid.schema").detail(format!("{violation:?}")))?;
    let declared = Label::new(spec.output_trust, spec.output_sensitivity, SourceKind::Tool);
    let label = declared.clamp(Some(origin)).clamp(output.label);
    Ok(Checked { output, label })
}

/// Step 12. Past the ceiling the call has failed; past what a model is shown at once, the middle is left
/// out, and the whole stays in the journal.
pub(super) fn bound(checked: Checked, tool: &Found<'_>) -> Result<Bounded, Stop> {
    let Checked { output: Output { content, structured, label: _ }, label } = checked;
    let output_bytes = content.len() as u64;
    let ceiling = tool.registered.spec.maximum_output_bytes.saturating_mul(limits::OUTPUT_CEILING_FACTOR);
    if output_bytes > ceiling {
        return Err(Ending::failed("tool.output_too_large.ceiling").into());
    }
    if content.len() <= limits::INLINE_BYTES_MAX {
        return Ok(Bounded { content, structured, label, output_bytes, truncated: false, whole: None });
    }
    let shown = excerpt(&content, limits::INLINE_BYTES_MAX);
    Ok(Bounded { content: shown, structured, label, output_bytes, truncated: true, whole: Some(content) })
}

/// The first 60 % and the last 20 % of so many bytes, cut between characters, and a marker between.
fn excerpt(content: &str, n_bytes_max: usize) -> String {
    let head_end = content.floor_char_boundary(n_bytes_max / 5 * 3);
    let tail_start = content.ceil_char_boundary(content.len() - n_bytes_max / 5);
    let (head, rest) = content.split_at(head_end);
    let (elided, tail) = rest.split_at(tail_start - head_end);
    format!("{head}\n[… {} bytes left out here; the whole is in the journal …]\n{tail}", elided.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_keeps_the_head_and_the_tail_and_says_how_much_is_missing() {
        let content = format!("{}{}", "é".repeat(10_000), "z".repeat(10_000));
        let shown = excerpt(&content, 1_000);
        assert!(shown.starts_with(&"é".repeat(300)) && shown.ends_with(&"z".repeat(200)), "{shown}");
        assert!(shown.contains("[… 29200 bytes left out here;"), "{shown}");
    }
}
