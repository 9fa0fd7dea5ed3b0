use super::dot::{add_products, transpose};
use super::recurrent::finish;
use crate::Real;
use crate::params::{Recurrent, Step};

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
    let mut state = State { hidden: vec![T::ZERO; units], cell: vec![T::ZERO; units] };
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

/// What a sequence hands from step to step: S hidden values and S cells.
struct State<T> {
    hidden: Vec<T>,
    cell: Vec<T>,
}

impl<T: Real> State<T> {
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
                let before = if t == 0 { T::ZERO } else { cells[(t - 1) * units + unit] };
                let squashed = cells[t * units + unit].tanh();
                let cell = dh[unit] * o * (T::ONE - squashed * squashed) + dc[unit];
                dz[unit] = cell * g * hard_sigmoid_slope(i);
                dz[units + unit] = cell * before * hard_sigmoid_slope(f);
                dz[2 * units + unit] = cell * i * (T::ONE - g * g);
                dz[3 * units + unit] = dh[unit] * squashed * hard_sigmoid_slope(o);
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
