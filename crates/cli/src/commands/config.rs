//! `mast config`: which settings hold and why, and the few that are changed often.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use clap::{Args, Subcommand};
use mast_provider::Need;
use serde_json::{Value, json};

use crate::assemble::Start;
use crate::config::{
    Flags, KEY_BYTES_MAX, PRESETS, Preset, SETTINGS, Source, commented, key_for, masked, parse, preset, read,
    store_key, with_values,
};
use crate::error::{CliError, Exit};
use crate::names::unknown;
use crate::output::Style;
use crate::output::layout::table;

/// Arguments of `mast config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show every setting with the source of its value
    Show,
    /// Print where the settings file is
    Path,
    /// Write a settings file with every setting as a comment
    Init,
    /// Store the key of a model service; it is read from the terminal or from stdin
    Key {
        /// The service, such as `openai`
        service: String,
    },
    /// Let this model service answer from now on
    Use {
        /// The service, such as `ollama`
        service: String,
        /// The model
        #[arg(long)]
        model: Option<String>,
    },
}

/// Shows or changes the settings.
///
/// # Errors
///
/// [`CliError`] when the settings are refused, or a file cannot be read or written.
pub(crate) fn run(args: &ConfigArgs, start: &Start) -> Result<Exit, CliError> {
    match &args.verb {
        Verb::Show => show(start)?,
        Verb::Path => path(start)?,
        Verb::Init => init(start)?,
        Verb::Key { service } => key(known(service)?, start)?,
        Verb::Use { service, model } => choose(known(service)?, model.as_deref(), start)?,
    }
    Ok(Exit::Done)
}

fn show(start: &Start) -> Result<(), CliError> {
    let config = start.config(&Flags::new())?;
    let printer = &start.printer;
    let file = start.paths.config.display().to_string();
    let shown = |key: &str| {
        let Some((value, source)) = config.get(key) else { return (None, "not set".to_owned()) };
        let value = value.to_string();
        let is_address = ["provider.base_url", "store.url"].contains(&key);
        let value = if is_address { masked(&value) } else { value };
        let source = match source {
            Source::Default => "default".to_owned(),
            Source::File(line) => format!("{file}:{line}"),
            Source::Variable(name) => format!("environment {name}"),
            Source::Flag(name) => format!("flag {name}"),
        };
        (Some(value), source)
    };
    if printer.is_json() {
        let rows = SETTINGS.iter().map(|setting| {
            let (value, source) = shown(setting.key);
            json!({"id": setting.key, "value": value, "source": source, "variable": setting.variable})
        });
        return printer.result_json(&Value::Array(rows.collect()));
    }
    let rows: Vec<Vec<String>> = SETTINGS
        .iter()
        .map(|setting| {
            let (value, source) = shown(setting.key);
            vec![setting.key.to_owned(), value.unwrap_or_else(|| "–".to_owned()), source]
        })
        .collect();
    for row in table(&rows, printer.columns()) {
        printer.result_line(&[(Style::Plain, &row)])?;
    }
    Ok(())
}

fn path(start: &Start) -> Result<(), CliError> {
    let path = start.paths.config.display().to_string();
    if start.printer.is_json() {
        return start.printer.result_json(&json!({"config": path, "data_dir": start.paths.data}));
    }
    start.printer.result_line(&[(Style::Plain, &path)])
}

fn init(start: &Start) -> Result<(), CliError> {
    let path = &start.paths.config;
    if path.exists() {
        let message = format!("{} is there already", path.display());
        return Err(CliError::failed(
            message,
            "to set a service in it: mast config use NAME; what holds: mast config show; for a new one move it away",
        ));
    }
    write(path, &commented())?;
    let said = format!("wrote {}", path.display());
    start.printer.note(&[
        (Style::Good, &said),
        (Style::Dim, "   every line in it is a comment; next: mast config use NAME"),
    ]);
    Ok(())
}

