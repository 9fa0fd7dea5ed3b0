//! Recurrent layers: DeepBench's training list, and the layers of `keras-mnist-hrnn`.
//!
//! As in DeepBench, whose cuDNN runs skip the input weights, a layer is measured without the products with its input.
//! These are ordinary matrix products over all steps, so a layer starts from the input of its gates. Vanilla layers and
//! GRUs use ReLU, as in DeepBench. LSTMs follow Keras 2.0.8, with hard sigmoids.
//!
//! Kernels overwrite the gates with their results, so each repetition starts from the results of the previous one.

use std::cell::RefCell;
use std::collections::HashMap;

use results::kernels::{KernelSuite, Pass};
use shaders::params::{Epilogue, Recurrent, Step};
use shaders::reference::RecurrentSteps;

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::products::{Params, Product, recurrent_bindings};
use super::layers::MeasuredLayer;
use super::product::{LayerPass, Operand, PlainSum, choose_indices};
use crate::backends::reference::{recurrent_backward, recurrent_forward};
use crate::model::{Activation, Cell};

/// Maximum number of multiply-adds per sequence in plain loops, which takes a few seconds.
const MAX_PLAIN_PRODUCTS: u64 = 1 << 31;
/// Number of steps to compare with plain loops if all steps would exceed [`MAX_PLAIN_PRODUCTS`].
const MIN_CHECKED_STEPS: u32 = 8;

pub(super) fn products(emulated: bool) -> Vec<LayerPass> {
    let layers = cells().into_iter().flat_map(|(cell, sizes)| sizes.into_iter().map(move |size| (cell, size)));
    layers.flat_map(|(cell, size)| Pass::ALL.map(|pass| RecurrentLayer::new(cell, size).pass(pass, emulated))).collect()
}

/// Stream of the random numbers of gates.
const GATES: u32 = 2;

#[derive(Clone, Copy)]
pub(super) struct RecurrentLayer {
    cell: Cell,
    params: Recurrent,
}

impl RecurrentLayer {
    pub(super) fn new(cell: Cell, [units, sequences, steps]: RecurrentSize) -> Self {
        let stored_units = units.next_multiple_of(CHANNEL_ALIGNMENT);
        let epilogue = Epilogue { channels: units, stored_channels: stored_units, ..Epilogue::default() };
        let activation = cell.activation().number();
        let params = Recurrent { sequences, steps, units, stored_units, activation, epilogue, ..Recurrent::default() };
        Self { cell, params }
    }

    /// Returns the number of gate values per step of a sequence, including padding.
    fn gate_columns(&self) -> u32 {
        self.cell.gates() * self.params.stored_units
    }

    /// Returns weights, recurrent bias, gates, a GRU's products or an LSTM's cells, hidden states, and the gradient of
    /// the last hidden state. A backward pass starts from random states.
    fn matrices(&self, pass: Pass) -> [Operand; 6] {
        let (columns, units) = (self.gate_columns(), self.params.stored_units);
        let of_steps = |stream, columns| Operand::full(stream, self.params.sequences * self.params.steps, columns);
        // Weights are small enough that states neither explode nor vanish. ReLU is unbounded, so its weights are never
        // positive: each repetition adds its products to the results of the previous one and thereby shrinks them.
        let unsigned = self.cell.activation() == Activation::Relu;
        let share = f64::from(units);
        #[expect(clippy::cast_possible_truncation, reason = "weights are float32")]
        let limit = (if unsigned { -1.0 / share } else { 1.0 / share.sqrt() }) as f32;
        let weights = Operand { limit, unsigned, ..Operand::full(1, units, columns) };
        // Before a backward pass, gates are in 0..1, so that plain loops can start at any step.
        let gates = Operand { unsigned: pass != Pass::Forward, ..of_steps(GATES, columns) };
        let dy = Operand::full(3, self.params.sequences, units);
        let own = of_steps(5, if self.cell == Cell::Lstm { units } else { columns });
        [weights, Operand::full(4, 1, columns), gates, own, of_steps(6, units), dy]
    }

    /// Returns the number of steps to check: the first steps of a forward pass, the last steps of a backward pass.
    fn checked_steps(&self) -> u32 {
        let Recurrent { steps, stored_units, .. } = self.params;
        let affordable =
            u64::from(self.gate_columns()) * u64::from(stored_units) * u64::from(steps) <= MAX_PLAIN_PRODUCTS;
        // The gradients of an LSTM also depend on the previous cell state. No LSTM in the list has too many steps.
        if affordable || self.cell == Cell::Lstm { steps } else { steps.min(MIN_CHECKED_STEPS) }
    }

