//! Recurrent layers: every LSTM of DeepBench's training list, and those of our own `keras-mnist-hrnn`.
//!
//! As in DeepBench (its cuDNN runs skip the input's weights), a layer is measured without the products with its input,
//! which are ordinary matrix products for all steps at once; so its input is what the gates are made from. The gates
//! are those of Keras 2.0.8, with hard sigmoids. There are no kernels for DeepBench's vanilla and GRU layers.
//!
//! Kernels replace the gates by what they compute, so repetitions go on from what the one before has left.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use shaders::params::{Epilogue, Lstm, Step};
use shaders::reference as twin;

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::products;
use super::super::variants::Variant;
use super::matrix::MatrixProduct;
use super::operands::{Operand, PlainSum};
use super::product::{Product, checked_places};
use super::report::{Pass, Suite};
use super::work::Work;

/// Units, sequences, steps: the two layers of `keras-mnist-hrnn` in batches of 32, then DeepBench's by their operations.
const SIZES: [(u32, u32, u32); 24] = [
    (128, 896, 28),
    (128, 32, 28),
    (512, 16, 25),
    (256, 16, 150),
    (512, 32, 25),
    (256, 32, 150),
    (512, 64, 25),
    (1024, 16, 25),
    (256, 64, 150),
    (512, 128, 25),
    (1024, 32, 25),
    (1536, 8, 50),
    (1024, 64, 25),
    (2048, 16, 25),
    (1536, 16, 50),
    (1024, 128, 25),
    (2048, 32, 25),
    (1536, 32, 50),
    (2048, 64, 25),
    (4096, 16, 25),
    (2048, 128, 25),
    (4096, 32, 25),
    (4096, 64, 25),
    (4096, 128, 25),
];

pub(super) fn products(emulated: bool) -> Vec<Box<dyn Product>> {
    let every = SIZES.iter().flat_map(|&(units, sequences, steps)| {
        Pass::ALL.into_iter().map(move |pass| RecurrentLayer::new(units, sequences, steps, pass, emulated))
    });
    every.map(|product| Box::new(product) as Box<dyn Product>).collect()
}

/// One pass of an LSTM.
pub(super) struct RecurrentLayer {
    units: u32,
    sequences: u32,
    steps: u32,
    pass: Pass,
    /// Whether a CPU emulates the GPU; it sums gradients in fewer parts.
    emulated: bool,
    /// What plain loops make of a sequence; a value of it cannot be had without all others.
    plain: RefCell<HashMap<u32, Rc<PlainSequence>>>,
}

/// A sequence in double precision.
struct PlainSequence {
    /// Last hidden state.
    y: Vec<f64>,
    /// Gradients of what the gates are made from, at all steps.
    dz: Vec<f64>,
}

impl RecurrentLayer {
    pub(super) fn new(units: u32, sequences: u32, steps: u32, pass: Pass, emulated: bool) -> Self {
        Self { units, sequences, steps, pass, emulated, plain: RefCell::default() }
    }

    fn params(&self) -> Lstm {
        let stored_units = self.units.next_multiple_of(CHANNEL_ALIGNMENT);
        let epilogue = Epilogue { channels: self.units, stored_channels: stored_units, ..Epilogue::default() };
        Lstm { sequences: self.sequences, steps: self.steps, units: self.units, stored_units, epilogue }
    }

    /// Gradient of the recurrent weights: the previous states of all steps with what went into the gates.
    fn weight_gradient(&self) -> MatrixProduct {
        let stored = self.params().stored_units;
        MatrixProduct {
            units: 4 * stored,
            rows: self.sequences * self.steps,
            inputs: stored,
            pass: self.pass,
            emulated: self.emulated,
        }
    }

    /// Small enough that states neither explode nor vanish.
    fn weights(&self) -> Vec<f32> {
        let stored = self.params().stored_units;
        #[expect(clippy::cast_possible_truncation, reason = "weights are float32")]
        let limit = (1.0 / f64::from(stored).sqrt()) as f32;
        Operand::full(1, stored, 4 * stored).numbers().iter().map(|number| limit * number).collect()
    }

    /// What the gates are made from, but for the recurrent products.
    fn x(&self) -> Operand {
        Operand::full(2, self.sequences * self.steps, 4 * self.params().stored_units)
    }

    /// Gradient of the last hidden state.
    fn dy(&self) -> Operand {
        Operand::full(3, self.sequences, self.params().stored_units)
    }

    fn states(&self) -> u64 {
        self.x().elements() / 4
    }

    /// Values of one sequence in the result of this pass.
    fn results_of_a_sequence(&self) -> u64 {
        self.results() / u64::from(self.sequences)
    }

    fn plain_sequence(&self, sequence: u32) -> Rc<PlainSequence> {
        let compute = || {
            let params = Lstm { sequences: 1, ..self.params() };
            let units = params.stored_units;
            let recurrent: Vec<f64> = self.weights().into_iter().map(f64::from).collect();
            let row = |of: Operand, row: u32| (0..of.columns).map(move |column| f64::from(of.at(row, column)));
            let rows = sequence * self.steps..(sequence + 1) * self.steps;
            let mut gates: Vec<f64> = rows.flat_map(|at| row(self.x(), at)).collect();
            let mut cells = vec![0.0; (self.steps * units) as usize];
            let (mut previous, mut y) = (cells.clone(), vec![0.0; units as usize]);
            let step = Step::default();
            twin::lstm_forward(&params, &step, &recurrent, &mut gates, &mut cells, &mut previous, &mut y);
            if self.pass == Pass::InputGradient {
                let dy: Vec<f64> = row(self.dy(), sequence).collect();
                twin::lstm_backward(&params, &recurrent, &dy, &mut cells, &mut gates);
            }
            Rc::new(PlainSequence { y, dz: gates })
        };
        Rc::clone(self.plain.borrow_mut().entry(sequence).or_insert_with(compute))
    }
}

