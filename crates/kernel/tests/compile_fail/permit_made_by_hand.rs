fn main() {
    let _permit = mast_kernel::permit::Permit { call: mast_kernel::id::CallId::from_u128(1) };
}
