fn main() {
    let _permit = mast_kernel::permit::Permit::issue(todo!());
}
