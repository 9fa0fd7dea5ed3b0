use super::dot::{add_products, transpose};
use super::recurrent::{activated, activation_slope, finish, sigmoid};
use crate::Real;
use crate::params::{Recurrent, Step};

/// What the steps of all sequences leave behind, or their gradients.
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

/// One step; `gates`: (3S), in: `x·W + b`, out: z, r, g; `products`: (3S), `q`; `hidden`: (S).
fn advance<T: Real>(params: &Recurrent, gates: &mut [T], products: &[T], hidden: &mut [T]) {
    let units = hidden.len();
    for (unit, hidden) in hidden.iter_mut().enumerate() {
        let [z, r, g] = [0, 1, 2].map(|block| block * units + unit);
        gates[z] = sigmoid(gates[z] + products[z]);
        gates[r] = sigmoid(gates[r] + products[r]);
        gates[g] = activated(gates[g] + gates[r] * products[g], params);
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
                let da = dh[unit] * (T::ONE - z) * activation_slope(g, params);
                let dz = dh[unit] * (previous[unit] - g) * z * (T::ONE - z);
                let dr = da * products[2 * units + unit] * r * (T::ONE - r);
                for (block, [dx, dq]) in [[dz, dz], [dr, dr], [da, da * r]].into_iter().enumerate() {
                    gates[block * units + unit] = dx;
                    products[block * units + unit] = dq;
                }
                kept[unit] = dh[unit] * z;
            }
            dh.copy_from_slice(kept);
            add_products(products, &recurrent, &mut dh);
        }
    }
}
