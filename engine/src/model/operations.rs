use serde::Serialize;

use super::{Layer, Model, ModelError, Source};

/// Arithmetic that one sample needs, counted from shapes.
///
/// Only products are counted (convolutions, dense layers, recurrent layers, attention), two operations for each
/// multiply-add; bias, activation, pooling, normalisation, softmax, dropout and optimiser are not
/// (`reference/workloads.md`, conventions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Operations {
    pub forward_multiply_adds: u64,
    pub forward_flops: u64,
    /// Weight gradients of all layers that are trained, input gradients of all that do not read the data.
    pub backward_flops: u64,
}

impl Operations {
    /// Forward and backward, floating-point operations for one training sample.
    pub fn training_flops(&self) -> u64 {
        self.forward_flops + self.backward_flops
    }
}

impl Model {
    pub fn operations(&self) -> Result<Operations, ModelError> {
        let shapes = self.shapes()?;
        let (mut forward, mut unneeded) = (0, 0);
        for (node, output) in self.nodes.iter().zip(&shapes) {
            let (input, reads_data) = match node.inputs[0] {
                Source::Data => (self.input, true),
                Source::Node(node) => (shapes[node], false),
            };
            let channels = u64::from(input.channels);
            // Products with the input, whose gradient the data does not need, and others.
            let (with_input, others) = match node.layer {
                Layer::Conv2d { size, .. } => (u64::from(size.area()) * channels * u64::from(output.features()), 0),
                Layer::Dense { units, .. } => (u64::from(input.features()) * u64::from(units), 0),
                Layer::Lstm { units, .. } | Layer::Gru { units, .. } | Layer::SimpleRnn { units, .. } => {
                    let gates = node.layer.recurrent().map_or(0, |layer| layer.cell.gates());
                    let gates = u64::from(input.pixels()) * u64::from(gates) * u64::from(units);
                    (gates * channels, gates * u64::from(units))
                }
                // Two products of tokens × tokens × channels; each has two gradients as well.
                Layer::Attention { .. } => (0, 2 * u64::from(input.pixels()).pow(2) * u64::from(output.channels)),
                Layer::WordScores { vocabulary, .. } => (u64::from(input.features()) * u64::from(vocabulary), 0),
                // A product for each pair of pixels, with two gradients.
                Layer::PixelProducts => (0, channels * u64::from(output.features())),
                _ => (0, 0),
            };
            forward += with_input + others;
            unneeded += if reads_data { with_input } else { 0 };
            unneeded += if node.layer.has_fixed_kernel() { with_input } else { 0 };
        }
        Ok(Operations {
            forward_multiply_adds: forward,
            forward_flops: 2 * forward,
            backward_flops: 2 * (2 * forward - unneeded),
        })
    }
}
