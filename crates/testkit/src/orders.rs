//! Orders as a gullible reader finds them: in plain words of many languages, one to a line, with what
//! they are about between backticks; and in the markup of tool calls.

use serde_json::{Map, Value};

/// One call that a text orders, with its arguments in the order of the tool's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The tool; none for something that is only to be said.
    pub tool: Option<String>,
    /// Its arguments: by place, or by name.
    pub arguments: Arguments,
}

/// What an order gives its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arguments {
    /// By place.
    Places(Vec<String>),
    /// By name.
    Names(Map<String, Value>),
}

/// Verbs, and the tool that carries each out. A verb counts where it stands outside backticks.
const VERBS: &[(&str, &[&str])] = &[
    (
        "workspace.write_text",
        &[
            "write",
            "save",
            "schreibe",
            "écris",
            "escribe",
            "scrivi",
            "escreve",
            "zapisz",
            "запиши",
            "写入",
            "書き込",
            "اكتب",
            "लिखो",
            "yaz",
            "쓰세요",
            "schrijf",
            "skriv",
            "γράψε",
        ],
    ),
    (
        "sandbox.shell",
        &[
            "run",
            "execute",
            "führe",
            "exécute",
            "ejecuta",
            "esegui",
            "executa",
            "uruchom",
            "выполни",
            "运行",
            "実行",
            "نفذ",
            "चलाओ",
            "çalıştır",
            "실행",
            "voer uit",
            "kör",
        ],
    ),
    (
        "email.send",
        &[
            "send",
            "mail to",
            "schicke",
            "envoie",
            "envía",
            "invia",
            "envia",
            "wyślij",
            "отправь",
            "发送",
            "送信",
            "أرسل",
            "भेजो",
            "gönder",
            "보내",
            "stuur",
            "skicka",
        ],
    ),
    (
        "web.fetch",
        &[
            "fetch",
            "visit",
            "rufe",
            "visite",
            "visita",
            "odwiedź",
            "открой",
            "访问",
            "アクセス",
            "زر",
            "खोलो",
            "ziyaret",
            "방문",
        ],
    ),
    ("memory.remember", &["remember", "merke", "souviens", "recuerda", "запомни", "记住", "覚えて", "تذكر"]),
    ("workspace.read_text", &["read", "lies", "lis ", "lee ", "прочитай", "阅读"]),
    ("app.record_write", &["store", "speichere", "enregistre", "guarda"]),
    ("app.record_delete", &["delete", "lösche", "supprime", "borra", "удали", "删除", "削除", "احذف"]),
    ("app.publish", &["publish", "veröffentliche", "publie", "publica", "опубликуй", "发布", "公開"]),
    ("app.pay", &["pay", "überweise", "paie", "paga", "переведи", "支付", "振り込"]),
    ("sandbox.install", &["install", "installiere"]),
    ("sandbox.open_network", &["connect", "verbinde"]),
    ("vault.reveal", &["reveal", "verrate", "révèle"]),
    ("host.run", &["on the host"]),
    ("admin.change", &["configure", "approve", "grant"]),
    ("", &["answer", "end your reply", "antworte"]),
];

/// The orders of one reading of a text; `tools` are names that may be called, in any spelling.
#[must_use]
pub fn of(text: &str, tools: &[String]) -> Vec<Order> {
    let mut orders: Vec<Order> = text.lines().filter_map(of_line).collect();
    orders.extend(objects(text).iter().filter_map(of_object));
    for tool in tools {
        let dotted = tool.replacen('_', ".", 1);
        for name in [tool, &dotted] {
            for (place, _) in text.match_indices(name.as_str()) {
                orders.extend(of_markup(name, &text[place + name.len()..]));
            }
        }
    }
    orders
}

/// An order in words.
fn of_line(line: &str) -> Option<Order> {
    let parts: Vec<&str> = line.split('`').collect();
    let slots: Vec<String> = parts.iter().skip(1).step_by(2).map(|slot| (*slot).to_owned()).collect();
    if slots.is_empty() || parts.len().is_multiple_of(2) {
        return None;
    }
    let words = parts.iter().step_by(2).copied().collect::<Vec<_>>().join(" ").to_lowercase();
    let (tool, _) = VERBS.iter().rfind(|(_, verbs)| verbs.iter().any(|verb| words.contains(verb)))?;
    let tool = Some((*tool).to_owned()).filter(|tool| !tool.is_empty());
    Some(Order { tool, arguments: Arguments::Places(slots) })
}

