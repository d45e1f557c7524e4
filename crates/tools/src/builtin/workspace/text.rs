//! Reading a file as text, strictly: a NUL or a byte that is no UTF-8 makes it no text, and no part of it is given.
//! Both are looked for as the bytes come, so that a file is never held whole before it is known to be text.

use std::io::Read;

use mast_kernel::canonical::{Digest, Hashing};

use crate::tool::Failure;

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 1 << 16;

/// Takes in the bytes of a text as they come.
#[derive(Default)]
pub(super) struct Decoding {
    /// The first bytes of a character whose others have not come yet.
    open: Vec<u8>,
    hashing: Hashing,
    n_bytes: u64,
}

impl Decoding {
    /// The text of the next bytes, as far as it is whole.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<String, Failure> {
        if bytes.contains(&0) {
            return Err(not_text("it holds a NUL"));
        }
        self.hashing.add(bytes);
        self.n_bytes += bytes.len() as u64;
        let joined = [self.open.as_slice(), bytes].concat();
        let n_whole = match std::str::from_utf8(&joined) {
            Ok(_) => joined.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => return Err(not_text("it holds bytes that are no UTF-8")),
        };
        let (whole, open) = joined.split_at_checked(n_whole).unwrap_or((&joined, &[]));
        self.open = open.to_vec();
        Ok(String::from_utf8_lossy(whole).into_owned())
    }

    /// How many bytes there were, and their digest, once all have come.
    pub(super) fn end(self) -> Result<(u64, Digest), Failure> {
        if self.open.is_empty() {
            Ok((self.n_bytes, self.hashing.digest()))
        } else {
            Err(not_text("its last character is not whole"))
        }
    }
}

/// A text that was read.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) n_bytes: u64,
    pub(super) digest: Digest,
}

/// Reads a text of at most so many bytes, and no more than one beyond them.
pub(super) fn read(from: impl Read, bytes_max: u64) -> Result<Text, Failure> {
    let mut from = from.take(bytes_max.saturating_add(1));
    let (mut decoding, mut text) = (Decoding::default(), String::new());
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let n_read = from.read(&mut chunk).map_err(|error| Failure::internal(error.to_string()))?;
        if n_read == 0 {
            break;
        }
        text.push_str(&decoding.take(chunk.get(..n_read).unwrap_or_default())?);
    }
    if text.len() as u64 > bytes_max {
        // What was cut may end within a character: it is far too long, whatever it is.
        let digest = Digest::of(text.as_bytes());
        return Ok(Text { n_bytes: text.len() as u64, text, digest });
    }
    let (n_bytes, digest) = decoding.end()?;
    Ok(Text { text, n_bytes, digest })
}

fn not_text(why: &str) -> Failure {
    Failure::invalid_arguments("tool.invalid_arguments.not_text", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes a few at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let n = self.1.min(self.0.len()).min(to.len());
            let (now, later) = self.0.split_at(n);
            to[..n].copy_from_slice(now);
            self.0 = later;
            Ok(n)
        }
    }

    #[test]
    fn a_text_is_the_same_however_its_bytes_come() {
        let whole = "aé€😀\n".repeat(20_000);
        for step in [1, 2, 3, 5, 7, 65_536, 1 << 20] {
            let read = read(Slow(whole.as_bytes(), step), 1 << 30).unwrap();
            assert!(read.text == whole, "{step}");
            assert_eq!(read.digest, Digest::of(whole.as_bytes()));
        }
    }

    #[test]
    fn what_is_no_text_is_refused_whole() {
        for bytes in [b"a\0b".as_slice(), b"\xff", b"a\xc3", b"\xed\xa0\x80", b"ok\xf0\x9f\x98"] {
            for step in [1, 100] {
                let refused = read(Slow(bytes, step), 100).unwrap_err();
                assert_eq!(refused.code, "tool.invalid_arguments.not_text", "{bytes:?}");
            }
        }
        assert_eq!(read(b"".as_slice(), 10).unwrap().text, "");
    }

    #[test]
    fn no_more_is_read_than_one_byte_beyond_the_bound() {
        let mut endless = std::io::repeat(b'a').take(1 << 20);
        assert_eq!(read(&mut endless, 100_000).unwrap().n_bytes, 100_001);
        assert!(endless.limit() >= (1 << 20) - 100_001);
    }
}
