use mast_kernel::permit::{ClaimLog, Permit, claim};

async fn twice(log: &impl ClaimLog, permit: Permit) {
    let _first = claim(log, permit).await;
    let _second = claim(log, permit).await;
}

fn main() {}
