//! Recurrent layers: DeepBench's training list, and the layers of `keras-mnist-hrnn`.
//!
//! As in DeepBench, whose cuDNN runs skip the input weights, a layer is measured without the products with its input.
//! These are ordinary matrix products over all steps, so a layer starts from the input of its gates. Vanilla layers and
//! GRUs use ReLU, as in DeepBench. LSTMs follow Keras 2.0.8, with hard sigmoids.
//!
//! Kernels overwrite the gates with their results, so each repetition starts from the results of the previous one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use results::kernels::{Pass, Suite};
use shaders::params::{Epilogue, Recurrent, Step};
use shaders::reference::{self as twin, GruSteps};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::products::Product;
use super::super::variants::Variant;
use super::lab::Work;
use super::layers::{MatrixProduct, Operand, PlainSum};
use super::product::{LayerPass, choose_indices};
use crate::model::{Activation, Cell};

/// Maximum number of multiply-adds per sequence in plain loops, which takes a few seconds.
const MAX_PLAIN_PRODUCTS: u64 = 1 << 31;
/// Number of steps to compare with plain loops if all steps would exceed [`MAX_PLAIN_PRODUCTS`].
const MIN_CHECKED_STEPS: u32 = 8;

pub(super) fn products(emulated: bool) -> Vec<Box<dyn LayerPass>> {
    let mut all: Vec<Box<dyn LayerPass>> = Vec::new();
    for (cell, sizes) in cells() {
        for size in sizes {
            all.extend(Pass::ALL.map(|pass| Box::new(RecurrentPass::new(cell, size, pass, emulated)) as Box<_>));
        }
    }
    all
}

pub(super) struct RecurrentPass {
    cell: Cell,
    units: u32,
    sequences: u32,
    steps: u32,
    pass: Pass,
    /// True if a CPU emulates the GPU, which sums gradients in fewer parts.
    emulated: bool,
    /// Cache of plain loops' results, by sequence.
    plain: RefCell<HashMap<u32, Rc<PlainSequence>>>,
}

impl RecurrentPass {
    pub(super) fn new(cell: Cell, [units, sequences, steps]: RecurrentSize, pass: Pass, emulated: bool) -> Self {
        Self { cell, units, sequences, steps, pass, emulated, plain: RefCell::default() }
    }

    fn params(&self) -> Recurrent {
        let stored_units = self.units.next_multiple_of(CHANNEL_ALIGNMENT);
        Recurrent {
            sequences: self.sequences,
            steps: self.steps,
            units: self.units,
            stored_units,
            activation: self.cell.activation().number(),
            epilogue: Epilogue { channels: self.units, stored_channels: stored_units, ..Epilogue::default() },
            ..Recurrent::default()
        }
    }

    /// Returns the number of gate values per step of a sequence, including padding.
    fn gate_columns(&self) -> u32 {
        self.cell.gates() * self.params().stored_units
    }

    /// Returns the gradient of the recurrent weights as a matrix product over all steps.
    fn weight_gradient(&self) -> MatrixProduct {
        MatrixProduct {
            units: self.gate_columns(),
            rows: self.sequences * self.steps,
            inputs: self.params().stored_units,
            pass: self.pass,
            emulated: self.emulated,
        }
    }

    /// Returns weights that are small enough that states neither explode nor vanish.
    ///
    /// ReLU is unbounded, so its weights are never positive: each repetition adds its products to the results of the
    /// previous one and thereby shrinks them.
    fn weights(&self) -> Vec<f32> {
        let stored = self.params().stored_units;
        let operand = Operand::full(1, stored, self.gate_columns());
        #[expect(clippy::cast_possible_truncation, reason = "weights are float32")]
        let one = |share: f64| share as f32;
        if self.cell.activation() == Activation::Relu {
            let limit = one(-1.0 / f64::from(stored));
            return operand.numbers().iter().map(|number| limit * number.abs()).collect();
        }
        let limit = one(1.0 / f64::from(stored).sqrt());
        operand.numbers().iter().map(|number| limit * number).collect()
    }