/// The key is never an argument: those stand in the shell's history and in the list of processes.
fn key(service: &Preset, start: &Start) -> Result<(), CliError> {
    let Some(variable) = service.key_variable else {
        return Err(CliError::usage(format!("{} takes no key", service.name), "see: mast config show"));
    };
    let failed = |source| CliError::Stream { what: "cannot read the key", source };
    let key = if std::io::stdin().is_terminal() {
        let asked = format!("key of {} (not shown): ", service.name);
        start.printer.question(&asked);
        console::Term::stderr().read_secure_line().map_err(failed)?
    } else {
        let limit = u64::try_from(KEY_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
        let mut text = String::new();
        std::io::stdin().lock().take(limit).read_to_string(&mut text).map_err(failed)?;
        text
    };
    let key = key.trim();
    if key.is_empty() || key.contains(char::is_whitespace) || key.len() > KEY_BYTES_MAX {
        let message = "that is not a key: it is one word of at most 4096 bytes";
        return Err(CliError::usage(message, format!("or set {variable}")));
    }
    store_key(service, &start.paths, key)?;
    let said = format!("stored the key of {}", service.name);
    start.printer.note(&[
        (Style::Good, &said),
        (Style::Dim, &format!("   {variable} in the environment wins over it")),
    ]);
    Ok(())
}

fn choose(service: &Preset, model: Option<&str>, start: &Start) -> Result<(), CliError> {
    if service.name == "scripted" {
        return Err(CliError::usage("a script is for single runs", "mast run --script FILE"));
    }
    let path = &start.paths.config;
    let text = read(path)?.unwrap_or_default();
    let holds = parse(path, &text)?;
    let held = |key: &str| holds.get(key).map(|(value, _)| value.to_string());
    // Choosing the service that is chosen already takes nothing from it.
    let is_same = held("provider.name").as_deref() == Some(service.name);
    let kept = |key: &str| held(key).filter(|_| is_same);
    let model = model.map(str::to_owned).or_else(|| kept("provider.model"));
    let usual = || service.local_port.and(service.base_url).map(str::to_owned);
    let values = [
        ("model", model.clone()),
        ("base_url", kept("provider.base_url").or_else(usual)),
        ("name", Some(service.name.to_owned())),
    ];
    write(path, &with_values(path, &text, "provider", &values)?)?;
    let missing = missing(service, model.as_deref(), start)?;
    if missing.is_empty() {
        let said = format!("{} answers from now on", service.name);
        start.printer.note(&[(Style::Good, &said)]);
        return Ok(());
    }
    let said = format!("{} is chosen, and cannot answer yet", service.name);
    start.printer.note(&[(Style::Warn, &said), (Style::Plain, &format!("   {}", missing.join("; ")))]);
    Ok(())
}

/// What a service still needs before it can answer, and how to give it.
fn missing(service: &Preset, model: Option<&str>, start: &Start) -> Result<Vec<String>, CliError> {
    let mut missing = Vec::new();
    let entry = mast_provider::entry(service.protocol);
    let has_usual = service.model.is_some() || entry.is_none_or(|entry| !entry.needs.contains(&Need::Model));
    if model.is_none() && !has_usual {
        missing.push(format!("name its model: mast config use {} --model NAME", service.name));
    }
    if service.needs_key && key_for(service, &start.paths, &start.environment)?.is_none() {
        missing.push(format!("give it its key: mast config key {}", service.name));
    }
    Ok(missing)
}

fn known(name: &str) -> Result<&'static Preset, CliError> {
    preset(name).ok_or_else(|| {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        CliError::usage(
            unknown("model service", name, names.iter().copied()),
            format!("known: {}", names.join(", ")),
        )
    })
}

/// Writes the settings file, whole or not at all.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let failed = |error| CliError::file("cannot write", path, error);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| CliError::file("cannot make the folder", folder, error))?;
    }
    let new = path.with_extension("toml.new");
    std::fs::write(&new, text).map_err(failed)?;
    std::fs::rename(&new, path).map_err(failed)
}
