//! The checks of the registry, one function each, in their order. Each looks at every declaration
//! before the next begins, so that which fault is reported does not hang on the order of the roster.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::refusal::{Refusal, SchemaSide};
use super::{Version, field};
use crate::canonical::Canonical;
use crate::limits;
use crate::name::{self, provider_safe};
use crate::schema::{SchemaFault, Validator, check_declared};
use crate::spec::{TargetKind, ToolSource, ToolSpec};
use crate::trust::Trust;

/// The seven checks that look at tools one by one or in pairs of equal names.
pub(super) fn check(specs: &[ToolSpec]) -> Result<(), Refusal> {
    for step in [names, reserved_domains, domains, duplicates, schemas, fields, forced_trust] {
        step(specs)?;
    }
    Ok(())
}

/// Check 1: Every name is a tool name.
fn names(specs: &[ToolSpec]) -> Result<(), Refusal> {
    let bad = specs.iter().find(|spec| !name::is_tool_name(&spec.name));
    bad.map_or(Ok(()), |spec| Err(Refusal::Name { tool: spec.name.clone() }))
}

/// Check 2: No builtin is in a domain of servers or devices.
fn reserved_domains(specs: &[ToolSpec]) -> Result<(), Refusal> {
    let reserved = |spec: &&ToolSpec| {
        spec.source == ToolSource::Builtin && name::RESERVED_DOMAINS.contains(&spec.domain())
    };
    specs.iter().find(reserved).map_or(Ok(()), |spec| {
        Err(Refusal::ReservedDomain { tool: spec.name.clone(), domain: spec.domain().to_owned() })
    })
}

/// Check 3: Every domain is one of those in which a tool of this source may be.
fn domains(specs: &[ToolSpec]) -> Result<(), Refusal> {
    let stranger = |spec: &&ToolSpec| {
        let domain = spec.domain();
        match spec.source {
            ToolSource::Builtin | ToolSource::Sandbox => !name::BUILTIN_DOMAINS.contains(&domain),
            ToolSource::Mcp => domain != "mcp",
            ToolSource::Device => domain != "device",
        }
    };
    specs.iter().find(stranger).map_or(Ok(()), |spec| {
        Err(Refusal::UnknownDomain { tool: spec.name.clone(), domain: spec.domain().to_owned() })
    })
}

/// Check 4: No two declarations have one name and one version.
fn duplicates(specs: &[ToolSpec]) -> Result<(), Refusal> {
    let mut seen = BTreeSet::new();
    let twice = specs.iter().find(|spec| !seen.insert((spec.name.as_str(), spec.version.as_str())));
    twice.map_or(Ok(()), |spec| {
        Err(Refusal::Duplicate { tool: spec.name.clone(), version: spec.version.clone() })
    })
}

/// Check 5: Both schemas are fit to be declared. One from outside is compiled too: its author is a stranger,
/// while Mast's own are compiled by a test.
fn schemas(specs: &[ToolSpec]) -> Result<(), Refusal> {
    for spec in specs {
        let refuse = |side| move |fault| Refusal::Schema { tool: spec.name.clone(), side, fault };
        let foreign = spec.source != ToolSource::Builtin;
        check_schema(&spec.input_schema, foreign).map_err(refuse(SchemaSide::Input))?;
        if let Some(output) = &spec.output_schema {
            check_schema(output, foreign).map_err(refuse(SchemaSide::Output))?;
        }
    }
    Ok(())
}

fn check_schema(schema: &Value, foreign: bool) -> Result<(), SchemaFault> {
    check_declared(schema)?;
    let canonical = Canonical::of(schema).map_err(|_| SchemaFault::NotCanonical)?;
    if !foreign {
        return Ok(());
    }
    if canonical.as_bytes().len() > limits::FOREIGN_SCHEMA_BYTES_MAX {
        return Err(SchemaFault::TooLarge);
    }
    Validator::new(schema.clone()).compile()
}

/// Check 6: Every field has a value that it can have.
fn fields(specs: &[ToolSpec]) -> Result<(), Refusal> {
    specs.iter().try_for_each(|spec| field::check(spec).map_err(|fault| Refusal::field(&spec.name, fault)))
}

