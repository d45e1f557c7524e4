//! `cargo xtask sim`: many stories in which everything goes wrong; the first broken invariant ends it.

use std::io::Write as _;
use std::process::ExitCode;

use mast_testkit::sim::{Tally, simulate};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let (first, count) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(1));
    // What a probe does that was told to panic is part of the story.
    std::panic::set_hook(Box::new(|_| {}));
    let mut sum = Tally::default();
    for seed in (0..count).map(|number| first.wrapping_add(number)) {
        match simulate(seed).await {
            Ok(tally) => sum = sum.plus(tally),
            Err(broken) => {
                let again = format!("tell it again: cargo xtask sim --seed {seed}");
                let _unread = writeln!(std::io::stderr(), "{broken}\n{again}");
                return ExitCode::FAILURE;
            }
        }
    }
    let _unread = writeln!(std::io::stdout(), "{sum:#?}");
    ExitCode::SUCCESS
}
