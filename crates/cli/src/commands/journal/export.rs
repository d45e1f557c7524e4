//! `mast journal export`, `verify --file` and `key`: a journal for somebody who has only the public key.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use clap::Args;
use mast_kernel::event::Bytes;
use mast_kernel::id::SessionId;
use mast_store::Store;
use mast_store::export::{NotAnExport, Shown, check, write};
use mast_store::verify::all_sessions;
use serde_json::json;

use super::{PAGE, as_report, last_event, print_report};
use crate::assemble::{Start, open_store, open_to_look, signer};
use crate::commands::runs::nothing_yet;
use crate::error::{CliError, Exit};
use crate::ids::{Wanted, find};
use crate::output::layout::count;
use crate::output::{Printer, Style, raw};

/// Arguments of `mast journal export`.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Only this session; all of them when none is named
    session: Option<String>,
    /// Write to this new file instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Leave out this field of every event, such as `payload.declared`; the chain holds all the same
    #[arg(long, value_name = "FIELD")]
    withhold: Vec<String>,
}

/// Writes the export. The end of each session is signed first, so that nobody can leave it out unseen.
///
/// # Errors
///
/// [`CliError`] when there is nothing to export, or it cannot be written.
pub(super) async fn export(args: &ExportArgs, start: &Start) -> Result<Exit, CliError> {
    if open_to_look(start).await?.is_none() {
        return Err(nothing_yet());
    }
    let store = open_store(start).await?;
    let sessions = match &args.session {
        Some(text) => vec![find(&*store, text, Wanted::Either).await?.session()],
        None => all_sessions(&*store).await?,
    };
    sign_ends(&*store, &sessions, start).await?;
    let shown = Shown { withheld: args.withhold.clone() };
    let signer = signer(start)?;
    let n_events = match &args.out {
        None => {
            let mut out = raw();
            write(&*store, &sessions, &shown, &signer, &mut out).await
        }
        Some(path) => {
            let file = OpenOptions::new().write(true).create_new(true).open(path);
            let file = file.map_err(|error| CliError::file("cannot make the export", path, error))?;
            let mut out = BufWriter::new(file);
            let written = write(&*store, &sessions, &shown, &signer, &mut out).await;
            if written.is_err() {
                // Half an export is none; what cannot be removed has no last line, which tells it.
                drop(std::fs::remove_file(path));
            }
            written
        }
    };
    let n_events =
        n_events.map_err(|error| CliError::failed(error.to_string(), "see: mast journal verify"))?;
    let what = format!("{} of {}", count(n_events, "event"), count(sessions.len() as u64, "session"));
    let how = format!("check it anywhere: mast journal verify --file FILE --key {}", signer.public());
    start.printer.note(&[(Style::Dim, &format!("exported {what}   {how}"))]);
    Ok(Exit::Done)
}

/// Signs the end of each of these sessions that no head stands over yet.
async fn sign_ends(store: &dyn Store, sessions: &[SessionId], start: &Start) -> Result<(), CliError> {
    let (mut signed, mut after) = (BTreeMap::new(), 0);
    loop {
        let heads = store.heads(after, PAGE).await?;
        let Some(last) = heads.last() else { break };
        after = last.number;
        signed.extend(heads.iter().map(|head| (head.session, head.sequence)));
    }
    for session in sessions {
        if signed.get(session) != Some(&last_event(store, *session).await?) {
            store.sign_head(*session, start.world().clock.now()).await?;
        }
    }
    store.flush().await?;
    Ok(())
}

/// Checks an export, without any store.
///
/// # Errors
///
/// [`CliError`] when it cannot be read, or is none.
pub(super) fn verify_file(file: &Path, key: Option<&str>, printer: &Printer) -> Result<Exit, CliError> {
    let key = key.map(key_of).transpose()?;
    let opened = std::fs::File::open(file);
    let opened = opened.map_err(|error| CliError::file("cannot read the export", file, error))?;
    let found = check(&mut BufReader::new(opened), key).map_err(|error| {
        let hint = match error {
            NotAnExport::Version(_) => "check it with a newer mast",
            _ => "make one: mast journal export --out FILE",
        };
        CliError::failed(format!("{}: {error}", file.display()), hint)
    })?;
    if printer.is_json() {
        let mut report = as_report(&found.report);
        if let Some(fields) = report.as_object_mut() {
            fields.insert("key".to_owned(), json!(found.key));
        }
        printer.result_json(&report)?;
    } else {
        print_report(&found.report, printer)?;
        if key.is_none() {
            let text = format!(
                "signed with {}: whether that is the right key, only you can tell   give it: --key HEX",
                found.key
            );
            printer.note(&[(Style::Warn, &text)]);
        }
    }
    Ok(if found.report.is_sound() { Exit::Done } else { Exit::Failed })
}

/// The key that is written here, or in the file of this name.
fn key_of(text: &str) -> Result<Bytes<32>, CliError> {
    let written = match std::fs::read_to_string(text) {
        Ok(content) => content,
        Err(_) => text.to_owned(),
    };
    written.trim().parse().map_err(|_| {
        CliError::usage(
            format!("`{text}` is no public key, and no file with one"),
            "it is 64 hexadecimal digits, as mast journal key prints them",
        )
    })
}

/// Prints the public key.
///
/// # Errors
///
/// [`CliError`] when the key cannot be read.
pub(super) async fn key(start: &Start) -> Result<Exit, CliError> {
    if open_to_look(start).await?.is_none() {
        return Err(nothing_yet());
    }
    let key = signer(start)?.public();
    if start.printer.is_json() {
        start.printer.result_json(&json!({ "key": key }))?;
    } else {
        start.printer.result_line(&[(Style::Plain, &key.to_string())])?;
    }
    Ok(Exit::Done)
}
