//! `mast grants`: the yeses that reach further than one call, and taking one back.

use clap::{Args, Subcommand};
use mast_kernel::grant::GrantStatus;
use mast_store::{GrantFilter, GrantRow};
use serde_json::{Value, json};

use crate::assemble::{Start, block_on, local_authority, open_store, open_to_look, runtime};
use crate::commands::approvals::{not_taken, refuse_fixed_clock};
use crate::commands::runs::nothing_yet;
use crate::config::Flags;
use crate::error::{CliError, Exit};
use crate::ids::find_grant;
use crate::output::layout::table;
use crate::output::{Style, card};

/// Arguments of `mast grants`.
#[derive(Debug, Args)]
pub(crate) struct GrantsArgs {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List them, newest first
    List {
        /// List those that are over too
        #[arg(long)]
        all: bool,
    },
    /// Take one back
    Revoke {
        /// Its id, or an ending of it
        grant: String,
    },
}

/// Does what was asked of grants.
///
/// # Errors
///
/// [`CliError`] when there is no such grant, or it is over.
pub(crate) fn run(args: &GrantsArgs, start: &Start) -> Result<Exit, CliError> {
    block_on(async {
        match &args.verb {
            None => list(false, start).await,
            Some(Verb::List { all }) => list(*all, start).await,
            Some(Verb::Revoke { grant }) => revoke(grant, start).await,
        }
    })
}

async fn list(all: bool, start: &Start) -> Result<Exit, CliError> {
    let status = (!all).then_some(GrantStatus::Active);
    let now = start.world().clock.now();
    let mut grants = match open_to_look(start).await? {
        Some(store) => store.grants(&GrantFilter { status, ..GrantFilter::default() }).await?,
        None => Vec::new(),
    };
    grants.retain(|grant| all || now < grant.expires_at);
    let printer = &start.printer;
    if printer.is_json() {
        printer.result_json(&Value::Array(grants.iter().map(|grant| json!(grant)).collect()))?;
        return Ok(Exit::Done);
    }
    if grants.is_empty() {
        printer.note(&[(Style::Dim, "no grants   every call that must ask, asks")]);
    }
    let state = |grant: &GrantRow| match grant.status {
        GrantStatus::Active if now < grant.expires_at => {
            format!("until {}", card::until(grant.expires_at, now))
        }
        GrantStatus::Active => GrantStatus::Expired.to_string(),
        status => status.to_string(),
    };
    let rows: Vec<Vec<String>> = grants
        .iter()
        .map(|grant| {
            let used = format!("used {} of {}", grant.n_uses, grant.uses_max);
            let whose = match grant.reach {
                mast_kernel::event::Reach::Task => grant.run.to_string(),
                _ => grant.session.to_string(),
            };
            vec![grant.id.to_string(), grant.tool.clone(), grant.reach.to_string(), used, state(grant), whose]
        })
        .collect();
    for row in table(&rows, printer.columns()) {
        printer.result_line(&[(Style::Plain, &row)])?;
    }
    Ok(Exit::Done)
}

async fn revoke(text: &str, start: &Start) -> Result<Exit, CliError> {
    refuse_fixed_clock(start)?;
    if open_to_look(start).await?.is_none() {
        return Err(nothing_yet());
    }
    let config = start.config(&Flags::new())?;
    let runtime = runtime(start, &config, open_store(start).await?)?;
    let found = find_grant(&**runtime.store(), text).await?;
    let grant = runtime.revoke(found.id, &local_authority()).await.map_err(not_taken)?;
    let printer = &start.printer;
    if printer.is_json() {
        printer.result_json(&json!(grant))?;
    } else {
        let said = format!(" · {} · used {} times · {}", grant.tool, grant.n_uses, grant.id);
        printer.result_line(&[(Style::Good, "taken back"), (Style::Plain, &said)])?;
    }
    Ok(Exit::Done)
}
