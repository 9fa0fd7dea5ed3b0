//! Recurrent layers.

use super::dot::{add_products, transpose};
use super::finish;
use crate::Real;
use crate::params::{Recurrent, Step, activation};

/// Twin of `lstm_forward.wgsl`: all steps of every sequence, from a zero state.
///
/// `recurrent`: (S, 4S); `gates`: (N, T, 4S), in: `x·W + b`, out: the gates i, f, g, o; `cells`: (N, T, S), out: the
/// cells; `previous`: (N, T, S), out: the hidden state before each step; `y`: (N, S), out: the epilogue of the last.
pub fn lstm_forward<T: Real>(
    params: &Recurrent,
    step: &Step,
    recurrent: &[T],
    gates: &mut [T],
    cells: &mut [T],
    previous: &mut [T],
    y: &mut [T],
) {
    let units = params.stored_units as usize;
    let mut state = LstmState { hidden: vec![T::ZERO; units], cell: vec![T::ZERO; units] };
    let places = gates.chunks_exact_mut(4 * units).zip(cells.chunks_exact_mut(units));
    for (place, ((gates, cells), previous)) in places.zip(previous.chunks_exact_mut(units)).enumerate() {
        let (sequence, t) = (place / params.steps as usize, place % params.steps as usize);
        if t == 0 {
            state.hidden.fill(T::ZERO);
            state.cell.fill(T::ZERO);
        }
        previous.copy_from_slice(&state.hidden);
        state.advance(recurrent, gates);
        cells.copy_from_slice(&state.cell);
        if t + 1 == params.steps as usize {
            y[sequence * units..][..units].copy_from_slice(&state.hidden);
        }
    }
    finish(&params.epilogue, step, y);
}

/// State of an LSTM between two steps: S hidden values and S cells.
struct LstmState<T> {
    hidden: Vec<T>,
    cell: Vec<T>,
}

impl<T: Real> LstmState<T> {
    /// One step; `gates`: (4S), in: `x·W + b`, out: i, f, g, o.
    fn advance(&mut self, recurrent: &[T], gates: &mut [T]) {
        let units = self.hidden.len();
        add_products(&self.hidden, recurrent, gates);
        for unit in 0..units {
            let [i, f, g, o] = [0, 1, 2, 3].map(|block| block * units + unit);
            for gate in [i, f, o] {
                gates[gate] = hard_sigmoid(gates[gate]);
            }
            gates[g] = gates[g].tanh();
            self.cell[unit] = gates[f] * self.cell[unit] + gates[i] * gates[g];
            self.hidden[unit] = gates[o] * self.cell[unit].tanh();
        }
    }
}

/// Twin of `lstm_backward.wgsl`: back-propagation through time.
///
/// `recurrent`: (S, 4S); `dy`: (N, S), gradient of the last hidden state; `cells`: (N, T, S), in: the cells, out: the
/// gradient of the cell before each step; `gates`: (N, T, 4S), in: i, f, g, o, out: the gradient `dz` of what they
/// were made from.
pub fn lstm_backward<T: Real>(params: &Recurrent, recurrent: &[T], dy: &[T], cells: &mut [T], gates: &mut [T]) {
    let (units, steps) = (params.stored_units as usize, params.steps as usize);
    let recurrent = transpose(recurrent, 4 * units);
    let sequences = cells.chunks_exact_mut(steps * units).zip(gates.chunks_exact_mut(steps * 4 * units));
    for ((cells, gates), dy) in sequences.zip(dy.chunks_exact(units)) {
        let mut dh = dy.to_vec();
        let mut dc = vec![T::ZERO; units];
        for t in (0..steps).rev() {
            let dz = &mut gates[t * 4 * units..][..4 * units];
            for unit in 0..units {
                let [i, f, g, o] = [0, 1, 2, 3].map(|block| dz[block * units + unit]);
                let dh = without_tiny(dh[unit]);
                let before = if t == 0 { T::ZERO } else { cells[(t - 1) * units + unit] };
                let squashed = cells[t * units + unit].tanh();
                let cell = without_tiny(dh * o * (T::ONE - squashed * squashed) + dc[unit]);
                dz[unit] = cell * g * hard_sigmoid_slope(i);
                dz[units + unit] = cell * before * hard_sigmoid_slope(f);
                dz[2 * units + unit] = cell * i * (T::ONE - g * g);
                dz[3 * units + unit] = dh * squashed * hard_sigmoid_slope(o);
                dc[unit] = cell * f;
            }
            cells[t * units..][..units].copy_from_slice(&dc);
            dh.fill(T::ZERO);
            add_products(dz, &recurrent, &mut dh);
        }
    }
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

/// Values that a GRU keeps of all steps, or their gradients.
pub struct GruSteps<'a, T> {
    /// (N, T, 3S), of the gates z, r, g.
    pub gates: &'a mut [T],
    /// (N, T, 3S), of `q`, the hidden state before the step times the recurrent weights, with their bias.
    pub products: &'a mut [T],
}

