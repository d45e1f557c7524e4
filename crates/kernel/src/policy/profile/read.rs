//! From the text of a profile to its rules. What is not known is refused: a key that is misspelt would
//! otherwise be a rule that silently does not hold.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::fault::{ProfileFault, ProfileRefused};
use super::host::HostPattern;
use super::index::Index;
use super::pattern::{CommandPattern, PathPattern};
use super::selector::{Rule, Selector, Tightening};
use super::table::{Source, Table};
use super::trial::{self, Trial};
use super::{Profile, Row, Whose, loosest};
use crate::canonical::{Canonical, Digest};
use crate::limits;
use crate::name;
use crate::policy::{MATRIX, RuleAt, Ruling};
use crate::spec::SideEffect;

const TOP: &[&str] = &["name", "rows", "tools", "servers", "rules", "sequences", "always_ask", "tests"];
const NAMED: &[&str] = &["name", "ruling", "why"];
const SELECTOR: &[&str] = &["tools", "servers", "effects", "paths", "hosts", "commands", "access"];
const RULE: &[&str] =
    &["tools", "servers", "effects", "paths", "hosts", "commands", "access", "ruling", "why"];
const SEQUENCE: &[&str] = &["after", "then", "ruling", "why"];

/// One of the keys that say which calls a rule means.
const ANY_SELECTOR: &str = "one of tools, servers, effects, paths, hosts, commands";

/// The profile and its tests.
pub(super) fn read(file: &str, text: &str, whose: Whose) -> Result<(Profile, Vec<Trial>), ProfileRefused> {
    let source = Source::new(file, text);
    if text.len() > limits::CONFIG_BYTES_MAX {
        return Err(source.refuse(1, ProfileFault::TooMany { what: "bytes", max: limits::CONFIG_BYTES_MAX }));
    }
    let document = DeTable::parse(text).map_err(|error| {
        let what = error.message().lines().collect::<Vec<_>>().join(", ");
        source.refuse(source.line(&error.span().unwrap_or_default()), ProfileFault::Syntax { what })
    })?;
    let top = Table::new(&source, 1, document.get_ref(), TOP)?;
    let name = top.word("name", "a word of small letters, digits, `-` and `_`", profile_name)?;
    let reader = Reader { whose, top };
    let rules = reader.rules()?;
    let trials = trial::read(&top)?;
    let profile = Profile {
        file: file.to_owned(),
        name: top.required("name", name)?,
        hash: hash(&top)?,
        rows: reader.rows()?,
        tools: reader.named("tools", "the full name of a tool", name::is_tool_name)?,
        servers: reader.named("servers", "the id of a server", is_server_id)?,
        index: Index::of(&rules),
        rules,
        always_ask: reader.always_ask()?,
    };
    let n_rules = profile.tools.len() + profile.servers.len() + profile.rules.len();
    for (what, found, max) in
        [("rules", n_rules, limits::PROFILE_RULES_MAX), ("tests", trials.len(), limits::PROFILE_TESTS_MAX)]
    {
        if found > max {
            return Err(top.refuse(ProfileFault::TooMany { what, max }));
        }
    }
    Ok((profile, trials))
}

/// What decides in the file, whatever its layout, its comments and its tests.
fn hash(top: &Table<'_>) -> Result<Digest, ProfileRefused> {
    let canonical = Canonical::of(&top.json_without("tests"));
    canonical.map(|canonical| canonical.digest()).map_err(|_| top.bad(1, "name", "plain texts and lists"))
}

fn profile_name(text: &str) -> Option<String> {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let fits =
        !text.is_empty() && text.len() <= limits::PROFILE_NAME_CHARS_MAX && text.bytes().all(is_letter);
    fits.then(|| text.to_owned())
}

/// Whether a text may stand in the middle of `mcp.{server}.{tool}`.
fn is_server_id(text: &str) -> bool {
    !text.contains('.') && name::is_tool_name(&format!("mcp.{text}"))
}

struct Reader<'r> {
    whose: Whose,
    top: Table<'r>,
}

