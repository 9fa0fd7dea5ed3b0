//! Sums of products, which are most of the work of the twins.
//!
//! Each is compiled for AVX as well, where a processor adds twice as many numbers at a time. The order of the additions
//! of one sum, and so each result, is the same.

use multiversion::multiversion;

use crate::Real;

/// Number of sums of a dot product: a processor adds these side by side, and would wait for each addition to a single one.
const SUMS: usize = 8;

/// Returns Σ a·b of two slices of the same length.
#[multiversion(targets("x86_64+avx2"))]
pub fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<SUMS>(), b.as_chunks::<SUMS>());
    let mut sums = [T::ZERO; SUMS];
    for (a, b) in a.iter().zip(b) {
        for (sum, (&a, &b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest: T = a_rest.iter().zip(b_rest).map(|(&a, &b)| a * b).sum();
    sums.into_iter().sum::<T>() + rest
}

/// Adds `x·W` to `sums`; `weights`: (values of `x`, sums), or more rows, which are left out.
///
/// Four rows at a time, in their order: each sum is loaded and stored a fourth as often.
#[multiversion(targets("x86_64+avx2"))]
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

/// Rows that are transposed and multiplied at a time, so that they stay in the processor's caches.
pub(super) const ROWS: usize = 64;

/// Adds `xᵀ·y` to `sums`: (K, N), each in the order of the rows; `x`: (rows, K); `y`: (rows, N).
pub(super) fn add_transposed_products<T: Real>(x: &[T], inputs: usize, y: &[T], outputs: usize, sums: &mut [T]) {
    for (x, y) in x.chunks(ROWS * inputs).zip(y.chunks(ROWS * outputs)) {
        let columns = transpose(x, inputs);
        for (column, sums) in columns.chunks_exact(y.len() / outputs).zip(sums.chunks_exact_mut(outputs)) {
            add_products(column, y, sums);
        }
    }
}

/// Returns `y·Wᵀ`: (rows, K); `y`: (rows, N), of at most [`ROWS`] rows; `weights`: (K, N).
pub(super) fn products_of_transposed<T: Real>(y: &[T], outputs: usize, weights: &[T]) -> Vec<T> {
    let (columns, rows) = (transpose(y, outputs), y.len() / outputs);
    let mut products = vec![T::ZERO; weights.len() / outputs * rows];
    for (weights, products) in weights.chunks_exact(outputs).zip(products.chunks_exact_mut(rows)) {
        add_products(weights, &columns, products);
    }
    transpose(&products, rows)
}

/// Returns the transpose of a matrix with `columns` columns. Reads eight columns at a time, about one cache line.
pub(super) fn transpose<T: Real>(matrix: &[T], columns: usize) -> Vec<T> {
    let rows = matrix.len() / columns;
    let mut transposed = vec![T::ZERO; matrix.len()];
    for first in (0..columns).step_by(8) {
        for (row, values) in matrix.chunks_exact(columns).enumerate() {
            for (column, &value) in values.iter().enumerate().skip(first).take(8) {
                transposed[column * rows + row] = value;
            }
        }
    }
    transposed
}
