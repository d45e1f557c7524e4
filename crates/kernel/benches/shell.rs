//! How long it takes to say what a shell text would run.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mast_kernel::shell;

/// Pipes, substitutions and wrappers, again and again.
const DENSE: &str = "find . -name '*.rs' -exec grep -l \"$x\" {} \\; | xargs -n 4 sed -i s/a/b/ && echo $(cat y | sort) > out; \
                     if [ -f z ]; then sudo env X=1 sh -c 'a | b'; fi\n";

fn texts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("shell");
    let dense = DENSE.repeat(1_024 / DENSE.len() + 1);
    let dense: String = dense
        .split_inclusive('\n')
        .scan(0, |size, line| {
            *size += line.len();
            (*size <= 1_024).then_some(line)
        })
        .collect();
    for (name, text) in [
        ("plain", "git status".to_owned()),
        ("dense 1 KiB", dense),
        ("plain 1 KiB", "git add \"a b\"\n".repeat(73)),
    ] {
        group.bench_function(name, |bencher| bencher.iter(|| shell::of_text(black_box(&text))));
    }
    group.finish();
}

criterion_group!(benches, texts);
criterion_main!(benches);