    /// Returns the input of the gates, without the recurrent products.
    fn x(&self) -> Operand {
        Operand::full(2, self.sequences * self.steps, self.gate_columns())
    }

    /// Returns the gradient of the last hidden state.
    fn dy(&self) -> Operand {
        Operand::full(3, self.sequences, self.params().stored_units)
    }

    fn recurrent_bias(&self) -> Operand {
        Operand::full(4, 1, self.gate_columns())
    }

    /// Returns a GRU's products or an LSTM's cells before a backward pass.
    fn own(&self) -> Operand {
        let columns = if self.cell == Cell::Lstm { self.params().stored_units } else { self.gate_columns() };
        Operand::full(5, self.sequences * self.steps, columns)
    }

    /// Returns the hidden states before a backward pass.
    fn previous(&self) -> Operand {
        Operand::full(6, self.sequences * self.steps, self.params().stored_units)
    }

    /// Returns the number of steps to check: the first steps of a forward pass, the last steps of a backward pass.
    fn checked_steps(&self) -> u32 {
        let per_step = u64::from(self.gate_columns()) * u64::from(self.params().stored_units);
        let affordable = per_step * u64::from(self.steps) <= MAX_PLAIN_PRODUCTS;
        // The gradients of an LSTM also depend on the previous cell state. No LSTM in the list has too many steps.
        if affordable || self.cell == Cell::Lstm { self.steps } else { self.steps.min(MIN_CHECKED_STEPS) }
    }

    /// Returns true if a forward pass is checked by its last hidden states instead of its gates.
    fn compares_states(&self) -> bool {
        self.pass == Pass::Forward && self.checked_steps() == self.steps
    }

    /// Returns the number of values per sequence in the pass's result.
    fn results_per_sequence(&self) -> u64 {
        self.results() / u64::from(self.sequences)
    }

    fn plain_sequence(&self, sequence: u32) -> Rc<PlainSequence> {
        let compute = || Rc::new(self.compute_plainly(sequence));
        Rc::clone(self.plain.borrow_mut().entry(sequence).or_insert_with(compute))
    }

    fn forward_work(&self, variant: &Variant, work: &mut Work) {
        let recurrent = work.floats("recurrent weights", &self.weights());
        let gates = work.floats("gates", &self.x().numbers());
        let previous = work.zeros("hidden states", self.previous().elements());
        let y = work.zeros("last hidden state", self.dy().elements());
        let bindings = match self.cell {
            Cell::Lstm => vec![recurrent, gates, work.zeros("cell states", self.own().elements()), previous, y],
            Cell::Gru(_) => {
                let bias = work.floats("recurrent bias", &self.recurrent_bias().numbers());
                vec![recurrent, bias, gates, work.zeros("products", self.own().elements()), previous, y]
            }
            Cell::SimpleRnn(_) => vec![recurrent, gates, previous, y],
        };
        work.repeat_variant(variant, &self.product(), &bindings);
        work.output = Some(if self.compares_states() { y } else { gates });
    }

    /// Adds a backward pass from random states, with gates in 0..1, so that plain loops can start at any step.
    fn backward_work(&self, variant: &Variant, work: &mut Work) {
        let recurrent = work.floats("recurrent weights", &self.weights());
        let dy = work.floats("gradient", &self.dy().numbers());
        let gates: Vec<f32> = self.x().numbers().into_iter().map(f32::abs).collect();
        let gates = work.floats("gates", &gates);
        let bindings = match self.cell {
            Cell::Lstm => vec![recurrent, dy, work.floats("cell states", &self.own().numbers()), gates],
            Cell::Gru(_) => {
                let previous = work.floats("hidden states", &self.previous().numbers());
                let products = work.floats("products", &self.own().numbers());
                let kept = work.zeros("kept gradient", self.dy().elements());
                vec![recurrent, dy, previous, gates, products, kept]
            }
            Cell::SimpleRnn(_) => vec![recurrent, dy, gates],
        };
        work.repeat_variant(variant, &self.product(), &bindings);
        work.output = Some(gates);
    }
}

