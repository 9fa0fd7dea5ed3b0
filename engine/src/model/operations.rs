use serde::Serialize;

use super::{Layer, Model, ModelError};

/// Arithmetic that one sample needs, counted from shapes.
///
/// Only products of convolutions and dense layers are counted, two operations for each
/// multiply-add; bias, activation, pooling, softmax, dropout and optimiser are not
/// (`reference/workloads.md`, conventions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Operations {
    pub forward_multiply_adds: u64,
    pub forward_flops: u64,
    /// Weight gradients of all layers, input gradients of all but the first.
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
        let mut input = self.input;
        let mut products = Vec::new();
        for (layer, output) in self.layers.iter().zip(self.shapes()?) {
            match *layer {
                Layer::Conv2d { side, .. } => {
                    let inner = u64::from(side * side * input.channels);
                    products.push(inner * u64::from(output.features()));
                }
                Layer::Dense { units, .. } => products.push(u64::from(input.features()) * u64::from(units)),
                Layer::MaxPool { .. } | Layer::Dropout { .. } => {}
            }
            input = output;
        }
        let forward: u64 = products.iter().sum();
        let first = products.first().copied().unwrap_or(0);
        Ok(Operations {
            forward_multiply_adds: forward,
            forward_flops: 2 * forward,
            backward_flops: 2 * (2 * forward - first),
        })
    }
}
