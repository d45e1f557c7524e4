//! What somebody may have meant by a name that nothing has. A person who types is helped further than a
//! model: also a part of a name is taken for the whole. Nothing is ever done under a guessed name.

use mast_kernel::name;

/// Most names that are offered instead.
const NAMES_MAX: usize = 3;

/// Fewest characters that are looked for inside a name: shorter ones are in too many.
const PART_CHARS_MIN: usize = 3;

/// The known names that are near to `wanted`: those with few letters exchanged, or else those that begin
/// with it or contain it.
pub(crate) fn near<'n>(wanted: &str, known: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = name::nearest(wanted, known.iter().copied());
    let part = wanted.to_ascii_lowercase().replace(['-', '_'], ".");
    if !nearest.is_empty() || part.chars().count() < PART_CHARS_MIN {
        return nearest;
    }
    let mut found: Vec<&str> =
        known.into_iter().filter(|name| name.replace(['-', '_'], ".").contains(&part)).collect();
    found.sort_by_key(|name| !name.starts_with(wanted));
    found.truncate(NAMES_MAX);
    found
}

/// `did you mean math.calculate?`, or nothing where no name is near.
pub(crate) fn did_you_mean<'n>(wanted: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    match near(wanted, known).split_last()? {
        (only, []) => Some(format!("did you mean {only}?")),
        (last, others) => Some(format!("did you mean {} or {last}?", others.join(", "))),
    }
}

/// `no tool named …`, with the names that are near.
pub(crate) fn unknown<'n>(what: &str, wanted: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    let meant = did_you_mean(wanted, known).map(|meant| format!(" ({meant})")).unwrap_or_default();
    format!("no {what} named `{wanted}`{meant}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_teaches_the_right_one() {
        let known = ["math.calculate", "system.current_time", "mcp.a.read", "mcp.a.ready"];
        let check = |wanted: &str, expect: &str| assert_eq!(unknown("tool", wanted, known), expect);
        check("math.calcualte", "no tool named `math.calcualte` (did you mean math.calculate?)");
        check("math.calc", "no tool named `math.calc` (did you mean math.calculate?)");
        check("current-time", "no tool named `current-time` (did you mean system.current_time?)");
        check("mcp.a", "no tool named `mcp.a` (did you mean mcp.a.read or mcp.a.ready?)");
        check("zzzzzzzzzzz", "no tool named `zzzzzzzzzzz`");
        check("ma", "no tool named `ma`");
    }
}