impl LayerPass for RecurrentPass {
    fn suite(&self) -> Suite {
        Suite::Rnn
    }

    fn is_emulated(&self) -> bool {
        self.emulated
    }

    fn size(&self) -> String {
        let name = match self.cell {
            Cell::Lstm => "LSTM",
            Cell::Gru(_) => "GRU",
            Cell::SimpleRnn(_) => "vanilla",
        };
        format!("{name}, {} units, {} × {} steps", self.units, self.sequences, self.steps)
    }

    /// Returns the operations of all steps but the first, which has no previous state.
    fn flops(&self) -> u64 {
        let per_step = 2 * u64::from(self.cell.gates()) * u64::from(self.units).pow(2);
        per_step * u64::from(self.sequences) * u64::from(self.steps - 1)
    }

    fn impossible(&self) -> Option<&'static str> {
        (self.steps == 1).then_some("a single step, from a state of zeros, multiplies nothing")
    }

    fn product(&self) -> Product {
        match self.pass {
            Pass::WeightGradient => self.weight_gradient().product(),
            pass => Product::new(pass, (self.cell, self.params())),
        }
    }

    fn work(&self, variant: &Variant) -> Work {
        if self.pass == Pass::WeightGradient {
            return self.weight_gradient().work(variant);
        }
        let mut work = Work::new(self.sequences);
        match self.pass {
            Pass::Forward => self.forward_work(variant, &mut work),
            _ => self.backward_work(variant, &mut work),
        }
        work
    }

    fn results(&self) -> u64 {
        match self.pass {
            Pass::WeightGradient => self.weight_gradient().results(),
            _ if self.compares_states() => self.dy().elements(),
            Pass::Forward | Pass::InputGradient => self.x().elements(),
        }
    }

    /// Returns results of the first and last sequence only, and of a few steps of long sequences: plain loops are slow.
    fn checked(&self) -> Vec<u64> {
        let indices = choose_indices(self.results());
        if self.pass == Pass::WeightGradient {
            return indices;
        }
        let one = self.results_per_sequence();
        let last = one * u64::from(self.sequences - 1);
        let checked = if self.compares_states() {
            0..one
        } else {
            let checked = u64::from(self.checked_steps()) * u64::from(self.gate_columns());
            if self.pass == Pass::Forward { 0..checked } else { one - checked..one }
        };
        indices
            .into_iter()
            .map(|at| {
                let sequence = if (at / one).is_multiple_of(2) && at < last { 0 } else { last };
                sequence + checked.start + at % one % (checked.end - checked.start)
            })
            .collect()
    }

    fn plain(&self, at: u64) -> PlainSum {
        if self.pass == Pass::WeightGradient {
            return self.weight_gradient().plain(at);
        }
        let place = |number: u64| u32::try_from(number).expect("indices fit into u32");
        let one = self.results_per_sequence();
        let sequence = self.plain_sequence(place(at / one));
        let value = if self.compares_states() {
            sequence.y[place(at % one) as usize]
        } else {
            sequence.gates[place(at % one) as usize - sequence.first_gate]
        };
        PlainSum { value, magnitude: value.abs() }
    }
}

/// Some steps of a sequence in double precision.
struct PlainSequence {
    /// Last hidden state of a forward pass.
    y: Vec<f64>,
    /// Gates of these steps, or gradients of their input.
    gates: Vec<f64>,
    /// Index of the first gate in the whole sequence.
    first_gate: usize,
}

fn rows(operand: Operand, steps: std::ops::Range<u32>) -> Vec<f64> {
    steps.flat_map(|row| (0..operand.columns).map(move |column| f64::from(operand.at(row, column)))).collect()
}