/// Twin of `gru_forward.wgsl`: all steps of every sequence, from a zero state.
///
/// `recurrent`: (S, 3S); `recurrent_bias`: (3S); `steps`, in: `x·W + b` in the gates, out: gates and products; `previous`:
/// (N, T, S), out: the hidden state before each step; `y`: (N, S), out: the epilogue of the last.
pub fn gru_forward<T: Real>(
    params: &Recurrent,
    step: &Step,
    [recurrent, recurrent_bias]: [&[T]; 2],
    GruSteps { gates, products }: GruSteps<'_, T>,
    previous: &mut [T],
    y: &mut [T],
) {
    let (units, steps) = (params.stored_units as usize, params.steps as usize);
    let places = gates.chunks_exact_mut(3 * units).zip(products.chunks_exact_mut(3 * units));
    let mut hidden = vec![T::ZERO; units];
    for (place, ((gates, products), previous)) in places.zip(previous.chunks_exact_mut(units)).enumerate() {
        let (sequence, t) = (place / steps, place % steps);
        if t == 0 {
            hidden.fill(T::ZERO);
        }
        previous.copy_from_slice(&hidden);
        products.copy_from_slice(recurrent_bias);
        add_products(&hidden, recurrent, products);
        advance(params, gates, products, &mut hidden);
        if t + 1 == steps {
            y[sequence * units..][..units].copy_from_slice(&hidden);
        }
    }
    finish(&params.epilogue, step, y);
}

/// One step of a GRU; `gates`: (3S), in: `x·W + b`, out: z, r, g; `products`: (3S), `q`; `hidden`: (S).
fn advance<T: Real>(params: &Recurrent, gates: &mut [T], products: &[T], hidden: &mut [T]) {
    let units = hidden.len();
    for (unit, hidden) in hidden.iter_mut().enumerate() {
        let [z, r, g] = [0, 1, 2].map(|block| block * units + unit);
        gates[z] = sigmoid(gates[z] + products[z]);
        gates[r] = sigmoid(gates[r] + products[r]);
        gates[g] = activate(gates[g] + gates[r] * products[g], params);
        *hidden = gates[z] * *hidden + (T::ONE - gates[z]) * gates[g];
    }
}

/// Twin of `gru_backward.wgsl`: back-propagation through time.
///
/// `recurrent`: (S, 3S); `dy`: (N, S), gradient of the last hidden state; `previous`: (N, T, S), the hidden state before
/// each step; `steps`, in: gates and products, out: the gradients of `x·W + b` and of the products; `kept_gradient`:
/// (N, S), out: the part of the first hidden state's gradient that passed its update gate.
pub fn gru_backward<T: Real>(
    params: &Recurrent,
    recurrent: &[T],
    dy: &[T],
    previous: &[T],
    GruSteps { gates, products }: GruSteps<'_, T>,
    kept_gradient: &mut [T],
) {
    let (units, steps) = (params.stored_units as usize, params.steps as usize);
    let recurrent = transpose(recurrent, 3 * units);
    for (sequence, kept) in kept_gradient.chunks_exact_mut(units).enumerate() {
        let mut dh = dy[sequence * units..][..units].to_vec();
        for t in (0..steps).rev() {
            let place = sequence * steps + t;
            let previous = &previous[place * units..][..units];
            let gates = &mut gates[place * 3 * units..][..3 * units];
            let products = &mut products[place * 3 * units..][..3 * units];
            for unit in 0..units {
                let [z, r, g] = [0, 1, 2].map(|block| gates[block * units + unit]);
                let dh = without_tiny(dh[unit]);
                let da = dh * (T::ONE - z) * activation_slope(g, params);
                let dz = dh * (previous[unit] - g) * z * (T::ONE - z);
                let dr = da * products[2 * units + unit] * r * (T::ONE - r);
                for (block, [dx, dq]) in [[dz, dz], [dr, dr], [da, da * r]].into_iter().enumerate() {
                    gates[block * units + unit] = dx;
                    products[block * units + unit] = dq;
                }
                kept[unit] = dh * z;
            }
            dh.copy_from_slice(kept);
            add_products(products, &recurrent, &mut dh);
        }
    }
}

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
                *value = activate(*value, params);
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
                *dz = without_tiny(dh) * activation_slope(*dz, params);
            }
            dh.fill(T::ZERO);
            add_products(dz, &recurrent, &mut dh);
        }
    }
}

