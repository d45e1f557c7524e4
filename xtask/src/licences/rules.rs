//! The rules of `deny.toml`: which licences are welcome, which package may come under another one,
//! and which packages may be there twice. Everything out of the ordinary states its reason.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

/// The rules that this program reads; cargo-deny knows more.
#[derive(Debug)]
pub(super) struct Rules {
    allowed: BTreeSet<String>,
    /// By package: further licences that it may come under.
    exceptions: BTreeMap<String, BTreeSet<String>>,
    /// Packages that may be there in more than one version.
    pub(super) duplicates: BTreeSet<String>,
}

impl Rules {
    /// Reads the text of `deny.toml`; the error says what is missing in it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let licenses = table.get("licenses").and_then(Value::as_table).ok_or("no [licenses]")?;
        let bans = table.get("bans").and_then(Value::as_table).ok_or("no [bans]")?;
        let mut exceptions = BTreeMap::new();
        for exception in tables(licenses.get("exceptions")) {
            exceptions.insert(explained(exception)?, strings(exception.get("allow")));
        }
        let duplicates = tables(bans.get("skip")).into_iter().map(explained).collect::<Result<_, _>>()?;
        Ok(Self { allowed: strings(licenses.get("allow")), exceptions, duplicates })
    }

    /// Whether this package may come under the licence with this name.
    pub(super) fn allows(&self, package: &str, licence: &str) -> bool {
        let excepted = self.exceptions.get(package).is_some_and(|licences| licences.contains(licence));
        excepted || self.allowed.contains(licence)
    }
}

/// The package that an entry is about, provided that the entry states its reason.
fn explained(entry: &Table) -> Result<String, String> {
    let name = entry.get("crate").and_then(Value::as_str).ok_or("an entry names no `crate`")?;
    match entry.get("reason").and_then(Value::as_str) {
        Some(reason) if !reason.trim().is_empty() => Ok(name.to_owned()),
        _ => Err(format!("the entry for {name} states no reason")),
    }
}

fn tables(list: Option<&Value>) -> Vec<&Table> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table).collect()
}

fn strings(list: Option<&Value>) -> BTreeSet<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        let text = "[licenses]\nallow = []\n[bans]\nskip = [{ crate = \"syn\" }]\n";
        assert_eq!(Rules::parse(text).unwrap_err(), "the entry for syn states no reason");
        assert_eq!(Rules::parse("[bans]").unwrap_err(), "no [licenses]");
        assert!(Rules::parse("[licenses").is_err());
    }
}