/// Check 7: What comes from outside this process, by its source or by where its body runs, is
/// EXTERNAL_UNTRUSTED. The source alone would let a builtin pass on what a strange program printed.
fn forced_trust(specs: &[ToolSpec]) -> Result<(), Refusal> {
    let trusted = |spec: &&ToolSpec| {
        let outside = spec.source != ToolSource::Builtin || spec.target_kind != TargetKind::InProcess;
        outside && spec.output_trust < Trust::ExternalUntrusted
    };
    specs.iter().find(trusted).map_or(Ok(()), |spec| Err(Refusal::Trust { tool: spec.name.clone() }))
}

/// Check 8: An alias leads to one tool, and is not the name of another. Several tools may share one only if the
/// same argument selects between them, with a value for each. Gives the tools of every alias.
///
/// Only the versions that a lookup without a version finds are asked: an old one keeps its aliases for
/// the record.
pub(super) fn aliases(specs: &[ToolSpec]) -> Result<BTreeMap<String, Vec<String>>, Refusal> {
    let current = current(specs);
    let mut bearers: BTreeMap<&str, Vec<Bearer<'_>>> = BTreeMap::new();
    for (tool, spec) in &current {
        for alias in &spec.aliases {
            let action = alias.action.as_ref().map(|(argument, value)| (argument.as_str(), value.as_str()));
            bearers.entry(&alias.name).or_default().push(Bearer { tool, action });
        }
    }
    for (alias, sharing) in &bearers {
        let Some(first) = sharing.first() else { continue };
        let refuse = |tool: &str, other: &str| Refusal::Alias {
            tool: tool.to_owned(),
            alias: (*alias).to_owned(),
            other: other.to_owned(),
        };
        let namesake = specs
            .iter()
            .map(|spec| spec.name.as_str())
            .find(|name| name == alias || provider_safe(name) == **alias);
        if let Some(other) = namesake.filter(|other| *other != first.tool || sharing.len() > 1) {
            return Err(refuse(first.tool, other));
        }
        if let Some((one, other)) = clash(sharing) {
            return Err(refuse(other.tool, one.tool));
        }
    }
    let owned = |sharing: Vec<Bearer<'_>>| sharing.into_iter().map(|bearer| bearer.tool.to_owned()).collect();
    Ok(bearers.into_iter().map(|(alias, sharing)| (alias.to_owned(), owned(sharing))).collect())
}

/// A tool that bears an alias, with the argument that selects it and the value.
#[derive(Debug, Clone, Copy)]
struct Bearer<'a> {
    tool: &'a str,
    action: Option<(&'a str, &'a str)>,
}

/// Two bearers of one alias that some call could both mean.
fn clash<'a>(sharing: &[Bearer<'a>]) -> Option<(Bearer<'a>, Bearer<'a>)> {
    sharing.iter().enumerate().find_map(|(place, other)| {
        let apart = |one: &&Bearer<'_>| match (one.action, other.action) {
            (Some((argument, value)), Some((same, another))) => argument == same && value != another,
            _ => false,
        };
        sharing.iter().take(place).find(|one| !apart(one)).map(|one| (*one, *other))
    })
}

/// The latest version of every tool that is not deprecated.
fn current(specs: &[ToolSpec]) -> BTreeMap<&str, &ToolSpec> {
    let mut latest: BTreeMap<&str, &ToolSpec> = BTreeMap::new();
    for spec in specs.iter().filter(|spec| !spec.deprecated) {
        let newer = latest
            .get(spec.name.as_str())
            .is_none_or(|known| Version::parse(&known.version) < Version::parse(&spec.version));
        if newer {
            latest.insert(&spec.name, spec);
        }
    }
    latest
}

/// Check 9: No two tools have one provider-safe name. Gives the tool of every such name.
pub(super) fn provider_names(specs: &[ToolSpec]) -> Result<BTreeMap<String, String>, Refusal> {
    let mut tools: BTreeMap<String, String> = BTreeMap::new();
    for spec in specs {
        let name = provider_safe(&spec.name);
        match tools.get(&name) {
            Some(other) if *other != spec.name => {
                return Err(Refusal::ProviderName { tool: spec.name.clone(), other: other.clone(), name });
            }
            _ => tools.insert(name, spec.name.clone()),
        };
    }
    Ok(tools)
}
