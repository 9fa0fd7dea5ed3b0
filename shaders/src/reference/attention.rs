use std::ops::Range;

use super::dot::dot;
use super::epilogue::store_gradient;
use crate::Real;
use crate::params::{Attention, Step};

/// Results of `attention_forward` that the gradients need.
#[derive(Clone, Copy, Debug)]
pub struct Attended<'a, T> {
    /// (B, T, heads, D): the result.
    pub y: &'a [T],
    /// (B, heads, T): of each query's scores.
    pub log_sum_exp: &'a [T],
}

/// One head of one row, with the places of its vectors.
#[derive(Clone, Copy)]
struct HeadPlace {
    tokens: usize,
    heads: usize,
    size: usize,
    row: usize,
    head: usize,
}

impl HeadPlace {
    /// Queries are the first third, keys the second, values the last.
    fn vector(&self, third: usize, token: usize) -> Range<usize> {
        let start = (((self.row * self.tokens + token) * 3 + third) * self.heads + self.head) * self.size;
        start..start + self.size
    }

    /// Place of the result of a token's query.
    fn result(&self, token: usize) -> Range<usize> {
        let start = ((self.row * self.tokens + token) * self.heads + self.head) * self.size;
        start..start + self.size
    }

    /// Tokens that the query of a token attends to.
    fn keys(&self, params: &Attention, query: usize) -> usize {
        if params.causal == 1 { query + 1 } else { self.tokens }
    }

    /// Place of the log-sum-exp of a token's query.
    fn number(&self, token: usize) -> usize {
        (self.row * self.heads + self.head) * self.tokens + token
    }
}

fn heads(params: &Attention) -> impl Iterator<Item = HeadPlace> {
    let [rows, tokens, heads, size] =
        [params.rows, params.tokens, params.heads, params.head_size].map(|number| number as usize);
    (0..rows).flat_map(move |row| (0..heads).map(move |head| HeadPlace { tokens, heads, size, row, head }))
}

/// `sum += weight·vector`
fn add<T: Real>(sum: &mut [T], weight: T, vector: &[T]) {
    for (sum, &value) in sum.iter_mut().zip(vector) {
        *sum += weight * value;
    }
}

fn scale<T: Real>(params: &Attention) -> T {
    T::from_f64(f64::from(params.scale))
}

/// `scale·q·k` of a token's query with the key of every token that it attends to.
fn scores<T: Real>(params: &Attention, head: &HeadPlace, x: &[T], query: usize) -> Vec<T> {
    let keys = head.keys(params, query);
    let query = &x[head.vector(0, query)];
    (0..keys).map(|key| scale::<T>(params) * dot(query, &x[head.vector(1, key)])).collect()
}

/// Twin of `attention_forward.wgsl`: `y = softmax(scale·q·kᵀ)·v` of each head. If causal, a token attends only to itself
/// and earlier tokens.
/// `x`: (B, T, 3, heads, D): queries, keys, values; `y`: (B, T, heads, D); `log_sum_exp`: (B, heads, T).
pub fn attention_forward<T: Real>(params: &Attention, x: &[T], y: &mut [T], log_sum_exp: &mut [T]) {
    y.fill(T::ZERO);
    for head in heads(params) {
        for query in 0..head.tokens {
            let scores = scores(params, &head, x, query);
            let largest = scores.iter().copied().fold(scores[0], T::maximum);
            let sum: T = scores.iter().map(|&score| (score - largest).exp()).sum();
            log_sum_exp[head.number(query)] = largest + sum.ln();
            for (key, &score) in scores.iter().enumerate() {
                add(&mut y[head.result(query)], (score - largest).exp() / sum, &x[head.vector(2, key)]);
            }
        }
    }
}

/// Twin of `attention_query_gradient.wgsl`: `dq_i = scale·Σ_j p_ij·(dy_i·v_j - mean_i)·k_j`, times `slope(q)`, where
/// `epilogue` made `x`, and `mean_i = dy_i·y_i`.
/// `x`, `dx`: (B, T, 3, heads, D), where `dx` gets the first third; `dy`: (B, T, heads, D); `means`: (B, heads, T).
pub fn attention_query_gradient<T: Real>(
    params: &Attention,
    step: &Step,
    x: &[T],
    attended: &Attended<T>,
    dy: &[T],
    dx: &mut [T],
    means: &mut [T],
) {
    let mut sums = vec![T::ZERO; dx.len()];
    for head in heads(params) {
        for query in 0..head.tokens {
            let (number, dy) = (head.number(query), &dy[head.result(query)]);
            means[number] = dot(dy, &attended.y[head.result(query)]);
            for (key, score) in scores(params, &head, x, query).into_iter().enumerate() {
                let probability = (score - attended.log_sum_exp[number]).exp();
                let weight = probability * (dot(dy, &x[head.vector(2, key)]) - means[number]);
                add(&mut sums[head.vector(0, query)], scale::<T>(params) * weight, &x[head.vector(1, key)]);
            }
        }
    }
    store_thirds(params, step, &sums, x, 0..1, dx);
}

/// Twin of `attention_key_value_gradient.wgsl`: `dk_j = scale·Σ_i p_ij·(dy_i·v_j - mean_i)·q_i`, times `slope(k)`, and
/// `dv_j = Σ_i p_ij·dy_i`, times `slope(v)`, where `epilogue` made `x`.
/// `x`, `dx`: (B, T, 3, heads, D), where `dx` gets the last two thirds; `dy`: (B, T, heads, D); `log_sum_exp`,
/// `means`: (B, heads, T), the latter from [`attention_query_gradient`].
pub fn attention_key_value_gradient<T: Real>(
    params: &Attention,
    step: &Step,
    x: &[T],
    dy: &[T],
    log_sum_exp: &[T],
    means: &[T],
    dx: &mut [T],
) {
    let mut sums = vec![T::ZERO; dx.len()];
    for head in heads(params) {
        for query in 0..head.tokens {
            let (number, dy) = (head.number(query), &dy[head.result(query)]);
            for (key, score) in scores(params, &head, x, query).into_iter().enumerate() {
                let probability = (score - log_sum_exp[number]).exp();
                let weight = probability * (dot(dy, &x[head.vector(2, key)]) - means[number]);
                add(&mut sums[head.vector(1, key)], scale::<T>(params) * weight, &x[head.vector(0, query)]);
                add(&mut sums[head.vector(2, key)], probability, dy);
            }
        }
    }
    store_thirds(params, step, &sums, x, 1..3, dx);
}

/// Finishes the gradients of these thirds of `x`; the others stay as they are.
fn store_thirds<T: Real>(params: &Attention, step: &Step, sums: &[T], x: &[T], thirds: Range<usize>, dx: &mut [T]) {
    let mut finished = dx.to_vec();
    store_gradient(sums, x, &params.epilogue, step, &mut finished);
    for head in heads(params) {
        for (third, token) in thirds.clone().flat_map(|third| (0..head.tokens).map(move |token| (third, token))) {
            let at = head.vector(third, token);
            dx[at.clone()].copy_from_slice(&finished[at]);
        }
    }
}
