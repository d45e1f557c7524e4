//! `mast doctor`: what this machine has and what is missing, a line each. It says what is not there
//! yet as plainly as what is.

use std::path::Path;

use mast_kernel::policy::Overlay;
use serde_json::{Value, json};

use crate::assemble::{Reason, Start, block_on, choose, local_servers, open_to_look};
use crate::commands::journal::summary;
use crate::config::{Flags, masked};
use crate::error::{CliError, Exit};
use crate::output::Style;
use crate::output::layout::pad;

/// One line of the answer.
struct Finding {
    name: &'static str,
    good: bool,
    what: String,
    remedy: String,
}

impl Finding {
    fn good(name: &'static str, what: impl Into<String>) -> Self {
        Self { name, good: true, what: what.into(), remedy: String::new() }
    }

    fn with(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }

    fn bad(name: &'static str, error: &CliError) -> Self {
        Self { name, good: false, what: error.to_string(), remedy: error.hint() }
    }
}

/// Looks at everything and tells it.
///
/// # Errors
///
/// [`CliError`] when it cannot be told.
pub(crate) fn run(start: &Start) -> Result<Exit, CliError> {
    let findings = [
        model(start),
        policy(start),
        store(start),
        folder(&start.paths.data),
        Finding::good(
            "zones",
            format!("time zone database {}", mast_tools::builtin::system::zone::database_version()),
        ),
        Finding::good("sandbox", "not here yet").with("no tool of this version starts a program"),
        Finding::good("terminal", format!("{} columns", start.printer.width())),
    ];
    let printer = &start.printer;
    if printer.is_json() {
        let rows = findings.iter().map(|finding| {
            json!({"id": finding.name, "good": finding.good, "what": finding.what, "remedy": finding.remedy})
        });
        printer.result_json(&Value::Array(rows.collect()))?;
    } else {
        for finding in &findings {
            let style = if finding.good { Style::Plain } else { Style::Bad };
            let gap = if finding.remedy.is_empty() { "" } else { "   " };
            printer.result_line(&[
                (Style::Bold, &pad(finding.name, 10)),
                (style, &finding.what),
                (Style::Plain, gap),
                (Style::Dim, &finding.remedy),
            ])?;
        }
    }
    Ok(if findings.iter().all(|finding| finding.good) { Exit::Done } else { Exit::Failed })
}

fn model(start: &Start) -> Finding {
    let chosen = start.config(&Flags::new()).and_then(|config| {
        let chosen = choose(start, &config, false)?;
        chosen.build(&config, None)?;
        let model = chosen.model(&config).map(|model| format!(" {model}")).unwrap_or_default();
        Ok((chosen, model))
    });
    let (chosen, model) = match chosen {
        Ok(chosen) => chosen,
        Err(error) => return Finding::bad("model", &error),
    };
    if chosen.reason != Reason::Nothing {
        return Finding::good("model", format!("{}{model} · {}", chosen.preset.name, chosen.reason.said()));
    }
    let mut remedy = "set OPENAI_API_KEY or ANTHROPIC_API_KEY, or: mast config use NAME".to_owned();
    for server in local_servers() {
        remedy.push_str(&format!("; {} seems to answer here: mast config use {}", server.name, server.name));
    }
    Finding::good("model", "offline only").with(remedy)
}

fn policy(start: &Start) -> Finding {
    let found = start.config(&Flags::new()).and_then(|config| {
        let toolbox = mast_tools::Toolbox::builtin()?;
        crate::assemble::policy(start, &config, &toolbox)
    });
    match found {
        Err(error) => Finding::bad("policy", &error),
        Ok(policy) if policy.overlay() == Overlay::On => Finding::good("policy", policy.version()),
        Ok(policy) => {
            Finding::good("policy", policy.version()).with("the overlays are off: foreign text may act")
        }
    }
}

fn store(start: &Start) -> Finding {
    let path = start.paths.database();
    let checked = block_on(async {
        match open_to_look(start).await? {
            Some(store) => {
                Ok(Some(mast_store::verify::verify(&*store, mast_store::verify::Wanted::default()).await?))
            }
            None => Ok(None),
        }
    });
    let place = match start.server() {
        Ok(Some(url)) => masked(&url),
        _ => path.display().to_string(),
    };
    // What was committed lately stands in the log beside the database.
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |data| data.len());
    let size = (bytes(&path) + bytes(&path.with_extension("db-wal"))).div_ceil(1_024);
    let size = if place.contains("://") { "answers".to_owned() } else { format!("{size} KiB") };
    match checked {
        Ok(None) => Finding::good("store", format!("{place} (made at the first run)")),
        Ok(Some(report)) if report.is_sound() => {
            Finding::good("store", format!("{place} · {size} · {}", summary(&report)))
        }
        Ok(Some(report)) => Finding {
            name: "store",
            good: false,
            what: format!("{place} · {}", summary(&report)),
            remedy: "see: mast journal verify".to_owned(),
        },
        Err(error) => Finding::bad("store", &error),
    }
}

/// Whether the data folder is its owner's alone.
fn folder(path: &Path) -> Finding {
    #[cfg(unix)]
    if let Ok(data) = std::fs::metadata(path) {
        let mode = std::os::unix::fs::PermissionsExt::mode(&data.permissions()) & 0o777;
        let what = format!("{} · mode {mode:03o}", path.display());
        if mode & 0o077 != 0 {
            let remedy = format!("others can look into it: chmod 700 {}", path.display());
            return Finding { name: "folder", good: false, what, remedy };
        }
        return Finding::good("folder", what);
    }
    Finding::good("folder", format!("{} (made at the first run)", path.display()))
}
