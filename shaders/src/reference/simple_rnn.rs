use super::dot::{add_products, transpose};
use super::recurrent::{activated, activation_slope, finish};
use crate::Real;
use crate::params::{Recurrent, Step};

/// Twin of `simple_rnn_forward.wgsl`: all steps of every sequence, from a zero state.
///
/// `recurrent`: (S, S); `states`: (N, T, S), in: `x·W + b`, out: the hidden states; `previous`: (N, T, S), out: the hidden
/// state before each step; `y`: (N, S), out: the epilogue of the last.
pub fn simple_rnn_forward<T: Real>(
    params: &Recurrent,
    step: &Step,
    recurrent: &[T],
    states: &mut [T],
    previous: &mut [T],
    y: &mut [T],
) {
    let (units, steps) = (params.stored_units as usize, params.steps as usize);
    let sequences = states.chunks_exact_mut(steps * units).zip(previous.chunks_exact_mut(steps * units));
    for ((states, previous), y) in sequences.zip(y.chunks_exact_mut(units)) {
        let mut hidden = vec![T::ZERO; units];
        for (state, previous) in states.chunks_exact_mut(units).zip(previous.chunks_exact_mut(units)) {
            previous.copy_from_slice(&hidden);
            add_products(&hidden, recurrent, state);
            for value in &mut *state {
                *value = activated(*value, params);
            }
            hidden.copy_from_slice(state);
        }
        y.copy_from_slice(&hidden);
    }
    finish(&params.epilogue, step, y);
}

/// Twin of `simple_rnn_backward.wgsl`: back-propagation through time.
///
/// `recurrent`: (S, S); `dy`: (N, S), gradient of the last hidden state; `states`: (N, T, S), in: the hidden states, out:
/// the gradient `dz` of what they were made from.
pub fn simple_rnn_backward<T: Real>(params: &Recurrent, recurrent: &[T], dy: &[T], states: &mut [T]) {
    let (units, steps) = (params.stored_units as usize, params.steps as usize);
    let recurrent = transpose(recurrent, units);
    for (states, dy) in states.chunks_exact_mut(steps * units).zip(dy.chunks_exact(units)) {
        let mut dh = dy.to_vec();
        for dz in states.chunks_exact_mut(units).rev() {
            for (dz, &dh) in dz.iter_mut().zip(&dh) {
                *dz = dh * activation_slope(*dz, params);
            }
            dh.fill(T::ZERO);
            add_products(dz, &recurrent, &mut dh);
        }
    }
}