impl RecurrentPass {
    fn compute_plainly(&self, sequence: u32) -> PlainSequence {
        let count = self.checked_steps();
        let first = if self.pass == Pass::Forward { 0 } else { self.steps - count };
        let start = sequence * self.steps + first;
        let params = Recurrent { sequences: 1, steps: count, ..self.params() };
        let weights: Vec<f64> = self.weights().into_iter().map(f64::from).collect();
        let x = rows(self.x(), start..start + count);
        let first_gate = (first * self.gate_columns()) as usize;
        let states = (count * params.stored_units) as usize;
        if self.pass == Pass::Forward {
            let (gates, y) = self.forward_plainly(&params, &weights, x, states);
            return PlainSequence { y, gates, first_gate };
        }
        let mut gates: Vec<f64> = x.into_iter().map(f64::abs).collect();
        let dy = rows(self.dy(), sequence..sequence + 1);
        match self.cell {
            Cell::Lstm => {
                let mut cells = rows(self.own(), start..start + count);
                twin::lstm_backward(&params, &weights, &dy, &mut cells, &mut gates);
            }
            Cell::Gru(_) => {
                let previous = rows(self.previous(), start..start + count);
                let mut products = rows(self.own(), start..start + count);
                let steps = GruSteps { gates: &mut gates, products: &mut products };
                let mut kept = vec![0.0; params.stored_units as usize];
                twin::gru_backward(&params, &weights, &dy, &previous, steps, &mut kept);
            }
            Cell::SimpleRnn(_) => twin::simple_rnn_backward(&params, &weights, &dy, &mut gates),
        }
        PlainSequence { y: Vec::new(), gates, first_gate }
    }

    fn forward_plainly(
        &self,
        params: &Recurrent,
        weights: &[f64],
        mut gates: Vec<f64>,
        states: usize,
    ) -> (Vec<f64>, Vec<f64>) {
        let (mut previous, mut y) = (vec![0.0; states], vec![0.0; params.stored_units as usize]);
        let step = Step::default();
        match self.cell {
            Cell::Lstm => {
                let mut cells = previous.clone();
                twin::lstm_forward(params, &step, weights, &mut gates, &mut cells, &mut previous, &mut y);
            }
            Cell::Gru(_) => {
                let bias = rows(self.recurrent_bias(), 0..1);
                let mut products = vec![0.0; gates.len()];
                let steps = GruSteps { gates: &mut gates, products: &mut products };
                twin::gru_forward(params, &step, [weights, &bias], steps, &mut previous, &mut y);
            }
            Cell::SimpleRnn(_) => twin::simple_rnn_forward(params, &step, weights, &mut gates, &mut previous, &mut y),
        }
        (gates, y)
    }
}

/// Units, sequences, steps.
type RecurrentSize = [u32; 3];

/// Layers of `keras-mnist-hrnn` with batches of 32.
const OWN_LSTMS: [RecurrentSize; 2] = [[128, 896, 28], [128, 32, 28]];

/// Returns each cell with its sizes: our own first, then DeepBench's, sorted by operations.
fn cells() -> [(Cell, Vec<RecurrentSize>); 3] {
    [
        (Cell::Lstm, [OWN_LSTMS.to_vec(), sort_by_operations(deepbench_lstms())].concat()),
        (Cell::SimpleRnn(Activation::Relu), sort_by_operations(deepbench_vanilla())),
        (Cell::Gru(Activation::Relu), sort_by_operations(deepbench_grus())),
    ]
}

fn deepbench_lstms() -> Vec<RecurrentSize> {
    let long = [16, 32, 64].map(|sequences| [256, sequences, 150]);
    let large = [8, 16, 32].map(|sequences| [1536, sequences, 50]);
    [every(&[512, 1024, 2048, 4096], &[16, 32, 64, 128], &[25]), long.to_vec(), large.to_vec()].concat()
}

