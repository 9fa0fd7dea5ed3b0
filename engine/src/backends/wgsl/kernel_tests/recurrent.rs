use proptest::prelude::*;
use shaders::params::{Epilogue, Recurrent, activation};
use shaders::reference as twin;
use shaders::reference::GruSteps;

use super::super::device::Device;
use super::super::products::{Pass, Product, recurrent};
use super::{
    Case, Variants, assert_close, double, numbers, on_shapes, step, storable, stored_on_the_way, test_variants,
    variants, with_device,
};
use crate::model::{Activation, Cell};

const CELLS: [Cell; 5] = [
    Cell::Lstm,
    Cell::Gru(Activation::Tanh),
    Cell::Gru(Activation::Relu),
    Cell::SimpleRnn(Activation::Tanh),
    Cell::SimpleRnn(Activation::Relu),
];

/// Generates numbers of sequences, steps and units, including partial workgroups, single steps and padded units.
fn shapes() -> impl Strategy<Value = (u32, u32, u32)> {
    (1u32..70, 1u32..6, 1u32..40)
}

fn layer(cell: Cell, (sequences, steps, units): (u32, u32, u32)) -> Recurrent {
    let epilogue = Epilogue {
        activation: activation::IDENTITY,
        dropout_stream: 1000,
        dropout_rate: 0.3,
        channels: units,
        features: units,
        ..Epilogue::default()
    };
    let activation = cell.activation().number();
    Recurrent { activation, epilogue: epilogue.stored(4), ..recurrent(sequences, steps, units) }
}

/// Returns rows of `blocks` blocks of units, with numbers in `-limit..limit` and zeros as padding of each block.
fn padded(params: &Recurrent, rows: u32, blocks: u32, stream: u32, limit: f32) -> Vec<f32> {
    let values = numbers(rows * blocks * params.stored_units, stream);
    let known = |at: u32| at % params.stored_units < params.units;
    storable((0..).zip(values).map(|(at, value)| if known(at) { limit * value } else { 0.0 }).collect())
}

fn recurrent_weights(cell: Cell, params: &Recurrent) -> Vec<f32> {
    // Unsaturated values must not grow from step to step, or rounding grows with them.
    let bounded = if cell == Cell::Lstm { 0.5 } else { (2.0 / (params.units as f32).sqrt()).min(0.5) };
    let mut weights = padded(params, params.stored_units, cell.gates(), 1, bounded);
    weights[(params.units * cell.gates() * params.stored_units) as usize..].fill(0.0);
    weights
}

/// Returns true if the padding of rows of stored units is zero.
fn padding_is_zero(params: &Recurrent, values: &[f32]) -> bool {
    (0..).zip(values).all(|(at, &value): (u32, _)| at % params.stored_units < params.units || value == 0.0)
}

/// One pass of a layer, with names of the buffers that it writes.
struct RecurrentCase {
    case: Case,
    names: Vec<&'static str>,
}

impl RecurrentCase {
    /// Creates a case. `written` has the names of the last buffers and the twin's results for them.
    fn new(buffers: Vec<Vec<f32>>, written: Vec<(&'static str, Vec<f64>)>) -> Self {
        let (names, expected) = written.into_iter().unzip();
        Self { case: Case { buffers, expected }, names }
    }

    /// Compares the buffers that variants write with the twin's.
    fn check(&self, device: &Device, (product, which): (&Product, Variants), params: &Recurrent) {
        for variant in variants(device, product, which) {
            let found = self.case.launch_variant(device, variant, product, &step(params.sequences));
            for ((name, expected), found) in self.names.iter().zip(&self.case.expected).zip(found) {
                let title = format!("{name} of {} of {params:?}", variant.kernel);
                assert_close(&title, &found, expected, stored_on_the_way(8.0, 1e-5));
                // The gates of padding units are half open.
                let is_open = *name == "gates" && product.pass == Pass::Forward;
                assert!(is_open || padding_is_zero(params, &found), "{title}: padding");
            }
        }
    }
}

/// Inputs of a layer's forward pass.
struct ForwardInputs {
    weights: Vec<f32>,
    recurrent_bias: Vec<f32>,
    gates: Vec<f32>,
}

impl ForwardInputs {
    fn new(cell: Cell, params: &Recurrent) -> Self {
        let limit = if cell == Cell::Lstm { 2.0 } else { 1.0 };
        Self {
            weights: recurrent_weights(cell, params),
            recurrent_bias: padded(params, 1, cell.gates(), 6, 0.5),
            gates: padded(params, params.sequences * params.steps, cell.gates(), 2, limit),
        }
    }