/// Magnitude below which the gradient of a state counts as zero.
const TINY: f32 = 1e-30;

/// Twin of `without_tiny` in `shared/recurrent_params.wgsl`: prevents subnormal numbers, which some CPUs compute slowly.
fn without_tiny<T: Real>(gradient: T) -> T {
    if gradient.to_f64().abs() < f64::from(TINY) { T::ZERO } else { gradient }
}

/// Activation of a candidate for the hidden state.
fn activate<T: Real>(z: T, params: &Recurrent) -> T {
    if params.activation == activation::RELU { z.maximum(T::ZERO) } else { z.tanh() }
}

/// Slope of [`activate`] where its result is `result`; ReLU's is 0 at 0.
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
    use super::super::dot::{add_transposed_products, dot};
    use super::super::finite_differences::{self, assert_gradient_within};
    use super::*;
    use crate::params::Epilogue;

    const UNITS: usize = 3;
    const SEQUENCES: usize = 2;
    /// Sequences times steps.
    const PLACES: usize = 4 * SEQUENCES;
    const TOLERANCE: f64 = 1e-8;

    fn params(activation: u32) -> Recurrent {
        let epilogue = Epilogue { channels: 3, stored_channels: 3, ..Epilogue::default() };
        Recurrent { sequences: 2, steps: 4, units: 3, stored_units: 3, activation, epilogue, ..Recurrent::default() }
    }

    /// Numbers in `-limit..limit`, different for each `stream`.
    fn numbers(count: usize, stream: u32, limit: f64) -> Vec<f64> {
        let numbers = finite_differences::numbers(u32::try_from(count).unwrap(), stream);
        numbers.into_iter().map(|number| limit * number).collect()
    }

    /// Weight gradient as a dense layer computes it: the hidden states before each step times `dz`.
    fn weight_gradient(previous: &[f64], dz: &[f64], gates: usize) -> Vec<f64> {
        let mut gradient = vec![0.0; UNITS * gates * UNITS];
        add_transposed_products(previous, UNITS, dz, gates * UNITS, &mut gradient);
        gradient
    }

    #[test]
    fn lstm_backward_is_the_derivative_of_the_forward_pass() {
        let params = params(activation::TANH);
        let recurrent = numbers(UNITS * 4 * UNITS, 1, 1.0);
        // So large that some gates are at the ends of the hard sigmoid.
        let products = numbers(PLACES * 4 * UNITS, 2, 3.5);
        let dy = numbers(SEQUENCES * UNITS, 3, 1.0);
        let forward = |recurrent: &[f64], products: &[f64]| {
            let mut gates = products.to_vec();
            let (mut cells, mut previous) = (vec![0.0; PLACES * UNITS], vec![0.0; PLACES * UNITS]);
            let mut y = vec![0.0; dy.len()];
            lstm_forward(&params, &Step::default(), recurrent, &mut gates, &mut cells, &mut previous, &mut y);
            (dot(&y, &dy), gates, cells, previous)
        };
        let (_, mut gates, mut cells, previous) = forward(&recurrent, &products);
        assert!(gates.contains(&0.0) && gates.contains(&1.0));
        lstm_backward(&params, &recurrent, &dy, &mut cells, &mut gates);
        assert_gradient_within(TOLERANCE, &products, &gates, |moved| forward(&recurrent, moved).0);
        let gradient = weight_gradient(&previous, &gates, 4);
        assert_gradient_within(TOLERANCE, &recurrent, &gradient, |moved| forward(moved, &products).0);
    }

    #[test]
    fn decaying_gradients_become_zero_and_not_subnormal() {
        const STEPS: usize = 400;
        let params = Recurrent { steps: 400, sequences: 1, ..params(activation::TANH) };
        let (dy, recurrent) = ([1.0; UNITS], [0.01; UNITS * 4 * UNITS]);
        let values = |blocks: usize| vec![0.5_f32; STEPS * blocks * UNITS];
        let (mut dz, mut cells) = (values(4), values(1));
        lstm_backward(&params, &recurrent, &dy, &mut cells, &mut dz);
        let (mut dx, mut dq) = (values(3), values(3));
        let steps = GruSteps { gates: &mut dx, products: &mut dq };
        gru_backward(&params, &recurrent[..UNITS * 3 * UNITS], &dy, &values(1), steps, &mut [0.0; UNITS]);
        let mut states = values(1);
        simple_rnn_backward(&params, &recurrent[..UNITS * UNITS], &dy, &mut states);
        for gradient in [dz, cells, dx, dq, states] {
            assert!(gradient.iter().all(|value| *value == 0.0 || value.is_normal()));
            assert!(gradient[..UNITS].iter().all(|&value| value == 0.0), "the gradient of the first step");
        }
    }

    #[test]
    fn simple_rnn_backward_is_the_derivative_of_the_forward_pass() {
        let recurrent = numbers(UNITS * UNITS, 1, 1.0);
        let products = numbers(PLACES * UNITS, 2, 1.5);
        let dy = numbers(SEQUENCES * UNITS, 3, 1.0);
        for activation in [activation::TANH, activation::RELU] {
            let params = params(activation);
            let forward = |recurrent: &[f64], products: &[f64]| {
                let (mut states, mut previous) = (products.to_vec(), vec![0.0; PLACES * UNITS]);
                let mut y = vec![0.0; dy.len()];
                simple_rnn_forward(&params, &Step::default(), recurrent, &mut states, &mut previous, &mut y);
                (dot(&y, &dy), states, previous)
            };
            let (_, mut states, previous) = forward(&recurrent, &products);
            assert_eq!(states.contains(&0.0), activation == activation::RELU);
            simple_rnn_backward(&params, &recurrent, &dy, &mut states);
            assert_gradient_within(TOLERANCE, &products, &states, |moved| forward(&recurrent, moved).0);
            let gradient = weight_gradient(&previous, &states, 1);
            assert_gradient_within(TOLERANCE, &recurrent, &gradient, |moved| forward(moved, &products).0);
        }
    }

    #[test]
    fn gru_backward_is_the_derivative_of_the_forward_pass() {
        let recurrent = numbers(UNITS * 3 * UNITS, 1, 1.0);
        let bias = numbers(3 * UNITS, 4, 0.5);
        let input = numbers(PLACES * 3 * UNITS, 2, 1.5);
        let dy = numbers(SEQUENCES * UNITS, 3, 1.0);
        for activation in [activation::TANH, activation::RELU] {
            let params = params(activation);
            let forward = |recurrent: &[f64], bias: &[f64], input: &[f64]| {
                let (mut gates, mut products) = (input.to_vec(), vec![0.0; input.len()]);
                let (mut previous, mut y) = (vec![0.0; PLACES * UNITS], vec![0.0; dy.len()]);
                let steps = GruSteps { gates: &mut gates, products: &mut products };
                gru_forward(&params, &Step::default(), [recurrent, bias], steps, &mut previous, &mut y);
                (dot(&y, &dy), gates, products, previous)
            };
            let (_, mut gates, mut products, previous) = forward(&recurrent, &bias, &input);
            assert_eq!(gates.contains(&0.0), activation == activation::RELU);
            let steps = GruSteps { gates: &mut gates, products: &mut products };
            gru_backward(&params, &recurrent, &dy, &previous, steps, &mut vec![0.0; dy.len()]);
            assert_gradient_within(TOLERANCE, &input, &gates, |moved| forward(&recurrent, &bias, moved).0);
            let gradient = weight_gradient(&previous, &products, 3);
            assert_gradient_within(TOLERANCE, &recurrent, &gradient, |moved| forward(moved, &bias, &input).0);
            let mut gradient = vec![0.0; bias.len()];
            for dq in products.chunks_exact(bias.len()) {
                gradient.iter_mut().zip(dq).for_each(|(gradient, dq)| *gradient += dq);
            }
            assert_gradient_within(TOLERANCE, &bias, &gradient, |moved| forward(&recurrent, moved, &input).0);
        }
    }
}
