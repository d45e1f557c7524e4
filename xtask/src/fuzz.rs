//! `cargo xtask fuzz NAME`: one fuzzer of the folder `fuzz` for a while.
//!
//! cargo-fuzz wants the flags of a nightly compiler; the stable one takes them when told so by
//! `RUSTC_BOOTSTRAP`, so that no second toolchain is needed.

use clap::Args;

use crate::failed::Failed;
use crate::place;
use crate::process::Process;

/// Which fuzzer, and for how long.
#[derive(Debug, Args)]
pub(crate) struct FuzzArgs {
    /// The name of a file in `fuzz/fuzz_targets`.
    name: String,
    /// How long it may look for a fault.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Runs the fuzzer; a fault that it finds is an error.
pub(crate) fn run(args: &FuzzArgs) -> Result<(), Failed> {
    let known: Vec<String> = place::names("fuzz/fuzz_targets")?
        .iter()
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .collect();
    if !known.contains(&args.name) {
        return Err(Failed::Unknown { kind: "fuzzer", name: args.name.clone(), known: known.join(", ") });
    }
    if !Process::new("cargo fuzz --version").works() {
        return Err(Failed::Found {
            what: "cargo-fuzz is not there; get it with: cargo install --locked cargo-fuzz".to_owned(),
        });
    }
    command(args).run()
}

fn command(args: &FuzzArgs) -> Process {
    let seconds = format!("-max_total_time={}", args.seconds);
    // The default sanitizer needs a nightly standard library; plain coverage does not.
    Process::new("cargo fuzz run --sanitizer none")
        .with([args.name.as_str(), "--", seconds.as_str()])
        .variable("RUSTC_BOOTSTRAP", "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_bounded_in_time() {
        let line = command(&FuzzArgs { name: "expression".to_owned(), seconds: 5 }).line();
        assert_eq!(line, "RUSTC_BOOTSTRAP=1 cargo fuzz run --sanitizer none expression -- -max_total_time=5");
    }

    #[test]
    fn an_unknown_fuzzer_is_refused() {
        let failed = run(&FuzzArgs { name: "no_such".to_owned(), seconds: 1 }).unwrap_err();
        assert!(failed.to_string().starts_with("there is no fuzzer named `no_such`"), "{failed}");
    }
}
