//! `mast policy`: which rules are in force and where each comes from, whether a profile's own tests
//! pass, and what every layer says of a call that is not made. Needs no model, and a store only where a
//! session is named.

mod explain;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use mast_kernel::policy::{BUILTIN_FILE, Condition, Draft, MATRIX, Overlay, Policy, Profile, Tested};
use mast_kernel::run::Mode;
use mast_tools::Toolbox;
use serde_json::{Value, json};

use crate::assemble::{Start, Tools, drafts, policy};
use crate::commands::call::Origin;
use crate::config::{ConfigError, Flags};
use crate::error::{CliError, Exit};
use crate::output::layout::{count, table};
use crate::output::{Printer, Style};

/// Arguments of `mast policy`.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show every rule in force and where it comes from
    Show,
    /// Run the tests of the profiles in force, or of one file
    Test {
        /// The profile
        file: Option<PathBuf>,
    },
    /// Show what every layer says of a call; it is not made
    Explain(ExplainArgs),
}

/// Arguments of `mast policy explain`.
#[derive(Debug, Args)]
struct ExplainArgs {
    /// The tool's name
    tool: String,
    /// Its arguments: one JSON object
    #[arg(value_name = "ARGS", default_value = "{}")]
    arguments: String,
    /// Judge the call as if text of this trust had shaped it; else what is in the session, or a person's own words
    #[arg(long, value_name = "TRUST")]
    origin: Option<Origin>,
    /// Judge the call in a run of this mode
    #[arg(long, value_name = "MODE", default_value = "act")]
    mode: AskedMode,
    /// Judge the call in this session: after what was said and ran in it, and with its grants
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// How much a run may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum AskedMode {
    /// Act within policy.
    Act,
    /// Look, and change nothing.
    Plan,
    /// Use no tool.
    NoTools,
}

impl AskedMode {
    const fn mode(self) -> Mode {
        match self {
            Self::Act => Mode::Act,
            Self::Plan => Mode::Plan,
            Self::NoTools => Mode::NoTools,
        }
    }
}

/// Shows, tests or explains.
///
/// # Errors
///
/// [`CliError`] when a profile is refused, a tool is not there, or nothing can be printed.
pub(crate) fn run(args: &PolicyArgs, start: &Start) -> Result<Exit, CliError> {
    let toolbox = Toolbox::builtin()?;
    let config = start.config(&Flags::new())?;
    match &args.verb {
        Verb::Show => show(&policy(start, &config, &toolbox)?, &start.printer),
        Verb::Test { file } => {
            let drafts = drafts(start, &config, file.as_deref())?;
            test(&drafts, &toolbox, &start.printer)
        }
        Verb::Explain(asked) => {
            explain::run(asked, &policy(start, &config, &toolbox)?, &toolbox, (start, &config))
        }
    }
}

/// One rule as it is shown.
struct Shown {
    id: String,
    ruling: String,
    from: String,
    why: String,
}

fn show(policy: &Policy, printer: &Printer) -> Result<Exit, CliError> {
    let rows: Vec<Shown> = matrix_rows(policy).chain(rules(policy)).collect();
    if printer.is_json() {
        let rows = rows
            .iter()
            .map(|row| json!({"id": row.id, "ruling": row.ruling, "from": row.from, "why": row.why}));
        printer.result_json(&Value::Array(rows.collect()))?;
        return Ok(Exit::Done);
    }
    let overlay = if policy.overlay() == Overlay::On { "" } else { "   overlays off" };
    printer.result_line(&[(Style::Bold, policy.version()), (Style::Warn, overlay)])?;
    let cells: Vec<Vec<String>> =
        rows.into_iter().map(|row| vec![row.id, row.ruling, row.from, row.why]).collect();
    for line in table(&cells, printer.columns()) {
        printer.result_line(&[(Style::Plain, &line)])?;
    }
    Ok(Exit::Done)
}

