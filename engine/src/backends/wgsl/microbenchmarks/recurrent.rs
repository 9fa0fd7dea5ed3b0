//! Recurrent layers: all of DeepBench's training list, and those of our own `keras-mnist-hrnn`.
//!
//! As in DeepBench (its cuDNN runs skip the input's weights), a layer is measured without the products with its input,
//! which are ordinary matrix products for all steps at once; so its input is what the gates are made from. Vanilla layers
//! and GRUs have ReLU, as there; the gates of LSTMs are those of Keras 2.0.8, with hard sigmoids.
//!
//! Kernels replace the gates by what they compute, so repetitions go on from what the one before has left.

mod plain;
mod sizes;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use results::kernels::{Pass, Suite};
use shaders::params::{Epilogue, Recurrent};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::products;
use super::super::variants::Variant;
use super::matrix::MatrixProduct;
use super::operands::{Operand, PlainSum};
use super::product::{Product, checked_places};
use super::work::Work;
use crate::model::{Activation, Cell};
use plain::PlainSequence;
use sizes::Size;

/// Multiplications and additions of a sequence that plain loops do in a few seconds.
const PLAIN_PRODUCTS: u64 = 1 << 31;
/// Steps that are compared with plain loops where all of them would take longer.
const FEWEST_STEPS: u32 = 8;

pub(super) fn products(emulated: bool) -> Vec<Box<dyn Product>> {
    let mut all: Vec<Box<dyn Product>> = Vec::new();
    for (cell, sizes) in sizes::cells() {
        for size in sizes {
            all.extend(Pass::ALL.map(|pass| Box::new(RecurrentLayer::new(cell, size, pass, emulated)) as Box<_>));
        }
    }
    all
}

/// One pass of a recurrent layer.
pub(super) struct RecurrentLayer {
    cell: Cell,
    units: u32,
    sequences: u32,
    steps: u32,
    pass: Pass,
    /// Whether a CPU emulates the GPU; it sums gradients in fewer parts.
    emulated: bool,
    /// What plain loops make of a sequence; a value of it cannot be had without all others.
    plain: RefCell<HashMap<u32, Rc<PlainSequence>>>,
}

impl RecurrentLayer {
    pub(super) fn new(cell: Cell, [units, sequences, steps]: Size, pass: Pass, emulated: bool) -> Self {
        Self { cell, units, sequences, steps, pass, emulated, plain: RefCell::default() }
    }

    fn params(&self) -> Recurrent {
        let stored_units = self.units.next_multiple_of(CHANNEL_ALIGNMENT);
        Recurrent {
            sequences: self.sequences,
            steps: self.steps,
            units: self.units,
            stored_units,
            activation: self.cell.activation_number(),
            reserved: [0; 3],
            epilogue: Epilogue { channels: self.units, stored_channels: stored_units, ..Epilogue::default() },
        }
    }

    /// Values of a step of a sequence that gates are made from.
    fn gate_columns(&self) -> u32 {
        self.cell.gates() * self.params().stored_units
    }

    /// Gradient of the recurrent weights: the previous states of all steps with what went into the gates.
    fn weight_gradient(&self) -> MatrixProduct {
        MatrixProduct {
            units: self.gate_columns(),
            rows: self.sequences * self.steps,
            inputs: self.params().stored_units,
            pass: self.pass,
            emulated: self.emulated,
        }
    }

    /// Small enough that states neither explode nor vanish.
    ///
    /// With ReLU, whose results have no bound, none is positive: a repetition adds its products to what the one before has
    /// left, and so makes it smaller.
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

    /// What the gates are made from, but for the recurrent products.
    fn x(&self) -> Operand {
        Operand::full(2, self.sequences * self.steps, self.gate_columns())
    }

    /// Gradient of the last hidden state.
    fn dy(&self) -> Operand {
        Operand::full(3, self.sequences, self.params().stored_units)
    }

    fn recurrent_bias(&self) -> Operand {
        Operand::full(4, 1, self.gate_columns())
    }

    /// What a backward pass finds of a GRU's products, or of an LSTM's cells.
    fn own(&self) -> Operand {
        let columns = if self.cell == Cell::Lstm { self.params().stored_units } else { self.gate_columns() };
        Operand::full(5, self.sequences * self.steps, columns)
    }

    /// Hidden states that a backward pass finds.
    fn previous(&self) -> Operand {
        Operand::full(6, self.sequences * self.steps, self.params().stored_units)
    }

    /// Steps that results are compared of: the first ones of a forward pass, the last ones of a backward pass.
    fn checked_steps(&self) -> u32 {
        let of_a_step = u64::from(self.gate_columns()) * u64::from(self.params().stored_units);
        let affordable = of_a_step * u64::from(self.steps) <= PLAIN_PRODUCTS;
        // The gradients of an LSTM also need the cell before the step; no sequence of the list is too long.
        if affordable || self.cell == Cell::Lstm { self.steps } else { self.steps.min(FEWEST_STEPS) }
    }

    /// Whether the last hidden states are what is compared of a forward pass; otherwise it is the gates.
    fn compares_states(&self) -> bool {
        self.pass == Pass::Forward && self.checked_steps() == self.steps
    }

    /// Values of one sequence in the result of this pass.
    fn results_of_a_sequence(&self) -> u64 {
        self.results() / u64::from(self.sequences)
    }

