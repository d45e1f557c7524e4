//! Addresses that no tool may reach: this machine, the networks around it, and the services of a cloud
//! that hand out credentials. One list for whatever connects. Names are compared, never looked up; who
//! connects asks again for each address that a name turns out to be. See `docs/spec/policy.md`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use unicode_normalization::UnicodeNormalization as _;

/// Networks of version 4: the first address, and how many bits are the network's.
const DENIED_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([168, 63, 129, 16], 32),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Networks of version 6: the first address, and how many bits are the network's.
const DENIED_V6: &[([u16; 8], u32)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 0], 127),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48),
    ([0x100, 0, 0, 0, 0, 0, 0, 0], 64),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8),
];

/// Networks of version 6 in which an address of version 4 is hidden, the bits of the network, and the bit
/// at which it begins: compatible, mapped, translated, NAT64, 6to4.
const EMBEDDED: &[([u16; 8], u32, u32)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, 96),
    ([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, 96),
    ([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, 96),
    ([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, 96),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, 16),
];

/// Names that mean this machine or the services around it; with a dot in front, all names that end so.
const DENIED_NAMES: &[&str] = &[
    "localhost",
    ".localhost",
    "localhost.localdomain",
    ".localdomain",
    "localhost4",
    "localhost4.localdomain4",
    "localhost6",
    "localhost6.localdomain6",
    ".localdomain4",
    ".localdomain6",
    "ip6-localhost",
    "ip6-loopback",
    "ip6-localnet",
    "ip6-allnodes",
    "ip6-allrouters",
    "broadcasthost",
    "metadata",
    "instance-data",
    "internal",
    ".internal",
    ".local",
    ".home.arpa",
];

/// What no host has: who takes one apart in another way comes out elsewhere.
const DENIED_LETTERS: &[char] = &['%', '#', '/', '\\', '?'];

/// Whether no tool may connect to this address.
#[must_use]
pub fn is_denied(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_denied_v4(address),
        IpAddr::V6(address) => is_denied_v6(address),
    }
}

fn is_denied_v4(address: Ipv4Addr) -> bool {
    let bits = u32::from(address);
    DENIED_V4.iter().any(|(first, length)| (bits ^ u32::from(Ipv4Addr::from(*first))) >> (32 - length) == 0)
}

fn is_denied_v6(address: Ipv6Addr) -> bool {
    let bits = u128::from(address);
    let lies_in =
        |first: [u16; 8], length: u32| (bits ^ u128::from(Ipv6Addr::from(first))) >> (128 - length) == 0;
    // The identifier of ISATAP marks one anywhere.
    let hidden = matches!(address.segments(), [_, _, _, _, 0 | 0x200, 0x5efe, _, _]).then_some(96);
    let hidden = EMBEDDED
        .iter()
        .filter(|(first, length, _)| lies_in(*first, *length))
        .map(|(_, _, at)| *at)
        .chain(hidden)
        .any(|at| {
            let low = (bits >> (96 - at)) & u128::from(u32::MAX);
            u32::try_from(low).is_ok_and(|low| is_denied_v4(Ipv4Addr::from(low)))
        });
    hidden || DENIED_V6.iter().any(|(first, length)| lies_in(*first, *length))
}

/// Whether no tool may connect to this host, as it stands in a URL: a name, or an address in any of the
/// spellings that resolvers take (brackets, one to four numbers, decimal, octal, hexadecimal). An empty
/// one is denied, and so is what is no host: with what parts a URL, with more colons than a port has, or
/// with a number at its end and no address, which some read as one all the same.
#[must_use]
pub fn is_denied_host(host: &str) -> bool {
    let plain: String =
        host.trim().nfkc().filter(|letter| !crate::protected::is_ignorable(*letter)).collect();
    let plain = plain.to_lowercase().replace(['\u{3002}', '\u{ff61}'], ".");
    if plain.contains(DENIED_LETTERS)
        || plain.contains(|letter: char| letter.is_whitespace() || letter.is_control())
    {
        return true;
    }
    let plain = plain.rsplit('@').next().unwrap_or_default();
    if let Some(address) = version_6(plain) {
        return is_denied_v6(address);
    }
    let (name, port) = plain.split_once(':').unwrap_or((plain, ""));
    if port.contains(':') || plain.contains(['[', ']']) {
        return true;
    }
    let name = name.trim_end_matches('.');
    let is_named = |denied: &str| {
        if denied.starts_with('.') { name.ends_with(denied) } else { name == denied }
    };
    name.is_empty() || DENIED_NAMES.iter().any(|denied| is_named(denied)) || is_denied_number(name)
}

