//! Texts in other clothes: how a secret may be disguised on its way out, and an order on its way in.
//! Written for tests, so plain and slow, and with no package behind it that might share a fault with
//! what is tested.

use std::collections::{BTreeMap, BTreeSet};

use mast_kernel::neutral;

/// How many letters of a disguised secret, in a row, count as a leak: what is sent in pieces is seen, as
/// long as a piece has so many.
const LEAK_CHARS: usize = 8;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 without padding.
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            out.push(char::from(BASE64[(bits >> (18 - 6 * place) & 63) as usize]));
        }
    }
    out
}

fn from_base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut bits = 0_u32;
    let mut n_bits = 0;
    for letter in text.bytes() {
        let plain = match letter {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
        let value = BASE64.iter().position(|known| *known == plain)?;
        bits = (bits << 6 | u32::try_from(value).ok()?) & 0xffff;
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push(u8::try_from(bits >> n_bits & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Two hexadecimal digits a byte.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<String> {
    let pairs =
        (0..text.len() / 2).map(|place| u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok());
    String::from_utf8(pairs.collect::<Option<Vec<u8>>>()?).ok()
}

/// Letters thirteen places on.
#[must_use]
pub fn rot13(text: &str) -> String {
    let turn = |letter: u8, first: u8| char::from(first + (letter - first + 13) % 26);
    text.chars()
        .map(|letter| match letter {
            'a'..='z' => turn(letter as u8, b'a'),
            'A'..='Z' => turn(letter as u8, b'A'),
            other => other,
        })
        .collect()
}

/// Backwards.
#[must_use]
pub fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

/// Every byte as `%41`.
#[must_use]
pub fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn from_percent(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                out.push(byte);
                rest = &tail[2..];
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Every clothing in which a secret is looked for, without what may stand between letters.
fn clothes(secret: &str) -> Vec<String> {
    let mut clothes = Vec::new();
    for plain in [secret.to_owned(), reversed(secret), rot13(secret)] {
        clothes.extend([hex(plain.as_bytes()), plain.clone()]);
        for offset in 0..3 {
            let coded = base64([vec![b'x'; offset], plain.clone().into_bytes()].concat().as_slice());
            // The first and the last letters depend on what stands beside the secret.
            clothes.push(coded[(offset * 4).div_ceil(3)..coded.len() - 1].to_owned());
        }
    }
    clothes.iter().map(|text| letters(text)).collect()
}

/// Letters and digits alone, in lower case: dots, dashes, blanks and line ends may part a secret.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Looks for secrets in any clothing.
#[derive(Debug, Clone)]
pub struct Watch {
    pieces: BTreeMap<[u8; LEAK_CHARS], &'static str>,
}

impl Watch {
    /// A watch for these secrets.
    #[must_use]
    pub fn new(secrets: &[&'static str]) -> Self {
        let mut pieces = BTreeMap::new();
        for secret in secrets {
            for clothing in clothes(secret) {
                pieces.extend(windows(&clothing).map(|piece| (piece, *secret)));
            }
        }
        Self { pieces }
    }

    /// The secrets of which a text holds a good piece.
    #[must_use]
    pub fn finds(&self, text: &str) -> BTreeSet<&'static str> {
        let found = |text: &str| {
            windows(&letters(text)).filter_map(|piece| self.pieces.get(&piece)).copied().collect()
        };
        let mut all: BTreeSet<&'static str> = found(text);
        if text.contains('%') {
            all.append(&mut found(&from_percent(text)));
        }
        all
    }
}

fn windows(text: &str) -> impl Iterator<Item = [u8; LEAK_CHARS]> {
    text.as_bytes().windows(LEAK_CHARS).filter_map(|piece| piece.try_into().ok())
}

/// A text as a reader may take it who believes everything: as it stands, without what cannot be seen,
/// with what was hidden, and decoded in every way.
#[must_use]
pub fn readings(text: &str) -> Vec<String> {
    let whole = neutral::unescape(text).into_owned();
    let mut out = vec![whole.clone(), visible(&whole), tagged(&whole)];
    out.extend([rot13(&whole), reversed(&whole), from_percent(&whole)]);
    let parts = whole.split(|letter: char| !(letter.is_ascii_alphanumeric() || "+/-_".contains(letter)));
    for part in parts.filter(|part| part.len() >= 16) {
        out.extend(from_base64(part).into_iter().chain(from_hex(part)));
    }
    out.dedup();
    out
}

/// Without letters that nobody sees, and with look-alikes as what they look like.
fn visible(text: &str) -> String {
    const ALIKE: &[(char, char)] = &[
        ('а', 'a'),
        ('е', 'e'),
        ('о', 'o'),
        ('р', 'p'),
        ('с', 'c'),
        ('і', 'i'),
        ('х', 'x'),
        ('у', 'y'),
        ('ѕ', 's'),
    ];
    text.chars()
        .filter(|letter| !matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'))
        .map(|letter| ALIKE.iter().find(|(alike, _)| *alike == letter).map_or(letter, |(_, plain)| *plain))
        .map(|letter| match letter {
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(letter as u32 - 0xfee0).unwrap_or(letter),
            other => other,
        })
        .collect()
}

/// What is written in tag characters.
fn tagged(text: &str) -> String {
    let plain = |letter: char| char::from_u32((letter as u32).checked_sub(0xe0000)?).filter(char::is_ascii);
    text.chars().filter(|letter| ('\u{e0000}'..='\u{e007f}').contains(letter)).filter_map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "KEY-7Q2M9XW4L8ZT5RB1";

    #[test]
    fn a_secret_is_seen_in_any_clothing() {
        let watch = Watch::new(&[SECRET]);
        let halves = SECRET.split_at(12);
        for text in [
            format!("https://evil.example/?d={SECRET}"),
            SECRET.to_lowercase(),
            base64(SECRET.as_bytes()),
            base64(format!("a{SECRET}").as_bytes()),
            base64(format!("ab{SECRET}z").as_bytes()),
            hex(SECRET.as_bytes()),
            rot13(SECRET),
            reversed(SECRET),
            percent(SECRET),
            base64(reversed(SECRET).as_bytes()),
            SECRET.chars().map(|letter| format!("{letter}.")).collect(),
            halves.0.to_owned(),
            format!("b.{}.evil.example", halves.1),
        ] {
            assert!(!watch.finds(&text).is_empty(), "{text}");
        }
        for text in [
            "https://evil.example/?d=nothing",
            "KEY-",
            "the key is not told",
            &base64(b"another secret text"),
        ] {
            assert!(watch.finds(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_reader_who_believes_everything_reads_everything() {
        let order = "write `a` to `b`";
        let tags: String =
            order.chars().filter_map(|letter| char::from_u32(0xe0000 + letter as u32)).collect();
        for text in [
            order.to_owned(),
            format!("hello {tags}"),
            "wr\u{200b}ite `a` to `b`".to_owned(),
            "wrіte `a` tо `b`".to_owned(),
            rot13(order),
            reversed(order),
            percent(order),
            base64(order.as_bytes()),
            hex(order.as_bytes()),
        ] {
            assert!(readings(&text).iter().any(|reading| reading.contains(order)), "{text}");
        }
    }
}
