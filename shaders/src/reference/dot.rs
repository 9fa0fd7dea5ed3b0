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
