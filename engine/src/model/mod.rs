//! Networks as data: a list of layers, from which shapes, weights and operation counts follow.

mod operations;
mod shape;
mod stage;
mod tensor;

use serde::Serialize;

pub use operations::Operations;
pub use shape::{ModelError, Shape};
pub(crate) use stage::{Stage, StageKind};
pub use tensor::{Initializer, TensorSpec};

/// A feed-forward network. Every back end interprets the same list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Model {
    pub name: &'static str,
    /// Shape of one sample.
    pub input: Shape,
    pub layers: Vec<Layer>,
}

/// One layer. Activations are N, H, W, C; flattening keeps that order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Layer {
    /// Square cross-correlation of stride 1; kernel `[side, side, in, filters]`, bias `[filters]`.
    Conv2d { filters: u32, side: u32, padding: Padding, activation: Activation, initializer: Initializer },
    /// Square windows without padding, rounded down. A tie gives the whole gradient to the first element.
    MaxPool { side: u32, stride: u32 },
    /// `y = x·W + b` on the flattened input; kernel `[in, units]`, bias `[units]`.
    Dense { units: u32, activation: Activation, initializer: Initializer },
    /// Inverted dropout: survivors are divided by `1 - rate` in training, nothing happens in tests.
    Dropout { rate: f32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Padding {
    Valid,
    /// Output as large as the input.
    Same,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Activation {
    Identity,
    /// `max(x, 0)`, with slope 0 at 0.
    Relu,
}

impl Model {
    /// The same network with every weight matrix drawn within Glorot's limit, as the golden traces have it.
    #[must_use]
    pub fn with_glorot_weights(mut self) -> Self {
        for layer in &mut self.layers {
            if let Layer::Conv2d { initializer, .. } | Layer::Dense { initializer, .. } = layer {
                *initializer = Initializer::GlorotUniform;
            }
        }
        self
    }

    /// Number of classes: the units of the last layer.
    pub fn classes(&self) -> Result<u32, ModelError> {
        Ok(self.shapes()?.last().copied().unwrap_or(self.input).features())
    }

    /// Trainable parameters.
    pub fn parameters(&self) -> Result<u64, ModelError> {
        Ok(self.tensors()?.iter().map(|t| t.elements() as u64).sum())
    }
}
