use super::epilogue::{finish, gelu, gelu_slope, store_gradient};
use crate::Real;
use crate::params::{Add, Blend, Elementwise, Embedding, Position, Step};

/// Twin of `add_forward.wgsl`: `y = epilogue(a + b)`, where each pixel of `b` is added to `repeats` pixels of `a`.
/// `a`, `y`: (P, C); `b`: (P / repeats, C).
pub fn add_forward<T: Real>(params: &Add, step: &Step, a: &[T], b: &[T], y: &mut [T]) {
    let (channels, repeats) = (params.channels as usize, params.repeats as usize);
    for (index, (y, &a)) in y.iter_mut().zip(a).enumerate() {
        let (pixel, channel) = (index / channels, index % channels);
        *y = a + b[pixel / repeats * channels + channel];
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `add_gradient.wgsl`: `dx = (Σ dy) ⊙ slope(x)` over the pixels that the summand `x` was added to, where
/// `epilogue` made `x`.
/// `dy`: (P, C); `x`, `dx`: (P / repeats, C).
pub fn add_gradient<T: Real>(params: &Add, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let (channels, repeats) = (params.channels as usize, params.repeats as usize);
    let mut sums = vec![T::ZERO; dx.len()];
    for (index, &dy) in dy.iter().enumerate() {
        let (pixel, channel) = (index / channels, index % channels);
        sums[pixel / repeats * channels + channel] += dy;
    }
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

/// Twin of `blend.wgsl`: `sum = weight·x` at first, and `sum += weight·x` from then on.
/// `x`, `sum`: (elements).
pub fn blend<T: Real>(params: &Blend, x: &[T], sum: &mut [T]) {
    let weight = T::from_f64(f64::from(params.weight));
    for (sum, &x) in sum.iter_mut().zip(x) {
        *sum = if params.first == 1 { weight * x } else { *sum + weight * x };
    }
}

/// Twin of `gelu_forward.wgsl`: `y = epilogue(gelu(x))`.
/// `x`, `y`: (elements).
pub fn gelu_forward<T: Real>(params: &Elementwise, step: &Step, x: &[T], y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = gelu(x);
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `gelu_backward.wgsl`: `dx = dy ⊙ gelu'(x) ⊙ slope(x)`, where `epilogue` made `x`.
/// `dy`, `x`, `dx`: (elements).
pub fn gelu_backward<T: Real>(params: &Elementwise, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    let sums: Vec<T> = dy.iter().zip(x).map(|(&dy, &x)| dy * gelu_slope(x)).collect();
    store_gradient(&sums, x, &params.epilogue, step, dx);
}

/// Twin of `position_forward.wgsl`: `y = epilogue(x + e)`, the same `e` for every row.
/// `x`, `y`: (B, V); `embedding`: (V).
pub fn position_forward<T: Real>(params: &Position, step: &Step, x: &[T], embedding: &[T], y: &mut [T]) {
    for (y, (&x, &embedding)) in y.iter_mut().zip(x.iter().zip(embedding.iter().cycle())) {
        *y = x + embedding;
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `position_gradient.wgsl`: `de = Σ dy`, summed in parts of the batch.
/// `dy`: (B, V); `parts`: (parts, part stride), each de (V).
pub fn position_gradient<T: Real>(params: &Position, dy: &[T], parts: &mut [T]) {
    parts.fill(T::ZERO);
    for (row, dy) in dy.chunks_exact(params.values as usize).enumerate() {
        let part = row / params.rows_per_part as usize;
        for (sum, &dy) in parts[part * params.part_stride as usize..].iter_mut().zip(dy) {
            *sum += dy;
        }
    }
}

/// Twin of `pass_gradient.wgsl`: `dx = dy ⊙ slope(x)`, where `epilogue` made `x`.
/// `dy`, `x`, `dx`: (elements).
pub fn pass_gradient<T: Real>(params: &Elementwise, step: &Step, dy: &[T], x: &[T], dx: &mut [T]) {
    store_gradient(dy, x, &params.epilogue, step, dx);
}

/// Twin of `embedding_forward.wgsl`: the vector of each word; zero for padding.
/// `ids`: (B, id stride) whole numbers below V; `weights`: (V, S); `y`: (B, P, S).
pub fn embedding_forward<T: Real>(params: &Embedding, step: &Step, ids: &[T], weights: &[T], y: &mut [T]) {
    let channels = params.channels as usize;
    for (word, y) in words(params, ids).zip(y.chunks_exact_mut(channels)) {
        if is_padding(params, word) {
            y.fill(T::ZERO);
        } else {
            y.copy_from_slice(&weights[word * channels..][..channels]);
        }
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `embedding_weight_gradient.wgsl`: `dW[v] = Σ dy` over all places of word v, summed in parts of the batch's
/// words.
/// `ids`: (B, id stride); `dy`: (B, P, S); `parts`: (parts, part stride), each dW (V, S).
pub fn embedding_weight_gradient<T: Real>(params: &Embedding, ids: &[T], dy: &[T], parts: &mut [T]) {
    let channels = params.channels as usize;
    parts.fill(T::ZERO);
    for (token, (word, dy)) in words(params, ids).zip(dy.chunks_exact(channels)).enumerate() {
        if is_padding(params, word) {
            continue;
        }
        let part = token / params.tokens_per_part as usize * params.part_stride as usize;
        for (sum, &dy) in parts[part + word * channels..].iter_mut().zip(dy) {
            *sum += dy;
        }
    }
}

fn is_padding(params: &Embedding, word: usize) -> bool {
    params.zero_padding == 1 && word == 0
}

/// The word numbers that are used, row by row.
fn words<T: Real>(params: &Embedding, ids: &[T]) -> impl Iterator<Item = usize> {
    let (offset, tokens) = (params.id_offset as usize, params.tokens as usize);
    let rows = ids.chunks_exact(params.id_stride as usize).take(params.rows as usize);
    rows.flat_map(move |row| row[offset..offset + tokens].iter().map(|&id| to_index(id)))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "word numbers are small whole numbers")]
fn to_index<T: Real>(id: T) -> usize {
    id.to_f64() as usize
}
