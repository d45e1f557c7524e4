//! Which schemas say nothing that only 2020-12 has words for.
//!
//! The validator checks each schema against its dialect's own schema first, and to compile that of
//! 2020-12 takes longer than all the rest of a small call. Draft 6 has the same meaning for the plain
//! keywords, and a schema of its own that is a quarter of the work. A property test holds that both
//! dialects find the same in the same values. Rejected: leaving the check out, which the validator does
//! not offer, and a validator of our own.

use jsonschema::ValidationOptions;
use serde_json::Value;

/// Keywords with a plain value that mean the same in both dialects. `format` is not among them: the list
/// of formats grew. Nor is `$ref`: beside it draft 6 sees nothing.
const PLAIN: &[&str] = &[
    "const",
    "default",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "required",
    "title",
    "type",
    "uniqueItems",
];

/// Keywords whose value is one schema in both dialects.
const ONE: &[&str] = &["additionalProperties", "items", "not", "propertyNames"];

/// Keywords whose value is a list of schemas.
const LIST: &[&str] = &["allOf", "anyOf", "oneOf"];

/// Keywords whose value is schemas by name.
const BY_NAME: &[&str] = &["patternProperties", "properties"];

/// The options of the cheapest dialect in which the schema means what it means in 2020-12.
pub(super) fn options(schema: &Value) -> ValidationOptions<'static> {
    if is_common(schema) { jsonschema::draft6::options() } else { jsonschema::draft202012::options() }
}

fn is_common(schema: &Value) -> bool {
    let members = match schema {
        Value::Bool(_) => return true,
        Value::Object(members) => members,
        // It is no schema at all; 2020-12 says so.
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return false,
    };
    members.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
        (keyword, _) if PLAIN.contains(&keyword) => true,
        (keyword, value) if ONE.contains(&keyword) => is_common(value),
        (keyword, Value::Array(schemas)) if LIST.contains(&keyword) => schemas.iter().all(is_common),
        (keyword, Value::Object(schemas)) if BY_NAME.contains(&keyword) => schemas.values().all(is_common),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn what_only_the_newer_dialect_knows_is_seen() {
        assert!(is_common(&json!({"type": "object", "properties": {"format": {"items": true}}})));
        for newer in [
            json!({"properties": {"a": {"format": "date"}}}),
            json!({"items": {"$ref": "#/$defs/a"}}),
            json!({"prefixItems": [true]}),
            json!({"items": [true]}),
            json!({"anyOf": [{"unevaluatedProperties": false}]}),
            json!({"dependentRequired": {}}),
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema"}),
            json!({"contains": true, "minContains": 0}),
            json!({"if": true}),
            json!("text"),
        ] {
            assert!(!is_common(&newer), "{newer}");
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Value::from),
            (-3_i64..4).prop_map(Value::from),
            Just(json!(1.0)),
            Just(json!(0.5)),
            "[ab]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|map| json!(map)),
            ]
        })
    }

    fn schema() -> impl Strategy<Value = Value> {
        let kind =
            prop::sample::select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            kind.clone().prop_map(|kind| json!({"type": kind})),
            prop::collection::vec(kind, 1..3).prop_map(|mut kinds| {
                kinds.dedup();
                json!({ "type": kinds })
            }),
            value().prop_map(|value| json!({"const": value})),
            prop::collection::vec(value(), 1..3).prop_map(|values| json!({"enum": values})),
            (0..3).prop_map(|n| json!({"minLength": n, "maxItems": n, "minProperties": n})),
            (-2..3).prop_map(|n| json!({"minimum": n, "exclusiveMaximum": n + 1})),
            Just(json!({"multipleOf": 2, "uniqueItems": true, "maxLength": 1})),
            Just(json!({"pattern": "^a", "required": ["a"]})),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            let keyword = prop::sample::select([ONE, LIST, BY_NAME].concat());
            (keyword, inner.clone(), inner).prop_map(|(keyword, one, other)| match keyword {
                list if LIST.contains(&list) => json!({list: [one, other], "title": "x"}),
                named if BY_NAME.contains(&named) => json!({named: {"a": one, "b": other}}),
                keyword => json!({keyword: one}),
            })
        })
    }

    /// Everything that a dialect finds wrong, in order.
    fn found(
        options: &ValidationOptions<'_>,
        schema: &Value,
        value: &Value,
    ) -> Option<Vec<(String, String)>> {
        let validator = options.clone().offline().build(schema).ok()?;
        let name = |error: jsonschema::ValidationError<'_>| {
            (error.instance_path().as_str().to_owned(), error.kind().keyword().to_owned())
        };
        let mut errors: Vec<_> = validator.iter_errors(value).map(name).collect();
        errors.sort();
        Some(errors)
    }

    proptest! {
        #[test]
        fn both_dialects_find_the_same(schema in schema(), value in value()) {
            prop_assert!(is_common(&schema));
            let older = found(&jsonschema::draft6::options(), &schema, &value);
            let newer = found(&jsonschema::draft202012::options(), &schema, &value);
            prop_assert_eq!(older, newer);
        }
    }
}
