//! What is wrong with arguments that a person typed, in one line. The outcome of a call says it by a code
//! only, since its words are also read by models and must not carry input; here the person reads back
//! their own words.

use mast_kernel::canonical::parse_strict;
use mast_kernel::registry::{ArgumentFault, Registered};
use mast_kernel::schema::Violation;
use serde_json::{Map, Value};

use crate::names::did_you_mean;

/// What is wrong with these arguments, as far as the declaration of the tool tells.
pub(super) fn of(tool: &Registered, arguments: &str) -> Option<String> {
    let given = match parse_strict(arguments) {
        Err(fault) => return Some(format!("the arguments are {fault}")),
        Ok(Value::Object(given)) => given,
        Ok(other) => return Some(format!("the arguments are {}, not an object", kind(&other))),
    };
    let schema = &tool.spec.input_schema;
    let none = Map::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let mut said: Vec<String> = Vec::new();
    if is_closed {
        said.extend(given.keys().filter(|name| !known.contains_key(*name)).map(|name| unknown(name, known)));
    }
    said.extend(missing(schema, &given));
    said.extend(given.iter().filter_map(|(name, value)| wrong_type(name, value, known.get(name)?)));
    if said.is_empty()
        && let Err(ArgumentFault::Violation(violation)) = tool.arguments(Value::Object(given))
    {
        said.push(violated(&violation, schema));
    }
    (!said.is_empty()).then(|| said.join("; "))
}

/// A call of the tool that fits its schema in form: `mast call math.calculate '{"expression":"…"}'`.
pub(super) fn example(tool: &Registered) -> String {
    format!("mast call {} '{}'", tool.spec.name, Value::Object(required(&tool.spec.input_schema)))
}

/// An object with what its schema requires. Schemas of tools are bounded in depth, and so is this.
fn required(schema: &Value) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let wanted = |name: &&String| required.iter().any(|required| required.as_str() == Some(name));
    let members = properties.into_iter().flatten().filter(|(name, _)| wanted(name));
    members.map(|(name, property)| (name.clone(), sample(property))).collect()
}

fn sample(property: &Value) -> Value {
    if let Some(first) = property.get("enum").and_then(|values| values.get(0)) {
        return first.clone();
    }
    match types(property).first().copied() {
        Some("integer" | "number") => Value::from(1),
        Some("boolean") => Value::Bool(true),
        Some("array") => {
            let is_filled = property.get("minItems").and_then(Value::as_u64).is_some_and(|n| n > 0);
            let item = property.get("items").filter(|_| is_filled).map(sample);
            Value::Array(item.into_iter().collect())
        }
        Some("object") => Value::Object(required(property)),
        _ => Value::from("…"),
    }
}

fn unknown(name: &str, known: &Map<String, Value>) -> String {
    let names = known.keys().map(String::as_str);
    let meant = did_you_mean(name, names).map(|meant| format!(" ({meant})")).unwrap_or_default();
    format!("there is no argument `{name}`{meant}")
}

fn missing(schema: &Value, given: &Map<String, Value>) -> Vec<String> {
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let names = required.iter().filter_map(Value::as_str).filter(|name| !given.contains_key(*name));
    names.map(|name| format!("`{name}` is missing")).collect()
}

/// The types that a property may have; none if anything will do.
fn types(property: &Value) -> Vec<&str> {
    match property.get("type") {
        Some(Value::String(only)) => vec![only],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn wrong_type(name: &str, value: &Value, property: &Value) -> Option<String> {
    let types = types(property);
    let fits = |wanted: &&str| match (*wanted, value) {
        // Whether a number is whole is for the validator, which knows its value.
        ("integer" | "number", Value::Number(_))
        | ("string", Value::String(_))
        | ("boolean", Value::Bool(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("null", Value::Null) => true,
        _ => false,
    };
    if types.is_empty() || types.iter().any(fits) {
        return None;
    }
    let takes = types.iter().map(|wanted| with_article(wanted)).collect::<Vec<_>>().join(" or ");
    Some(format!("`{name}` is {}, and takes {takes}", kind(value)))
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "integer" => "a whole number".to_owned(),
        "array" | "object" => format!("an {kind}"),
        other => format!("a {other}"),
    }
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A rule of the schema that is broken, with what the schema says: `expression` breaks `maxLength` 1024.
fn violated(violation: &Violation, schema: &Value) -> String {
    let place = violation.instance.trim_start_matches('/').replace('/', ".");
    let rule =
        schema.pointer(&format!("/properties/{}/{}", place.replace('.', "/properties/"), violation.keyword));
    let rule = rule.map(|rule| format!(" {rule}")).unwrap_or_default();
    let what = if place.is_empty() { "the object".to_owned() } else { format!("`{place}`") };
    format!("{what} does not fit the rule `{}`{rule}", violation.keyword)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use mast_tools::Toolbox;

    use super::*;

    fn check(tool: &str, arguments: &str, expect: &Expect) {
        let toolbox = Toolbox::builtin().unwrap();
        let tool = toolbox.registry().resolve(tool).unwrap().tool;
        expect.assert_eq(&of(tool, arguments).unwrap_or_default());
    }

    #[test]
    fn where_json_breaks() {
        let tool = "math.calculate";
        check(
            tool,
            "{\"expression\":",
            &expect!["the arguments are not one JSON value: stopped at line 1, column 14"],
        );
        check(tool, "17 * 23", &expect!["the arguments are not one JSON value: stopped at line 1, column 4"]);
        check(tool, "17", &expect!["the arguments are a number, not an object"]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let tool = "math.calculate";
        check(
            tool,
            r#"{"expresion":"1"}"#,
            &expect!["there is no argument `expresion` (did you mean expression?); `expression` is missing"],
        );
        check(tool, r#"{"expression":1}"#, &expect!["`expression` is a number, and takes a string"]);
        check(
            "demo.external_write",
            &format!(r#"{{"destination":"{}","content":""}}"#, "x".repeat(257)),
            &expect!["`destination` does not fit the rule `maxLength` 256"],
        );
        check(tool, r#"{"expression":"1"}"#, &expect![""]);
    }

    #[test]
    fn an_example_of_every_tool_fits_its_schema() {
        let toolbox = Toolbox::builtin().unwrap();
        for tool in toolbox.registry().latest() {
            let example = example(tool);
            let arguments = example.split_once(" '").unwrap().1.trim_end_matches('\'');
            assert!(tool.arguments(serde_json::from_str(arguments).unwrap()).is_ok(), "{example}");
        }
    }
}
