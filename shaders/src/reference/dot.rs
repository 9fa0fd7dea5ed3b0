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
pub(super) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
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

/// Adds `W·x` to `sums`, each as [`dot`] adds; `weights`: (sums, values of `x`), or more rows, which are left out.
///
/// Two rows at a time: their sums do not wait for each other.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn add_dots<T: Real>(x: &[T], weights: &[T], sums: &mut [T]) {
    let (blocks, x_rest) = x.as_chunks::<SUMS>();
    let (twos, last) = sums.as_chunks_mut::<2>();
    let (weights, last_weights) = weights.split_at(2 * twos.len() * x.len());
    for (totals, weights) in twos.iter_mut().zip(weights.chunks_exact(2 * x.len())) {
        let (first, second) = weights.split_at(x.len());
        let ((first, first_rest), (second, second_rest)) = (first.as_chunks::<SUMS>(), second.as_chunks::<SUMS>());
        let mut sums = [[T::ZERO; SUMS]; 2];
        for ((x, first), second) in blocks.iter().zip(first).zip(second) {
            let [a, b] = &mut sums;
            for (((a, b), &x), (&first, &second)) in a.iter_mut().zip(b).zip(x).zip(first.iter().zip(second)) {
                *a += x * first;
                *b += x * second;
            }
        }
        for ((total, sums), rest) in totals.iter_mut().zip(sums).zip([first_rest, second_rest]) {
            let rest: T = x_rest.iter().zip(rest).map(|(&x, &weight)| x * weight).sum();
            *total += sums.into_iter().sum::<T>() + rest;
        }
    }
    for (sum, weights) in last.iter_mut().zip(last_weights.chunks_exact(x.len())) {
        *sum += dot(x, weights);
    }
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

/// Adds `xᵀ·y` to `sums`: (values of `x`, values of `y`), or more rows, which are left alone.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn add_outer_product<T: Real>(x: &[T], y: &[T], sums: &mut [T]) {
    for (&x, sums) in x.iter().zip(sums.chunks_exact_mut(y.len())) {
        for (sum, &y) in sums.iter_mut().zip(y) {
            *sum += x * y;
        }
    }
}
