use criterion::{black_box, criterion_group, criterion_main, Criterion};

fn counting(criterion: &mut Criterion) {
    let text = "to be or not to be ".repeat(2000);
    criterion.bench_function("counting", |bencher| {
        bencher.iter(|| words::count_words(black_box(&text)))
    });
}

criterion_group!(benches, counting);
criterion_main!(benches);