    pub(super) fn pass(self, pass: Pass, emulated: bool) -> LayerPass {
        let Recurrent { sequences, steps, units, stored_units, .. } = self.params;
        let name = match self.cell {
            Cell::Lstm => "LSTM",
            Cell::Gru(_) => "GRU",
            Cell::SimpleRnn(_) => "vanilla",
        };
        let size = format!("{name}, {units} units, {sequences} × {steps} steps");
        // The first step has no previous state.
        let per_step = 2 * u64::from(self.cell.gates()) * u64::from(units).pow(2);
        let flops = per_step * u64::from(sequences) * u64::from(steps - 1);
        let impossible = (steps == 1).then_some("a single step, from a state of zeros, multiplies nothing");
        if pass == Pass::WeightGradient {
            // A matrix product over all steps.
            let layer = MeasuredLayer::dense(self.gate_columns(), sequences * steps, stored_units);
            return LayerPass { suite: KernelSuite::Rnn, size, flops, impossible, ..layer.pass(pass, emulated) };
        }
        let operands = self.operands(pass);
        // A forward pass is checked by its last hidden states, unless that would take too many steps.
        let compares_states = pass == Pass::Forward && self.checked_steps() == steps;
        let gates = operands.iter().position(|operand| operand.stream == GATES).expect("every pass has gates");
        let output = if compares_states { operands.len() - 1 } else { gates };
        let one = operands[output].elements() / u64::from(sequences);
        let checked = u64::from(self.checked_steps()) * u64::from(self.gate_columns());
        let checked = match pass {
            _ if compares_states => 0..one,
            Pass::Forward => 0..checked,
            _ => one - checked..one,
        };
        let last = one * u64::from(sequences - 1);
        // Only the first and last sequence, and a few steps of long sequences: plain loops are slow.
        let place = |at: u64| {
            let sequence = if (at / one).is_multiple_of(2) && at < last { 0 } else { last };
            sequence + checked.start + at % one % (checked.end - checked.start)
        };
        let known = RefCell::new(HashMap::new());
        let first = checked.start;
        let plain = move |at: u64| {
            let index = |number: u64| u32::try_from(number).expect("indices fit into u32");
            let (sequence, place) = (index(at / one), index(at % one - first) as usize);
            let mut known = known.borrow_mut();
            let results =
                known.entry(sequence).or_insert_with(|| self.compute_plainly(pass, sequence, compares_states));
            PlainSum { value: results[place], magnitude: f64::abs(results[place]) }
        };
        LayerPass {
            suite: KernelSuite::Rnn,
            size,
            flops,
            product: Product { pass, params: Params::Recurrent(self.cell, self.params) },
            rows: sequences,
            emulated,
            impossible,
            checked: choose_indices(operands[output].elements()).into_iter().map(place).collect(),
            operands,
            output,
            plain: Box::new(plain),
        }
    }

    fn operands(&self, pass: Pass) -> Vec<Operand> {
        let zeros = |operand: Operand| Operand::zeros(operand.rows, operand.columns);
        let [weights, bias, gates, own, previous, dy] = self.matrices(pass);
        let [own, previous, last] =
            if pass == Pass::Forward { [own, previous, dy].map(zeros) } else { [own, previous, dy] };
        recurrent_bindings(self.cell, pass, [weights, bias, gates, own, previous, last, zeros(dy)])
    }

    /// Returns the last hidden state of a sequence, or the gates of the checked steps or gradients of their input.
    fn compute_plainly(&self, pass: Pass, sequence: u32, states: bool) -> Vec<f64> {
        let count = self.checked_steps();
        let first = if pass == Pass::Forward { 0 } else { self.params.steps - count };
        let start = sequence * self.params.steps + first;
        let params = Recurrent { sequences: 1, steps: count, ..self.params };
        let of_steps = |operand: Operand| rows(operand, start..start + count);
        let [weights, bias, gates, own, previous, dy] = self.matrices(pass);
        let weights = rows(weights, 0..params.stored_units);
        let mut steps = RecurrentSteps::from(of_steps(gates));
        if pass == Pass::Forward {
            let (bias, mut y) = (rows(bias, 0..1), vec![0.0; params.stored_units as usize]);
            recurrent_forward(self.cell)(&params, &Step::default(), [&weights, &bias], &mut steps, &mut y);
            return if states { y } else { steps.gates };
        }
        (steps.own, steps.previous) = (of_steps(own), of_steps(previous));
        let dy = rows(dy, sequence..sequence + 1);
        recurrent_backward(self.cell)(&params, &weights, &dy, &mut steps);
        steps.gates
    }
}

