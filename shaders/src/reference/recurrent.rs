//! Recurrent layers.

use super::dot::{add_products, transpose};
use super::epilogue::{activate, finish};
use crate::Real;
use crate::params::{Recurrent, Step, activation};

/// Values of all steps of a recurrent layer with G gates. The backward pass turns them into gradients.
#[derive(Clone, Debug, Default)]
pub struct RecurrentSteps<T> {
    /// (N, T, G·S), before the forward pass: `x·W + b`, after it: the gates, after the backward pass: the gradients of
    /// `x·W + b`.
    pub gates: Vec<T>,
    /// (N, T, S), an LSTM's cells, then the gradient of the cell before each step; or (N, T, 3S), a GRU's products `q`,
    /// the hidden state before the step times the recurrent weights, with their bias, then their gradients.
    pub own: Vec<T>,
    /// (N, T, S): the hidden state before each step.
    pub previous: Vec<T>,
    /// (N, S), after the backward pass of a GRU: the part of the first hidden state's gradient that passed its update
    /// gate.
    pub kept_gradient: Vec<T>,
}

impl<T> From<Vec<T>> for RecurrentSteps<T> {
    fn from(gates: Vec<T>) -> Self {
        Self { gates, own: Vec::new(), previous: Vec::new(), kept_gradient: Vec::new() }
    }
}

/// Range of `blocks` blocks of units at a step of a sequence.
fn at(params: &Recurrent, place: usize, blocks: usize) -> std::ops::Range<usize> {
    let values = blocks * params.stored_units as usize;
    place * values..(place + 1) * values
}

/// Runs all steps of every sequence, from a zero state, and stores the epilogue of the last hidden states in `y`: (N, S).
///
/// `advance` computes one step from the gates, the step's own values (on entry: from the step before), and the hidden
/// state.
fn forward<T: Real>(
    params: &Recurrent,
    step: &Step,
    [gate_blocks, own_blocks]: [usize; 2],
    steps: &mut RecurrentSteps<T>,
    y: &mut [T],
    advance: impl Fn(&mut [T], &mut [T], &mut [T]),
) {
    let (units, length) = (params.stored_units as usize, params.steps as usize);
    let places = params.sequences as usize * length;
    steps.own = vec![T::ZERO; places * own_blocks * units];
    steps.previous = vec![T::ZERO; places * units];
    let mut hidden = vec![T::ZERO; units];
    for place in 0..places {
        if place % length == 0 {
            hidden.fill(T::ZERO);
        } else {
            steps.own.copy_within(at(params, place - 1, own_blocks), place * own_blocks * units);
        }
        steps.previous[at(params, place, 1)].copy_from_slice(&hidden);
        let (gates, own) = (at(params, place, gate_blocks), at(params, place, own_blocks));
        advance(&mut steps.gates[gates], &mut steps.own[own], &mut hidden);
        if (place + 1) % length == 0 {
            y[at(params, place / length, 1)].copy_from_slice(&hidden);
        }
    }
    finish(&params.epilogue, step, y);
}

/// Back-propagation through time. `dy`: (N, S), gradient of the last hidden state.
///
/// `retreat` gets the place of a step and the gradient of the hidden state after it, computes the gradients of the step's
/// values, and leaves the part of the hidden state's gradient that does not pass the recurrent weights. `through` selects
/// the gradients of the products with these weights.
fn backward<T: Real>(
    params: &Recurrent,
    recurrent: &[T],
    dy: &[T],
    gate_blocks: usize,
    steps: &mut RecurrentSteps<T>,
    mut retreat: impl FnMut(usize, &mut RecurrentSteps<T>, &mut [T]),
    through: impl Fn(&RecurrentSteps<T>) -> &[T],
) {
    let (units, length) = (params.stored_units as usize, params.steps as usize);
    let recurrent = transpose(recurrent, gate_blocks * units);
    steps.kept_gradient.clear();
    for (sequence, dy) in dy.chunks_exact(units).enumerate() {
        let mut dh = dy.to_vec();
        for t in (0..length).rev() {
            let place = sequence * length + t;
            dh.iter_mut().for_each(|dh| *dh = without_tiny(*dh));
            retreat(place, steps, &mut dh);
            if t == 0 {
                steps.kept_gradient.extend(&dh);
            }
            add_products(&through(steps)[at(params, place, gate_blocks)], &recurrent, &mut dh);
        }
    }
}

