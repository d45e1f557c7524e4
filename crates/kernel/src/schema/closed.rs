//! The walk over a declared schema: dialect, references, shapes, and whether every object level is
//! closed, so that no argument can be passed that the declaration does not name.
//!
//! An object level is closed by `additionalProperties: false` or, where parts of an `allOf` together
//! describe one object, by `unevaluatedProperties: false` around them. Parts that look at the same value
//! as a closed level (`allOf`, `anyOf`, `then` and so on) need not repeat it: the closed level already
//! refuses what it does not name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::SchemaFault;
use super::shape::{self, Shape};
use crate::limits;

/// The one dialect.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Keywords whose schemas look at the same value as the schema that has them.
const IN_PLACE: &[&str] = &["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/// Keywords that say of a schema without `type` that it is about objects.
const ABOUT_OBJECTS: &[&str] =
    &["properties", "patternProperties", "additionalProperties", "unevaluatedProperties"];

/// Checks a schema that a tool declares for its arguments or its result.
///
/// # Errors
///
/// The first [`SchemaFault`] in the order of the document, faults of the whole first.
pub fn check_declared(schema: &Value) -> Result<(), SchemaFault> {
    if !is_shallow(schema, limits::SCHEMA_DEPTH_MAX) {
        return Err(SchemaFault::TooDeep);
    }
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(SchemaFault::NotAnObject);
    }
    if schema.get("$schema").is_some_and(|dialect| dialect.as_str() != Some(DIALECT)) {
        return Err(SchemaFault::Dialect);
    }
    let mut walk = Walk::default();
    walk.schema(schema, "", Around::Open)?;
    walk.check_references()
}

/// Whether the value has at most `depth` levels of arrays and objects.
fn is_shallow(value: &Value, depth: usize) -> bool {
    let children: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return true,
    };
    depth.checked_sub(1).is_some_and(|depth| children.into_iter().all(|child| is_shallow(child, depth)))
}

/// What stands around a schema that looks at the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    /// Nothing that closes the value.
    Open,
    /// A level that names all members of the value.
    Closed,
    /// An `allOf` that is itself not closed, and must be if its parts are about objects.
    PartOfAll,
}

/// What the walk has seen.
#[derive(Debug, Default)]
struct Walk {
    /// Every schema: its pointer, and where it sends the same value on to.
    places: BTreeMap<String, Vec<String>>,
    /// Every name given by `$anchor`, with the schema that has it.
    anchors: BTreeMap<String, String>,
    /// Every reference: the pointer of the schema that has it, and its text.
    references: Vec<(String, String)>,
}

impl Walk {
    /// Walks one schema at the pointer `at`.
    fn schema(&mut self, schema: &Value, at: &str, around: Around) -> Result<(), SchemaFault> {
        self.places.insert(at.to_owned(), Vec::new());
        let Some(members) = schema.as_object() else { return Ok(()) };
        let closed = is_closed(members);
        if !closed && around == Around::Open && is_about_objects(members) {
            return Err(SchemaFault::Open { at: at.to_owned() });
        }
        for (keyword, value) in members {
            let place = format!("{at}/{}", escape(keyword));
            self.note(keyword, value, at, &place)?;
            let Some(shape) = shape::of(keyword) else { continue };
            if !shape::fits(shape, value) {
                return Err(SchemaFault::Keyword { at: place });
            }
            let inner = if !IN_PLACE.contains(&keyword.as_str()) {
                Around::Open
            } else if closed || around == Around::Closed {
                Around::Closed
            } else if keyword == "allOf" {
                Around::PartOfAll
            } else {
                Around::Open
            };
            self.below(shape, value, &place, inner)?;
            if IN_PLACE.contains(&keyword.as_str()) {
                let parts = parts(shape, value).into_iter().map(|(name, _)| join(&place, name.as_deref()));
                let parts: Vec<String> = parts.collect();
                self.places.entry(at.to_owned()).or_default().extend(parts);
            }
        }
        Ok(())
    }