impl Reader<'_> {
    fn rows(&self) -> Result<BTreeMap<SideEffect, Row>, ProfileRefused> {
        let known: Vec<&'static str> = SideEffect::ALL.iter().map(|effect| effect.as_str()).collect();
        let Some(table) = self.top.table("rows", &known)? else { return Ok(BTreeMap::new()) };
        let mut rows = BTreeMap::new();
        for matrix in MATRIX.iter().filter(|matrix| table.has(matrix.side_effect.as_str())) {
            let effect = matrix.side_effect;
            let (ruling, line) = (table.ruling(effect.as_str())?, table.line_of(effect.as_str()));
            let at_most = match self.whose {
                Whose::User => loosest(effect, false),
                Whose::Admin => matrix.ruling.max(Ruling::Ask),
            };
            if ruling < at_most {
                let what = format!("side effect {effect}");
                return Err(table.source.refuse(line, ProfileFault::Loosens { what, ruling, at_most }));
            }
            rows.insert(
                effect,
                Row { ruling, at: rule(line, effect.as_str(), &ruling.as_str().into()), why: None },
            );
        }
        Ok(rows)
    }

    /// `[[tools]]` and `[[servers]]`. A whole server is never made looser: who adds a tool to it would
    /// have it allowed unseen.
    fn named(
        &self,
        key: &'static str,
        expected: &str,
        is: impl Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, Row>, ProfileRefused> {
        let mut rows = BTreeMap::new();
        for table in self.top.tables(key, NAMED)? {
            let name = table.word("name", expected, |text| is(text).then(|| text.to_owned()))?;
            let name = table.required("name", name)?;
            let ruling = table.ruling("ruling")?;
            let may_allow = self.whose == Whose::User && key == "tools";
            if ruling == Ruling::Allow && !may_allow {
                return Err(loosened(&table, format!("{} {name}", key.trim_end_matches('s'))));
            }
            let row = Row { ruling, at: rule_of(&table, key), why: why(&table)? };
            match rows.entry(name) {
                Entry::Vacant(place) => {
                    place.insert(row);
                }
                Entry::Occupied(first) => {
                    let (what, earlier) = (first.key().clone(), first.get().at.line);
                    return Err(table.refuse(ProfileFault::Twice { what, earlier }));
                }
            }
        }
        Ok(rows)
    }

    /// `[[rules]]` and `[[sequences]]`, which only tighten.
    fn rules(&self) -> Result<Vec<Rule>, ProfileRefused> {
        let mut rules = Vec::new();
        for table in self.top.tables("rules", RULE)? {
            rules.push(Rule {
                at: rule_of(&table, "rules"),
                meant: selector(&table)?,
                after: None,
                ruling: tightening(&table)?,
                why: why(&table)?,
            });
        }
        for table in self.top.tables("sequences", SEQUENCE)? {
            let part = |key| {
                let part = table.table(key, SELECTOR)?;
                table.required(key, part).and_then(|part| selector(&part))
            };
            rules.push(Rule {
                at: rule_of(&table, "sequences"),
                meant: part("then")?,
                after: Some(part("after")?),
                ruling: tightening(&table)?,
                why: why(&table)?,
            });
        }
        Ok(rules)
    }

    /// The tools of which every single call is asked about. One that is also allowed would be a
    /// contradiction.
    fn always_ask(&self) -> Result<BTreeMap<String, RuleAt>, ProfileRefused> {
        let names = self.top.list("always_ask", "full names of tools", |value| {
            value.as_str().filter(|text| name::is_tool_name(text)).map(str::to_owned)
        })?;
        Ok(names.into_iter().map(|(tool, line)| (tool, rule(line, "always_ask", &Value::Null))).collect())
    }
}

/// A rule, from the table that it is.
fn rule_of(table: &Table<'_>, kind: &str) -> RuleAt {
    rule(table.line, kind, &table.json_without("why"))
}

/// A rule on this line, from what it says.
fn rule(line: usize, kind: &str, says: &Value) -> RuleAt {
    // What cannot be canonical is refused with the whole file.
    let says = Canonical::of(says).map(|says| says.digest()).unwrap_or_else(|_| Digest::of(&[]));
    RuleAt { line, digest: Digest::of_fields([kind.as_bytes(), says.as_bytes().as_slice()]) }
}

fn loosened(table: &Table<'_>, what: String) -> ProfileRefused {
    let fault = ProfileFault::Loosens { what, ruling: Ruling::Allow, at_most: Ruling::Ask };
    table.source.refuse(table.line_of("ruling"), fault)
}

fn tightening(table: &Table<'_>) -> Result<Tightening, ProfileRefused> {
    match table.ruling("ruling")? {
        Ruling::Allow => Err(loosened(table, "what a rule is about".to_owned())),
        Ruling::Ask => Ok(Tightening::Ask),
        Ruling::Deny => Ok(Tightening::Deny),
    }
}

fn why(table: &Table<'_>) -> Result<Option<String>, ProfileRefused> {
    let max = limits::PROFILE_WHY_CHARS_MAX;
    table.word("why", &format!("a text of 1 to {max} characters"), |text| {
        (!text.trim().is_empty() && text.chars().count() <= max).then(|| text.to_owned())
    })
}

/// Which calls a table means.
fn selector(table: &Table<'_>) -> Result<Selector, ProfileRefused> {
    let names = |key, expected, is: fn(&str) -> bool| {
        table.list(key, expected, |value| value.as_str().filter(|text| is(text)).map(str::to_owned))
    };
    let selector = Selector {
        tools: plain(names("tools", "full names of tools", name::is_tool_name)?),
        servers: plain(names("servers", "ids of servers", is_server_id)?),
        effects: plain(table.list("effects", "side effects, such as \"external_write\"", |value| {
            SideEffect::from_wire(value.as_str()?)
        })?),
        paths: plain(table.list("paths", "path patterns, such as \"secrets/**\"", |value| {
            PathPattern::parse(value.as_str()?)
        })?),
        hosts: plain(table.list("hosts", "hosts, such as \"*.example.org\"", |value| {
            HostPattern::parse(value.as_str()?)
        })?),
        commands: plain(table.list("commands", COMMANDS, |value| CommandPattern::of(words(value)?))?),
        write: table.word("access", "read or write", |text| match text {
            "read" => Some(false),
            "write" => Some(true),
            _ => None,
        })?,
    };
    if selector.is_empty() {
        return Err(table.refuse(ProfileFault::Missing { key: ANY_SELECTOR }));
    }
    Ok(selector)
}

/// What stands in a list of commands.
pub(super) const COMMANDS: &str = "lists of words, such as [\"git\", \"push\"]";

/// A list of words.
pub(super) fn words(value: &DeValue<'_>) -> Option<Vec<String>> {
    let words = value.as_array()?.iter().map(|word| word.get_ref().as_str().map(str::to_owned));
    words.collect()
}

/// The values without their lines.
pub(super) fn plain<T, C: FromIterator<T>>(read: Vec<(T, usize)>) -> C {
    read.into_iter().map(|(value, _)| value).collect()
}
