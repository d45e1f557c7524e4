//! `mast tools`: every tool that a model can be offered, and all that is declared of one. Needs neither
//! a store nor a model.

use clap::{Args, Subcommand};
use mast_kernel::registry::Registered;
use mast_kernel::scope::Scope;
use mast_kernel::spec::ToolSpec;
use mast_tools::Toolbox;
use serde_json::{Value, json};

use crate::error::{CliError, Exit};
use crate::names::unknown;
use crate::output::layout::table;
use crate::output::{Printer, Style};

/// Arguments of `mast tools`.
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Write the reference of all tools as Markdown
    #[arg(long)]
    markdown: bool,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the tools
    List,
    /// Show one tool: its classification, its schema and its manual
    Show {
        /// The tool's name, or an alias
        name: String,
    },
}

/// Prints the tools.
///
/// # Errors
///
/// [`CliError`] when there is no such tool, or it cannot be printed.
pub(crate) fn run(args: &ToolsArgs, printer: &Printer) -> Result<Exit, CliError> {
    let toolbox = Toolbox::builtin()?;
    match &args.verb {
        Some(Verb::Show { name }) => show(name, &toolbox, printer)?,
        _ if args.markdown => printer.result(&markdown(&toolbox))?,
        Some(Verb::List) | None => list(&toolbox, printer)?,
    }
    Ok(Exit::Done)
}

fn list(toolbox: &Toolbox, printer: &Printer) -> Result<(), CliError> {
    let tools = toolbox.registry().latest();
    if printer.is_json() {
        return printer.result_json(&Value::Array(tools.map(as_json).collect()));
    }
    let rows: Vec<Vec<String>> = tools
        .map(|tool| {
            let spec = &tool.spec;
            let effect = format!("{} · {}", spec.side_effect, spec.risk);
            vec![spec.name.clone(), spec.version.clone(), effect, first_sentence(&spec.description)]
        })
        .collect();
    for row in table(&rows, printer.columns()) {
        printer.result_line(&[(Style::Plain, &row)])?;
    }
    Ok(())
}

fn show(name: &str, toolbox: &Toolbox, printer: &Printer) -> Result<(), CliError> {
    let registry = toolbox.registry();
    let Some(resolved) = registry.resolve(name) else {
        let known = registry.latest().map(|tool| tool.spec.name.as_str());
        return Err(CliError::usage(unknown("tool", name, known), "see: mast tools"));
    };
    let tool = resolved.tool;
    if printer.is_json() {
        return printer.result_json(&as_json(tool));
    }
    printer.result_line(&[
        (Style::Bold, &tool.spec.name),
        (Style::Dim, " "),
        (Style::Dim, &tool.spec.version),
    ])?;
    for row in table(&facts(tool), printer.columns()) {
        printer.result_line(&[(Style::Plain, &row)])?;
    }
    printer.result(&format!(
        "\n{}\n\narguments\n{}",
        tool.spec.description,
        pretty(&tool.spec.input_schema)
    ))?;
    if let Some(output) = &tool.spec.output_schema {
        printer.result(&format!("\nresult\n{}", pretty(output)))?;
    }
    let manual = manual(toolbox, &tool.spec);
    if manual.is_empty() { Ok(()) } else { printer.result(&format!("\nmanual\n{manual}")) }
}

/// The whole declaration, with its name as `id`, and the definition pin.
fn as_json(tool: &Registered) -> Value {
    let mut value = json!({"id": tool.spec.name});
    let declared = serde_json::to_value(&tool.spec).unwrap_or_default();
    if let (Some(fields), Value::Object(declared)) = (value.as_object_mut(), declared) {
        fields.extend(declared);
        fields.insert("pin".to_owned(), json!(tool.pin));
    }
    value
}

/// What is declared of a tool, besides its schemas: names and values.
fn facts(tool: &Registered) -> Vec<Vec<String>> {
    let spec = &tool.spec;
    let list = |items: Vec<&str>| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
    let parallel = if spec.allow_parallel { "may run beside others" } else { "runs alone" };
    [
        ("effect", format!("{} · risk {} · {}", spec.side_effect, spec.risk, spec.idempotency)),
        ("needs", list(spec.required_scopes.iter().map(Scope::as_str).collect())),
        ("result", format!("{} · {}", spec.output_trust.as_str(), spec.output_sensitivity.as_str())),
        ("limits", format!("{} s · {} bytes · {parallel}", spec.timeout_seconds, spec.maximum_output_bytes)),
        ("runs in", format!("{} · {}", spec.target_kind, spec.source)),
        ("sends", spec.egress.to_string()),
        ("aliases", list(spec.aliases.iter().map(|alias| alias.name.as_str()).collect())),
        ("pin", tool.pin.to_string()),
    ]
    .map(|(name, value)| vec![name.to_owned(), value])
    .to_vec()
}

/// The manual page: what the tool's own file says first.
fn manual(toolbox: &Toolbox, spec: &ToolSpec) -> String {
    toolbox.body(&spec.name, &spec.version).map(|body| body.manual()).unwrap_or_default()
}

fn first_sentence(text: &str) -> String {
    text.split_once(". ").map_or_else(|| text.to_owned(), |(first, _)| format!("{first}."))
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// The reference of all tools.
fn markdown(toolbox: &Toolbox) -> String {
    let mut text =
        String::from("# Tools\n\nMade by `cargo xtask bless` from the declarations of the tools.\n");
    for tool in toolbox.registry().latest() {
        let spec = &tool.spec;
        text.push_str(&format!(
            "\n## `{}` {}\n\n{}\n\n| | |\n|---|---|\n",
            spec.name, spec.version, spec.description
        ));
        for fact in facts(tool) {
            text.push_str(&format!("| {} |\n", fact.join(" | ")));
        }
        text.push_str(&format!("\nArguments:\n\n```json\n{}\n```\n", pretty(&spec.input_schema)));
        if let Some(output) = &spec.output_schema {
            text.push_str(&format!("\nResult:\n\n```json\n{}\n```\n", pretty(output)));
        }
        let manual = manual(toolbox, spec);
        if !manual.is_empty() {
            text.push_str(&format!("\n{manual}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_up_to_date() {
        let toolbox = Toolbox::builtin().unwrap();
        expect_test::expect_file!["../../../../docs/tools.md"].assert_eq(&markdown(&toolbox));
    }

    #[test]
    fn the_reference_has_every_tool() {
        let toolbox = Toolbox::builtin().unwrap();
        let text = markdown(&toolbox);
        for tool in toolbox.registry().latest() {
            assert!(text.contains(&format!("\n## `{}` ", tool.spec.name)), "{}", tool.spec.name);
            assert!(!manual(&toolbox, &tool.spec).is_empty(), "{}", tool.spec.name);
        }
    }
}
