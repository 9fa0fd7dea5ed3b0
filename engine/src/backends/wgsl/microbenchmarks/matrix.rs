//! Matrix products of DeepBench, as the three products of a dense layer.
//!
//! DeepBench writes C = A·B with A of M × K and B of K × N in columns; in rows that is a layer with M units and K inputs
//! on a batch of N. Each size is measured in all three passes, which read their operands as they lie, as it is, or
//! transposed on the left or on the right.

use results::kernels::{Pass, Suite};
use shaders::params::{Dense, Epilogue};

use super::super::layout::CHANNEL_ALIGNMENT;
use super::super::plan::weight_gradient::rows_per_part_of_product;
use super::super::products;
use super::super::variants::Variant;
use super::layer::Layer;
use super::operands::{Operand, PlainSum};
use super::product::Product;
use super::work::Work;

/// (M, N, K): three squares to begin with, then a selection of DeepBench's 160, by their operations.
const SIZES: [(u32, u32, u32); 13] = [
    (512, 512, 512),
    (1024, 1024, 1024),
    (4096, 4096, 4096),
    (512, 16, 512),
    (1760, 16, 1760),
    (1024, 700, 512),
    (1760, 128, 1760),
    (3072, 128, 1024),
    (2560, 64, 2560),
    (35, 8457, 2560),
    (1760, 7000, 1760),
    (512, 24_000, 2048),
    (4096, 7000, 4096),
];

pub(super) fn products(emulated: bool) -> Vec<Box<dyn Product>> {
    let every = SIZES.iter().flat_map(|&(units, rows, inputs)| {
        Pass::ALL.into_iter().map(move |pass| MatrixProduct { units, rows, inputs, pass, emulated })
    });
    every.map(|product| Box::new(product) as Box<dyn Product>).collect()
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MatrixProduct {
    /// M.
    pub(super) units: u32,
    /// N.
    pub(super) rows: u32,
    /// K, a multiple of 4.
    pub(super) inputs: u32,
    pub(super) pass: Pass,
    /// Whether a CPU emulates the GPU; it sums gradients in fewer parts.
    pub(super) emulated: bool,
}

impl MatrixProduct {
    /// Stored outputs.
    fn outputs(&self) -> u32 {
        self.units.next_multiple_of(CHANNEL_ALIGNMENT)
    }

    fn x(&self) -> Operand {
        Operand::full(1, self.rows, self.inputs)
    }

    fn weights(&self) -> Operand {
        Operand { stream: 2, rows: self.inputs, columns: self.outputs(), known: self.units }
    }

    fn dy(&self) -> Operand {
        Operand { stream: 3, rows: self.rows, columns: self.outputs(), known: self.units }
    }

    fn params(&self) -> Dense {
        let outputs = self.outputs();
        let bias_offset = self.inputs * outputs;
        Dense {
            rows: self.rows,
            inputs: self.inputs,
            outputs,
            units: self.units,
            rows_per_part: rows_per_part_of_product(self.rows, [self.inputs, outputs], self.emulated),
            part_stride: bias_offset + outputs,
            bias_offset,
            reserved: 0,
            epilogue: Epilogue::default(),
        }
    }

    fn layer(&self) -> Layer<Dense> {
        let params = self.params();
        Layer {
            rows: self.rows,
            x: self.x(),
            weights: self.weights(),
            dy: self.dy(),
            parts: self.rows.div_ceil(params.rows_per_part),
            part_stride: params.part_stride,
            emulated: self.emulated,
            params,
        }
    }
}

impl Product for MatrixProduct {
    fn suite(&self) -> Suite {
        Suite::Gemm
    }

    fn emulated(&self) -> bool {
        self.emulated
    }

    fn size(&self) -> String {
        format!("{} × {} × {}", self.units, self.rows, self.inputs)
    }

    fn pass(&self) -> Pass {
        self.pass
    }

    fn flops(&self) -> u64 {
        2 * u64::from(self.units) * u64::from(self.rows) * u64::from(self.inputs)
    }

    fn product(&self) -> products::Product {
        products::Product::new(self.pass, self.params())
    }

    fn buffers(&self) -> Vec<u64> {
        self.layer().buffers(self.pass)
    }

    fn work(&self, variant: &Variant) -> Work {
        self.layer().work(self.pass, variant, &self.product())
    }

    fn results(&self) -> u64 {
        self.layer().results(self.pass)
    }

    fn plain(&self, at: u64) -> PlainSum {
        let columns = u64::from(if self.pass == Pass::InputGradient { self.inputs } else { self.outputs() });
        let place = |number: u64| u32::try_from(number).expect("a place in a buffer");
        let (row, column) = (place(at / columns), place(at % columns));
        let (x, weights, dy) = (self.x(), self.weights(), self.dy());
        match self.pass {
            Pass::Forward => PlainSum::of((0..self.inputs).map(|k| (x.at(row, k), weights.at(k, column)))),
            Pass::WeightGradient => PlainSum::of((0..self.rows).map(|r| (x.at(r, row), dy.at(r, column)))),
            Pass::InputGradient => PlainSum::of((0..self.outputs()).map(|n| (dy.at(row, n), weights.at(column, n)))),
        }
    }
}
