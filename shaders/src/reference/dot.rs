use crate::Real;

/// Σ a·b of two slices of the same length, in eight sums: a processor adds these side by side, and would wait for each
/// addition to a single one.
pub(super) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::ZERO; 8];
    let (a, b) = (a.chunks_exact(sums.len()), b.chunks_exact(sums.len()));
    let rest: T = a.remainder().iter().zip(b.remainder()).map(|(&a, &b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for (sum, (&a, &b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.into_iter().sum::<T>() + rest
}

/// Adds `x·W` to `sums`; `weights`: (values of `x`, sums), or more rows, which are left out.
///
/// Four rows at a time, in their order: each sum is loaded and stored a fourth as often.
pub(super) fn add_products<T: Real>(x: &[T], weights: &[T], sums: &mut [T]) {
    let units = sums.len();
    let (fours, rest) = x.as_chunks::<4>();
    let (weights, rest_weights) = weights.split_at(4 * fours.len() * units);
    for (x, weights) in fours.iter().zip(weights.chunks_exact(4 * units)) {
        let (first, second) = weights.split_at(2 * units);
        let ((a, b), (c, d)) = (first.split_at(units), second.split_at(units));
        for ((((sum, &a), &b), &c), &d) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *sum = *sum + x[0] * a + x[1] * b + x[2] * c + x[3] * d;
        }
    }
    for (&x, weights) in rest.iter().zip(rest_weights.chunks_exact(units)) {
        for (sum, &weight) in sums.iter_mut().zip(weights) {
            *sum += x * weight;
        }
    }
}
