//! Under which name this process holds its runs, and whether a process that holds one is still there: so a
//! run that was killed goes on at once, and not when its lease is over. On the same machine a name tells
//! that for certain; of any other process it is not known, and its lease is waited for.

/// The name of this process: the boot of the machine, the space of its process numbers, its number, and when
/// it began. No two processes have the same.
pub(crate) fn name() -> String {
    let number = std::process::id();
    here(number).unwrap_or_else(|| format!("process {number} elsewhere"))
}

/// Whether the process of this name was on this machine and is not there any more.
pub(crate) fn is_gone(name: &str) -> bool {
    let Some(number) = name.split(' ').nth(2).and_then(|number| number.parse().ok()) else { return false };
    let place = |name: &str| name.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
    let Some(this) = here(std::process::id()) else { return false };
    place(&this) == place(name) && here(number).as_deref() != Some(name)
}

/// The name of the process with this number; none where there is none, or the system does not say.
fn here(number: u32) -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let about = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The second field is a name in parentheses, in which anything may stand.
    let fields: Vec<&str> = about.get(about.rfind(')')? + 1..)?.split_whitespace().collect();
    let (state, began) = (fields.first()?, fields.get(19)?);
    if matches!(*state, "Z" | "X") {
        return None;
    }
    Some(format!("{} {} {number} {began}", boot.trim(), space.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_there_and_one_that_never_was_is_gone() {
        let this = name();
        assert!(!is_gone(&this));
        assert_eq!(this, name());
        let (place, began) = this.rsplit_once(' ').unwrap();
        assert!(is_gone(&format!("{place} {began}0")), "the number was given to another process since");
        let other_machine = this.replacen(&this[..8], "ffffffff", 1);
        assert!(!is_gone(&other_machine), "of another machine nothing is known");
        for strange in ["", "process 1 runtime 0", "a b c d"] {
            assert!(!is_gone(strange), "{strange}");
        }
    }
}