    /// Runs the twin and returns the gates, the values that only this kind of cell keeps, the previous states and the
    /// last states.
    fn run_twin(&self, cell: Cell, params: &Recurrent) -> [Vec<f64>; 4] {
        let states = (params.sequences * params.steps * params.stored_units) as usize;
        let (mut gates, mut previous) = (double(&self.gates), vec![0.0; states]);
        let mut y = vec![0.0; (params.sequences * params.stored_units) as usize];
        let step = step(params.sequences);
        let weights = double(&self.weights);
        let mut own = vec![0.0; if cell == Cell::Lstm { states } else { gates.len() }];
        match cell {
            Cell::Lstm => twin::lstm_forward(params, &step, &weights, &mut gates, &mut own, &mut previous, &mut y),
            Cell::Gru(_) => {
                let steps = GruSteps { gates: &mut gates, products: &mut own };
                let weights = [weights.as_slice(), &double(&self.recurrent_bias)];
                twin::gru_forward(params, &step, weights, steps, &mut previous, &mut y);
            }
            Cell::SimpleRnn(_) => {
                twin::simple_rnn_forward(params, &step, &weights, &mut gates, &mut previous, &mut y);
            }
        }
        [gates, own, previous, y]
    }
}

fn forward(cell: Cell, params: &Recurrent) -> RecurrentCase {
    let inputs = ForwardInputs::new(cell, params);
    let [gates, own, previous, y] = inputs.run_twin(cell, params);
    // The kernel must ignore earlier contents.
    let old = |count: usize, stream| numbers(u32::try_from(count).unwrap(), stream);
    let [old_own, old_previous, old_y] = [old(own.len(), 3), old(previous.len(), 4), old(y.len(), 5)];
    let ForwardInputs { weights, recurrent_bias, gates: input } = inputs;
    let (gates, previous, y) = (("gates", gates), ("previous", previous), ("y", y));
    match cell {
        Cell::Lstm => {
            let buffers = vec![weights, input, old_own, old_previous, old_y];
            RecurrentCase::new(buffers, vec![gates, ("cells", own), previous, y])
        }
        Cell::Gru(_) => {
            let buffers = vec![weights, recurrent_bias, input, old_own, old_previous, old_y];
            RecurrentCase::new(buffers, vec![gates, ("products", own), previous, y])
        }
        Cell::SimpleRnn(_) => RecurrentCase::new(vec![weights, input, old_previous, old_y], vec![gates, previous, y]),
    }
}

/// Creates a backward pass in which the sequences from `with_gradient` on have the gradient `rest`.
fn backward(cell: Cell, params: &Recurrent, with_gradient: u32, rest: f32) -> RecurrentCase {
    let inputs = ForwardInputs::new(cell, params);
    let [gates, own, previous, _] = inputs.run_twin(cell, params);
    #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
    let single = |values: Vec<f64>| -> Vec<f32> { values.into_iter().map(|v| v as f32).collect() };
    // Of these, only the cell states of an LSTM are always stored in f32.
    let (gates, previous) = (storable(single(gates)), storable(single(previous)));
    let own = if cell == Cell::Lstm { single(own) } else { storable(single(own)) };
    let mut dy = padded(params, params.sequences, 1, 7, 1.0);
    dy[(with_gradient * params.stored_units) as usize..].fill(rest);
    let dy = storable(dy);
    let weights = inputs.weights;
    let (mut dz, mut own_gradient) = (double(&gates), double(&own));
    let [wide_weights, wide_dy, wide_previous] = [&weights, &dy, &previous].map(|values| double(values));
    match cell {
        Cell::Lstm => {
            twin::lstm_backward(params, &wide_weights, &wide_dy, &mut own_gradient, &mut dz);
            let written = vec![("gradient of cells", own_gradient), ("dz", dz)];
            RecurrentCase::new(vec![weights, dy, own, gates], written)
        }
        Cell::Gru(_) => {
            let mut kept = vec![0.0; dy.len()];
            let steps = GruSteps { gates: &mut dz, products: &mut own_gradient };
            twin::gru_backward(params, &wide_weights, &wide_dy, &wide_previous, steps, &mut kept);
            let old = numbers(u32::try_from(dy.len()).unwrap(), 8);
            let written = vec![("dx", dz), ("dq", own_gradient), ("kept gradient", kept)];
            RecurrentCase::new(vec![weights, dy, previous, gates, own, old], written)
        }
        Cell::SimpleRnn(_) => {
            twin::simple_rnn_backward(params, &wide_weights, &wide_dy, &mut dz);
            RecurrentCase::new(vec![weights, dy, gates], vec![("dz", dz)])
        }
    }
}

fn check_forward(device: &Device, which: Variants, cell: Cell, params: &Recurrent) {
    let product = Product::new(Pass::Forward, (cell, *params));
    forward(cell, params).check(device, (&product, which), params);
}

fn check_backward(device: &Device, which: Variants, cell: Cell, params: &Recurrent) {
    let product = Product::new(Pass::InputGradient, (cell, *params));
    backward(cell, params, params.sequences, 0.0).check(device, (&product, which), params);
}

type Check = fn(&Device, Variants, Cell, &Recurrent);

fn check_every_cell(which: Variants, check: Check) {
    on_shapes(shapes(), |device, shape| {
        CELLS.iter().for_each(|&cell| check(device, which, cell, &layer(cell, shape)));
    });
}

fn check_wide_layers(which: Variants) {
    with_device(|device| {
        for units in [131, 259, 512, 530] {
            for cell in CELLS {
                check_forward(device, which, cell, &layer(cell, (3, 3, units)));
                check_backward(device, which, cell, &layer(cell, (3, 3, units)));
            }
        }
    });
}

fn check_sequences_with_the_gradient(rest: f32, which: Variants) {
    with_device(|device| {
        let with_gradient = 5;
        for cell in CELLS {
            let params = layer(cell, (9, 4, 6));
            let product = Product::new(Pass::InputGradient, (cell, params));
            let case = backward(cell, &params, with_gradient, rest);
            for variant in variants(device, &product, which) {
                let found = case.case.launch_variant(device, variant, &product, &step(params.sequences));
                for (what, gradient) in case.names.iter().zip(found) {
                    let end = gradient.len() / 9 * with_gradient as usize;
                    assert!(gradient[..end].iter().any(|&value| value != 0.0), "{what} of {}", variant.kernel);
                    assert!(gradient[end..].iter().all(|&value| value == 0.0), "{what} of {}", variant.kernel);
                }
            }
        }
    });
}

test_variants! {
    forward_passes: |which| check_every_cell(which, check_forward);
    backward_passes: |which| check_every_cell(which, check_backward);
    wide_layers: check_wide_layers;
    sequences_without_a_gradient: |which| check_sequences_with_the_gradient(0.0, which);
    sequences_with_a_tiny_gradient: |which| check_sequences_with_the_gradient(9e-31, which);
}