    fn plain_sequence(&self, sequence: u32) -> Rc<PlainSequence> {
        let compute = || Rc::new(self.computed_plainly(sequence));
        Rc::clone(self.plain.borrow_mut().entry(sequence).or_insert_with(compute))
    }

    fn forward_work(&self, variant: &Variant, work: &mut Work) {
        let (params, product) = (self.params(), self.product());
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
        work.repeat_variant(variant, &product, &params, &bindings);
        work.output = Some(if self.compares_states() { y } else { gates });
    }

    /// From states that no forward pass has made, so that plain loops can begin at any step: gates from 0 to 1.
    fn backward_work(&self, variant: &Variant, work: &mut Work) {
        let (params, product) = (self.params(), self.product());
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
        work.repeat_variant(variant, &product, &params, &bindings);
        work.output = Some(gates);
    }
}

impl Product for RecurrentLayer {
    fn suite(&self) -> Suite {
        Suite::Rnn
    }

    fn emulated(&self) -> bool {
        self.weight_gradient().emulated
    }

    fn size(&self) -> String {
        let name = match self.cell {
            Cell::Lstm => "LSTM",
            Cell::Gru(_) => "GRU",
            Cell::SimpleRnn(_) => "vanilla",
        };
        format!("{name}, {} units, {} × {} steps", self.units, self.sequences, self.steps)
    }

    fn pass(&self) -> Pass {
        self.pass
    }

    /// The first step has no state before it.
    fn flops(&self) -> u64 {
        let of_a_step = 2 * u64::from(self.cell.gates()) * u64::from(self.units).pow(2);
        of_a_step * u64::from(self.sequences) * u64::from(self.steps - 1)
    }

    fn impossible(&self) -> Option<&'static str> {
        (self.steps == 1).then_some("a single step, from a state of zeros, multiplies nothing")
    }

    fn product(&self) -> products::Product {
        match self.pass {
            Pass::WeightGradient => self.weight_gradient().product(),
            pass => products::Product::new(pass, (self.cell, self.params())),
        }
    }

    fn kernels(&self, variant: &Variant) -> Vec<&'static str> {
        match self.pass {
            Pass::WeightGradient => self.weight_gradient().kernels(variant),
            Pass::Forward | Pass::InputGradient => vec![variant.kernel],
        }
    }

    fn buffers(&self) -> Vec<u64> {
        match self.pass {
            Pass::WeightGradient => self.weight_gradient().buffers(),
            Pass::Forward | Pass::InputGradient => self.product().elements(),
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

    /// Values of the first and of the last sequence, because plain loops take long for each; of long sequences only those
    /// of a few steps.
    fn checked(&self) -> Vec<u64> {
        let places = checked_places(self.results());
        if self.pass == Pass::WeightGradient {
            return places;
        }
        let one = self.results_of_a_sequence();
        let last = one * u64::from(self.sequences - 1);
        let checked = if self.compares_states() {
            0..one
        } else {
            let checked = u64::from(self.checked_steps()) * u64::from(self.gate_columns());
            if self.pass == Pass::Forward { 0..checked } else { one - checked..one }
        };
        places
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
        let place = |number: u64| u32::try_from(number).expect("a place in a buffer");
        let one = self.results_of_a_sequence();
        let sequence = self.plain_sequence(place(at / one));
        let value = if self.compares_states() {
            sequence.y[place(at % one) as usize]
        } else {
            sequence.gates[place(at % one) as usize - sequence.first_gate]
        };
        PlainSum { value, magnitude: value.abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(pass: Pass, steps: u32) -> impl Iterator<Item = RecurrentLayer> {
        sizes::cells().into_iter().map(move |(cell, _)| RecurrentLayer::new(cell, [6, 5, steps], pass, true))
    }

    #[test]
    fn only_the_first_and_the_last_sequence_are_checked_and_both_of_them() {
        for pass in [Pass::Forward, Pass::InputGradient] {
            for layer in layers(pass, 3) {
                let one = layer.results_of_a_sequence();
                let sequences: Vec<u64> = layer.checked().iter().map(|place| place / one).collect();
                assert!(sequences.contains(&0) && sequences.contains(&4), "{sequences:?}");
                assert!(sequences.iter().all(|&sequence| sequence == 0 || sequence == 4), "{sequences:?}");
            }
        }
    }

    #[test]
    fn of_sequences_that_would_take_long_some_steps_are_checked() {
        let gru = |pass| RecurrentLayer::new(Cell::Gru(Activation::Relu), [2816, 32, 1500], pass, true);
        let steps =
            |pass| -> Vec<u64> { gru(pass).checked().into_iter().map(|place| place / (3 * 2816) % 1500).collect() };
        let (first, last) = (steps(Pass::Forward), steps(Pass::InputGradient));
        assert!(first.iter().all(|&step| step < 8) && first.iter().any(|&step| step > 0), "{first:?}");
        assert!(last.iter().all(|&step| step >= 1492) && last.iter().any(|&step| step < 1499), "{last:?}");
        assert_eq!(gru(Pass::Forward).results(), 32 * 1500 * 3 * 2816);
    }

    #[test]
    fn a_layer_of_a_single_step_is_not_measured_because_it_multiplies_nothing() {
        for layer in layers(Pass::Forward, 1) {
            assert_eq!(layer.flops(), 0);
            assert!(layer.impossible().is_some());
        }
        assert!(layers(Pass::Forward, 2).all(|layer| layer.impossible().is_none() && layer.flops() > 0));
    }
}
