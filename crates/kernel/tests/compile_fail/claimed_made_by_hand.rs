fn forge(permit: mast_kernel::permit::Permit) {
    let _claimed = mast_kernel::permit::Claimed { inner: permit };
}

fn main() {}