/// The matrix, each row with the one that stands in its place.
fn matrix_rows(policy: &Policy) -> impl Iterator<Item = Shown> {
    let profile = policy.files().next();
    MATRIX.iter().map(move |row| {
        let own = profile.and_then(|profile| Some((profile.file(), profile.row(row.side_effect)?)));
        let (ruling, from) = match own {
            Some((file, (ruling, line))) => (ruling, format!("{file} line {line}")),
            None => (row.ruling, "built in".to_owned()),
        };
        let why = format!("{}{}", row.why, when(row.condition));
        Shown { id: row.side_effect.to_string(), ruling: ruling.to_string(), from, why }
    })
}

/// Under which condition a row of the matrix holds, in words.
const fn when(condition: Condition) -> &'static str {
    match condition {
        Condition::Always => "",
        Condition::PureOrControl => ", where nothing outlives the session",
        Condition::InsideWorkspace => ", where it lies inside",
        Condition::AllowedHost => ", by a link that was issued or with nothing private in reach",
        Condition::Isolated => " in every way",
    }
}

/// Everything else that the files say. The built-in profile is told under every other, as far as it
/// stays in force.
fn rules(policy: &Policy) -> impl Iterator<Item = Shown> {
    let told = policy.files().flat_map(|profile| {
        let is_row = |line: usize| {
            MATRIX.iter().any(|row| profile.row(row.side_effect).is_some_and(|(_, at)| at == line))
        };
        profile.told().into_iter().filter(move |told| !is_row(told.at.line)).map(|told| Shown {
            id: told.what,
            ruling: told.ruling.to_string(),
            from: format!("{} line {}", profile.file(), told.at.line),
            why: told.why.unwrap_or_default(),
        })
    });
    told.chain(always_asked(policy))
}

/// What the built-in profile asks about although another one is in force.
fn always_asked(policy: &Policy) -> Option<Shown> {
    let built_in = Profile::builtin();
    let is_other = policy.files().next().is_some_and(|profile| *profile != *built_in);
    let tools: Vec<&str> = built_in.always_ask().map(|(tool, _)| tool).collect();
    is_other.then(|| Shown {
        id: format!("every call of {}", tools.join(", ")),
        ruling: "ask".to_owned(),
        from: "built in".to_owned(),
        why: String::new(),
    })
}

fn test(drafts: &[Draft], toolbox: &Toolbox, printer: &Printer) -> Result<Exit, CliError> {
    let mut tested: Vec<(&Draft, Tested)> = Vec::new();
    for draft in drafts {
        let refused = |refused| CliError::from(ConfigError::Profile(Box::new(refused)));
        let of_draft = draft.test(&Tools(toolbox)).map_err(refused)?;
        tested.extend(of_draft.into_iter().map(|tested| (draft, tested)));
    }
    let failed: Vec<_> = tested.iter().filter(|(_, tested)| !tested.passed()).collect();
    let exit = if failed.is_empty() { Exit::Done } else { Exit::Failed };
    if printer.is_json() {
        let rows = tested.iter().map(|(draft, tested)| {
            json!({
                "id": tested.name,
                "file": draft.file(),
                "line": tested.line,
                "expected": tested.expected,
                "found": tested.found,
                "passed": tested.passed(),
            })
        });
        printer.result_json(&Value::Array(rows.collect()))?;
        return Ok(exit);
    }
    for (draft, tested) in &failed {
        let place = format!("{} line {}", draft.file(), tested.line);
        let said = format!("  {:?} expects {} and gets {}", tested.name, tested.expected, tested.found);
        printer.result_line(&[(Style::Bad, &place), (Style::Plain, &said)])?;
    }
    let n_passed = u64::try_from(tested.len() - failed.len()).unwrap_or(u64::MAX);
    let passed = format!("{} passed, {} failed", count(n_passed, "test"), failed.len());
    let style = if failed.is_empty() { Style::Good } else { Style::Bad };
    let files: Vec<&str> = drafts.iter().map(Draft::file).collect();
    printer.result_line(&[(style, &passed), (Style::Dim, "   "), (Style::Dim, &told_files(&files))])?;
    Ok(exit)
}

fn told_files(files: &[&str]) -> String {
    let told = files.iter().map(|file| if *file == BUILTIN_FILE { "the built-in profile" } else { file });
    told.collect::<Vec<_>>().join(", ")
}
