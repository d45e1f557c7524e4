use mast_kernel::canonical::Canonical;
use mast_kernel::permit::{Claimed, Permit};

fn swap(mut permit: Claimed<Permit>, other: Canonical) {
    permit.arguments = other;
}

fn main() {}
