use shaders::params::{Epilogue, Recurrent, activation};
use shaders::reference::RecurrentSteps;

use super::super::device::GpuDevice;
use super::super::products::{Params, Pass, Product, recurrent};
use super::{
    Case, Variants, assert_close, double, numbers, on_shapes_with, single, step, storable, stored_on_the_way,
    test_variants, variants, with_device,
};
use crate::backends::reference::{recurrent_backward, recurrent_forward};
use crate::model::{Activation, Cell};

const CELLS: [Cell; 5] = [
    Cell::Lstm,
    Cell::Gru(Activation::Tanh),
    Cell::Gru(Activation::Relu),
    Cell::SimpleRnn(Activation::Tanh),
    Cell::SimpleRnn(Activation::Relu),
];

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

    fn check(&self, device: &GpuDevice, (product, which): (&Product, Variants), params: &Recurrent) {
        for variant in variants(device, product, which) {
            let found = self.case.launch_variant(device, &variant, product, &step(params.sequences));
            for ((name, expected), found) in self.names.iter().zip(&self.case.expected).zip(found) {
                let title = format!("{name} of {} of {params:?}", variant.kernel);
                assert_close(&title, &found, expected, stored_on_the_way(8.0, 1e-5));
                // The gates of padding units are half open.
                let is_open = *name == "gates" && product.pass == Pass::Forward;
                let is_padding = |at: u32| at % params.stored_units >= params.units;
                let mut padding = (0..).zip(&found).filter(|(at, _)| is_padding(*at));
                assert!(is_open || padding.all(|(_, value)| *value == 0.0), "{title}: padding");
            }
        }
    }
}

/// Inputs of a layer's forward pass: weights, recurrent bias and gates.
fn forward_inputs(cell: Cell, params: &Recurrent) -> [Vec<f32>; 3] {
    let limit = if cell == Cell::Lstm { 2.0 } else { 1.0 };
    let gates = padded(params, params.sequences * params.steps, cell.gates(), 2, limit);
    // Unsaturated values must not grow from step to step, or rounding grows with them.
    let bounded = if cell == Cell::Lstm { 0.5 } else { (2.0 / (params.units as f32).sqrt()).min(0.5) };
    let mut weights = padded(params, params.stored_units, cell.gates(), 1, bounded);
    weights[(params.units * cell.gates() * params.stored_units) as usize..].fill(0.0);
    [weights, padded(params, 1, cell.gates(), 6, 0.5), gates]
}

/// Runs the twin, and returns its steps and last states.
fn run_twin(cell: Cell, params: &Recurrent, inputs: &[Vec<f32>; 3]) -> (RecurrentSteps<f64>, Vec<f64>) {
    let [weights, bias, gates] = inputs.each_ref().map(|values| double(values));
    let (mut steps, mut y) =
        (RecurrentSteps::from(gates), vec![0.0; (params.sequences * params.stored_units) as usize]);
    recurrent_forward(cell)(params, &step(params.sequences), [&weights, &bias], &mut steps, &mut y);
    (steps, y)
}

fn forward(cell: Cell, params: &Recurrent) -> RecurrentCase {
    let inputs = forward_inputs(cell, params);
    let (steps, y) = run_twin(cell, params, &inputs);
    // A simple cell keeps nothing else.
    let own = Some(("own", steps.own)).filter(|(_, own)| !own.is_empty());
    let others: Vec<_> = own.into_iter().chain([("previous", steps.previous), ("y", y)]).collect();
    let [weights, bias, input] = inputs;
    let mut buffers = if cell.has_recurrent_bias() { vec![weights, bias, input] } else { vec![weights, input] };
    // The kernel must ignore earlier contents.
    let old = |((_, values), stream): (&(_, Vec<f64>), _)| numbers(u32::try_from(values.len()).unwrap(), stream);
    buffers.extend(others.iter().zip(3..).map(old));
    RecurrentCase::new(buffers, [vec![("gates", steps.gates)], others].concat())
}

/// Creates a backward pass in which the sequences from `with_gradient` on have the gradient `rest`.
fn backward(cell: Cell, params: &Recurrent, with_gradient: u32, rest: f32) -> RecurrentCase {
    let inputs = forward_inputs(cell, params);
    let (RecurrentSteps { gates, own, previous, .. }, _) = run_twin(cell, params, &inputs);
    // Of these, only the cell states of an LSTM are always stored in f32.
    let (gates, previous) = (storable(single(&gates)), storable(single(&previous)));
    let own = if cell == Cell::Lstm { single(&own) } else { storable(single(&own)) };
    let mut dy = padded(params, params.sequences, 1, 7, 1.0);
    dy[(with_gradient * params.stored_units) as usize..].fill(rest);
    let dy = storable(dy);
    let [weights, ..] = inputs;
    let mut steps =
        RecurrentSteps { own: double(&own), previous: double(&previous), ..RecurrentSteps::from(double(&gates)) };
    recurrent_backward(cell)(params, &double(&weights), &double(&dy), &mut steps);
    let RecurrentSteps { gates: dz, own: own_gradient, kept_gradient, .. } = steps;
    match cell {
        Cell::Lstm => {
            let written = vec![("gradient of cells", own_gradient), ("dz", dz)];
            RecurrentCase::new(vec![weights, dy, own, gates], written)
        }
        Cell::Gru(_) => {
            let old = numbers(u32::try_from(dy.len()).unwrap(), 8);
            let written = vec![("dx", dz), ("dq", own_gradient), ("kept gradient", kept_gradient)];
            RecurrentCase::new(vec![weights, dy, previous, gates, own, old], written)
        }
        Cell::SimpleRnn(_) => RecurrentCase::new(vec![weights, dy, gates], vec![("dz", dz)]),
    }
}

/// Checks that gradients are exactly zero in sequences whose last state has the gradient `rest`, none or a tiny one.
fn check_sequences_with_the_gradient(device: &GpuDevice, which: Variants, cell: Cell, rest: f32) {
    let with_gradient = 5;
    let params = layer(cell, (9, 4, 6));
    let product = Product { pass: Pass::InputGradient, params: Params::Recurrent(cell, params) };
    let case = backward(cell, &params, with_gradient, rest);
    for variant in variants(device, &product, which) {
        let found = case.case.launch_variant(device, &variant, &product, &step(params.sequences));
        for (what, gradient) in case.names.iter().zip(found) {
            let end = gradient.len() / 9 * with_gradient as usize;
            assert!(gradient[..end].iter().any(|&value| value != 0.0), "{what} of {}", variant.kernel);
            assert!(gradient[end..].iter().all(|&value| value == 0.0), "{what} of {}, {rest}", variant.kernel);
        }
    }
}

fn check_layers(which: Variants) {
    with_device(|device| {
        let check = |device: &GpuDevice, shape| {
            for cell in CELLS {
                let params = layer(cell, shape);
                let product = |pass| Product { pass, params: Params::Recurrent(cell, params) };
                forward(cell, &params).check(device, (&product(Pass::Forward), which), &params);
                let backward = backward(cell, &params, params.sequences, 0.0);
                backward.check(device, (&product(Pass::InputGradient), which), &params);
            }
        };
        // Sequences, steps and units, including partial workgroups, single steps and padded units.
        on_shapes_with(device, &(1u32..70, 1u32..6, 1u32..40), &check);
        for units in [131, 259, 512, 530] {
            check(device, (3, 3, units));
        }
        for cell in CELLS {
            check_sequences_with_the_gradient(device, which, cell, 0.0);
            check_sequences_with_the_gradient(device, which, cell, 9e-31);
        }
    });
}

test_variants! {
    recurrent_layers: check_layers;
}
