//! The lines of `mast call --stdin`: read with a bound, and as many at a time as may be answered beside
//! each other.

use std::io::{BufRead, BufReader, Read};

use mast_kernel::canonical::parse_strict;
use mast_kernel::instant::Instant;
use mast_kernel::limits::LINE_BYTES_MAX;

use crate::args::parse_instant;
use crate::error::CliError;

/// Bytes that are read together.
const BUFFER_BYTES: usize = 1 << 16;

/// Lines as they come in.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
}

impl<R: Read> Lines<R> {
    /// The lines of this input.
    pub(super) fn of(input: R) -> Self {
        Self { input: BufReader::with_capacity(BUFFER_BYTES, input) }
    }

    /// The next lines, at most `n`: waits for the first, and takes more only as far as they have come in
    /// already. A line is none if it was too long, or not UTF-8, and was passed over. No line at all: the
    /// input has ended.
    ///
    /// # Errors
    ///
    /// [`CliError`] when the input cannot be read.
    pub(super) fn take(&mut self, n: usize) -> Result<Vec<Option<String>>, CliError> {
        let mut taken = Vec::new();
        while taken.len() < n && (taken.is_empty() || self.has_more()) {
            match read_line(&mut self.input)? {
                Line::End => break,
                Line::Unreadable => taken.push(None),
                Line::Text(text) => taken.push(Some(text)),
            }
        }
        Ok(taken)
    }

    /// Whether a further line has come in already.
    pub(super) fn has_more(&self) -> bool {
        self.input.buffer().contains(&b'\n')
    }
}

/// The arguments and the clock of a line. A line that has exactly the keys `args` and `clock` carries
/// both; what else it is, the gate says.
pub(super) fn arguments_of(line: String) -> (String, Option<Instant>) {
    if !line.contains("\"clock\"") {
        return (line, None);
    }
    let both = parse_strict(&line).ok().and_then(|value| {
        let fields = value.as_object().filter(|fields| fields.len() == 2)?;
        let clock = parse_instant(fields.get("clock")?.as_str()?).ok()?;
        Some((fields.get("args")?.to_string(), Some(clock)))
    });
    both.unwrap_or((line, None))
}

/// A line of the input.
enum Line {
    /// Its text, without the line break.
    Text(String),
    /// Too long, or not UTF-8. It was passed over.
    Unreadable,
    /// There is none.
    End,
}

fn read_line(input: &mut impl BufRead) -> Result<Line, CliError> {
    let failed = |source| CliError::Stream { what: "cannot read stdin", source };
    let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let taken = input.by_ref().take(limit.saturating_add(1)).read_until(b'\n', &mut bytes).map_err(failed)?;
    if taken == 0 {
        return Ok(Line::End);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.len() > LINE_BYTES_MAX {
        input.skip_until(b'\n').map_err(failed)?;
        return Ok(Line::Unreadable);
    }
    Ok(String::from_utf8(bytes).map_or(Line::Unreadable, Line::Text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_bring_its_own_clock() {
        let check = |line: &str, arguments: &str, clock: Option<i64>| {
            let (found, at) = arguments_of(line.to_owned());
            assert_eq!((found.as_str(), at.map(Instant::micros)), (arguments, clock), "{line}");
        };
        check(r#"{"args":{"a":1.50},"clock":"1970-01-01T00:00:01Z"}"#, r#"{"a":1.50}"#, Some(1_000_000));
        for other in [
            r#"{"args":{},"clock":"yesterday"}"#,
            r#"{"args":{},"clock":"1970-01-01T00:00:01Z","more":1}"#,
            r#"{"clock":"1970-01-01T00:00:01Z"}"#,
            r#"{"expression":"\"clock\""}"#,
            r#"{"args":{},"clock":"#,
        ] {
            check(other, other, None);
        }
    }

    #[test]
    fn a_line_has_a_bound() {
        let lines = |n: usize| format!("{}\nnext\n", "x".repeat(n)).into_bytes();
        let first_and_second = |bytes: Vec<u8>| {
            let mut input = BufReader::new(bytes.as_slice());
            let shown = |line| match line {
                Line::Text(text) => Some(text.len()),
                Line::Unreadable => None,
                Line::End => Some(usize::MAX),
            };
            [shown(read_line(&mut input).unwrap()), shown(read_line(&mut input).unwrap())]
        };
        assert_eq!(first_and_second(lines(LINE_BYTES_MAX)), [Some(LINE_BYTES_MAX), Some(4)]);
        assert_eq!(first_and_second(lines(LINE_BYTES_MAX + 1)), [None, Some(4)]);
        assert_eq!(first_and_second(b"\xff\nnext\n".to_vec()), [None, Some(4)]);
        assert_eq!(first_and_second(b"no break".to_vec()), [Some(8), Some(usize::MAX)]);
    }

    #[test]
    fn what_has_come_in_is_taken_together() {
        let mut lines = Lines::of(b"a\nb\nc\n\xff\nd".as_slice());
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(lines.take(3).unwrap(), [text("a"), text("b"), text("c")]);
        assert_eq!(lines.take(3).unwrap(), [None]);
        assert!(!lines.has_more());
        assert_eq!(lines.take(3).unwrap(), [text("d")]);
        assert_eq!(lines.take(3).unwrap(), []);
    }
}
