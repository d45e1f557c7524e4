fn twice(permit: mast_kernel::permit::Permit) {
    let _second = permit.clone();
}

fn main() {}
