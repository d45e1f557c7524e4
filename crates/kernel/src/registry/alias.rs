//! Aliases: other names that reach a tool, and how their arguments become the tool's own.

use serde_json::Value;

use crate::spec::Alias;

impl Alias {
    /// Whether a call under this alias with these arguments means this tool: always, unless the alias
    /// packs several actions, and then if the selecting argument has this tool's value.
    #[must_use]
    pub fn selects(&self, arguments: &Value) -> bool {
        self.action.as_ref().is_none_or(|(argument, value)| {
            arguments.get(argument).and_then(Value::as_str) == Some(value.as_str())
        })
    }

    /// Gives the arguments the tool's own names, and takes the selecting argument away.
    ///
    /// An argument whose new name is taken already stays as it is, and the schema then refuses the call:
    /// of two values for one argument none is the right one to drop.
    pub fn rename(&self, arguments: &mut Value) {
        let selected = self.selects(arguments);
        let Some(members) = arguments.as_object_mut() else { return };
        if let Some((argument, _)) = self.action.as_ref().filter(|_| selected) {
            members.shift_remove(argument);
        }
        let taken: Vec<(&String, &String, Value)> = self
            .arguments
            .iter()
            .filter(|(from, to)| from != to)
            .filter_map(|(from, to)| members.shift_remove(from).map(|value| (from, to, value)))
            .collect();
        for (from, to, value) in taken {
            let name = if members.contains_key(to) { from } else { to };
            members.insert(name.clone(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(alias: &Alias, mut arguments: Value, expect: &Value) {
        alias.rename(&mut arguments);
        assert_eq!(&arguments, expect);
    }

    fn alias(pairs: &[(&str, &str)], action: Option<(&str, &str)>) -> Alias {
        let owned = |(from, to): (&str, &str)| (from.to_owned(), to.to_owned());
        Alias {
            name: "other".to_owned(),
            arguments: pairs.iter().copied().map(owned).collect(),
            action: action.map(owned),
        }
    }

    #[test]
    fn arguments_get_the_names_of_the_tool() {
        let file = alias(&[("file_path", "path"), ("text", "content")], None);
        check(&file, json!({"file_path": "a", "text": "b"}), &json!({"path": "a", "content": "b"}));
        check(&file, json!({"path": "a"}), &json!({"path": "a"}));
        check(&file, json!({"unknown": 1}), &json!({"unknown": 1}));
        check(&file, json!([1]), &json!([1]));
    }

    #[test]
    fn two_values_for_one_argument_stay_two() {
        let file = alias(&[("file_path", "path")], None);
        check(&file, json!({"file_path": "a", "path": "b"}), &json!({"file_path": "a", "path": "b"}));
    }

    #[test]
    fn names_can_be_exchanged() {
        let swapped = alias(&[("a", "b"), ("b", "a")], None);
        check(&swapped, json!({"a": 1, "b": 2}), &json!({"a": 2, "b": 1}));
    }

    #[test]
    fn the_selecting_argument_goes_away_only_if_it_selected() {
        let kill = alias(&[("id", "job_id")], Some(("action", "kill")));
        assert!(kill.selects(&json!({"action": "kill"})));
        assert!(!kill.selects(&json!({"action": "list"})));
        assert!(!kill.selects(&json!({})));
        check(&kill, json!({"action": "kill", "id": "1"}), &json!({"job_id": "1"}));
        check(&kill, json!({"action": "list"}), &json!({"action": "list"}));
    }
}