/// Whether a name that ends in a number is an address that is denied, or none.
fn is_denied_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let digits = last.strip_prefix("0x");
    let is_number = digits.map_or_else(
        || !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()),
        |digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
    );
    let addresses = [false, true].map(|decimal| version_4(name, decimal));
    let is_none = addresses.iter().all(Option::is_none);
    is_number && is_none || addresses.into_iter().flatten().any(is_denied_v4)
}

fn version_6(host: &str) -> Option<Ipv6Addr> {
    let inside = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => host,
    };
    inside.split('%').next()?.parse().ok()
}

/// An address of one to four numbers, of which the last fills what is left. Some read a leading zero as
/// octal and some do not, so the caller asks for both.
pub(crate) fn version_4(name: &str, decimal: bool) -> Option<Ipv4Addr> {
    let parts: Vec<u64> = name.split('.').map(|part| number(part, decimal)).collect::<Option<_>>()?;
    let (last, leading) = parts.split_last()?;
    if leading.len() > 3 || leading.iter().any(|part| *part > 255) {
        return None;
    }
    let room = 32 - 8 * u32::try_from(leading.len()).ok()?;
    if *last >> room != 0 {
        return None;
    }
    let high = leading.iter().fold(0, |bits, part| bits << 8 | part);
    u32::try_from(high << room | last).ok().map(Ipv4Addr::from)
}

fn number(part: &str, decimal: bool) -> Option<u64> {
    let (digits, radix) = match part.strip_prefix("0x") {
        Some("") => ("0", 16),
        Some(digits) => (digits, 16),
        None if part.len() > 1 && part.starts_with('0') && !decimal => (part, 8),
        None => (part, 10),
    };
    if digits.is_empty() || digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, radix).ok().filter(|value| *value <= u64::from(u32::MAX))
}

/// The lists as text: a part of what the hardline's hash is taken over.
pub(crate) fn text() -> String {
    format!("{DENIED_V4:?}\n{DENIED_V6:?}\n{EMBEDDED:?}\n{DENIED_NAMES:?}\n{DENIED_LETTERS:?}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENIED: &[&str] = &[
        "",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "127.0.0.1",
        "127.1",
        "0",
        "0.0.0.0",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "0177.0.0.1",
        "127.0.0.1.",
        "127.0.0.1:8080",
        "user@127.0.0.1",
        "１２７.0.0.1",
        "127。0。0。1",
        "10.0.0.1",
        "010.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "0251.0376.0251.0376",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "metadata.google.internal",
        "metadata",
        "x.internal",
        "printer.local",
        "[::1]",
        "::1",
        "[::1]:80",
        "[::]",
        "fd00:ec2::254",
        "[fe80::1%eth0]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:7f00:1::]",
        "[::127.0.0.1]",
        "[ff02::1]",
        "[2001:db8::1]",
        "255.255.255.255",
        "224.0.0.1",
        "[fe80::5efe:127.0.0.1]",
        "localhost6",
        "localhost6.localdomain6",
        "ip6-localhost",
        "example.org%00.x",
        "[2606:4700::1111%1]",
        "example.org#x",
        "example.org/x",
        "127.0.0.1\\@example.org",
        "example.org\\x",
        "example.org?x",
        "example.org\u{ff0f}x",
        "a b",
        "a:1:2",
        "[x]",
        "4294967296",
        "4294967297",
        "0x100000001",
        "0x100000000000000000001",
        "18446744073709551617",
        "127.0.0.257",
        "256.0.0.1",
        "1.2.3.4.5",
        "example.1",
    ];
    const OPEN: &[&str] = &[
        "example.org",
        "localhost.example.org",
        "notlocalhost",
        "internal.example.org",
        "1.1.1.1",
        "8.8.8.8",
        "172.32.0.1",
        "172.15.0.1",
        "100.128.0.1",
        "169.253.0.1",
        "192.167.1.1",
        "168.63.129.17",
        "11.0.0.1",
        "134744072",
        "0x08080808",
        "[2606:4700::1111]",
        "[::ffff:8.8.8.8]",
        "[64:ff9b::808:808]",
        "[2002:808:808::]",
        "256.0.0.1.example",
        "0x.example",
        "4294967295.example",
        "example.org:443",
        "me@example.org",
        "example1.org",
        "a-1.example.x1",
        "localhost6.example.org",
        "my-localhost6",
        "local",
        "x.localhost.example",
    ];

    #[test]
    fn hosts() {
        for host in DENIED {
            assert!(is_denied_host(host), "{host:?}");
        }
        for host in OPEN {
            assert!(!is_denied_host(host), "{host:?}");
        }
    }
}
