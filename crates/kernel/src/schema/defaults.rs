//! Defaults: what a declared argument is when the caller leaves it out. They are applied before
//! anything is hashed, so that leaving out and writing out are one call.

use serde_json::{Map, Value};

use crate::limits;

/// Fills in every missing member that has a `default`, in the value itself and in the objects and arrays
/// below it that the schema describes by `properties` and `items`. A default is taken as it stands:
/// nothing is filled in inside it.
pub fn apply_defaults(schema: &Value, value: &mut Value) {
    fill(schema, value, limits::ARGUMENTS_DEPTH_MAX);
}

fn fill(schema: &Value, value: &mut Value, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = schema.get("properties") {
                fill_members(properties, members, depth);
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    fill(schema, item, depth);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn fill_members(properties: &Map<String, Value>, members: &mut Map<String, Value>, depth: usize) {
    for (name, schema) in properties {
        if let Some(member) = members.get_mut(name) {
            fill(schema, member, depth);
        } else if let Some(default) = schema.get("default") {
            members.insert(name.clone(), default.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(schema: &Value, mut value: Value, expect: &Value) {
        apply_defaults(schema, &mut value);
        assert_eq!(&value, expect);
    }

    #[test]
    fn what_is_missing_is_filled_in_and_what_is_there_stays() {
        let schema = json!({"properties": {
            "zone": {"type": "string", "default": "UTC"},
            "free": {"type": "string"},
        }});
        check(&schema, json!({}), &json!({"zone": "UTC"}));
        check(&schema, json!({"zone": "Asia/Tokyo"}), &json!({"zone": "Asia/Tokyo"}));
        check(&schema, json!({"zone": null}), &json!({"zone": null}));
        check(&schema, json!([]), &json!([]));
        check(&schema, json!("text"), &json!("text"));
    }

    #[test]
    fn objects_and_arrays_below_are_filled_in_too() {
        let inner = json!({"type": "object", "properties": {"n": {"default": 1}}});
        let schema = json!({"properties": {"one": inner, "many": {"items": inner}}});
        check(
            &schema,
            json!({"one": {}, "many": [{}, {"n": 2}]}),
            &json!({"one": {"n": 1}, "many": [{"n": 1}, {"n": 2}]}),
        );
        // An absent object is not made up so that its members can have defaults.
        check(&schema, json!({}), &json!({}));
    }

    #[test]
    fn a_schema_of_any_shape_is_taken() {
        for schema in
            [json!(true), json!({"properties": 3}), json!({"properties": {"a": false}}), json!(null)]
        {
            check(&schema, json!({"a": 1}), &json!({"a": 1}));
        }
    }
}
