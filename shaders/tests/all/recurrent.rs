//! The backward twins of recurrent layers are the derivatives of the forward ones.

use shaders::params::{Epilogue, Recurrent, Step, activation};
use shaders::reference::pcg4d::uniform;
use shaders::reference::{
    GruSteps, gru_backward, gru_forward, lstm_backward, lstm_forward, simple_rnn_backward, simple_rnn_forward,
};

const PARAMS: Recurrent = Recurrent {
    sequences: 2,
    steps: 4,
    units: 3,
    stored_units: 3,
    activation: activation::TANH,
    reserved: [0; 3],
    epilogue: Epilogue {
        activation: 0,
        dropout_stream: 0,
        dropout_rate: 0.0,
        accumulate: 0,
        channels: 3,
        stored_channels: 3,
        features: 0,
        reserved: 0,
    },
};
const UNITS: usize = PARAMS.units as usize;
const PLACES: usize = (PARAMS.sequences * PARAMS.steps) as usize;

/// Numbers in `-limit..limit`, different for each `stream`.
fn numbers(count: usize, stream: u32, limit: f64) -> Vec<f64> {
    (0u32..).take(count).map(|i| limit * (2.0 * f64::from(uniform(i, stream, 0, 7)) - 1.0)).collect()
}

struct Forward {
    gates: Vec<f64>,
    cells: Vec<f64>,
    previous: Vec<f64>,
    y: Vec<f64>,
}

fn forward(recurrent: &[f64], products: &[f64]) -> Forward {
    let mut gates = products.to_vec();
    let (mut cells, mut previous) = (vec![0.0; PLACES * UNITS], vec![0.0; PLACES * UNITS]);
    let mut y = vec![0.0; PARAMS.sequences as usize * UNITS];
    lstm_forward(&PARAMS, &Step::default(), recurrent, &mut gates, &mut cells, &mut previous, &mut y);
    Forward { gates, cells, previous, y }
}

/// Holds each element of `gradient` to the difference quotient of `loss` at `point`.
fn check(what: &str, point: &[f64], gradient: &[f64], loss: impl Fn(&[f64]) -> f64) {
    const STEP: f64 = 1e-5;
    assert_eq!(point.len(), gradient.len(), "{what}");
    for (i, &gradient) in gradient.iter().enumerate() {
        let moved = |by: f64| {
            let mut moved = point.to_vec();
            moved[i] += by;
            loss(&moved)
        };
        let quotient = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
        assert!((quotient - gradient).abs() <= 1e-8, "{what}: element {i} is {gradient:e}, the quotient {quotient:e}");
    }
}

/// As the dense weight gradient computes it: the hidden states before each step times `dz`.
fn weight_gradient(previous: &[f64], dz: &[f64], gates: usize) -> Vec<f64> {
    let mut gradient = vec![0.0; UNITS * gates * UNITS];
    for (previous, dz) in previous.chunks_exact(UNITS).zip(dz.chunks_exact(gates * UNITS)) {
        for (hidden, row) in previous.iter().zip(gradient.chunks_exact_mut(gates * UNITS)) {
            row.iter_mut().zip(dz).for_each(|(gradient, dz)| *gradient += hidden * dz);
        }
    }
    gradient
}

#[test]
fn the_lstm_backward_is_the_derivative_of_the_lstm_forward() {
    let recurrent = numbers(UNITS * 4 * UNITS, 1, 1.0);
    // So large that some gates are at the ends of the hard sigmoid.
    let products = numbers(PLACES * 4 * UNITS, 2, 3.5);
    let dy = numbers(PARAMS.sequences as usize * UNITS, 3, 1.0);
    let loss = |run: &Forward| run.y.iter().zip(&dy).map(|(y, dy)| y * dy).sum::<f64>();

    let Forward { gates, mut cells, previous, .. } = forward(&recurrent, &products);
    assert!(gates.contains(&0.0) && gates.contains(&1.0));
    let mut dz = gates;
    lstm_backward(&PARAMS, &recurrent, &dy, &mut cells, &mut dz);
    check("products", &products, &dz, |moved| loss(&forward(&recurrent, moved)));

    let gradient = weight_gradient(&previous, &dz, 4);
    check("recurrent weights", &recurrent, &gradient, |moved| loss(&forward(moved, &products)));
}

#[test]
fn the_simple_rnn_backward_is_the_derivative_of_the_simple_rnn_forward() {
    let recurrent = numbers(UNITS * UNITS, 1, 1.0);
    let products = numbers(PLACES * UNITS, 2, 1.5);
    let dy = numbers(PARAMS.sequences as usize * UNITS, 3, 1.0);
    for activation in [activation::TANH, activation::RELU] {
        let params = Recurrent { activation, ..PARAMS };
        let forward = |recurrent: &[f64], products: &[f64]| {
            let (mut states, mut previous) = (products.to_vec(), vec![0.0; PLACES * UNITS]);
            let mut y = vec![0.0; dy.len()];
            simple_rnn_forward(&params, &Step::default(), recurrent, &mut states, &mut previous, &mut y);
            (y.iter().zip(&dy).map(|(y, dy)| y * dy).sum::<f64>(), states, previous)
        };
        let (_, mut states, previous) = forward(&recurrent, &products);
        assert_eq!(states.contains(&0.0), activation == activation::RELU);
        simple_rnn_backward(&params, &recurrent, &dy, &mut states);
        check("products", &products, &states, |moved| forward(&recurrent, moved).0);
        let gradient = weight_gradient(&previous, &states, 1);
        check("recurrent weights", &recurrent, &gradient, |moved| forward(moved, &products).0);
    }
}

#[test]
fn the_gru_backward_is_the_derivative_of_the_gru_forward() {
    let recurrent = numbers(UNITS * 3 * UNITS, 1, 1.0);
    let bias = numbers(3 * UNITS, 4, 0.5);
    let input = numbers(PLACES * 3 * UNITS, 2, 1.5);
    let dy = numbers(PARAMS.sequences as usize * UNITS, 3, 1.0);
    for activation in [activation::TANH, activation::RELU] {
        let params = Recurrent { activation, ..PARAMS };
        let forward = |recurrent: &[f64], bias: &[f64], input: &[f64]| {
            let (mut gates, mut products) = (input.to_vec(), vec![0.0; input.len()]);
            let (mut previous, mut y) = (vec![0.0; PLACES * UNITS], vec![0.0; dy.len()]);
            let steps = GruSteps { gates: &mut gates, products: &mut products };
            gru_forward(&params, &Step::default(), [recurrent, bias], steps, &mut previous, &mut y);
            (y.iter().zip(&dy).map(|(y, dy)| y * dy).sum::<f64>(), gates, products, previous)
        };
        let (_, mut gates, mut products, previous) = forward(&recurrent, &bias, &input);
        assert_eq!(gates.contains(&0.0), activation == activation::RELU);
        let steps = GruSteps { gates: &mut gates, products: &mut products };
        gru_backward(&params, &recurrent, &dy, &previous, steps, &mut vec![0.0; dy.len()]);
        check("input", &input, &gates, |moved| forward(&recurrent, &bias, moved).0);
        let gradient = weight_gradient(&previous, &products, 3);
        check("recurrent weights", &recurrent, &gradient, |moved| forward(moved, &bias, &input).0);
        let mut gradient = vec![0.0; bias.len()];
        for dq in products.chunks_exact(bias.len()) {
            gradient.iter_mut().zip(dq).for_each(|(gradient, dq)| *gradient += dq);
        }
        check("recurrent bias", &bias, &gradient, |moved| forward(&recurrent, moved, &input).0);
    }
}
