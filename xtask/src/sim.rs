//! `cargo xtask sim`: thousands of short runs on a clock of their own, in which processes end, stores
//! fail, clocks jump and tools misbehave; after each the invariants are checked.

use clap::Args;

use crate::failed::Failed;
use crate::process::Process;

/// Which stories.
#[derive(Debug, Args)]
pub(crate) struct SimArgs {
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many; one, where a seed is named and nothing else.
    #[arg(long)]
    count: Option<u64>,
}

/// Tells the stories; the first that breaks an invariant is an error, and names its seed.
pub(crate) fn run(args: &SimArgs) -> Result<(), Failed> {
    command(args).run()
}

fn command(args: &SimArgs) -> Process {
    let count = args.count.unwrap_or(if args.seed == 0 { 2_000 } else { 1 });
    let (seed, count) = (args.seed.to_string(), count.to_string());
    Process::new("cargo run --quiet -p mast-testkit --example sim --").with([seed.as_str(), count.as_str()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_is_one_story_and_none_is_many() {
        let line = |seed, count| command(&SimArgs { seed, count }).line();
        let told = "cargo run --quiet -p mast-testkit --example sim --";
        assert_eq!(line(7, None), format!("{told} 7 1"));
        assert_eq!(line(7, Some(3)), format!("{told} 7 3"));
        assert_eq!(line(0, None), format!("{told} 0 2000"));
    }
}
