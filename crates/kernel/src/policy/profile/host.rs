//! Hosts as rules compare them, in every spelling that some program takes for the same host.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv6Addr;

use super::spelling::same;
use crate::address;

/// What parts a link into its pieces. One piece is the host, and which one depends on who reads.
const PIECES: [char; 6] = ['/', '\\', '?', '#', '@', '%'];
/// What marks a label that is written in the letters of ASCII only.
const ENCODED: &str = "xn--";
/// No label is longer.
const LABEL_BYTES_MAX: usize = 63;

/// A host: one exact name, or `*.` and a name for everything below that name, or `*` for every host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostPattern {
    text: String,
    hosts: Hosts,
}

/// Which hosts a pattern covers. A name stands there in each of its readings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hosts {
    /// Every one.
    Any,
    /// This name only.
    Exact(Vec<String>),
    /// Every name below this one.
    Below(Vec<String>),
}

impl HostPattern {
    /// The pattern; none if it is no host.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (folded, text) = (same(text), text.to_owned());
        if folded == "*" {
            return Some(Self { text, hosts: Hosts::Any });
        }
        let (name, below) = folded.strip_prefix("*.").map_or((&*folded, false), |name| (name, true));
        let names: Vec<String> = readings(name).into_iter().map(Cow::into_owned).collect();
        let is_host = !names.is_empty() && !name.contains('*') && !name.contains([' ', '/', '@']);
        let hosts = if below { Hosts::Below(names) } else { Hosts::Exact(names) };
        is_host.then_some(Self { text, hosts })
    }

    /// Which hosts are meant.
    pub(super) const fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Whether it covers a host, of which this is one of the [`readings`].
    pub(super) fn covers(&self, host: &str) -> bool {
        let is_below = |name: &String| host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        match &self.hosts {
            Hosts::Any => true,
            Hosts::Exact(names) => names.iter().any(|name| name == host),
            Hosts::Below(names) => names.iter().any(is_below),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What a host may mean: small letters, no dots at the end, no port and no user; a label that is encoded
/// counts as what it encodes, and an address as its usual spelling.
pub(super) fn readings(host: &str) -> Vec<Cow<'_, str>> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
    let ends_plain = host.bytes().next_back().is_some_and(|byte| byte.is_ascii_lowercase());
    if ends_plain && host.bytes().all(is_plain) && !host.contains(ENCODED) && !host.contains("0x") {
        return vec![Cow::Borrowed(host)];
    }
    let text = same(host).replace('\u{3002}', ".");
    let mut readings: Vec<String> = Vec::new();
    for piece in text.split(PIECES) {
        read_piece(piece.trim(), &mut readings);
    }
    readings.into_iter().map(Cow::Owned).collect()
}

fn read_piece(piece: &str, readings: &mut Vec<String>) {
    let inside = piece.strip_prefix('[').map_or(piece, |rest| rest.split(']').next().unwrap_or_default());
    if let Ok(address) = inside.parse::<Ipv6Addr>() {
        readings.push(address.to_string());
        readings.extend(address.to_ipv4_mapped().map(|address| address.to_string()));
        return;
    }
    let name = piece.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    if name.is_empty() {
        return;
    }
    let labels: Vec<String> = name.split('.').map(decoded).collect();
    readings.push(labels.join("."));
    let numbers = [false, true].into_iter().filter_map(|decimal| address::version_4(name, decimal));
    readings.extend(numbers.map(|address| address.to_string()));
}

/// A label without its encoding; as it stands where it has none.
fn decoded(label: &str) -> String {
    let encoded = label.strip_prefix(ENCODED).filter(|_| label.len() <= LABEL_BYTES_MAX);
    let decoded = encoded.and_then(punycode);
    decoded.map_or_else(|| label.to_owned(), |text| same(&text).into_owned())
}

/// The text that a label encodes, by RFC 3492, section 6.2.
fn punycode(encoded: &str) -> Option<String> {
    let (plain, digits) = encoded.rsplit_once('-').unwrap_or(("", encoded));
    let mut letters: Vec<char> = plain.chars().collect();
    let (mut code, mut place, mut bias) = (128_u32, 0_u32, 72_u32);
    let mut digits = digits.bytes().peekable();
    while digits.peek().is_some() {
        let (before, mut weight, mut step) = (place, 1_u32, 36_u32);
        loop {
            let digit = match digits.next()? {
                letter @ b'a'..=b'z' => u32::from(letter - b'a'),
                number @ b'0'..=b'9' => u32::from(number - b'0') + 26,
                _ => return None,
            };
            place = place.checked_add(digit.checked_mul(weight)?)?;
            let threshold = step.saturating_sub(bias).clamp(1, 26);
            if digit < threshold {
                break;
            }
            weight = weight.checked_mul(36 - threshold)?;
            step += 36;
        }
        let n_letters = u32::try_from(letters.len()).ok()? + 1;
        bias = adapted(place - before, n_letters, before == 0);
        code = code.checked_add(place / n_letters)?;
        place %= n_letters;
        letters.insert(usize::try_from(place).ok()?, char::from_u32(code)?);
        place += 1;
    }
    Some(letters.into_iter().collect())
}

/// How the thresholds move with what was read last.
const fn adapted(delta: u32, n_letters: u32, is_first: bool) -> u32 {
    let mut delta = if is_first { delta / 700 } else { delta / 2 };
    delta += delta / n_letters;
    let mut bias = 0;
    while delta > 455 {
        delta /= 35;
        bias += 36;
    }
    bias + 36 * delta / (delta + 38)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, host: &str) -> bool {
        let pattern = HostPattern::parse(pattern).unwrap();
        readings(host).iter().any(|host| pattern.covers(host))
    }

    #[test]
    fn a_host_pattern_is_exact_or_everything_below() {
        for (pattern, covered, beside) in [
            ("example.org", "Example.ORG.", "www.example.org"),
            ("*.example.org", "www.example.org", "example.org"),
            ("*.example.org", "a.b.example.org", "badexample.org"),
            ("127.0.0.1", "127.0.0.1", "127.0.0.10"),
        ] {
            assert!(covers(pattern, covered), "{pattern} {covered}");
            assert!(!covers(pattern, beside), "{pattern} {beside}");
        }
        assert!(covers("*", "anything"));
        for bad in ["", ".", "*.", "*.*.org", "a*.org", "https://a", "a/b"] {
            assert_eq!(HostPattern::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_spelling_of_a_host() {
        for host in [
            "evil.com",
            "EVIL.com..",
            "evil.com:443",
            "evil。com",
            "evil｡com",
            "ｅｖｉｌ．ｃｏｍ",
            "ev\u{ad}il.com",
            "user:word@evil.com:8443",
            "good.com@evil.com",
            "evil.com\\@good.com",
            "evil.com#good.com",
            "evil.com%00.good.com",
            "https://evil.com./x",
            " evil.com ",
        ] {
            assert!(covers("evil.com", host), "{host:?}");
            assert!(covers(host.split('/').nth(2).unwrap_or("EVIL.com:80."), "evil.com"), "{host:?}");
        }
        for (pattern, host) in [
            ("bücher.example", "xn--bcher-kva.example"),
            ("xn--bcher-kva.example", "BU\u{308}CHER.example"),
            ("*.bücher.example", "www.XN--BCHER-KVA.example."),
            ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
            ("93.184.216.34", "0x5db8d822"),
            ("93.184.216.34", "1572395042"),
            ("93.184.216.34", "0135.0270.0330.042"),
            ("93.184.216.34", "[::ffff:93.184.216.34]:80"),
            ("[2606:4700:0:0::1111]", "2606:4700::1111"),
            ("2606:4700::1111", "[2606:4700::1111%25eth0]:443"),
        ] {
            assert!(covers(pattern, host), "{pattern} {host:?}");
        }
        for host in ["evil.com.good.org", "notevil.com", "evil.co", "com", "xn--evil", "xn--.com", ""] {
            assert!(!covers("evil.com", host), "{host:?}");
        }
    }

    #[test]
    fn what_encodes_nothing_stays_as_it_is() {
        for label in ["xn--", "xn--\u{fc}", "xn--99999999", "xn--a-!"] {
            assert_eq!(decoded(label), if label == "xn--" { "" } else { label }, "{label}");
        }
        let label = |n: usize| format!("xn--{}-kva", "b".repeat(n - 8));
        assert_ne!(decoded(&label(LABEL_BYTES_MAX)), label(LABEL_BYTES_MAX));
        assert_eq!(decoded(&label(LABEL_BYTES_MAX + 1)), label(LABEL_BYTES_MAX + 1));
        assert_eq!(punycode("egbpdaj6bu4bxfgehfvwxn").as_deref(), Some("ليهمابتكلموشعربي؟"));
        assert_eq!(punycode("-> $1.00 <--").as_deref(), Some("-> $1.00 <-"));
    }
}
