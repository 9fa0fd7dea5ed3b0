use super::epilogue::apply_epilogue;
use crate::Real;
use crate::params::{Embedding, Step};

/// Twin of `embedding_forward.wgsl`: the vector of each word; that of padding is zero.
///
/// `ids`: (B, id stride) whole numbers below V; `weights`: (V, S); `y`: (B, P, S).
pub fn embedding_forward<T: Real>(params: &Embedding, step: &Step, ids: &[T], weights: &[T], y: &mut [T]) {
    let channels = params.channels as usize;
    for (token, (word, y)) in (0u32..).zip(words(params, ids).zip(y.chunks_exact_mut(channels))) {
        for (channel, (y, &weight)) in (0u32..).zip(y.iter_mut().zip(&weights[word * channels..])) {
            let weight = if is_padding(params, word) { T::ZERO } else { weight };
            *y = apply_epilogue(weight, token.wrapping_mul(params.channels) + channel, &params.epilogue, step);
        }
    }
}

/// Twin of `embedding_weight_gradient.wgsl`: `dW[v] = Σ dy` over all places of word v, summed in parts of the batch's
/// words.
///
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
    rows.flat_map(move |row| row[offset..offset + tokens].iter().map(|&id| whole(id)))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "word numbers are small whole numbers")]
fn whole<T: Real>(id: T) -> usize {
    id.to_f64() as usize
}