/// Twin of `lstm_forward.wgsl`: all steps of every sequence, from a zero state; the gates are i, f, g, o.
/// `recurrent`: (S, 4S); `y`: (N, S), out: the epilogue of the last hidden state.
pub fn lstm_forward<T: Real>(
    params: &Recurrent,
    step: &Step,
    [recurrent, _]: [&[T]; 2],
    steps: &mut RecurrentSteps<T>,
    y: &mut [T],
) {
    forward(params, step, [4, 1], steps, y, |gates, cells, hidden| {
        let units = hidden.len();
        add_products(hidden, recurrent, gates);
        for unit in 0..units {
            let [i, f, g, o] = [0, 1, 2, 3].map(|block| block * units + unit);
            for gate in [i, f, o] {
                gates[gate] = hard_sigmoid(gates[gate]);
            }
            gates[g] = gates[g].tanh();
            cells[unit] = gates[f] * cells[unit] + gates[i] * gates[g];
            hidden[unit] = gates[o] * cells[unit].tanh();
        }
    });
}

/// Twin of `lstm_backward.wgsl`: back-propagation through time.
/// `recurrent`: (S, 4S); `dy`: (N, S), gradient of the last hidden state.
pub fn lstm_backward<T: Real>(params: &Recurrent, recurrent: &[T], dy: &[T], steps: &mut RecurrentSteps<T>) {
    let (units, length) = (params.stored_units as usize, params.steps as usize);
    let mut dc = vec![T::ZERO; units];
    let retreat = |place: usize, steps: &mut RecurrentSteps<T>, dh: &mut [T]| {
        let t = place % length;
        if t + 1 == length {
            dc.fill(T::ZERO);
        }
        let dz = &mut steps.gates[at(params, place, 4)];
        for unit in 0..units {
            let [i, f, g, o] = [0, 1, 2, 3].map(|block| dz[block * units + unit]);
            let before = if t == 0 { T::ZERO } else { steps.own[(place - 1) * units + unit] };
            let squashed = steps.own[place * units + unit].tanh();
            let cell = without_tiny(dh[unit] * o * (T::ONE - squashed * squashed) + dc[unit]);
            dz[unit] = cell * g * hard_sigmoid_slope(i);
            dz[units + unit] = cell * before * hard_sigmoid_slope(f);
            dz[2 * units + unit] = cell * i * (T::ONE - g * g);
            dz[3 * units + unit] = dh[unit] * squashed * hard_sigmoid_slope(o);
            dc[unit] = cell * f;
        }
        steps.own[at(params, place, 1)].copy_from_slice(&dc);
        dh.fill(T::ZERO);
    };
    backward(params, recurrent, dy, 4, steps, retreat, |steps| &steps.gates);
}

/// `clamp(0.2 z + 0.5, 0, 1)`, the gate of Keras 2.
fn hard_sigmoid<T: Real>(z: T) -> T {
    let line = T::from_f64(0.2) * z + T::from_f64(0.5);
    if line > T::ONE { T::ONE } else { line.maximum(T::ZERO) }
}

/// Slope of the hard sigmoid where its result is `result`.
fn hard_sigmoid_slope<T: Real>(result: T) -> T {
    if result > T::ZERO && result < T::ONE { T::from_f64(0.2) } else { T::ZERO }
}

/// Twin of `gru_forward.wgsl`: all steps of every sequence, from a zero state; the gates are z, r, g.
/// `recurrent`: (S, 3S); `recurrent_bias`: (3S); `y`: (N, S), out: the epilogue of the last hidden state.
pub fn gru_forward<T: Real>(
    params: &Recurrent,
    step: &Step,
    [recurrent, recurrent_bias]: [&[T]; 2],
    steps: &mut RecurrentSteps<T>,
    y: &mut [T],
) {
    forward(params, step, [3, 3], steps, y, |gates, products, hidden| {
        let units = hidden.len();
        products.copy_from_slice(recurrent_bias);
        add_products(hidden, recurrent, products);
        for (unit, hidden) in hidden.iter_mut().enumerate() {
            let [z, r, g] = [0, 1, 2].map(|block| block * units + unit);
            gates[z] = sigmoid(gates[z] + products[z]);
            gates[r] = sigmoid(gates[r] + products[r]);
            gates[g] = activate(params.activation, gates[g] + gates[r] * products[g]);
            *hidden = gates[z] * *hidden + (T::ONE - gates[z]) * gates[g];
        }
    });
}