fn rows(operand: Operand, rows: std::ops::Range<u32>) -> Vec<f64> {
    rows.flat_map(|row| (0..operand.columns).map(move |column| f64::from(operand.at(row, column)))).collect()
}

/// Units, sequences, steps.
type RecurrentSize = [u32; 3];

/// Layers of `keras-mnist-hrnn` with batches of 32.
const OWN_LSTMS: [RecurrentSize; 2] = [[128, 896, 28], [128, 32, 28]];

/// Returns each cell with its sizes: our own first, then DeepBench's, sorted by operations.
fn cells() -> [(Cell, Vec<RecurrentSize>); 3] {
    let long = [16, 32, 64].map(|sequences| [256, sequences, 150]);
    let large = [8, 16, 32].map(|sequences| [1536, sequences, 50]);
    let lstms = sorted([every(&[512, 1024, 2048, 4096], &[16, 32, 64, 128], &[25]), long.to_vec(), large.to_vec()]);
    let others = [[512, 32, 1], [1024, 32, 1500], [1024, 64, 1500]];
    let grus = sorted([every(&[1536, 2048, 2560, 2816], &[32], &[187, 375, 750, 1500]), others.to_vec()]);
    [
        (Cell::Lstm, [OWN_LSTMS.to_vec(), lstms].concat()),
        (Cell::SimpleRnn(Activation::Relu), sorted([every(&[1760, 2048, 2560], &[16, 32, 64, 128], &[50])])),
        (Cell::Gru(Activation::Relu), grus),
    ]
}

fn every(units: &[u32], sequences: &[u32], steps: &[u32]) -> Vec<RecurrentSize> {
    let with = |&units: &u32| {
        sequences.iter().flat_map(move |&sequences| steps.iter().map(move |&steps| [units, sequences, steps]))
    };
    units.iter().flat_map(with).collect()
}

/// Joins sizes and sorts them by `units² × sequences × steps`.
fn sorted<const N: usize>(sizes: [Vec<RecurrentSize>; N]) -> Vec<RecurrentSize> {
    let mut sizes = sizes.concat();
    sizes.sort_by_key(|size| u64::from(size[0]) * size.map(u64::from).iter().product::<u64>());
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(pass: Pass, steps: u32) -> impl Iterator<Item = LayerPass> {
        cells().into_iter().map(move |(cell, _)| RecurrentLayer::new(cell, [6, 5, steps]).pass(pass, true))
    }

    #[test]
    fn first_and_last_sequences_are_checked() {
        for layer in [Pass::Forward, Pass::InputGradient].into_iter().flat_map(|pass| passes(pass, 3)) {
            let one = layer.operands[layer.output].elements() / 5;
            let sequences: Vec<u64> = layer.checked.iter().map(|place| place / one).collect();
            assert!(sequences.contains(&0) && sequences.contains(&4), "{sequences:?}");
            assert!(sequences.iter().all(|&sequence| sequence == 0 || sequence == 4), "{sequences:?}");
        }
    }

    #[test]
    fn few_steps_of_long_sequences_are_checked() {
        let gru = |pass| RecurrentLayer::new(Cell::Gru(Activation::Relu), [2816, 32, 1500]).pass(pass, true);
        let steps =
            |pass| -> Vec<u64> { gru(pass).checked.into_iter().map(|place| place / (3 * 2816) % 1500).collect() };
        let (first, last) = (steps(Pass::Forward), steps(Pass::InputGradient));
        assert!(first.iter().all(|&step| step < 8) && first.iter().any(|&step| step > 0), "{first:?}");
        assert!(last.iter().all(|&step| step >= 1492) && last.iter().any(|&step| step < 1499), "{last:?}");
        let forward = gru(Pass::Forward);
        assert_eq!(forward.operands[forward.output].elements(), 32 * 1500 * 3 * 2816);
    }

    #[test]
    fn single_step_layers_are_not_measured() {
        assert!(passes(Pass::Forward, 1).all(|layer| layer.flops == 0 && layer.impossible.is_some()));
        assert!(passes(Pass::Forward, 2).all(|layer| layer.flops > 0 && layer.impossible.is_none()));
    }

    #[test]
    fn deepbench_has_22_lstms_12_vanilla_layers_and_19_grus() {
        // With two of our own.
        for ((_, mut sizes), count) in cells().into_iter().zip([2 + 22, 12, 19]) {
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