    /// Notes anchors and references, and refuses the references that leave the document.
    fn note(&mut self, keyword: &str, value: &Value, at: &str, place: &str) -> Result<(), SchemaFault> {
        let Some(text) = value.as_str() else { return Ok(()) };
        match keyword {
            "$dynamicRef" | "$recursiveRef" => return Err(SchemaFault::Reference { at: place.to_owned() }),
            "$anchor" => {
                self.anchors.insert(text.to_owned(), at.to_owned());
            }
            "$ref" if !text.starts_with('#') => return Err(SchemaFault::Reference { at: place.to_owned() }),
            "$ref" => self.references.push((at.to_owned(), text.to_owned())),
            // An `$id` below the top changes what every `#` means, and another dialect below it what
            // every keyword means.
            "$id" | "$schema" if !at.is_empty() => return Err(SchemaFault::Keyword { at: place.to_owned() }),
            _ => {}
        }
        Ok(())
    }

    /// Walks the schemas in a keyword's value.
    fn below(&mut self, shape: Shape, value: &Value, place: &str, around: Around) -> Result<(), SchemaFault> {
        for (name, schema) in parts(shape, value) {
            self.schema(schema, &join(place, name.as_deref()), around)?;
        }
        Ok(())
    }

    /// Every reference reaches a schema that was walked, and none comes back to where it began without
    /// going deeper into the value, which would never end.
    fn check_references(mut self) -> Result<(), SchemaFault> {
        for (at, text) in std::mem::take(&mut self.references) {
            let fragment = text.strip_prefix('#').unwrap_or(&text);
            let target = match self.anchors.get(fragment) {
                Some(anchored) => anchored.clone(),
                None => fragment.to_owned(),
            };
            if !self.places.contains_key(&target) {
                return Err(SchemaFault::Reference { at: format!("{at}/$ref") });
            }
            self.places.entry(at).or_default().push(target);
        }
        let mut ended = BTreeSet::new();
        for at in self.places.keys() {
            if let Some(at) = self.comes_back(at, &mut BTreeSet::new(), &mut ended) {
                return Err(SchemaFault::Circular { at: at.to_owned() });
            }
        }
        Ok(())
    }

    /// Where a chain of schemas that look at the same value closes into a ring, if it does.
    fn comes_back<'a>(
        &'a self,
        at: &'a str,
        open: &mut BTreeSet<&'a str>,
        ended: &mut BTreeSet<&'a str>,
    ) -> Option<&'a str> {
        if ended.contains(at) {
            return None;
        }
        if !open.insert(at) {
            return Some(at);
        }
        let ring = self.places.get(at)?.iter().find_map(|next| self.comes_back(next, open, ended));
        open.remove(at);
        ended.insert(at);
        ring
    }
}

/// The schemas in a keyword's value, each with its name or place below the keyword.
fn parts(shape: Shape, value: &Value) -> Vec<(Option<String>, &Value)> {
    match (shape, value) {
        (Shape::Schema, schema) => vec![(None, schema)],
        (Shape::Schemas, Value::Array(all)) => {
            all.iter().enumerate().map(|(place, schema)| (Some(place.to_string()), schema)).collect()
        }
        (Shape::SchemaMap, Value::Object(all)) => {
            all.iter().map(|(name, schema)| (Some(escape(name)), schema)).collect()
        }
        _ => Vec::new(),
    }
}

fn join(place: &str, name: Option<&str>) -> String {
    name.map_or_else(|| place.to_owned(), |name| format!("{place}/{name}"))
}

/// A member's name as a segment of a JSON Pointer.
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn is_closed(members: &Map<String, Value>) -> bool {
    ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .any(|key| members.get(*key) == Some(&Value::Bool(false)))
}

