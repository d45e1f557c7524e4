use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::policy::Decision;

fn run(_permit: Claimed<Permit>) {}

fn skip_the_decision(decision: Decision) {
    run(decision);
}

fn main() {}