impl Product for RecurrentLayer {
    fn suite(&self) -> Suite {
        Suite::Rnn
    }

    fn size(&self) -> String {
        format!("{} units, {} × {} steps", self.units, self.sequences, self.steps)
    }

    fn pass(&self) -> Pass {
        self.pass
    }

    /// The first step has no state before it.
    fn flops(&self) -> u64 {
        8 * u64::from(self.sequences) * u64::from(self.steps - 1) * u64::from(self.units).pow(2)
    }

    fn product(&self) -> products::Product {
        match self.pass {
            Pass::WeightGradient => self.weight_gradient().product(),
            pass => products::Product::new(pass, self.params()),
        }
    }

    fn kernels(&self, variant: &Variant) -> Vec<&'static str> {
        match self.pass {
            Pass::WeightGradient => self.weight_gradient().kernels(variant),
            Pass::Forward | Pass::InputGradient => vec![variant.kernel],
        }
    }

    fn buffers(&self) -> Vec<u64> {
        let weights = 4 * u64::from(self.params().stored_units).pow(2);
        let (states, y) = (self.states(), self.dy().elements());
        match self.pass {
            Pass::Forward => vec![weights, 4 * states, states, states, y],
            Pass::WeightGradient => self.weight_gradient().buffers(),
            Pass::InputGradient => vec![weights, 4 * states, states, states, y, y],
        }
    }

    fn work(&self, variant: &Variant) -> Work {
        if self.pass == Pass::WeightGradient {
            return self.weight_gradient().work(variant);
        }
        let (params, forward) = (self.params(), products::Product::new(Pass::Forward, self.params()));
        let mut work = Work::new(self.sequences);
        let recurrent = work.floats("recurrent weights", &self.weights());
        let gates = work.floats("gates", &self.x().numbers());
        let cells = work.zeros("cell states", self.states());
        let previous = work.zeros("hidden states", self.states());
        let y = work.zeros("last hidden state", self.dy().elements());
        let bindings = [recurrent, gates, cells, previous, y];
        if self.pass == Pass::Forward {
            work.repeat_variant(variant, &forward, &params, &bindings);
            work.output = Some(y);
            return work;
        }
        let backward = self.product();
        // Both directions have variants of the same kinds.
        let kind = backward.variants().iter().position(|other| other == variant).unwrap_or(0);
        let before = &forward.variants()[kind];
        work.prepare(before.kernel, &params, &bindings, before.invocations(&forward));
        let dy = work.floats("gradient", &self.dy().numbers());
        work.repeat_variant(variant, &backward, &params, &[recurrent, dy, cells, gates]);
        work.output = Some(gates);
        work
    }

    fn results(&self) -> u64 {
        match self.pass {
            Pass::Forward => self.dy().elements(),
            Pass::WeightGradient => self.weight_gradient().results(),
            Pass::InputGradient => self.x().elements(),
        }
    }

    /// Values of the first and of the last sequence, because plain loops take long for each.
    fn checked(&self) -> Vec<u64> {
        let places = checked_places(self.results());
        if self.pass == Pass::WeightGradient {
            return places;
        }
        let one = self.results_of_a_sequence();
        let last = one * u64::from(self.sequences - 1);
        places
            .into_iter()
            .map(|at| at % one + if (at / one).is_multiple_of(2) && at < last { 0 } else { last })
            .collect()
    }

    fn plain(&self, at: u64) -> PlainSum {
        if self.pass == Pass::WeightGradient {
            return self.weight_gradient().plain(at);
        }
        let place = |number: u64| u32::try_from(number).expect("a place in a buffer");
        let one = self.results_of_a_sequence();
        let sequence = self.plain_sequence(place(at / one));
        let values = if self.pass == Pass::Forward { &sequence.y } else { &sequence.dz };
        let value = values[place(at % one) as usize];
        PlainSum { value, magnitude: value.abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_and_the_last_sequence_are_checked_and_both_of_them() {
        for pass in [Pass::Forward, Pass::InputGradient] {
            let layer = RecurrentLayer::new(6, 5, 3, pass, true);
            let one = layer.results_of_a_sequence();
            let sequences: Vec<u64> = layer.checked().iter().map(|place| place / one).collect();
            assert!(sequences.contains(&0) && sequences.contains(&4), "{sequences:?}");
            assert!(sequences.iter().all(|&sequence| sequence == 0 || sequence == 4), "{sequences:?}");
        }
    }

    #[test]
    fn sizes_come_by_their_operations() {
        let flops = |&(units, n, t)| RecurrentLayer::new(units, n, t, Pass::Forward, true).flops();
        let flops: Vec<u64> = SIZES[2..].iter().map(flops).collect();
        assert!(flops.is_sorted(), "{flops:?}");
    }
}