/// Whether the schema lets objects in by name: by its type, by a keyword about members, or through a part
/// of its `allOf`.
fn is_about_objects(members: &Map<String, Value>) -> bool {
    let typed = match members.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => false,
    };
    let parts = members.get("allOf").and_then(Value::as_array);
    typed
        || ABOUT_OBJECTS.iter().any(|keyword| members.contains_key(*keyword))
        || parts.is_some_and(|all| all.iter().filter_map(Value::as_object).any(is_about_objects))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Validator;
    use serde_json::json;

    /// A good schema is declared and compiles.
    fn good(schema: &Value) {
        assert_eq!(check_declared(schema), Ok(()), "{schema}");
        assert_eq!(Validator::new(schema.clone()).compile(), Ok(()), "{schema}");
    }

    fn bad(schema: &Value, expect: &SchemaFault) {
        assert_eq!(check_declared(schema).as_ref(), Err(expect), "{schema}");
    }

    fn object(properties: &Value) -> Value {
        json!({"type": "object", "properties": properties, "additionalProperties": false})
    }

    fn open(at: &str) -> SchemaFault {
        SchemaFault::Open { at: at.to_owned() }
    }

    #[test]
    fn the_dialect_is_absent_or_the_one() {
        let with =
            |dialect: Value| json!({"$schema": dialect, "type": "object", "additionalProperties": false});
        good(&with(json!("https://json-schema.org/draft/2020-12/schema")));
        for other in [
            json!("http://json-schema.org/draft-07/schema#"),
            json!("https://json-schema.org/draft/2020-12/schema#"),
            json!(1),
        ] {
            bad(&with(other), &SchemaFault::Dialect);
        }
    }

    #[test]
    fn the_top_is_an_object() {
        for top in
            [json!({}), json!(true), json!({"type": ["object"]}), json!({"type": "array"}), json!(null)]
        {
            bad(&top, &SchemaFault::NotAnObject);
        }
    }

    #[test]
    fn every_object_level_is_closed() {
        good(&object(&json!({"a": object(&json!({})), "b": {"type": "string"}, "c": {}})));
        bad(&json!({"type": "object"}), &open(""));
        bad(&json!({"type": "object", "additionalProperties": true}), &open(""));
        bad(&json!({"type": "object", "additionalProperties": {"type": "string"}}), &open(""));
        let level = json!({"type": "object", "properties": {"x": {}}});
        for (below, at) in [
            (json!({"properties": {"a": level}}), "/properties/a"),
            (json!({"properties": {"a/b~": level}}), "/properties/a~1b~0"),
            (json!({"properties": {"a": {"type": "array", "items": level}}}), "/properties/a/items"),
            (json!({"properties": {"a": {"prefixItems": [{}, level]}}}), "/properties/a/prefixItems/1"),
            (json!({"properties": {"a": {"contains": level}}}), "/properties/a/contains"),
            (json!({"properties": {"a": {"anyOf": [{"type": "string"}, level]}}}), "/properties/a/anyOf/1"),
            (json!({"properties": {"a": {"oneOf": [level]}}}), "/properties/a/oneOf/0"),
            (json!({"properties": {"a": {"not": level}}}), "/properties/a/not"),
            (json!({"properties": {"a": {"if": true, "then": level}}}), "/properties/a/then"),
            (json!({"properties": {"a": {"if": true, "else": level}}}), "/properties/a/else"),
            (json!({"properties": {"a": {"unevaluatedItems": level}}}), "/properties/a/unevaluatedItems"),
            (json!({"properties": {"a": {"properties": {"x": {}}}}}), "/properties/a"),
            (json!({"properties": {"a": {"patternProperties": {"x": {}}}}}), "/properties/a"),
            (json!({"properties": {"a": {"type": ["object", "null"]}}}), "/properties/a"),
            (json!({"patternProperties": {"^x": level}}), "/patternProperties/^x"),
            (json!({"$defs": {"a": level}}), "/$defs/a"),
            (json!({"propertyNames": level}), "/propertyNames"),
            (
                json!({"dependentSchemas": {"a": {"properties": {"b": level}}}}),
                "/dependentSchemas/a/properties/b",
            ),
        ] {
            let mut schema = object(&json!({}));
            for (keyword, value) in below.as_object().unwrap() {
                schema[keyword] = value.clone();
            }
            bad(&schema, &open(at));
        }
    }

    #[test]
    fn parts_of_one_object_are_closed_around_them() {
        let part = |name: &str| json!({"type": "object", "properties": {name: {}}, "required": [name]});
        good(&json!({"type": "object", "allOf": [part("a"), part("b")], "unevaluatedProperties": false}));
        good(&object(
            &json!({"x": {"allOf": [part("a"), {"allOf": [part("b")]}], "unevaluatedProperties": false}}),
        ));
        bad(&object(&json!({"x": {"allOf": [part("a")]}})), &open("/properties/x"));
        bad(&object(&json!({"x": {"allOf": [{"allOf": [part("a")]}]}})), &open("/properties/x"));
        bad(
            &object(&json!({"x": {"allOf": [{"anyOf": [part("a")]}]}})),
            &open("/properties/x/allOf/0/anyOf/0"),
        );
        // Alternatives of a closed object say only which of its members go together.
        let mut choice = object(&json!({"a": {}, "b": {}}));
        choice["oneOf"] =
            json!([{"required": ["a"]}, {"properties": {"b": {"const": 1}}, "required": ["b"]}]);
        good(&choice);
    }

    #[test]
    fn references_stay_inside_and_reach_a_schema() {
        let with = |reference: &str| {
            let mut schema = object(&json!({"x": {"$ref": reference}, "y": {"default": {"type": "object"}}}));
            schema["$defs"] = json!({"named": {"$anchor": "here", "type": "string"}});
            schema
        };
        for inside in ["#", "#/$defs/named", "#here", "#/properties/y"] {
            good(&with(inside));
        }
        for outside in [
            "https://example.com/x.json",
            "other.json",
            "/other.json",
            "./x#/a",
            "file:///etc/passwd",
            "",
            "##",
            "#/nowhere",
            "#nowhere",
            "#/properties/y/default",
            "#/properties",
        ] {
            bad(&with(outside), &SchemaFault::Reference { at: "/properties/x/$ref".to_owned() });
        }
        let dynamic = object(&json!({"x": {"$dynamicRef": "#here"}}));
        bad(&dynamic, &SchemaFault::Reference { at: "/properties/x/$dynamicRef".to_owned() });
        let rebased = object(&json!({"x": {"$id": "https://example.com/", "$ref": "#"}}));
        bad(&rebased, &SchemaFault::Keyword { at: "/properties/x/$id".to_owned() });
    }

    #[test]
    fn a_reference_that_only_leads_to_itself_is_refused() {
        let with = |definitions: Value| {
            let mut schema = object(&json!({"x": {"$ref": "#/$defs/a"}}));
            schema["$defs"] = definitions;
            schema
        };
        good(&with(json!({"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}})));
        for ring in [
            json!({"a": {"$ref": "#/$defs/a"}}),
            json!({"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}),
            json!({"a": {"anyOf": [{"type": "string"}, {"not": {"$ref": "#/$defs/a"}}]}}),
        ] {
            let fault = check_declared(&with(ring.clone())).unwrap_err();
            assert!(matches!(fault, SchemaFault::Circular { .. }), "{ring}: {fault}");
        }
    }

    #[test]
    fn keywords_have_their_values() {
        for (schema, at) in [
            (json!({"x": {"type": "objekt"}}), "/properties/x/type"),
            (json!({"x": {"type": "string", "minLength": "3"}}), "/properties/x/minLength"),
            (json!({"x": {"required": "a"}}), "/properties/x/required"),
            (json!({"x": {"enum": "a"}}), "/properties/x/enum"),
            (json!({"x": {"items": [{}]}}), "/properties/x/items"),
            (json!({"x": 1}), "/properties"),
            (json!([]), "/properties"),
        ] {
            bad(&object(&schema), &SchemaFault::Keyword { at: at.to_owned() });
        }
    }

    #[test]
    fn nesting_has_a_bound() {
        let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"items": inner}));
        // The top and its properties are two levels, the innermost schema one.
        good(&object(&json!({"x": nested(13)})));
        bad(&object(&json!({"x": nested(14)})), &SchemaFault::TooDeep);
        assert_eq!(limits::SCHEMA_DEPTH_MAX, 16);
    }
}
