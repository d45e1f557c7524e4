//! From what a person noted of a head to the head: all of its digits, or so many of the first ones that
//! no other begins with them.

use mast_kernel::canonical::Digest;
use mast_store::{SessionFilter, Store};

use super::PAGE;
use crate::error::CliError;

/// Fewest digits of a head.
const DIGITS_MIN: usize = 8;

/// The digest that `text` stands for. One that is whole is not looked for: the check itself tells whether
/// the journal leads up to it.
///
/// # Errors
///
/// [`CliError`] when it is no head, when none or more than one begins with it, or when the store cannot be
/// read.
pub(super) async fn find(store: &dyn Store, text: &str) -> Result<Digest, CliError> {
    let digits = text.trim_end_matches('…').to_ascii_lowercase();
    if let Ok(whole) = Digest::from_hex(&digits) {
        return Ok(whole);
    }
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || !(DIGITS_MIN..64).contains(&digits.len()) {
        return Err(CliError::usage(
            format!("`{text}` is not a head"),
            "it is 64 hexadecimal digits, or the first 8 of them or more, as mast journal show prints them",
        ));
    }
    let mut found = beginning(store, &digits).await?;
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [only] => Ok(*only),
        [] => Err(CliError::failed(
            format!("broken · no head or event of this journal begins with {digits}"),
            "its end was dropped or replaced, or the head is of another journal",
        )),
        _ => Err(CliError::usage(format!("more than one head begins with {digits}"), "write more of it")),
    }
}

/// Every head and every event whose digest begins so.
async fn beginning(store: &dyn Store, digits: &str) -> Result<Vec<Digest>, CliError> {
    let fits = |digest: &Digest| digest.to_hex().starts_with(digits);
    let mut found = Vec::new();
    let mut after = 0;
    loop {
        let page = store.heads(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.number;
        found.extend(page.iter().map(mast_kernel::event::Head::digest).filter(fits));
    }
    for session in store.sessions(&SessionFilter::default()).await? {
        let mut after = 0;
        loop {
            let page = store.events(session.id, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.sequence;
            found.extend(page.iter().map(|event| event.hash).filter(fits));
        }
    }
    Ok(found)
}
