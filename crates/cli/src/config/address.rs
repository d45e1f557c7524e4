//! An address as it may be shown: without the name and password that may stand before its host, and
//! without its query, where services take keys.
//!
//! Rejected: reading it as an address first. What cannot be read may hold a secret too, so this only
//! looks for the marks, and hides too much rather than too little.

/// The address with what may be secret in it replaced: `http://***@host/v1?***`.
pub(crate) fn masked(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), address),
    };
    let (head, tail) =
        rest.split_at_checked(rest.find(['?', '#']).unwrap_or(rest.len())).unwrap_or((rest, ""));
    let mark = tail.get(..1).unwrap_or_default();
    let end = if mark.is_empty() { String::new() } else { format!("{mark}***") };
    match head.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}***@{host}{end}"),
        // A password with a question mark in it: the host stands behind the mark.
        None if tail.contains('@') && !head.contains('/') => format!("{scheme}***"),
        None => format!("{scheme}{head}{end}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_secret_is_not_shown() {
        for (address, shown) in [
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
            ("http://me:pw@host/v1?key=sk-1", "http://***@host/v1?***"),
            ("https://token@host", "https://***@host"),
            ("http://a@b@host:1/v1#frag", "http://***@host:1/v1#***"),
            ("me:pw@host/v1", "***@host/v1"),
            ("http://me:p/w@host/v1", "http://***@host/v1"),
            ("http://me:p?w@host/v1", "http://***"),
            ("http://host/v1?mail=a@b", "http://host/v1?***"),
            ("", ""),
        ] {
            assert_eq!(masked(address), shown, "{address}");
        }
    }
}
