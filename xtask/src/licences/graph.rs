//! Who depends on whom, as `cargo metadata` tells it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The packages from outside and the edges between all packages.
#[derive(Debug)]
pub(super) struct Graph {
    /// Those that come from a registry, in cargo's order.
    pub(super) packages: Vec<Package>,
    names: BTreeMap<String, String>,
    /// From a package's id to the ids of what it is built with (not what only its tests use).
    edges: BTreeMap<String, Vec<String>>,
}

/// One package from outside.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    version: String,
    /// The licence expression that it states.
    pub(super) licence: Option<String>,
}

impl Graph {
    /// Reads cargo's answer; the error says what is missing in it.
    pub(super) fn parse(metadata: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(metadata).map_err(|error| error.to_string())?;
        let (mut packages, mut names, mut edges) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        for package in array(&value, "/packages")? {
            let name = text(package, "name")?;
            names.insert(text(package, "id")?, name.clone());
            if package.get("source").is_some_and(Value::is_string) {
                let licence = package.get("license").and_then(Value::as_str).map(str::to_owned);
                packages.push(Package { name, version: text(package, "version")?, licence });
            }
        }
        for node in array(&value, "/resolve/nodes")? {
            let mut targets = Vec::new();
            for edge in array(node, "/deps")? {
                if array(edge, "/dep_kinds")?.iter().any(|kind| kind.get("kind") != Some(&"dev".into())) {
                    targets.push(text(edge, "pkg")?);
                }
            }
            edges.insert(text(node, "id")?, targets);
        }
        Ok(Self { packages, names, edges })
    }

    /// The ids of all that the package of this name is built with, itself included.
    pub(super) fn reached_from(&self, name: &str) -> BTreeSet<&str> {
        let first = self.names.iter().find(|(_, other)| other.as_str() == name).map(|(id, _)| id.as_str());
        let (mut open, mut reached): (Vec<&str>, BTreeSet<&str>) =
            (first.into_iter().collect(), BTreeSet::new());
        while let Some(id) = open.pop() {
            if reached.insert(id) {
                open.extend(self.edges.get(id).into_iter().flatten().map(String::as_str));
            }
        }
        reached
    }

    /// The packages that are there in more than one version, with the versions.
    pub(super) fn twice(&self) -> BTreeMap<String, Vec<String>> {
        let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for package in &self.packages {
            versions.entry(package.name.clone()).or_default().push(package.version.clone());
        }
        versions.retain(|_, versions| versions.len() > 1);
        versions
    }
}

fn array<'a>(value: &'a Value, pointer: &str) -> Result<&'a [Value], String> {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).ok_or(format!("no list at {pointer}"))
}

fn text(value: &Value, key: &str) -> Result<String, String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned).ok_or(format!("no text at {key}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_only_tests_use_is_not_reached() {
        let package = |name: &str| json!({ "id": name, "name": name, "version": "1.0.0" });
        let edge = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let value = json!({
            "packages": [package("mast"), package("a"), package("b"), package("c"), package("d")],
            "resolve": { "nodes": [
                { "id": "mast", "deps": [edge("a", Value::Null), edge("c", "dev".into())] },
                { "id": "a", "deps": [edge("b", "build".into()), edge("mast", "dev".into())] },
                { "id": "c", "deps": [edge("d", Value::Null)] },
            ] },
        });
        let graph = Graph::parse(&value.to_string()).unwrap();
        assert_eq!(graph.reached_from("mast").into_iter().collect::<Vec<_>>(), ["a", "b", "mast"]);
        assert_eq!(graph.reached_from("nobody").len(), 0);
        assert_eq!(Graph::parse("{}").unwrap_err(), "no list at /packages");
    }
}