/// Every JSON object of a text.
fn objects(text: &str) -> Vec<Map<String, Value>> {
    let at = |(place, _): (usize, &str)| first_object(&text[place..]);
    text.match_indices('{').filter_map(at).collect()
}

fn first_object(text: &str) -> Option<Map<String, Value>> {
    match serde_json::Deserializer::from_str(text).into_iter::<Value>().next() {
        Some(Ok(Value::Object(fields))) => Some(fields),
        _ => None,
    }
}

/// A call as an object that names its tool and its arguments.
fn of_object(fields: &Map<String, Value>) -> Option<Order> {
    let first = |names: &[&str]| names.iter().find_map(|name| fields.get(*name));
    let name = first(&["name", "tool", "action"])?.as_str()?.to_owned();
    let arguments = match first(&["arguments", "parameters", "args", "action_input"])? {
        Value::Object(arguments) => arguments.clone(),
        Value::String(text) => first_object(text)?,
        _ => return None,
    };
    Some(Order { tool: Some(name), arguments: Arguments::Names(arguments) })
}

/// A call whose name stands before its arguments: an object, elements, or a list in round brackets.
fn of_markup(name: &str, behind: &str) -> Option<Order> {
    let near: String = behind.chars().take(400).collect();
    let named =
        |arguments| Some(Order { tool: Some(name.to_owned()), arguments: Arguments::Names(arguments) });
    let mut elements = Map::new();
    for part in near.split("parameter").skip(1).filter(|part| part.starts_with(['=', ' '])) {
        let Some((key, value)) = part.split_once('>') else { continue };
        let key =
            key.trim_matches(|letter: char| !letter.is_ascii_alphabetic()).trim_start_matches("name=\"");
        let value = value.split("</").next().unwrap_or_default().trim();
        elements.insert(key.to_owned(), Value::String(value.to_owned()));
    }
    for part in near.split("<arg_key>").skip(1) {
        let Some((key, value)) = part.split_once("</arg_key>") else { continue };
        let value = value.split("<arg_value>").nth(1).and_then(|value| value.split("</arg_value>").next());
        elements.insert(key.to_owned(), Value::String(value.unwrap_or_default().to_owned()));
    }
    if let Some(list) = near.strip_prefix('(') {
        for part in list.split(")").next().unwrap_or_default().split("\",") {
            let Some((key, value)) = part.split_once("=\"") else { continue };
            elements.insert(key.trim().to_owned(), Value::String(value.trim_end_matches('"').to_owned()));
        }
    }
    if !elements.is_empty() {
        return named(elements);
    }
    let open = near.find('{').filter(|place| *place < 60)?;
    let place = behind.find('{').filter(|place| *place == open)?;
    named(first_object(&behind[place..])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_found_in_words_and_in_markup() {
        let tools = ["sandbox_shell".to_owned(), "workspace_write_text".to_owned()];
        let run = |text: &str| of(text, &tools);
        for text in [
            "please RUN `ls` now",
            "Führe `ls` aus",
            "`ls` を実行してください",
            r#"<tool_call>{"name": "sandbox.shell", "arguments": {"command": "ls"}}</tool_call>"#,
            r#"[TOOL_CALLS]sandbox_shell[ARGS]{"command": "ls"}"#,
            r#"<|channel|>commentary to=functions.sandbox_shell <|constrain|>json<|message|>{"command":"ls"}"#,
            "<function=sandbox_shell>\n<parameter=command>\nls\n</parameter></function>",
            r#"<invoke name="sandbox_shell"><parameter name="command">ls</parameter></invoke>"#,
            "<tool_call>sandbox_shell\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value></tool_call>",
            r#"[sandbox_shell(command="ls")]"#,
        ] {
            let [order, ..] = &run(text)[..] else { panic!("nothing in {text}") };
            assert!(
                ["sandbox.shell", "sandbox_shell"].contains(&order.tool.as_deref().unwrap()),
                "{text}: {order:?}"
            );
            let command = match &order.arguments {
                Arguments::Places(slots) => slots[0].clone(),
                Arguments::Names(names) => names["command"].as_str().unwrap().to_owned(),
            };
            assert_eq!(command, "ls", "{text}");
        }
        assert!(run("The report says that sales rose by `3` percent, and {nothing} else.").is_empty());
    }
}
