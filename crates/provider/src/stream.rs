//! Server-sent events, as the streaming providers use them: bytes in, events out, whatever the cuts.
//!
//! Own code rather than `eventsource-stream`; `docs/decisions/0003-server-sent-events.md` tells why.
//! The format is the one of the HTML standard, section "Server-sent events"; ids and retry times are
//! of no use here and skipped.

/// One event. Its type is not kept: both protocols say it again in the data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SseEvent {
    /// Its data, lines joined by newlines.
    pub(crate) data: String,
}

/// Why bytes are no event stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SseFault {
    /// A line or an event is longer than the bound.
    TooLarge,
    /// A line is not UTF-8.
    NotText,
}

/// A decoder of one stream.
#[derive(Debug)]
pub(crate) struct SseDecoder {
    limit: usize,
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    after_carriage_return: bool,
    is_first_line: bool,
}

impl SseDecoder {
    /// A decoder that takes events of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            after_carriage_return: false,
            is_first_line: true,
        }
    }

    /// Takes the next bytes and adds each event that they complete to `out`.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<SseEvent>) -> Result<(), SseFault> {
        let mut rest = bytes;
        while let Some((first, after)) = rest.split_first() {
            if std::mem::take(&mut self.after_carriage_return) && *first == b'\n' {
                rest = after;
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (piece, tail) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, &[]));
            if self.line.len() + self.event.data.len() + piece.len() > self.limit {
                return Err(SseFault::TooLarge);
            }
            self.line.extend_from_slice(piece);
            let Some((ending, tail)) = tail.split_first() else { break };
            self.after_carriage_return = *ending == b'\r';
            rest = tail;
            self.end_line(out)?;
        }
        Ok(())
    }

    /// What is left when the stream ends in the middle of an event. Some servers leave out the last
    /// blank line; whether the data is whole is for the caller to see.
    pub(crate) fn finish(mut self) -> Option<SseEvent> {
        let mut out = Vec::new();
        self.end_line(&mut out).ok()?;
        self.dispatch(&mut out);
        out.pop()
    }

    fn end_line(&mut self, out: &mut Vec<SseEvent>) -> Result<(), SseFault> {
        let bytes = std::mem::take(&mut self.line);
        let line = std::str::from_utf8(&bytes).map_err(|_| SseFault::NotText)?;
        let line = if std::mem::take(&mut self.is_first_line) {
            line.strip_prefix('\u{feff}').unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            self.dispatch(out);
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        // The rest is comments (an empty field name), types, ids and retry times.
        if field == "data" {
            if self.has_data {
                self.event.data.push('\n');
            }
            self.event.data.push_str(value);
            self.has_data = true;
        }
        Ok(())
    }

    fn dispatch(&mut self, out: &mut Vec<SseEvent>) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            out.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(chunks: &[&[u8]]) -> Vec<SseEvent> {
        let mut decoder = SseDecoder::new(1_000);
        let mut out = Vec::new();
        for chunk in chunks {
            decoder.push(chunk, &mut out).unwrap();
        }
        out.extend(decoder.finish());
        out
    }

    fn event(data: &str) -> SseEvent {
        SseEvent { data: data.to_owned() }
    }

    const STREAM: &str = "\u{feff}: keep-alive\r\n\r\nevent: a\r\ndata: {\"x\":\r\ndata: \"é\"}\r\n\r\ndata:two\n\nid: 7\nretry: 9\n\n\
                          data\r\rdata:  three\n\nevent: none\n\ndata: 🐚\n";

    #[test]
    fn the_format_is_read() {
        let expected = [event("{\"x\":\n\"é\"}"), event("two"), event(""), event(" three"), event("🐚")];
        assert_eq!(decode(&[STREAM.as_bytes()]), expected);
        for cut in 0..=STREAM.len() {
            let (head, tail) = STREAM.as_bytes().split_at(cut);
            assert_eq!(decode(&[head, tail]), expected, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = STREAM.as_bytes().chunks(1).collect();
        assert_eq!(decode(&bytes), expected);
    }

    #[test]
    fn lines_and_events_are_bounded() {
        let line = |n: usize| format!("data: {}\n\n", "x".repeat(n - 6));
        assert!(SseDecoder::new(20).push(line(20).as_bytes(), &mut Vec::new()).is_ok());
        assert_eq!(SseDecoder::new(20).push(line(21).as_bytes(), &mut Vec::new()), Err(SseFault::TooLarge));
        let many = "data: 12345\n".repeat(4);
        assert_eq!(SseDecoder::new(20).push(many.as_bytes(), &mut Vec::new()), Err(SseFault::TooLarge));
        assert_eq!(SseDecoder::new(20).push(b"data: \xff\n", &mut Vec::new()), Err(SseFault::NotText));
    }

    proptest! {
        #[test]
        fn cuts_do_not_matter(text in "(data: |data|event: |: |\r|\n|\r\n|x|é|\u{feff}){0,30}", at in 0_usize..200) {
            let cut = at.min(text.len());
            let (head, tail) = text.as_bytes().split_at(cut);
            prop_assert_eq!(decode(&[head, tail]), decode(&[text.as_bytes()]));
        }
    }
}
