//! TOML tables with their lines: what every key of a profile is read through, so that whatever is wrong
//! is told with its place. Rejected: serde structs, which know no lines.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{ProfileFault, ProfileRefused};
use crate::policy::Ruling;

/// A file as it is read.
#[derive(Debug)]
pub(super) struct Source<'t> {
    file: &'t str,
    /// Where each line but the first begins.
    breaks: Vec<usize>,
}

impl<'t> Source<'t> {
    pub(super) fn new(file: &'t str, text: &str) -> Self {
        Self { file, breaks: text.match_indices('\n').map(|(at, _)| at + 1).collect() }
    }

    pub(super) fn line(&self, span: &Range<usize>) -> usize {
        1 + self.breaks.partition_point(|start| *start <= span.start)
    }

    pub(super) fn refuse(&self, line: usize, fault: ProfileFault) -> ProfileRefused {
        ProfileRefused { file: self.file.to_owned(), line, fault }
    }
}

/// One table of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'r> {
    pub(super) source: &'r Source<'r>,
    pub(super) line: usize,
    entries: &'r DeTable<'r>,
}

impl<'r> Table<'r> {
    /// The table, if it has no other than the known keys.
    pub(super) fn new(
        source: &'r Source<'r>,
        line: usize,
        entries: &'r DeTable<'r>,
        known: &[&'static str],
    ) -> Result<Self, ProfileRefused> {
        let mut strangers: Vec<_> =
            entries.keys().filter(|key| !known.contains(&key.get_ref().as_ref())).collect();
        strangers.sort_by_key(|key| key.span().start);
        match strangers.first() {
            None => Ok(Self { source, line, entries }),
            Some(key) => Err(source.refuse(
                source.line(&key.span()),
                ProfileFault::UnknownKey { key: key.get_ref().to_string(), known: known.to_vec() },
            )),
        }
    }

    pub(super) fn refuse(&self, fault: ProfileFault) -> ProfileRefused {
        self.source.refuse(self.line, fault)
    }

    pub(super) fn bad(&self, at: usize, key: &str, expected: impl Into<String>) -> ProfileRefused {
        self.source.refuse(at, ProfileFault::BadValue { key: key.to_owned(), expected: expected.into() })
    }

    /// The value of a key, and its line.
    fn get(&self, key: &str) -> Option<(&'r DeValue<'r>, usize)> {
        self.entries.get(key).map(|value| (value.get_ref(), self.source.line(&value.span())))
    }

    /// The line of a key's value, or of the table.
    pub(super) fn line_of(&self, key: &str) -> usize {
        self.get(key).map_or(self.line, |(_, line)| line)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// What `read` makes of a text.
    pub(super) fn word<T>(
        &self,
        key: &'static str,
        expected: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ProfileRefused> {
        let Some((value, line)) = self.get(key) else { return Ok(None) };
        value.as_str().and_then(read).map(Some).ok_or_else(|| self.bad(line, key, expected))
    }

    pub(super) fn required<T>(&self, key: &'static str, value: Option<T>) -> Result<T, ProfileRefused> {
        value.ok_or_else(|| self.refuse(ProfileFault::Missing { key }))
    }

    pub(super) fn ruling(&self, key: &'static str) -> Result<Ruling, ProfileRefused> {
        let ruling = self.word(key, RULINGS, Ruling::from_wire)?;
        self.required(key, ruling)
    }

    pub(super) fn switch(&self, key: &'static str) -> Result<bool, ProfileRefused> {
        match self.get(key) {
            None => Ok(false),
            Some((value, line)) => value.as_bool().ok_or_else(|| self.bad(line, key, "true or false")),
        }
    }

    /// What `read` makes of each text of a list; nothing where the key is not there.
    pub(super) fn list<T>(
        &self,
        key: &'static str,
        expected: &str,
        read: impl Fn(&DeValue<'_>) -> Option<T>,
    ) -> Result<Vec<(T, usize)>, ProfileRefused> {
        let Some((value, line)) = self.get(key) else { return Ok(Vec::new()) };
        let refused = |line| self.bad(line, key, format!("a list of {expected}"));
        let items = value.as_array().filter(|items| !items.is_empty()).ok_or_else(|| refused(line))?;
        let read_one = |item: &Spanned<DeValue<'_>>| {
            let line = self.source.line(&item.span());
            read(item.get_ref()).map(|read| (read, line)).ok_or_else(|| refused(line))
        };
        items.iter().map(read_one).collect()
    }

    /// The tables of `[[key]]`.
    pub(super) fn tables(
        &self,
        key: &'static str,
        known: &[&'static str],
    ) -> Result<Vec<Self>, ProfileRefused> {
        let Some((value, line)) = self.get(key) else { return Ok(Vec::new()) };
        let refused = |line| self.bad(line, key, format!("tables: write [[{key}]]"));
        let items = value.as_array().ok_or_else(|| refused(line))?;
        let read_one = |item: &'r Spanned<DeValue<'r>>| {
            let line = self.source.line(&item.span());
            let entries = item.get_ref().as_table().ok_or_else(|| refused(line))?;
            Self::new(self.source, line, entries, known)
        };
        items.iter().map(read_one).collect()
    }

    /// The table of `[key]`.
    pub(super) fn table(
        &self,
        key: &'static str,
        known: &[&'static str],
    ) -> Result<Option<Self>, ProfileRefused> {
        let Some((value, line)) = self.get(key) else { return Ok(None) };
        let entries =
            value.as_table().ok_or_else(|| self.bad(line, key, format!("a table: write [{key}]")))?;
        Self::new(self.source, line, entries, known).map(Some)
    }

    /// The value of a key as JSON.
    pub(super) fn json(&self, key: &str) -> Option<Value> {
        self.get(key).map(|(value, _)| json(value))
    }

    /// The whole table as JSON, without one key.
    pub(super) fn json_without(&self, without: &str) -> Value {
        let kept = self.entries.iter().filter(|(key, _)| key.get_ref() != without);
        Value::Object(kept.map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref()))).collect())
    }
}

/// What a ruling may be.
pub(super) const RULINGS: &str = "allow, ask or deny";

/// A value as JSON; a number by its value, a moment as its text.
fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(switch) => Value::Bool(*switch),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::String(number.to_string()), Value::from),
        DeValue::Float(number) => {
            serde_json::from_str(number.as_str()).unwrap_or_else(|_| Value::String(number.to_string()))
        }
        DeValue::Datetime(moment) => Value::String(moment.to_string()),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| json(item.get_ref())).collect()),
        DeValue::Table(entries) => {
            let pairs = entries.iter().map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref())));
            Value::Object(pairs.collect::<Map<String, Value>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_counted_from_one() {
        let source = Source::new("p.toml", "a\nbc\n\nd");
        let line = |at| source.line(&(at..at));
        assert_eq!([line(0), line(1), line(2), line(4), line(5), line(6)], [1, 1, 2, 2, 3, 4]);
    }

    #[test]
    fn values_become_json() {
        let parsed =
            DeTable::parse("a = 0x10\nb = 1.5\nc = [true, \"x\"]\nd = 1979-05-27\ne = {f = -1}\n").unwrap();
        let source = Source::new("p.toml", "");
        let table = Table::new(&source, 1, parsed.get_ref(), &["a", "b", "c", "d", "e"]).unwrap();
        let expected = serde_json::json!({"a": 16, "b": 1.5, "c": [true, "x"], "e": {"f": -1}});
        assert_eq!(table.json_without("d"), expected);
        assert_eq!(table.json("d"), Some(Value::String("1979-05-27".to_owned())));
    }
}