fn deepbench_vanilla() -> Vec<RecurrentSize> {
    every(&[1760, 2048, 2560], &[16, 32, 64, 128], &[50])
}

fn deepbench_grus() -> Vec<RecurrentSize> {
    let others = [[512, 32, 1], [1024, 32, 1500], [1024, 64, 1500]];
    [every(&[1536, 2048, 2560, 2816], &[32], &[187, 375, 750, 1500]), others.to_vec()].concat()
}

fn every(units: &[u32], sequences: &[u32], steps: &[u32]) -> Vec<RecurrentSize> {
    let with = |&units: &u32| {
        sequences.iter().flat_map(move |&sequences| steps.iter().map(move |&steps| [units, sequences, steps]))
    };
    units.iter().flat_map(with).collect()
}

/// Sorts sizes by `units² × sequences × steps`.
fn sort_by_operations(mut sizes: Vec<RecurrentSize>) -> Vec<RecurrentSize> {
    sizes.sort_by_key(|&[units, sequences, steps]| {
        [units, units, sequences, steps].map(u64::from).iter().product::<u64>()
    });
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(pass: Pass, steps: u32) -> impl Iterator<Item = RecurrentPass> {
        cells().into_iter().map(move |(cell, _)| RecurrentPass::new(cell, [6, 5, steps], pass, true))
    }

    #[test]
    fn first_and_last_sequences_are_checked() {
        for pass in [Pass::Forward, Pass::InputGradient] {
            for layer in layers(pass, 3) {
                let one = layer.results_per_sequence();
                let sequences: Vec<u64> = layer.checked().iter().map(|place| place / one).collect();
                assert!(sequences.contains(&0) && sequences.contains(&4), "{sequences:?}");
                assert!(sequences.iter().all(|&sequence| sequence == 0 || sequence == 4), "{sequences:?}");
            }
        }
    }

    #[test]
    fn few_steps_of_long_sequences_are_checked() {
        let gru = |pass| RecurrentPass::new(Cell::Gru(Activation::Relu), [2816, 32, 1500], pass, true);
        let steps =
            |pass| -> Vec<u64> { gru(pass).checked().into_iter().map(|place| place / (3 * 2816) % 1500).collect() };
        let (first, last) = (steps(Pass::Forward), steps(Pass::InputGradient));
        assert!(first.iter().all(|&step| step < 8) && first.iter().any(|&step| step > 0), "{first:?}");
        assert!(last.iter().all(|&step| step >= 1492) && last.iter().any(|&step| step < 1499), "{last:?}");
        assert_eq!(gru(Pass::Forward).results(), 32 * 1500 * 3 * 2816);
    }

    #[test]
    fn single_step_layers_are_not_measured() {
        for layer in layers(Pass::Forward, 1) {
            assert_eq!(layer.flops(), 0);
            assert!(layer.impossible().is_some());
        }
        assert!(layers(Pass::Forward, 2).all(|layer| layer.impossible().is_none() && layer.flops() > 0));
    }

    #[test]
    fn deepbench_has_22_lstms_12_vanilla_layers_and_19_grus() {
        for (mut sizes, count) in [(deepbench_lstms(), 22), (deepbench_vanilla(), 12), (deepbench_grus(), 19)] {
            assert_eq!(sizes.len(), count);
            sizes.sort_unstable();
            sizes.dedup();
            assert_eq!(sizes.len(), count, "{sizes:?}");
        }
        let [(_, lstms), (_, vanilla), (_, grus)] = cells();
        assert_eq!((lstms[2], lstms[23]), ([512, 16, 25], [4096, 128, 25]));
        assert_eq!((vanilla[0], vanilla[11]), ([1760, 16, 50], [2560, 128, 50]));
        assert_eq!((grus[0], grus[18]), ([512, 32, 1], [2816, 32, 1500]));
    }
}
