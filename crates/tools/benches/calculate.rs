//! How long expressions take, from text to text.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mast_tools::builtin::math::expression::calculate;

const A: &str = "27182818284590452353602874713526624977572470936999";
const B: &str = "0.31415926535897932384626433832795028841971693993751";

fn expressions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("calculate");
    let long = |operator: &str| format!("{A} {operator} {B}");
    for (name, expression) in [
        ("short product", "17 * 23".to_owned()),
        ("short sum", "0.1 + 0.2".to_owned()),
        ("short mix", "(1200 - 3.5) * 4 / 7".to_owned()),
        ("long sum", long("+")),
        ("long difference", long("-")),
        ("long product", long("*")),
        ("long quotient", long("/")),
        ("exp", format!("exp({B})")),
        ("ln", format!("ln({B})")),
        ("log10", format!("log10({B})")),
        ("sqrt", format!("sqrt({B})")),
        ("integral power", format!("{B}^17")),
        ("fractional power", format!("{B}^1.5")),
    ] {
        group.bench_function(name, |bencher| bencher.iter(|| calculate(black_box(&expression))));
    }
    group.finish();
}

criterion_group!(benches, expressions);
criterion_main!(benches);
