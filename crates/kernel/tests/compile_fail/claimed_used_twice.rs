use mast_kernel::permit::{Claimed, Permit};

fn run(_permit: Claimed<Permit>) {}

fn twice(permit: Claimed<Permit>) {
    run(permit);
    run(permit);
}

fn main() {}
