//! What value each keyword of JSON Schema 2020-12 can have, as a table. It is the part of the
//! meta-schema that a walk can check in microseconds; whether a pattern compiles is seen when the
//! validator is built.

use serde_json::Value;

/// The kind of value that a keyword has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A schema.
    Schema,
    /// A list of schemas, not empty.
    Schemas,
    /// Names, each with a schema.
    SchemaMap,
    /// A whole number, zero or more.
    Count,
    /// A number.
    Number,
    /// A number above zero.
    Positive,
    /// A text.
    Text,
    /// True or false.
    Flag,
    /// A list of texts, none twice.
    Names,
    /// Names, each with a list of texts.
    NamesMap,
    /// A list of anything.
    List,
    /// One of the seven type names, or a list of them, none twice.
    Type,
}

/// The keywords that have a shape, sorted. Others are annotations and may be anything.
const SHAPES: &[(&str, Shape)] = &[
    ("$anchor", Shape::Text),
    ("$comment", Shape::Text),
    ("$defs", Shape::SchemaMap),
    ("$id", Shape::Text),
    ("$ref", Shape::Text),
    ("$schema", Shape::Text),
    ("additionalProperties", Shape::Schema),
    ("allOf", Shape::Schemas),
    ("anyOf", Shape::Schemas),
    ("contains", Shape::Schema),
    ("contentSchema", Shape::Schema),
    ("dependentRequired", Shape::NamesMap),
    ("dependentSchemas", Shape::SchemaMap),
    ("deprecated", Shape::Flag),
    ("description", Shape::Text),
    ("else", Shape::Schema),
    ("enum", Shape::List),
    ("examples", Shape::List),
    ("exclusiveMaximum", Shape::Number),
    ("exclusiveMinimum", Shape::Number),
    ("format", Shape::Text),
    ("if", Shape::Schema),
    ("items", Shape::Schema),
    ("maxContains", Shape::Count),
    ("maxItems", Shape::Count),
    ("maxLength", Shape::Count),
    ("maxProperties", Shape::Count),
    ("maximum", Shape::Number),
    ("minContains", Shape::Count),
    ("minItems", Shape::Count),
    ("minLength", Shape::Count),
    ("minProperties", Shape::Count),
    ("minimum", Shape::Number),
    ("multipleOf", Shape::Positive),
    ("not", Shape::Schema),
    ("oneOf", Shape::Schemas),
    ("pattern", Shape::Text),
    ("patternProperties", Shape::SchemaMap),
    ("prefixItems", Shape::Schemas),
    ("properties", Shape::SchemaMap),
    ("propertyNames", Shape::Schema),
    ("readOnly", Shape::Flag),
    ("required", Shape::Names),
    ("then", Shape::Schema),
    ("title", Shape::Text),
    ("type", Shape::Type),
    ("unevaluatedItems", Shape::Schema),
    ("unevaluatedProperties", Shape::Schema),
    ("uniqueItems", Shape::Flag),
    ("writeOnly", Shape::Flag),
];

/// The names of the types of JSON.
const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// The shape of this keyword's value, if it has one.
pub(super) fn of(keyword: &str) -> Option<Shape> {
    let place = SHAPES.binary_search_by(|(name, _)| (*name).cmp(keyword)).ok()?;
    SHAPES.get(place).map(|(_, shape)| *shape)
}

/// Whether the value is of the shape. Of schemas it is only asked whether they can be one: the walk
/// comes to each of them.
pub(super) fn fits(shape: Shape, value: &Value) -> bool {
    match shape {
        Shape::Schema => is_schema(value),
        Shape::Schemas => value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_schema)),
        Shape::SchemaMap => value.as_object().is_some_and(|all| all.values().all(is_schema)),
        Shape::Count => is_count(value),
        Shape::Number => value.is_number(),
        Shape::Positive => value.as_f64().is_some_and(|number| number > 0.0),
        Shape::Text => value.is_string(),
        Shape::Flag => value.is_boolean(),
        Shape::Names => is_names(value),
        Shape::NamesMap => value.as_object().is_some_and(|all| all.values().all(is_names)),
        Shape::List => value.is_array(),
        Shape::Type => is_type(value),
    }
}

fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

fn is_count(value: &Value) -> bool {
    value.as_u64().is_some() || value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
}

fn is_names(value: &Value) -> bool {
    let Some(all) = value.as_array() else { return false };
    all.iter()
        .enumerate()
        .all(|(place, name)| name.is_string() && !all.iter().take(place).any(|seen| seen == name))
}

fn is_type(value: &Value) -> bool {
    let known = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match value {
        Value::Array(names) => !names.is_empty() && names.iter().all(known) && is_names(value),
        single => known(single),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_table_can_be_searched() {
        assert!(SHAPES.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(of("maxLength"), Some(Shape::Count));
        assert_eq!(of("default"), None);
    }

    /// The library's meta-schema is the referee: whatever the walk refuses, it refuses too, and the other
    /// way round, over one good and several bad values of every keyword.
    #[test]
    fn the_table_agrees_with_the_meta_schema() {
        let samples = [
            json!(true),
            json!({}),
            json!([]),
            json!([{}]),
            json!([true, 1]),
            json!({"a": {}}),
            json!({"a": 1}),
            json!({"a": ["b"]}),
            json!({"a": ["b", "b"]}),
            json!(0),
            json!(-1),
            json!(1.5),
            json!(2.0),
            json!("object"),
            json!("objekt"),
            json!(["string", "null"]),
            json!(["string", "string"]),
            json!(null),
        ];
        for (keyword, shape) in SHAPES {
            if keyword.starts_with('$') {
                continue; // Their texts have a grammar of their own, which the walk checks elsewhere.
            }
            for sample in &samples {
                let schema = json!({*keyword: sample});
                let referee = jsonschema::draft202012::meta::is_valid(&schema);
                assert_eq!(fits(*shape, sample), referee, "{schema}");
            }
        }
    }
}