/// Twin of `gru_backward.wgsl`: back-propagation through time.
/// `recurrent`: (S, 3S); `dy`: (N, S), gradient of the last hidden state.
pub fn gru_backward<T: Real>(params: &Recurrent, recurrent: &[T], dy: &[T], steps: &mut RecurrentSteps<T>) {
    let retreat = |place: usize, steps: &mut RecurrentSteps<T>, dh: &mut [T]| {
        let units = dh.len();
        let previous = &steps.previous[at(params, place, 1)];
        let gates = &mut steps.gates[at(params, place, 3)];
        let products = &mut steps.own[at(params, place, 3)];
        for (unit, dh) in dh.iter_mut().enumerate() {
            let [z, r, g] = [0, 1, 2].map(|block| gates[block * units + unit]);
            let da = *dh * (T::ONE - z) * activation_slope(g, params);
            let dz = *dh * (previous[unit] - g) * z * (T::ONE - z);
            let dr = da * products[2 * units + unit] * r * (T::ONE - r);
            for (block, [dx, dq]) in [[dz, dz], [dr, dr], [da, da * r]].into_iter().enumerate() {
                gates[block * units + unit] = dx;
                products[block * units + unit] = dq;
            }
            *dh *= z;
        }
    };
    backward(params, recurrent, dy, 3, steps, retreat, |steps| &steps.own);
}

/// Twin of `simple_rnn_forward.wgsl`: all steps of every sequence, from a zero state; the only gate is the hidden state.
/// `recurrent`: (S, S); `y`: (N, S), out: the epilogue of the last hidden state.
pub fn simple_rnn_forward<T: Real>(
    params: &Recurrent,
    step: &Step,
    [recurrent, _]: [&[T]; 2],
    steps: &mut RecurrentSteps<T>,
    y: &mut [T],
) {
    forward(params, step, [1, 0], steps, y, |state, _, hidden| {
        add_products(hidden, recurrent, state);
        state.iter_mut().for_each(|value| *value = activate(params.activation, *value));
        hidden.copy_from_slice(state);
    });
}

/// Twin of `simple_rnn_backward.wgsl`: back-propagation through time.
/// `recurrent`: (S, S); `dy`: (N, S), gradient of the last hidden state.
pub fn simple_rnn_backward<T: Real>(params: &Recurrent, recurrent: &[T], dy: &[T], steps: &mut RecurrentSteps<T>) {
    let retreat = |place: usize, steps: &mut RecurrentSteps<T>, dh: &mut [T]| {
        for (dz, dh) in steps.gates[at(params, place, 1)].iter_mut().zip(dh) {
            *dz = *dh * activation_slope(*dz, params);
            *dh = T::ZERO;
        }
    };
    backward(params, recurrent, dy, 1, steps, retreat, |steps| &steps.gates);
}

/// Magnitude below which the gradient of a state counts as zero.
const TINY: f32 = 1e-30;

/// Twin of `without_tiny` in `shared/recurrent_params.wgsl`: prevents subnormal numbers, which some CPUs compute slowly.
fn without_tiny<T: Real>(gradient: T) -> T {
    if gradient.to_f64().abs() < f64::from(TINY) { T::ZERO } else { gradient }
}

/// Slope of the activation where its result is `result`; ReLU's is 0 at 0.
fn activation_slope<T: Real>(result: T, params: &Recurrent) -> T {
    match params.activation {
        activation::RELU if result > T::ZERO => T::ONE,
        activation::RELU => T::ZERO,
        _ => T::ONE - result * result,
    }
}

/// `1 / (1 + exp(-z))`.
fn sigmoid<T: Real>(z: T) -> T {
    T::ONE / (T::ONE + (T::ZERO - z).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: usize = 3;

    type Backward = fn(&Recurrent, &[f32], &[f32], &mut RecurrentSteps<f32>);

    #[test]
    fn decaying_gradients_become_zero_and_not_subnormal() {
        let sizes = Recurrent { sequences: 1, steps: 400, units: 3, stored_units: 3, ..Recurrent::default() };
        let params = Recurrent { activation: activation::TANH, ..sizes };
        let passes: [(usize, Backward); 3] = [(4, lstm_backward), (3, gru_backward), (1, simple_rnn_backward)];
        for (gates, backward) in passes {
            let values = |blocks: usize| vec![0.5_f32; 400 * blocks * UNITS];
            let own = values(if gates == 4 { 1 } else { gates });
            let mut steps = RecurrentSteps { own, previous: values(1), ..RecurrentSteps::from(values(gates)) };
            backward(&params, &vec![0.01; UNITS * gates * UNITS], &[1.0; UNITS], &mut steps);
            let written = if gates == 1 { vec![steps.gates] } else { vec![steps.gates, steps.own] };
            for gradient in written {
                assert!(gradient.iter().all(|value| *value == 0.0 || value.is_normal()));
                assert!(gradient[..UNITS].iter().all(|&value| value == 0.0), "the gradient of the first step");
            }
        }
    }
}
